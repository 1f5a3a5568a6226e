"""Open duties: U and X asked at some step for some values, until the steps to come decide them."""

from collections import deque

from lawtrace.solver.ltlf.moment import Compiler, Generator, Key
from lawtrace.solver.ltlf.pending import Pending, Status, junction, junction_at_end, negation
from lawtrace.solver.ltlf.syntax import Next, Not, Top, Until, free_variables


class _Watch(Pending):
    """A duty: `f U[w] g` asked at some step for some values."""

    __slots__ = ("candidates", "closed", "deadline", "key", "prefix", "table", "time")

    def __init__(self, table: "UntilTable", key: Key, time: int) -> None:
        super().__init__()
        self.table = table
        self.key = key
        self.time = time
        deadline = table.window.deadline(time)
        self.deadline: float = float("inf") if deadline is None else deadline
        self.closed = False
        self.prefix: list[Pending] = []
        self.candidates: list[Pending] = []

    def resolve(self, value: bool) -> None:
        if self.value is None:
            self.table.forget(self)
        super().resolve(value)

    def at_end(self, end: int | None) -> bool | None:
        if self.value is not None:
            return self.value
        value = junction_at_end(True, self.candidates, end)
        if value is not False or end is None or self.closed or not end <= self.deadline < float("inf"):
            return value
        return False if junction_at_end(False, self.prefix, end) is False else None


class UntilTable:
    """The open duties of one `f U[w] g`."""

    def __init__(self, compiler: Compiler, formula: Until) -> None:
        self.moment = compiler.moment
        self.window = formula.window
        self.variables = tuple(sorted(free_variables(formula)))
        bound = frozenset(self.variables)
        self._read = self.moment.reader(self.variables)
        self._write = self.moment.writer(self.variables)
        self._right = compiler.compile_check(formula.right, bound)
        self._left = None if isinstance(formula.left, Top) else compiler.compile_check(formula.left, bound)
        self._finds = compiler.compile_finder(formula.right) if free_variables(formula.right) == bound else None
        self._breaks: Generator | None = None
        left_tools: frozenset[str] | None = frozenset()
        if self._left is not None:
            left_tools = None
            broken = formula.left.operand if isinstance(formula.left, Not) else None
            if broken is not None and free_variables(broken) == bound:
                self._breaks = compiler.compile_finder(broken)
                left_tools = None if self._breaks is None else compiler.triggers(broken)
        right_tools = compiler.triggers(formula.right)
        self.tools = None if left_tools is None or right_tools is None else left_tools | right_tools
        self.watches: dict[Key, dict[_Watch, None]] = {}
        self.deadlines: deque[_Watch] = deque()

    def forget(self, watch: _Watch) -> None:
        """Stop looking for a duty that is decided."""
        same = self.watches.get(watch.key)
        if same is not None:
            same.pop(watch, None)
            if not same:
                del self.watches[watch.key]

    def check(self) -> Status:
        """Whether the formula holds from this step on: a new duty, unless this step decides."""
        watch = _Watch(self, self._read(), self.moment.time)
        self._look(watch, None, None)
        if watch.value is not None:
            return watch.value
        if watch.closed:
            return watch
        self.watches.setdefault(watch.key, {})[watch] = None
        if watch.deadline != float("inf"):
            self.deadlines.append(watch)
        return watch

    def update(self) -> None:
        if not self.watches:
            return
        found = self._found(self._finds)
        broken = self._found(self._breaks)
        if found is not None and (self._left is None or broken is not None):
            for key in dict.fromkeys((*found, *(broken or ()))):
                for watch in list(self.watches.get(key, ())):
                    self._look(watch, found.get(key, False), negation((broken or {}).get(key, False)))
            return
        for key in list(self.watches):
            for watch in list(self.watches.get(key, ())):
                self._look(watch, None if found is None else found.get(key, False), None)

    def _found(self, generate: Generator | None) -> dict[Key, Status] | None:
        """The values with which an operand is, or may become, true in this step."""
        if generate is None:
            return None
        found: dict[Key, Status] = {}
        for status in generate():
            key = self._read()
            found[key] = junction(True, [found[key], status]) if key in found else status
        return found

    def _look(self, watch: _Watch, right: Status | None, left: Status | None) -> None:
        """Take this step into account; the truth of the operands is looked up unless it is given."""
        if watch.value is not None:
            return
        self._write(watch.key)
        if self.window.contains(watch.time, self.moment.time):
            status = junction(False, [*watch.prefix, self._right() if right is None else right])
            if status is True:
                watch.resolve(True)
                return
            if isinstance(status, Pending):
                watch.candidates.append(status)
                status.listeners.append(lambda value: watch.resolve(True) if value else self._settle(watch))
        if self._left is not None:
            self._write(watch.key)
            status = self._left() if left is None else left
            if isinstance(status, Pending):
                watch.prefix.append(status)
            elif not status:
                self._close(watch)

    def _close(self, watch: _Watch) -> None:
        """No later step counts."""
        self.forget(watch)
        watch.closed = True
        self._settle(watch)

    def _settle(self, watch: _Watch) -> None:
        """Decide a closed duty when all its candidates have failed."""
        if watch.closed and all(candidate.value is False for candidate in watch.candidates):
            watch.resolve(False)

    def expire(self) -> None:
        """Close the duties whose deadline has passed."""
        now = self.moment.time
        while self.deadlines and self.deadlines[0].deadline < now:
            watch = self.deadlines.popleft()
            if watch.value is None and not watch.closed:
                self._close(watch)


class _Successor(Pending):
    """`X[w] f` asked at some step: the next step decides."""

    __slots__ = ("inner", "key", "time")

    def __init__(self, key: Key, time: int) -> None:
        super().__init__()
        self.key = key
        self.time = time
        self.inner: Pending | None = None

    def at_end(self, end: int | None) -> bool | None:
        if self.value is not None:
            return self.value
        return False if self.inner is None else self.inner.at_end(end)


class NextTable:
    """The open questions of one `X[w] f`."""

    tools: frozenset[str] | None = None

    def __init__(self, compiler: Compiler, formula: Next) -> None:
        self.moment = compiler.moment
        self.window = formula.window
        self.variables = tuple(sorted(free_variables(formula)))
        self._read = self.moment.reader(self.variables)
        self._write = self.moment.writer(self.variables)
        self._operand = compiler.compile_check(formula.operand, frozenset(self.variables))
        self._asked: list[_Successor] = []

    def check(self) -> Status:
        asked = _Successor(self._read(), self.moment.time)
        self._asked.append(asked)
        return asked

    def update(self) -> None:
        asked, self._asked = self._asked, []
        for question in asked:
            if not self.window.contains(question.time, self.moment.time):
                question.resolve(False)
                continue
            self._write(question.key)
            status = self._operand()
            if isinstance(status, Pending):
                question.inner = status
                status.listeners.append(question.resolve)
            else:
                question.resolve(status)
