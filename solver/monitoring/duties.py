"""Open duties: U and X asked at some step for some values, until the steps to come decide them."""

from collections import deque
from collections.abc import Hashable

from lawtrace.solver.logic.syntax import Next, Not, Top, Until, free_variables
from lawtrace.solver.logic.violations import triggers
from lawtrace.solver.monitoring.moment import Compiler, Generator, Key
from lawtrace.solver.monitoring.pending import Pending, Status, fingerprints, junction, junction_at_end, negation


class _Watch(Pending):
    """A duty: `f U[w] g` asked at some step for some values.

    Attributes:
        candidates: g at steps inside the window, where the future decides it.
        prefix: f at the steps so far, where the future decides it.
    """

    __slots__ = ("candidates", "closed", "deadline", "key", "prefix", "table", "time")

    def __init__(self, table: "UntilTable", key: Key, time: int) -> None:
        super().__init__()
        self.table = table
        self.key = key
        self.time = time
        deadline = table.window.deadline(time)
        self.deadline: float = float("inf") if deadline is None else deadline
        self.closed = False
        self.prefix: dict[Pending, None] = {}
        self.candidates: dict[Pending, None] = {}

    def resolve(self, value: bool) -> None:
        if self.value is None:
            self.table.forget(self)
            for candidate in self.candidates:
                candidate.listeners.pop(self, None)
        super().resolve(value)

    def propose(self, candidate: Pending) -> None:
        """The duty is met if the candidate becomes true."""
        self.candidates[candidate] = None
        candidate.listeners[self] = None
        self.ending_changed(candidate)

    def resolved(self, part: Pending, value: bool) -> None:
        if value:
            self.resolve(True)
            return
        self.candidates.pop(part, None)
        self.settle()

    def settle(self) -> None:
        """Decide a closed duty when all its candidates have failed."""
        if self.closed and not self.candidates:
            self.resolve(False)

    def ending_changed(self, part: Pending) -> None:
        self.end_with(any(candidate.ending for candidate in self.candidates))

    def replaced(self, part: Pending, other: Pending) -> None:
        self.candidates.pop(part, None)
        self.propose(other)

    def at_end(self, end: int | None) -> bool | None:
        if self.value is not None:
            return self.value
        value = junction_at_end(True, list(self.candidates), end)
        if value is not False or end is None or self.closed or not end <= self.deadline < float("inf"):
            return value
        return False if junction_at_end(False, list(self.prefix), end) is False else None

    def fingerprint(self) -> Hashable:
        since = None if self.table.window.unlimited else self.time
        return id(self.table), self.key, since, self.closed, fingerprints(self.prefix), fingerprints(self.candidates)


class UntilTable:
    """The open duties of one `f U[w] g`."""

    def __init__(self, compiler: Compiler, formula: Until) -> None:
        self._watch = compiler.make(_Watch)
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
                left_tools = None if self._breaks is None else triggers(broken)
        right_tools = triggers(formula.right)
        self.tools = None if left_tools is None or right_tools is None else left_tools | right_tools
        self.watches: dict[Key, dict[_Watch, None]] = {}
        self.deadlines: deque[_Watch] = deque()

    def clear(self) -> None:
        """Forget all duties."""
        self.watches.clear()
        self.deadlines.clear()

    def times(self) -> set[int]:
        """When the open duties began, if windows ask for that."""
        if self.window.unlimited:
            return set()
        return {watch.time for same in self.watches.values() for watch in same}

    def forget(self, watch: _Watch) -> None:
        """Stop looking for a duty that is decided."""
        same = self.watches.get(watch.key)
        if same is not None:
            same.pop(watch, None)
            if not same:
                del self.watches[watch.key]

    def check(self) -> Status:
        """Whether the formula holds from this step on: a duty, unless this step decides."""
        key = self._read()
        if self.window.upper is None and (open_ones := self.watches.get(key)):
            shared = self._shared(open_ones)
            if shared is not None:
                return shared
        watch = self._watch(self, key, self.moment.time)
        self._look(watch, None, None)
        if watch.value is not None:
            return watch.value
        if watch.closed:
            return watch
        self.watches.setdefault(watch.key, {})[watch] = None
        if watch.deadline != float("inf"):
            self.deadlines.append(watch)
        return watch

    def _shared(self, open_ones: dict[_Watch, None]) -> _Watch | None:
        """An open duty that is met if and only if one that is asked now is.

        Without a deadline, duties for the same values are equal once their windows have opened, if the same pending
        values matter to them. Later ones are then merged into the first.
        """
        now, opened = self.moment.time, self.window.opened
        distinct: dict[tuple[tuple[Pending, ...], tuple[Pending, ...]], _Watch] = {}
        for watch in list(open_ones):
            if watch.closed or not opened(watch.time, now):
                continue
            first = distinct.setdefault((tuple(watch.prefix), tuple(watch.candidates)), watch)
            if first is not watch:
                self.forget(watch)
                for candidate in watch.candidates:
                    candidate.listeners.pop(watch, None)
                watch.forward(first)
        return distinct.get(((), ())) if self.window.unlimited else None

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
                watch.propose(status)
        if self._left is not None:
            self._write(watch.key)
            status = self._left() if left is None else left
            if isinstance(status, Pending):
                watch.prefix = {part: None for part in watch.prefix if part.value is not True}
                watch.prefix[status] = None
            elif not status:
                self._close(watch)

    def _close(self, watch: _Watch) -> None:
        """No later step counts."""
        self.forget(watch)
        watch.closed = True
        watch.settle()

    def expire(self) -> None:
        """Close the duties whose deadline has passed."""
        now = self.moment.time
        while self.deadlines and self.deadlines[0].deadline < now:
            watch = self.deadlines.popleft()
            if watch.value is None and not watch.closed:
                self._close(watch)


class _Successor(Pending):
    """`X[w] f` asked at some step: the next step decides, or what it waits for."""

    __slots__ = ("key", "time")

    def __init__(self, key: Key, time: int) -> None:
        super().__init__()
        self.key = key
        self.time = time

    def at_end(self, end: int | None) -> bool | None:
        return bool(self.value)

    def fingerprint(self) -> Hashable:
        return self.key, self.time


class NextTable:
    """The open questions of one `X[w] f`."""

    tools: frozenset[str] | None = None

    def __init__(self, compiler: Compiler, formula: Next) -> None:
        self._successor = compiler.make(_Successor)
        self.moment = compiler.moment
        self.window = formula.window
        self.variables = tuple(sorted(free_variables(formula)))
        self._read = self.moment.reader(self.variables)
        self._write = self.moment.writer(self.variables)
        self._operand = compiler.compile_check(formula.operand, frozenset(self.variables))
        self._asked: list[_Successor] = []

    def clear(self) -> None:
        """Forget all questions."""
        self._asked = []

    def times(self) -> set[int]:
        """When the questions were asked, if windows ask for that."""
        return set() if self.window.unlimited else {asked.time for asked in self._asked}

    def check(self) -> Status:
        asked = self._successor(self._read(), self.moment.time)
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
                question.forward(status)
            else:
                question.resolve(status)
