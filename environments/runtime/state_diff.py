"""Comparison of a final state with the target state.

States are compared up to renaming of created rows, without tables that only compliance tools write and fields that
depend on the order of calls. A created row is identified by its content: its fields, with each mention of another
created row replaced by that row's content. So two payments made in either order are the same two payments. Created
rows with equal content are distinguished by the rows that mention them: two messages in one of two equal consultations
differ from one message in each.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import cast

from lawtrace.environments.events import Json
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import Entity, Row, State
from lawtrace.environments.spec.types import Value

REFERENCE_DEPTH = 4
"""Maximum depth of mentions that are followed; declarations nest no deeper."""


@dataclass(frozen=True, slots=True)
class StateDifference:
    """One difference between the actual and the expected state.

    Attributes:
        table: the table.
        row: the key of the row, or ``(created)`` for a row that the calls made.
        field: the field, or None for a missing or surplus row.
        expected: the expected value; None for a surplus row.
        actual: the actual value; None for a missing row.
    """

    table: str
    row: str
    field: str | None
    expected: Json
    actual: Json

    def __str__(self) -> str:
        place = f"{self.table} {self.row}" + (f", {self.field}" if self.field else "")
        if self.actual is None:
            return f"{place}: missing, expected {self.expected}"
        if self.expected is None:
            return f"{place}: not expected, is {self.actual}"
        return f"{place}: expected {self.expected}, is {self.actual}"


def compare_states(
    environment: Environment, initial: State, expected: State, actual: State
) -> tuple[StateDifference, ...]:
    """The differences between the expected and the actual final state, both reached from ``initial``."""
    wanted, found = (_created_rows(environment, initial, state) for state in (expected, actual))
    differences: list[StateDifference] = []
    for table, entity in environment.entities.items():
        if table in environment.compliance_tables:
            continue
        before = {row.values[entity.key] for row in initial.rows(table)}
        kept = ({row.values[entity.key]: row for row in state.rows(table)} for state in (expected, actual))
        wanted_rows, found_rows = ({key: row for key, row in rows.items() if key in before} for rows in kept)
        differences += _compare_kept(entity, wanted_rows, found_rows, wanted, found)
        differences += _compare_created(entity, wanted, found)
    if not differences:
        differences += _compare_mentions(environment, (expected, wanted), (actual, found))
    return tuple(differences)


_Created = Mapping[Value, list[tuple[Entity, Row]]]
"""Created rows by key. Two tables may use the same key."""


def _created_rows(environment: Environment, initial: State, state: State) -> _Created:
    created: dict[Value, list[tuple[Entity, Row]]] = {}
    for table, entity in environment.entities.items():
        before = {row.values[entity.key] for row in initial.rows(table)}
        for row in state.rows(table):
            if row.values[entity.key] not in before:
                created.setdefault(row.values[entity.key], []).append((entity, row))
    return created


def _compare_kept(
    entity: Entity, wanted: Mapping[Value, Row], found: Mapping[Value, Row], wanted_new: _Created, found_new: _Created
) -> list[StateDifference]:
    differences: list[StateDifference] = []
    for key in [*wanted, *(key for key in found if key not in wanted)]:
        if key not in found or key not in wanted:
            whole = (entity.encode_row(rows[key]) if key in rows else None for rows in (wanted, found))
            differences.append(StateDifference(entity.table, str(key), None, *whole))
            continue
        for name, declared in entity.fields.items():
            left, right = wanted[key].values[name], found[key].values[name]
            same = _same(left, wanted_new, right, found_new)
            if not same and not declared.order_dependent:
                shown = (None if value is None else declared.type.encode(value) for value in (left, right))
                differences.append(StateDifference(entity.table, str(key), name, *shown))
    return differences


def _compare_created(entity: Entity, wanted: _Created, found: _Created) -> list[StateDifference]:
    here, there = _by_content(entity, wanted), _by_content(entity, found)
    differences: list[StateDifference] = []
    for content, rows in here.items():
        missing = rows[len(there.get(content, ())) :]
        differences += [StateDifference(entity.table, "(created)", None, _shown(entity, row), None) for row in missing]
    for content, rows in there.items():
        surplus = rows[len(here.get(content, ())) :]
        differences += [StateDifference(entity.table, "(created)", None, None, _shown(entity, row)) for row in surplus]
    return differences


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


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two states: the content of its created rows, and their mentions."""

    contents: Mapping[_Name, str]
    mentions: list[_Mention]

    def mentioned(self, name: _Name) -> str:
        """The places that mention the row, with the content of each mentioning row; may be empty."""
        return ", ".join(
            sorted(
                one.place if one.source is None else f"{one.place} of {self.contents[one.source]}"
                for one in self.mentions
                if one.target == name
            )
        )


def _compare_mentions(
    environment: Environment, expected: tuple[State, _Created], actual: tuple[State, _Created]
) -> list[StateDifference]:
    """For states whose created rows have equal contents: compare the mentions of rows with equal content."""
    sides = [_side(environment, *of) for of in (expected, actual)]
    if all(len(set(side.contents.values())) == len(side.contents) for side in sides):
        return []  # all contents differ
    numbers: dict[object, int] = {}
    classes = [_refined_classes(side, numbers) for side in sides]
    here, there = (Counter(each.values()) for each in classes)
    differing = (here - there) | (there - here)
    differences: list[StateDifference] = []
    for table in environment.entities:
        shown = [
            sorted(side.mentioned(row) for row, number in each.items() if row[0] == table and number in differing)
            for side, each in zip(sides, classes, strict=True)
        ]
        if any(any(side) for side in shown):
            differences.append(StateDifference(table, "(created)", "mentioned in", [*shown[0]], [*shown[1]]))
    return differences


def _refined_classes(side: _Side, numbers: dict[object, int]) -> dict[_Name, int]:
    """Partition refinement: a number for each created row, equal for rows that cannot be distinguished.

    A class starts as the row's content and is refined by the classes of the rows that mention it and that it mentions.
    ``numbers`` is shared, so equal classes have equal numbers on both sides.
    """
    found: Mapping[_Name, object] = side.contents
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


def _side(environment: Environment, state: State, created: _Created) -> _Side:
    judged = {
        name: entity for name, entity in environment.entities.items() if name not in environment.compliance_tables
    }
    contents: dict[_Name, str] = {
        (entity.table, key): _content(entity, row, created, REFERENCE_DEPTH)
        for key, rows in created.items()
        for entity, row in rows
        if entity.table in judged
    }
    mentions: list[_Mention] = []
    for table, entity in judged.items():
        for row in state.rows(table):
            name: _Name = (table, row.values[entity.key])
            source = name if name in contents else None
            for field, declared in entity.fields.items():
                if field == entity.key or declared.order_dependent:
                    continue
                place = f"{table}.{field}" if source else f"{table} {name[1]}.{field}"
                for at, item in _items(place, row.values[field]):
                    targets = ((other.table, item) for other, _ in created.get(item, ()))
                    mentions += [_Mention(source, at, target) for target in targets if target in contents]
    return _Side(contents, mentions)


def _items(place: str, value: Value) -> Iterable[tuple[str, Value]]:
    """The texts in a field with their places: one, or the items of a list."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, tuple):
        yield from ((f"{place}[{at}]", item) for at, item in enumerate(cast("tuple[Value, ...]", value)))


def _by_content(entity: Entity, created: _Created) -> dict[str, list[Row]]:
    """The created rows of one entity, grouped by content."""
    rows: dict[str, list[Row]] = {}
    for other, row in chain.from_iterable(created.values()):
        if other is entity:
            rows.setdefault(_content(entity, row, created, REFERENCE_DEPTH), []).append(row)
    return rows


def _content(entity: Entity, row: Row, created: _Created, depth: int) -> str:
    parts = [
        f"{name}={_unnamed(row.values[name], created, depth)!r}"
        for name, declared in entity.fields.items()
        if name != entity.key and not declared.order_dependent
    ]
    return f"{entity.table}({', '.join(parts)})"


def _same(left: Value, left_new: _Created, right: Value, right_new: _Created) -> bool:
    """Whether the values are equal when created rows are replaced by their content."""
    if isinstance(left, str | tuple) and (left_new or right_new):
        return _unnamed(left, left_new, REFERENCE_DEPTH) == _unnamed(right, right_new, REFERENCE_DEPTH)
    return left == right


def _unnamed(value: Value, created: _Created, depth: int) -> Value:
    """The value with mentions of created rows replaced by their content."""
    if isinstance(value, tuple):
        return tuple(_unnamed(item, created, depth) for item in cast("tuple[Value, ...]", value))
    if not isinstance(value, str) or not depth:
        return value
    mentioned = [_content(entity, row, created, depth - 1) for entity, row in created.get(value, ())]
    return f"<{' or '.join(mentioned)}>" if mentioned else value


def _shown(entity: Entity, row: Row) -> Json:
    whole = entity.encode_row(row)
    return {
        name: value for name, value in whole.items() if name != entity.key and not entity.fields[name].order_dependent
    }
