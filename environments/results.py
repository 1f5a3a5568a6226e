"""What a tool returns, as declared: values, rows, and the key of a row that the call makes."""

from collections.abc import Callable
from dataclasses import dataclass

from lawtrace.environments.kinds import Kind
from lawtrace.environments.state import Entity
from lawtrace.environments.terms import RowCondition, RowVariable, Term, row_variable


@dataclass(frozen=True, slots=True)
class ValueResult:
    """A value, read from the state before the call."""

    name: str
    description: str
    kind: Kind
    term: Term

    def terms(self) -> list[Term]:
        return [self.term]


@dataclass(frozen=True, slots=True)
class KeyResult:
    """The key of the row that the call inserts; the caller knows that row from then on. Null where the tool answers
    that it did not succeed."""

    name: str
    description: str
    entity: Entity

    def terms(self) -> list[Term]:
        return []


@dataclass(frozen=True, slots=True)
class Part:
    """In each row of a result, the list of the rows of another table that belong to it.

    ``where`` takes the row of the result and a row of the other table.
    """

    name: str
    description: str
    entity: Entity
    where: Callable[[RowVariable, RowVariable], Term]
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RowsResult:
    """A list of the rows that meet the condition, with the named fields. If the entity's key is among the fields and
    exactly one row matches, the caller knows that row from then on.

    Attributes:
        parts: lists inside each row.
        single: the one row that matches, as an object; null if none does.
        after: the rows are read from the state after the call, because the call may change what it reports.
        teaches: False for a list that no argument narrows down, so that a caller cannot tell which row was meant.
    """

    name: str
    description: str
    entity: Entity
    where: RowCondition
    fields: tuple[str, ...]
    parts: tuple[Part, ...] = ()
    single: bool = False
    after: bool = False
    teaches: bool = True

    def terms(self) -> list[Term]:
        """The condition and those of the parts, over one row each."""
        row = row_variable(self.entity)
        return [self.where(row), *(part.where(row, row_variable(part.entity)) for part in self.parts)]


Result = ValueResult | KeyResult | RowsResult
