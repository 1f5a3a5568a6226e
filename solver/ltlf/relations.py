"""Tables of the past: for which values S and Y are true, and the totals of aggregates."""

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from lawtrace.environments.events import Event
from lawtrace.solver.ltlf.moment import Compiler, Generator, Key, as_key, from_key
from lawtrace.solver.ltlf.pending import Status
from lawtrace.solver.ltlf.safety import unsafe, unsafe_since
from lawtrace.solver.ltlf.syntax import EventAggregate, Formula, Not, Since, Top, Yesterday, free_variables
from lawtrace.solver.ltlf.terms import MISSING, Missing, Value


def summarise(function: str, values: Sequence[Value]) -> Value:
    """The aggregate of some values; MISSING if there is none."""
    if function == "count":
        return len(values)
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if function == "sum":
        return sum(numbers)
    if not numbers:
        return MISSING
    match function:
        case "min":
            return min(numbers)
        case "max":
            return max(numbers)
        case "avg":
            return sum(numbers) / len(numbers)
        case _:
            return values[-1]


class PastTable:
    """The times at which the right operand of S (or the operand of Y) was true, for each combination of values.

    `f S[w] g` keeps an entry while f stays true. Only the times that a window can still ask for are kept: the latest
    without a lower bound, the earliest without an upper one.
    """

    def __init__(self, compiler: Compiler, formula: Since | Yesterday) -> None:
        self.moment = compiler.moment
        self.window = formula.window
        self._unlimited = formula.window.unlimited
        self.variables = tuple(sorted(free_variables(formula)))
        operand = formula.right if isinstance(formula, Since) else formula.operand
        if isinstance(formula, Since) and (missing := free_variables(formula.left) - free_variables(operand)):
            raise unsafe_since(formula, missing)
        self._generate = compiler.compile_generator(operand, frozenset())
        self._read = self.moment.reader(self.variables)
        self._write = self.moment.writer(self.variables)
        self._entries: dict[Key, deque[int]] = {}
        self._oldest: deque[tuple[int, Key]] = deque()
        self._indexes: dict[tuple[int, ...], dict[Key, dict[Key, None]]] = {}
        self._yesterday = isinstance(formula, Yesterday)
        self._next: list[tuple[Key, int]] = []
        self._keeps: Callable[[], None] | None = None
        tools = compiler.triggers(operand)
        if isinstance(formula, Since) and not isinstance(formula.left, Top):
            stays = self._compile_left(compiler, formula.left)
            tools = None if tools is None or stays is None else tools | stays
        self.tools = None if self._yesterday else tools

    def _compile_left(self, compiler: Compiler, left: Formula) -> frozenset[str] | None:
        """Prepares the removal of entries for which the left operand is false; returns the tools that matter."""
        generate = compiler.compile_finder(left.operand) if isinstance(left, Not) else None
        if generate is not None and isinstance(left, Not):
            names = tuple(name for name in self.variables if name in free_variables(left))
            read = self.moment.reader(names)
            places = tuple(self.variables.index(name) for name in names)
            whole = names == self.variables
            if not whole:
                self._indexes.setdefault(places, {})

            def remove() -> None:
                for _ in generate():
                    key = read()
                    if whole:
                        self._discard(key)
                    else:
                        for entry in list(self._indexes[places].get(key, ())):
                            self._discard(entry)

            self._keeps = remove
            return compiler.triggers(left.operand)
        check = compiler.compile_check(left, frozenset(self.variables))

        def scan() -> None:
            for key in list(self._entries):
                self._write(key)
                if check() is not True:
                    self._discard(key)

        self._keeps = scan
        return None

    def update(self) -> None:
        moment = self.moment
        if self._yesterday:
            self._entries.clear()
            for index in self._indexes.values():
                index.clear()
            for key, time in self._next:
                self._insert(key, time)
            self._next = [(self._read(), moment.time) for _ in self._generate()]
            return
        if self._keeps is not None and self._entries:
            self._keeps()
        for _ in self._generate():
            self._insert(self._read(), moment.time)
        if self.window.upper is not None:
            while self._oldest and self.window.closed(self._oldest[0][0], moment.time):
                _, key = self._oldest.popleft()
                times = self._entries.get(key)
                if times is not None:
                    self._prune(times)
                    if not times:
                        self._discard(key)

    def _prune(self, times: deque[int]) -> None:
        while times and self.window.closed(times[0], self.moment.time):
            times.popleft()

    def _insert(self, key: Key, time: int) -> None:
        times = self._entries.get(key)
        if times is None:
            self._entries[key] = deque((time,))
            for places, index in self._indexes.items():
                index.setdefault(tuple(key[place] for place in places), {})[key] = None
        elif self.window.lower is None:
            times[-1] = time
        elif self.window.upper is None:
            return
        elif times[-1] != time:
            times.append(time)
        if self.window.upper is not None:
            self._oldest.append((time, key))

    def _discard(self, key: Key) -> None:
        if self._entries.pop(key, None) is None:
            return
        for places, index in self._indexes.items():
            part = tuple(key[place] for place in places)
            index[part].pop(key, None)
            if not index[part]:
                del index[part]

    def _true_of(self, key: Key) -> bool:
        times = self._entries.get(key)
        if times is None:
            return False
        window, now = self.window, self.moment.time
        if self._unlimited:
            return True
        if window.lower is None:
            return not window.closed(times[-1], now)
        if window.upper is None:
            return window.opened(times[0], now)
        return window.newest(times, now) is not None

    def check(self) -> bool:
        return self._true_of(self._read())

    def generator(self, bound: frozenset[str]) -> Generator:
        """The entries that agree with the bound variables."""
        known = tuple(name for name in self.variables if name in bound)
        places = tuple(self.variables.index(name) for name in known)
        if known:
            self._indexes.setdefault(places, {})
        read = self.moment.reader(known)

        def generate() -> Iterator[Status]:
            keys = self._indexes[places].get(read(), ()) if known else self._entries
            for key in list(keys):
                if self._true_of(key):
                    self._write(key)
                    yield True

        return generate


@dataclass(slots=True)
class _Group:
    """The events that one aggregate counts for one combination of values: one by one under a window, else in sum."""

    entries: deque[tuple[int, Value]] = field(default_factory=deque[tuple[int, Value]])
    count: int = 0
    total: float = 0
    lowest: float | None = None
    highest: float | None = None
    last: Value = None
    distinct: set[Hashable] = field(default_factory=set[Hashable])


class EventTotals:
    """`sum(x of A [w] since B)` for each combination of the values of the variables of A."""

    def __init__(self, compiler: Compiler, leaf: EventAggregate) -> None:
        self.moment = compiler.moment
        self.leaf = leaf
        self.variables = tuple(sorted(leaf.atom.variables))
        self._read = self.moment.reader(self.variables)
        self._groups: dict[Key, _Group] = {}
        self._oldest: deque[tuple[int, Key]] = deque()
        self._windowed = not leaf.window.unlimited
        self._reset: Generator | None = None
        tools = {leaf.atom.tool}
        self._events = self._compile_events(compiler)
        if leaf.since is not None:
            if missing := leaf.since.variables - leaf.atom.variables:
                raise unsafe(leaf.since, missing)
            self._reset = compiler.compile_generator(leaf.since, frozenset())
            self._reset_names = tuple(name for name in self.variables if name in leaf.since.variables)
            self._reset_read = self.moment.reader(self._reset_names)
            tools.add(leaf.since.tool)
        self.tools: frozenset[str] | None = frozenset(tools)

    def _compile_events(self, compiler: Compiler) -> Callable[[], Iterator[tuple[Key, Event]]]:
        """The counted events of this step with their keys, one for each event."""
        moment, atom = self.moment, self.leaf.atom

        def events() -> Iterator[tuple[Key, Event]]:
            everything = moment.events
            for event in everything.get(atom.tool, ()):
                moment.events = {atom.tool: [event]}
                for _ in generate():
                    yield self._read(), event
            moment.events = everything

        generate = compiler.compile_generator(atom, frozenset())
        return events

    def update(self) -> None:
        leaf, now = self.leaf, self.moment.time
        for key, event in list(self._events()):
            value = None
            if leaf.term is not None:
                bindings = {name: from_key(part) for name, part in zip(self.variables, key, strict=True)}
                value = leaf.term.value(event, bindings)
                if isinstance(value, Missing):
                    continue
            group = self._groups.setdefault(key, _Group())
            if self._windowed:
                group.entries.append((now, value))
                if leaf.window.upper is not None:
                    self._oldest.append((now, key))
            else:
                self._add(group, value)
        self._forget_old()
        if self._reset is not None:
            for _ in self._reset():
                part = self._reset_read()
                if self._reset_names == self.variables:
                    self._groups.pop(part, None)
                    continue
                places = [self.variables.index(name) for name in self._reset_names]
                for key in [key for key in self._groups if tuple(key[place] for place in places) == part]:
                    del self._groups[key]

    def _add(self, group: _Group, value: Value) -> None:
        group.last = value
        if self.leaf.distinct:
            group.distinct.add(as_key(value))
        if self.leaf.function in ("count", "last"):
            group.count += 1
        elif isinstance(value, int | float) and not isinstance(value, bool):
            group.count += 1
            group.total += value
            group.lowest = value if group.lowest is None else min(group.lowest, value)
            group.highest = value if group.highest is None else max(group.highest, value)

    def _forget_old(self) -> None:
        """Drop what the window has passed in all groups, so that values that are not asked for again cost nothing."""
        while self._oldest and self.leaf.window.closed(self._oldest[0][0], self.moment.time):
            _, key = self._oldest.popleft()
            group = self._groups.get(key)
            if group is not None:
                self._forget(group)
                if not group.entries:
                    del self._groups[key]

    def _forget(self, group: _Group) -> None:
        """Drop what the window has passed."""
        window, now = self.leaf.window, self.moment.time
        while group.entries and window.closed(group.entries[0][0], now):
            group.entries.popleft()

    def value(self) -> Value:
        leaf, group = self.leaf, self._groups.get(self._read())
        if group is None:
            return 0 if leaf.function in ("count", "sum") else MISSING
        if self._windowed:
            self._forget(group)
            if not group.entries:
                del self._groups[self._read()]
            opened: list[Value] = [value for time, value in group.entries if leaf.window.opened(time, self.moment.time)]
            return len(set(map(as_key, opened))) if leaf.distinct else summarise(leaf.function, opened)
        if leaf.distinct:
            return len(group.distinct)
        match leaf.function:
            case "count":
                return group.count
            case "sum":
                return group.total
            case "min" | "max":
                found = group.lowest if leaf.function == "min" else group.highest
                return MISSING if found is None else found
            case "avg":
                return group.total / group.count if group.count else MISSING
            case "last":
                return group.last
