"""What a tool changes: the kinds of effect a declaration knows, as terms over the rows they concern."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lawtrace.environments.state import Entity
from lawtrace.environments.terms import Argument, RowCondition, Term, item_variable, row_variable


@dataclass(frozen=True, slots=True)
class Update:
    """Set fields in the rows that meet the condition. ``values`` gives a term for each field, from the row."""

    entity: Entity
    where: RowCondition
    values: Mapping[str, RowCondition]

    def terms(self) -> list[Term]:
        """The condition and the values, over one row."""
        row = row_variable(self.entity)
        return [self.where(row), *(value(row) for value in self.values.values())]


@dataclass(frozen=True, slots=True)
class Insert:
    """Append a row with a generated key."""

    entity: Entity
    values: Mapping[str, Term]

    def terms(self) -> list[Term]:
        """The values."""
        return [*self.values.values()]


@dataclass(frozen=True, slots=True)
class InsertEach:
    """Append a row with a generated key for each item of a list argument, however often the list names it. ``values``
    gives the terms from the item."""

    entity: Entity
    items: Argument
    values: Callable[[Term], Mapping[str, Term]]

    def terms(self) -> list[Term]:
        """The list, and the values over one item."""
        return [self.items, *self.values(item_variable()[1]).values()]


@dataclass(frozen=True, slots=True)
class Delete:
    """Take away the rows that meet the condition."""

    entity: Entity
    where: RowCondition

    def terms(self) -> list[Term]:
        """The condition, over one row."""
        return [self.where(row_variable(self.entity))]


Effect = Update | Insert | InsertEach | Delete
