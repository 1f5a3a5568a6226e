"""The functional question: is this final state the target state?

Two states are compared up to the names of rows created on the way, leaving out what only compliance tools write and
what depends on the order of calls. A created row is known by its content: its fields, with each mention of another
created row replaced by that row's content in turn. So two payments made in either order are the same two payments.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from environments.declaration import Environment
from environments.events import Json
from environments.kinds import Value
from environments.state import Entity, Row, State

__all__ = ["Difference", "compare_states"]

REFERENCE_DEPTH = 4
"""How far mentions of created rows are followed; declarations here nest no deeper."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which the actual state differs from the expected one.

    Attributes:
        table: where.
        row: the key of the row, or ``(created)`` for a row that the calls made.
        field: the field, or None where a whole row is missing or too many.
        expected: what should be there; None where a row is too many.
        actual: what is there; None where a row is missing.
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


def compare_states(environment: Environment, initial: State, expected: State, actual: State) -> tuple[Difference, ...]:
    """What differs between the expected and the actual final state, both reached from ``initial``; empty if nothing."""
    differences: list[Difference] = []
    for table, entity in environment.entities.items():
        if table in environment.compliance_tables:
            continue
        before = {row.values[entity.key] for row in initial.rows(table)}
        differences += _compare_kept(entity, before, expected, actual)
        differences += _compare_created(environment, entity, initial, expected, actual)
    return tuple(differences)


def _compare_kept(entity: Entity, before: set[Value], expected: State, actual: State) -> list[Difference]:
    wanted = {row.values[entity.key]: row for row in expected.rows(entity.table) if row.values[entity.key] in before}
    found = {row.values[entity.key]: row for row in actual.rows(entity.table) if row.values[entity.key] in before}
    differences: list[Difference] = []
    for key in [*wanted, *(key for key in found if key not in wanted)]:
        if key not in found or key not in wanted:
            differences.append(
                Difference(
                    entity.table,
                    str(key),
                    None,
                    entity.encode_row(wanted[key]) if key in wanted else None,
                    entity.encode_row(found[key]) if key in found else None,
                )
            )
            continue
        for name, declared in entity.fields.items():
            left, right = wanted[key].values[name], found[key].values[name]
            if left != right and not declared.order_dependent:
                shown = (None if value is None else declared.kind.encode(value) for value in (left, right))
                differences.append(Difference(entity.table, str(key), name, *shown))
    return differences


def _compare_created(
    environment: Environment, entity: Entity, initial: State, expected: State, actual: State
) -> list[Difference]:
    wanted = _created(environment, entity, initial, expected)
    found = _created(environment, entity, initial, actual)
    differences: list[Difference] = []
    for content, row in wanted.items():
        differences += [
            Difference(entity.table, "(created)", None, _shown(entity, row[1]), None)
            for _ in range(row[0] - found.get(content, (0, row[1]))[0])
        ]
    for content, row in found.items():
        differences += [
            Difference(entity.table, "(created)", None, None, _shown(entity, row[1]))
            for _ in range(row[0] - wanted.get(content, (0, row[1]))[0])
        ]
    return differences


def _created(environment: Environment, entity: Entity, initial: State, state: State) -> dict[str, tuple[int, Row]]:
    """The rows that are new in the state, by content: how many have it, and one of them."""
    fresh: dict[Value, tuple[Entity, Row]] = {}
    for table, other in environment.entities.items():
        before = {row.values[other.key] for row in initial.rows(table)}
        for row in state.rows(table):
            if row.values[other.key] not in before:
                fresh[row.values[other.key]] = (other, row)
    rows = [row for other, row in fresh.values() if other is entity]
    counts = Counter(_content(entity, row, fresh, REFERENCE_DEPTH) for row in rows)
    return {
        content: (counts[content], row) for row in rows for content in [_content(entity, row, fresh, REFERENCE_DEPTH)]
    }


def _content(entity: Entity, row: Row, fresh: Mapping[Value, tuple[Entity, Row]], depth: int) -> str:
    parts: list[str] = []
    for name, declared in entity.fields.items():
        value = row.values[name]
        if name == entity.key or declared.order_dependent:
            continue
        if isinstance(value, str) and value in fresh and depth:
            other, mentioned = fresh[value]
            parts.append(f"{name}=<{_content(other, mentioned, fresh, depth - 1)}>")
        else:
            parts.append(f"{name}={value!r}")
    return f"{entity.table}({', '.join(parts)})"


def _shown(entity: Entity, row: Row) -> Json:
    whole = entity.encode_row(row)
    return {
        name: value for name, value in whole.items() if name != entity.key and not entity.fields[name].order_dependent
    }
