"""Totals of aggregates, brought up to date with each value that comes or goes."""

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from lawtrace.schemas.events import Event, Json
from lawtrace.solver.logic.syntax import EventAggregate, RelationAggregate, term_variables
from lawtrace.solver.logic.terms import MISSING, BoundVariable, LiteralValue, Missing, Term, Value, leaves
from lawtrace.solver.monitoring.relations import SinceTable
from lawtrace.solver.monitoring.step_context import Compiler, Generator, Key, as_key, from_key
from lawtrace.solver.monitoring.undo import Track, untracked


class Total:
    """The aggregate of a changing collection of values."""

    def add(self, value: Value) -> None:
        raise NotImplementedError

    def remove(self, value: Value) -> None:
        """Take out a value that was added; for `last`, always the oldest one."""
        raise NotImplementedError

    def value(self) -> Value:
        raise NotImplementedError

    def fingerprint(self) -> Hashable:
        """Equal for totals of one aggregate that the same values change in the same way, but for windows."""
        return as_key(self.value())


class _Count(Total):
    def __init__(self) -> None:
        self.count = 0

    def add(self, value: Value) -> None:
        self.count += 1

    def remove(self, value: Value) -> None:
        self.count -= 1

    def value(self) -> Value:
        return self.count


class _Last(_Count):
    def __init__(self) -> None:
        super().__init__()
        self.latest: Value = MISSING

    def add(self, value: Value) -> None:
        super().add(value)
        self.latest = value

    def value(self) -> Value:
        return self.latest if self.count else MISSING


class _Distinct(Total):
    def __init__(self) -> None:
        self.counts: dict[Hashable, int] = {}

    def add(self, value: Value) -> None:
        key = as_key(value)
        self.counts[key] = self.counts.get(key, 0) + 1

    def remove(self, value: Value) -> None:
        key = as_key(value)
        self.counts[key] -= 1
        if not self.counts[key]:
            del self.counts[key]

    def value(self) -> Value:
        return len(self.counts)

    def fingerprint(self) -> Hashable:
        return frozenset(self.counts)


class _Sum(Total):
    """An exact sum: fractions are rounded when the value is read."""

    def __init__(self) -> None:
        self.count = 0
        self.total: int | Fraction = 0
        self.floats = 0
        self.infinite: list[float] = []

    def add(self, value: Value) -> None:
        self._change(value, 1)

    def remove(self, value: Value) -> None:
        self._change(value, -1)

    def _change(self, value: Value, sign: int) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return
        self.count += sign
        if isinstance(value, int):
            self.total += sign * value
            return
        self.floats += sign
        if math.isfinite(value):
            self.total += sign * (int(value) if value.is_integer() else Fraction(value))
        elif sign > 0:
            self.infinite.append(value)
        else:
            self.infinite.remove(value)

    def value(self) -> Value:
        if self.infinite:
            return sum(self.infinite)
        return float(self.total) if self.floats else int(self.total)


class _Average(_Sum):
    def fingerprint(self) -> Hashable:
        return self.count, self.total

    def value(self) -> Value:
        total = super().value()
        return total / self.count if self.count and isinstance(total, int | float) else MISSING


class _Extreme(Total):
    """The least number; the greatest if the sign is -1."""

    def __init__(self, sign: int) -> None:
        self.sign = sign
        self.counts: dict[float, int] = {}
        self.numbers: dict[float, Value] = {}
        self.ranks: list[float] = []
        """The different numbers with the sign, ascending."""

    def add(self, value: Value) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return
        rank = self.sign * value
        if rank not in self.counts:
            insort(self.ranks, rank)
            self.counts[rank], self.numbers[rank] = 0, value
        self.counts[rank] += 1

    def remove(self, value: Value) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return
        rank = self.sign * value
        self.counts[rank] -= 1
        if not self.counts[rank]:
            del self.counts[rank], self.numbers[rank], self.ranks[bisect_left(self.ranks, rank)]

    def value(self) -> Value:
        return self.numbers[self.ranks[0]] if self.ranks else MISSING


_TOTALS: Final[Mapping[str, type[_Count | _Sum]]] = {"count": _Count, "last": _Last, "sum": _Sum, "avg": _Average}


def make_total(function: str, track: Track = untracked, *, distinct: bool = False) -> Total:
    """The total of nothing."""
    if function in ("min", "max"):
        return track(_Extreme)(1 if function == "min" else -1)
    return track(_Distinct)() if distinct else track(_TOTALS[function])()


def summarise(function: str, values: Iterable[Value]) -> Value:
    """The aggregate of some values; MISSING if there is none."""
    total = make_total(function)
    for value in values:
        total.add(value)
    return total.value()


@dataclass(slots=True)
class _Group:
    """The events that one aggregate counts for one combination of values.

    Attributes:
        total: of the events inside the window.
        waiting: times and values of events before the window, the oldest first.
        inside: those of the events inside it, if they will leave it.
    """

    total: Total
    waiting: deque[tuple[int, Value]] = field(default_factory=deque[tuple[int, Value]])
    inside: deque[tuple[int, Value]] = field(default_factory=deque[tuple[int, Value]])


class EventTotals:
    """`sum(x of A [w] since B)` for each combination of the values of the variables of A."""

    def __init__(self, compiler: Compiler, leaf: EventAggregate) -> None:
        self._track = compiler.track
        self.context = compiler.context
        self.leaf = leaf
        self.variables = tuple(sorted(leaf.atom.variables))
        self._read = self.context.reader(self.variables)
        self._groups: dict[Key, _Group] = {}
        self._oldest: deque[tuple[int, Key]] = deque()
        self._nothing = make_total(leaf.function, distinct=leaf.distinct).value()
        self._reset: Generator | None = None
        tools = {leaf.atom.tool}
        self._events = self._compile_events(compiler)
        self._parts: dict[Key, dict[Key, None]] | None = None
        if leaf.since is not None:
            self._reset = compiler.compile_generator(leaf.since, frozenset())
            names = tuple(name for name in self.variables if name in leaf.since.variables)
            self._reset_read = self.context.reader(names)
            self._places = tuple(self.variables.index(name) for name in names)
            self._parts = {}
            tools.add(leaf.since.tool)
        self.tools: frozenset[str] | None = frozenset(tools)

    def clear(self) -> None:
        """Forget all events."""
        self._groups.clear()
        self._oldest.clear()
        if self._parts is not None:
            self._parts.clear()

    def _compile_events(self, compiler: Compiler) -> Callable[[], Iterator[tuple[Key, Event]]]:
        """The counted events of this step with their keys, one for each event."""
        context, atom = self.context, self.leaf.atom

        def events() -> Iterator[tuple[Key, Event]]:
            everything = context.events
            for event in everything.get(atom.tool, ()):
                context.events = {atom.tool: [event]}
                for _ in generate():
                    yield self._read(), event
            context.events = everything

        generate = compiler.compile_generator(atom, frozenset())
        return events

    def fingerprint(self) -> Hashable:
        """Equal for totals of one aggregate with the same content."""
        return frozenset(
            (key, group.total.fingerprint(), _frozen(group.waiting), _frozen(group.inside))
            for key, group in self._groups.items()
        )

    def times(self) -> set[int]:
        """The times of the events, if the window asks for them."""
        groups = self._groups.values()
        return {time for group in groups for times in (group.waiting, group.inside) for time, _ in times}

    def update(self) -> None:
        leaf, now = self.leaf, self.context.time
        for key, event in list(self._events()):
            value: Value = None
            if leaf.term is not None:
                bindings: dict[str, Json] = {
                    name: from_key(part) for name, part in zip(self.variables, key, strict=True)
                }
                value = leaf.term.value(event, bindings)
                if isinstance(value, Missing):
                    continue
            self._count(key, value, now)
        while self._oldest and leaf.window.closed(self._oldest[0][0], now):
            _, key = self._oldest.popleft()
            group = self._groups.get(key)
            if group is not None:
                self._forget(key, group)
        if self._reset is not None and self._parts is not None:
            for _ in self._reset():
                for key in list(self._parts.get(self._reset_read(), ())):
                    self._drop(key)

    def _count(self, key: Key, value: Value, now: int) -> None:
        group = self._groups.get(key)
        if group is None:
            total = make_total(self.leaf.function, self._track, distinct=self.leaf.distinct)
            group = self._groups[key] = self._track(_Group)(total)
            if self._parts is not None:
                self._parts.setdefault(tuple(key[place] for place in self._places), {})[key] = None
        if self.leaf.window.unlimited:
            group.total.add(value)
            return
        group.waiting.append((now, value))
        if self.leaf.window.upper is not None:
            self._oldest.append((now, key))

    def _drop(self, key: Key) -> None:
        del self._groups[key]
        if self._parts is not None:
            part = tuple(key[place] for place in self._places)
            self._parts[part].pop(key)
            if not self._parts[part]:
                del self._parts[part]

    def _forget(self, key: Key, group: _Group) -> None:
        """Drop what the window has passed."""
        window, now = self.leaf.window, self.context.time
        while group.waiting and window.closed(group.waiting[0][0], now):
            group.waiting.popleft()
        while group.inside and window.closed(group.inside[0][0], now):
            group.total.remove(group.inside.popleft()[1])
        if not group.waiting and not group.inside and window.upper is not None:
            self._drop(key)

    def value(self) -> Value:
        key = self._read()
        group = self._groups.get(key)
        if group is None:
            return self._nothing
        window, now = self.leaf.window, self.context.time
        if window.upper is not None:
            self._forget(key, group)
        while group.waiting and window.opened(group.waiting[0][0], now):
            entry = group.waiting.popleft()
            group.total.add(entry[1])
            if window.upper is not None:
                group.inside.append(entry)
        return group.total.value()


def _frozen(entries: deque[tuple[int, Value]]) -> tuple[tuple[int, Hashable], ...]:
    return tuple((time, as_key(value)) for time, value in entries)


class RelationTotals:
    """`sum(x for y: f)` for each combination of the other values of f, where f has a table without a lower bound."""

    def __init__(self, compiler: Compiler, leaf: RelationAggregate, table: SinceTable) -> None:
        self._track = compiler.track
        self.leaf = leaf
        self.table = table
        self._names = tuple(name for name in table.variables if name not in leaf.variables)
        self._places = tuple(table.variables.index(name) for name in self._names)
        self._read = table.context.reader(self._names)
        self._totals: dict[Key, Total] = {}
        self._sizes: dict[Key, int] = {}
        self._nothing = make_total(leaf.function).value()
        table.observers.append(self)

    @staticmethod
    def suits(leaf: RelationAggregate, table: SinceTable) -> bool:
        """Whether the entries of the table alone decide the values that count."""
        if table.window.lower is not None or not frozenset(leaf.variables) <= frozenset(table.variables):
            return False
        return leaf.term is None or (
            term_variables(leaf.term) <= frozenset(table.variables)
            and all(isinstance(part, BoundVariable | LiteralValue) for part in leaves(leaf.term))
        )

    def _term(self, key: Key) -> Value:
        term: Term | None = self.leaf.term
        if term is None:
            return None
        return term.value(
            Event("", {}), {name: from_key(part) for name, part in zip(self.table.variables, key, strict=True)}
        )

    def inserted(self, key: Key) -> None:
        group = tuple(key[place] for place in self._places)
        if group not in self._totals:
            self._totals[group], self._sizes[group] = make_total(self.leaf.function, self._track), 0
        self._totals[group].add(self._term(key))
        self._sizes[group] += 1

    def discarded(self, key: Key) -> None:
        group = tuple(key[place] for place in self._places)
        self._totals[group].remove(self._term(key))
        self._sizes[group] -= 1
        if not self._sizes[group]:
            del self._totals[group], self._sizes[group]

    def cleared(self) -> None:
        self._totals.clear()
        self._sizes.clear()

    def value(self) -> Value:
        self.table.forget_old()
        found = self._totals.get(self._read())
        return self._nothing if found is None else found.value()
