"""Open duties: U and X asked at some step for some values, until the steps to come decide them."""

from collections import deque
from collections.abc import Hashable

from lawtrace.solver.logic.syntax import Next, Not, Top, Until, free_variables
from lawtrace.solver.logic.violations import triggers
from lawtrace.solver.monitoring.pending import Pending, Status, fingerprints, junction, junction_at_end, negation
from lawtrace.solver.monitoring.step_context import Compiler, Generator, Key


class _Obligation(Pending):
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
        self._obligation = compiler.track(_Obligation)
        self.context = compiler.context
        self.window = formula.window
        self.variables = tuple(sorted(free_variables(formula)))
        bound = frozenset(self.variables)
        self._read = self.context.reader(self.variables)
        self._write = self.context.writer(self.variables)
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
        self.obligations: dict[Key, dict[_Obligation, None]] = {}
        self.deadlines: deque[_Obligation] = deque()

    def clear(self) -> None:
        """Forget all duties."""
        self.obligations.clear()
        self.deadlines.clear()

    def times(self) -> set[int]:
        """When the open duties began, if windows ask for that."""
        if self.window.unlimited:
            return set()
        return {obligation.time for same in self.obligations.values() for obligation in same}

    def forget(self, obligation: _Obligation) -> None:
        """Stop looking for a duty that is decided."""
        same = self.obligations.get(obligation.key)
        if same is not None:
            same.pop(obligation, None)
            if not same:
                del self.obligations[obligation.key]

    def check(self) -> Status:
        """Whether the formula holds from this step on: a duty, unless this step decides."""
        key = self._read()
        if self.window.upper is None and (open_ones := self.obligations.get(key)):
            shared = self._shared(open_ones)
            if shared is not None:
                return shared
        obligation = self._obligation(self, key, self.context.time)
        self._look(obligation, None, None)
        if obligation.value is not None:
            return obligation.value
        if obligation.closed:
            return obligation
        self.obligations.setdefault(obligation.key, {})[obligation] = None
        if obligation.deadline != float("inf"):
            self.deadlines.append(obligation)
        return obligation

    def _shared(self, open_ones: dict[_Obligation, None]) -> _Obligation | None:
        """An open duty that is met if and only if one that is asked now is.

        Without a deadline, duties for the same values are equal once their windows have opened, if the same pending
        values matter to them. Later ones are then merged into the first.
        """
        now, opened = self.context.time, self.window.opened
        distinct: dict[tuple[tuple[Pending, ...], tuple[Pending, ...]], _Obligation] = {}
        for obligation in list(open_ones):
            if obligation.closed or not opened(obligation.time, now):
                continue
            first = distinct.setdefault((tuple(obligation.prefix), tuple(obligation.candidates)), obligation)
            if first is not obligation:
                self.forget(obligation)
                for candidate in obligation.candidates:
                    candidate.listeners.pop(obligation, None)
                obligation.forward(first)
        return distinct.get(((), ())) if self.window.unlimited else None

    def update(self) -> None:
        if not self.obligations:
            return
        found = self._found(self._finds)
        broken = self._found(self._breaks)
        if found is not None and (self._left is None or broken is not None):
            for key in dict.fromkeys((*found, *(broken or ()))):
                for obligation in list(self.obligations.get(key, ())):
                    self._look(obligation, found.get(key, False), negation((broken or {}).get(key, False)))
            return
        for key in list(self.obligations):
            for obligation in list(self.obligations.get(key, ())):
                self._look(obligation, None if found is None else found.get(key, False), None)

    def _found(self, generate: Generator | None) -> dict[Key, Status] | None:
        """The values with which an operand is, or may become, true in this step."""
        if generate is None:
            return None
        found: dict[Key, Status] = {}
        for status in generate():
            key = self._read()
            found[key] = junction(True, [found[key], status]) if key in found else status
        return found

    def _look(self, obligation: _Obligation, right: Status | None, left: Status | None) -> None:
        """Take this step into account; the truth of the operands is looked up unless it is given."""
        if obligation.value is not None:
            return
        self._write(obligation.key)
        if self.window.contains(obligation.time, self.context.time):
            status = junction(False, [*obligation.prefix, self._right() if right is None else right])
            if status is True:
                obligation.resolve(True)
                return
            if isinstance(status, Pending):
                obligation.propose(status)
        if self._left is not None:
            self._write(obligation.key)
            status = self._left() if left is None else left
            if isinstance(status, Pending):
                obligation.prefix = {part: None for part in obligation.prefix if part.value is not True}
                obligation.prefix[status] = None
            elif not status:
                self._close(obligation)

    def _close(self, obligation: _Obligation) -> None:
        """No later step counts."""
        self.forget(obligation)
        obligation.closed = True
        obligation.settle()

    def expire(self) -> None:
        """Close the duties whose deadline has passed."""
        now = self.context.time
        while self.deadlines and self.deadlines[0].deadline < now:
            obligation = self.deadlines.popleft()
            if obligation.value is None and not obligation.closed:
                self._close(obligation)


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
        self._successor = compiler.track(_Successor)
        self.context = compiler.context
        self.window = formula.window
        self.variables = tuple(sorted(free_variables(formula)))
        self._read = self.context.reader(self.variables)
        self._write = self.context.writer(self.variables)
        self._operand = compiler.compile_check(formula.operand, frozenset(self.variables))
        self._asked: list[_Successor] = []

    def clear(self) -> None:
        """Forget all questions."""
        self._asked = []

    def times(self) -> set[int]:
        """When the questions were asked, if windows ask for that."""
        return set() if self.window.unlimited else {asked.time for asked in self._asked}

    def check(self) -> Status:
        asked = self._successor(self._read(), self.context.time)
        self._asked.append(asked)
        return asked

    def update(self) -> None:
        asked, self._asked = self._asked, []
        for question in asked:
            if not self.window.contains(question.time, self.context.time):
                question.resolve(False)
                continue
            self._write(question.key)
            status = self._operand()
            if isinstance(status, Pending):
                question.forward(status)
            else:
                question.resolve(status)
