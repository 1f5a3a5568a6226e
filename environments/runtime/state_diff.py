"""Comparison of a final state with the target state.

States are compared up to renaming of created rows, without tables that only compliance tools write and fields that
depend on the order of calls. A created row is identified by its content: its fields, with each mention of another
created row replaced by that row's content. So two payments made in either order are the same two payments. Created
rows with equal content are distinguished by the rows that mention them: two messages in one of two equal consultations
differ from one message in each.

States are compared as they are at the end of the session: what is due until then has happened. So a difference does
not depend on when the last call was made, and what was scheduled within the session counts as what was done at once.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from lawtrace.environments.runtime.simulation import state_at
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import Entity, Row, State
from lawtrace.environments.spec.types import Value
from lawtrace.schemas.events import Json
from lawtrace.schemas.verdict_rows import StateDifference

REFERENCE_DEPTH = 4
"""Maximum depth of mentions that are followed; declarations nest no deeper."""


def compare_states(
    environment: Environment, initial: State, expected: State, actual: State
) -> tuple[StateDifference, ...]:
    """The differences between the expected and the actual final state, both reached from ``initial``."""
    return TargetState(environment, initial, expected).compare(actual)


class TargetState:
    """The state that is expected after calls from ``initial``, prepared for comparison with many final states.

    A table that neither state changes is compared only if it may mention created rows.
    """

    def __init__(self, environment: Environment, initial: State, expected: State) -> None:
        self._judged = {
            name: e for name, e in environment.entities.items() if name not in environment.compliance_tables
        }
        self._environment, self._end = environment, environment.clock.end(initial)
        self._before = {table: _Before.of(entity, initial) for table, entity in environment.entities.items()}
        self._wanted = self._final(expected)
        self._unchanged = frozenset(
            table for table, before in self._before.items() if self._wanted.kept[table] == before.kept
        )

    def compare(self, actual: State) -> tuple[StateDifference, ...]:
        """The differences to a final state."""
        wanted, found = self._wanted, self._final(actual)
        created = wanted.created_keys | found.created_keys
        differences: list[StateDifference] = []
        for table, entity in self._judged.items():
            before = self._before[table]
            same = table in self._unchanged and found.kept[table] is before.kept
            if not same or not created.isdisjoint(before.items):
                differences += _compare_kept(entity, wanted, found)
            differences += _compare_created(entity, wanted, found)
        return tuple(differences or _compare_mentions(wanted, found))

    def _final(self, state: State) -> "_FinalState":
        return _FinalState(self._judged, self._before, state_at(self._environment, state, self._end))


@dataclass(frozen=True, slots=True)
class _Before:
    """A table of the initial state: its entity, its rows, those present by key, and the values in them."""

    entity: Entity
    rows: tuple[Row, ...]
    kept: dict[Value, Row]
    items: frozenset[Value]

    @classmethod
    def of(cls, entity: Entity, initial: State) -> "_Before":
        kept = {row.values[entity.key]: row for row in initial.rows(entity.table)}
        items = frozenset(item for row in kept.values() for value in row.values.values() for item in _leaves(value))
        return cls(entity, initial.tables[entity.table], kept, items)


_Name = tuple[str, Value]
"""A created row by its table and key."""


@dataclass(frozen=True, slots=True)
class _Mention:
    """A mention of the created row ``target`` in a field of the row ``source``.

    ``source`` is None for a row of the initial state; ``place`` then contains its key beside table and field.
    """

    source: _Name | None
    place: str
    target: _Name


class _FinalState:
    """A final state, split into rows of the initial state and created rows.

    Attributes:
        kept: for each table the rows of the initial state by key.
        created: the created rows of judged tables.
        contents: the content of each of them.
    """

    def __init__(self, judged: Mapping[str, Entity], before: Mapping[str, _Before], state: State) -> None:
        self._judged = judged
        self._state = state
        self.kept: dict[str, dict[Value, Row]] = {}
        self._by_key: dict[Value, list[tuple[Entity, Row]]] = {}  # two tables may use the same key
        for table, known in before.items():
            if state.tables[table] is known.rows:
                self.kept[table] = known.kept
                continue
            kept = self.kept[table] = {}
            for row in state.rows(table):
                key = row.values[known.entity.key]
                if key in known.kept:
                    kept[key] = row
                else:
                    self._by_key.setdefault(key, []).append((known.entity, row))
        created = [(entity, key, row) for key, rows in self._by_key.items() for entity, row in rows]
        self.created: dict[_Name, Row] = {(e.table, key): row for e, key, row in created if e.table in judged}
        self.contents = {name: self._content(judged[name[0]], row) for name, row in self.created.items()}

    @property
    def created_keys(self) -> Set[Value]:
        """The keys of the created rows, of unjudged tables too."""
        return self._by_key.keys()

    def by_content(self, table: str) -> dict[str, list[Row]]:
        """The created rows of a table, grouped by content."""
        rows: dict[str, list[Row]] = {}
        for name, content in self.contents.items():
            if name[0] == table:
                rows.setdefault(content, []).append(self.created[name])
        return rows

    def unnamed(self, value: Value, depth: int = REFERENCE_DEPTH) -> Value:
        """The value with mentions of created rows replaced by their content."""
        if isinstance(value, tuple):
            return tuple(self.unnamed(item, depth) for item in cast("tuple[Value, ...]", value))
        if not isinstance(value, str) or not depth:
            return value
        mentioned = [self._content(entity, row, depth - 1) for entity, row in self._by_key.get(value, ())]
        return f"<{' or '.join(mentioned)}>" if mentioned else value

    def _content(self, entity: Entity, row: Row, depth: int = REFERENCE_DEPTH) -> str:
        parts = [
            f"{name}={self.unnamed(row.values[name], depth)!r}"
            for name, declared in entity.fields.items()
            if name != entity.key and not declared.order_dependent
        ]
        return f"{entity.table}({', '.join(parts)})"

    @cached_property
    def mentions(self) -> list[_Mention]:
        """The mentions of created rows in rows of judged tables."""
        mentions: list[_Mention] = []
        for table, entity in self._judged.items():
            for row in self._state.rows(table):
                name: _Name = (table, row.values[entity.key])
                source = name if name in self.created else None
                for field, declared in entity.fields.items():
                    if field == entity.key or declared.order_dependent:
                        continue
                    place = f"{table}.{field}" if source else f"{table} {name[1]}.{field}"
                    for at, item in _items(place, row.values[field]):
                        targets = ((other.table, item) for other, _ in self._by_key.get(item, ()))
                        mentions += [_Mention(source, at, target) for target in targets if target in self.created]
        return mentions

    def mentioned(self, name: _Name) -> str:
        """The places that mention the row, with the content of each mentioning row; may be empty."""
        places = (
            one.place if one.source is None else f"{one.place} of {self.contents[one.source]}"
            for one in self.mentions
            if one.target == name
        )
        return ", ".join(sorted(places))


def _compare_kept(entity: Entity, wanted: _FinalState, found: _FinalState) -> list[StateDifference]:
    differences: list[StateDifference] = []
    here, there = wanted.kept[entity.table], found.kept[entity.table]
    for key in [*here, *(key for key in there if key not in here)]:
        if key not in there or key not in here:
            whole = (entity.encode_row(rows[key]) if key in rows else None for rows in (here, there))
            differences.append(StateDifference(entity.table, str(key), None, *whole))
            continue
        for name, declared in entity.fields.items():
            left, right = here[key].values[name], there[key].values[name]
            if not declared.order_dependent and wanted.unnamed(left) != found.unnamed(right):
                shown = (None if value is None else declared.type.encode(value) for value in (left, right))
                differences.append(StateDifference(entity.table, str(key), name, *shown))
    return differences


def _compare_created(entity: Entity, wanted: _FinalState, found: _FinalState) -> list[StateDifference]:
    differences: list[StateDifference] = []
    if not wanted.created and not found.created:
        return differences
    here, there = wanted.by_content(entity.table), found.by_content(entity.table)
    for content, rows in here.items():
        missing = rows[len(there.get(content, ())) :]
        differences += [StateDifference(entity.table, "(created)", None, _shown(entity, row), None) for row in missing]
    for content, rows in there.items():
        surplus = rows[len(here.get(content, ())) :]
        differences += [StateDifference(entity.table, "(created)", None, None, _shown(entity, row)) for row in surplus]
    return differences


def _compare_mentions(wanted: _FinalState, found: _FinalState) -> list[StateDifference]:
    """For states whose created rows have equal contents: compare the mentions of rows with equal content."""
    sides = (wanted, found)
    if all(len(set(side.contents.values())) == len(side.contents) for side in sides):
        return []  # all contents differ
    numbers: dict[object, int] = {}
    classes = [_refined_classes(side, numbers) for side in sides]
    here, there = (Counter(each.values()) for each in classes)
    differing = (here - there) | (there - here)
    differences: list[StateDifference] = []
    for table in wanted.kept:
        shown = [
            sorted(side.mentioned(row) for row, number in each.items() if row[0] == table and number in differing)
            for side, each in zip(sides, classes, strict=True)
        ]
        if any(any(side) for side in shown):
            differences.append(StateDifference(table, "(created)", "mentioned in", [*shown[0]], [*shown[1]]))
    return differences


def _refined_classes(side: _FinalState, numbers: dict[object, int]) -> dict[_Name, int]:
    """Partition refinement: a number for each created row, equal for rows that cannot be distinguished.

    A class starts as the row's content and is refined by the classes of the rows that mention it and that it mentions.
    ``numbers`` is shared, so equal classes have equal numbers on both sides.
    """
    found: dict[_Name, object] = {**side.contents}
    for _ in (None, *side.contents):
        known = {row: numbers.setdefault(class_key, len(numbers)) for row, class_key in found.items()}
        found = {
            row: (
                class_key,
                tuple(sorted((m.place, known[m.source] if m.source else -1) for m in side.mentions if m.target == row)),
                tuple(sorted((m.place, known[m.target]) for m in side.mentions if m.source == row)),
            )
            for row, class_key in known.items()
        }
    return {row: numbers.setdefault(class_key, len(numbers)) for row, class_key in found.items()}


def _items(place: str, value: Value) -> Iterable[tuple[str, Value]]:
    """The texts in a field with their places: one, or the items of a list."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, tuple):
        yield from ((f"{place}[{at}]", item) for at, item in enumerate(cast("tuple[Value, ...]", value)))


def _leaves(value: Value) -> Iterable[Value]:
    """The value, or the items of a list."""
    if isinstance(value, tuple):
        for item in cast("tuple[Value, ...]", value):
            yield from _leaves(item)
    else:
        yield value


def _shown(entity: Entity, row: Row) -> Json:
    whole = entity.encode_row(row)
    return {
        name: value for name, value in whole.items() if name != entity.key and not entity.fields[name].order_dependent
    }
