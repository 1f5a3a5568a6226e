"""Effects and results of tools, as terms over rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from lawtrace.environments.spec.expressions import SUCCEEDED, RowCondition, RowVariable, Term
from lawtrace.environments.spec.state import Entity
from lawtrace.environments.spec.terms import item_variable
from lawtrace.environments.spec.types import BOOLEAN, ListOf, ObjectOf, ValueType
from lawtrace.schemas.events import Json


@dataclass(frozen=True, slots=True)
class Update:
    """Set fields in the rows that meet the condition. ``values``: the term of each field, or a function of the row that
    gives it."""

    entity: Entity
    where: RowCondition
    values: Mapping[str, RowCondition | Term]

    def value(self, name: str, row: RowVariable) -> Term:
        """The value of a field for a row."""
        value = self.values[name]
        return value if isinstance(value, Term) else value(row)

    def terms(self) -> list[Term]:
        """The condition and the values, over one row."""
        row = RowVariable(self.entity)
        return [self.where(row), *(self.value(name, row) for name in self.values)]


@dataclass(frozen=True, slots=True)
class Insert:
    """Append a row with a generated key."""

    entity: Entity
    values: Mapping[str, Term]

    def terms(self) -> list[Term]:
        return [*self.values.values()]


@dataclass(frozen=True, slots=True)
class InsertEach:
    """Append a row with a generated key for each distinct item of a list. ``values`` maps an item to the terms of the
    fields."""

    entity: Entity
    items: Term
    values: Callable[[Term], Mapping[str, Term]]

    def terms(self) -> list[Term]:
        """The list, and the values over one item."""
        return [self.items, *self.values(item_variable()[1]).values()]


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete the rows that meet the condition."""

    entity: Entity
    where: RowCondition

    def terms(self) -> list[Term]:
        """The condition, over one row."""
        return [self.where(RowVariable(self.entity))]


Effect = Update | Insert | InsertEach | Delete


@dataclass(frozen=True, slots=True)
class ValueResult:
    """A value, read from the state before the call."""

    name: str
    description: str
    type: ValueType
    term: Term

    def terms(self) -> list[Term]:
        return [self.term]


def success_result(description: str) -> ValueResult:
    """Whether the call succeeded."""
    return ValueResult("success", description, BOOLEAN, SUCCEEDED)


def is_success(result: "Result") -> bool:
    """Whether a result says only whether the call succeeded."""
    return isinstance(result, ValueResult) and result.term is SUCCEEDED


@dataclass(frozen=True, slots=True)
class KeyResult:
    """The key of the row that the call inserts. Null if the tool answers that it did not succeed."""

    name: str
    description: str
    entity: Entity

    @property
    def type(self) -> ValueType:
        return self.entity.fields[self.entity.key].type

    def terms(self) -> list[Term]:
        return []


@dataclass(frozen=True, slots=True)
class NestedRows:
    """A list inside each row of a result: the rows of another table that belong to it.

    ``where`` takes the row of the result and a row of the other table.
    """

    name: str
    description: str
    entity: Entity
    where: Callable[[RowVariable, RowVariable], Term]
    fields: tuple[str, ...]

    parts: ClassVar[tuple[()]] = ()

    @property
    def type(self) -> ValueType:
        return ListOf(_row_type(self))


@dataclass(frozen=True, slots=True)
class RowsResult:
    """A list of the rows that meet the condition, with the named fields. If the entity's key is among the fields and
    exactly one row matches, the caller knows that row from then on.

    Attributes:
        parts: lists nested in each row.
        single: return the one matching row as an object, or null.
        after: read the rows from the state after the call, because the call may change them.
        last: how many rows are listed at most, those created last.
        reveals_key: False for a list that no argument narrows down, so that a caller cannot tell which row is meant.
    """

    name: str
    description: str
    entity: Entity
    where: RowCondition
    fields: tuple[str, ...]
    parts: tuple[NestedRows, ...] = ()
    single: bool = False
    after: bool = False
    reveals_key: bool = True
    last: Term | None = None

    @property
    def type(self) -> ValueType:
        """The type of the list, or of the one row."""
        return _row_type(self) if self.single else ListOf(_row_type(self))

    def terms(self) -> list[Term]:
        """The condition and those of the parts, over one row each."""
        row = RowVariable(self.entity)
        parts = [part.where(row, RowVariable(part.entity)) for part in self.parts]
        return [self.where(row), *parts, *([] if self.last is None else [self.last])]


Result = ValueResult | KeyResult | RowsResult
"""Each has the ``type`` of its values, but for null: a key may be missing, and so may a single row."""


def _row_type(rows: RowsResult | NestedRows) -> ObjectOf:
    own = rows.entity.row_type(rows.fields)
    return replace(own, fields={**own.fields, **{part.name: part.type for part in rows.parts}})


def recorded_rows(listed: RowsResult | NestedRows, recorded: Json) -> list[dict[str, Json]] | None:
    """Recorded rows: a list of objects, of values of the only field, or objects by key. None if it is nothing of it."""
    if isinstance(listed, RowsResult) and listed.single:
        return [] if recorded is None else [recorded] if isinstance(recorded, dict) else None
    if isinstance(recorded, dict) and all(isinstance(one, dict) for one in recorded.values()):
        recorded = [{listed.entity.key: key, **one} for key, one in recorded.items() if isinstance(one, dict)]
    if not isinstance(recorded, list):
        return None
    if len(listed.fields) == 1:
        recorded = [one if isinstance(one, dict) else {listed.fields[0]: one} for one in recorded]
    rows = [one for one in recorded if isinstance(one, dict)]
    return rows if len(rows) == len(recorded) else None


def as_declared(listed: RowsResult | NestedRows, recorded: Json) -> Json:
    """Recorded rows in the form of the declaration, those inside of them too; what is no rows stays as it is."""
    rows = recorded_rows(listed, recorded)
    if not rows:
        return recorded if rows is None or not isinstance(recorded, dict) else []
    shown: list[Json] = [
        {**row, **{part.name: as_declared(part, row[part.name]) for part in listed.parts if part.name in row}}
        for row in rows
    ]
    return shown[0] if isinstance(listed, RowsResult) and listed.single else shown
