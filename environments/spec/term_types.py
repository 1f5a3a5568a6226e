"""Types of terms: which objects a term reads, and which of their fields do not exist."""

from collections.abc import Iterator, Mapping

from lawtrace.environments.spec.expressions import (
    AnyItem,
    Argument,
    BoundValue,
    Choose,
    FieldOf,
    IfGiven,
    Term,
    Total,
    ValueOf,
    Variable,
)
from lawtrace.environments.spec.state import Entity
from lawtrace.environments.spec.types import ListOf, ObjectOf, ValueType


class TermTypes:
    """The types of the terms of one tool.

    Args:
        arguments: the types of its parameters.
        entities: the tables, by name.
    """

    def __init__(self, arguments: Mapping[str, ValueType], entities: Mapping[str, Entity]) -> None:
        self._arguments = arguments
        self._entities = entities
        self._bound: dict[Variable, ValueType | None] = {}

    def problems(self, term: Term) -> Iterator[str]:
        """Fields and items that are read of values that do not have them."""
        match term:
            case FieldOf(record, name):
                yield from self.problems(record)
                found = self.type_of(record)
                if isinstance(found, ObjectOf) and name not in found.fields:
                    yield f"a term reads {term}; there is no such field, but {list(found.fields)}"
                elif found is not None and not isinstance(found, ObjectOf):
                    yield f"a term reads {term}, but {record} is not an object"
            case AnyItem(items, variable, part) | Total(items, variable, part):
                yield from self.problems(items)
                self.bind(variable, items)
                found = self.type_of(items)
                if found is not None and not isinstance(found, ListOf):
                    yield f"a term reads the items of {items}, which is not a list"
                yield from self.problems(part)
            case _:
                for part in term.parts():
                    yield from self.problems(part)

    def bind(self, variable: Variable, items: Term) -> None:
        """Note the type of a variable that stands for the items of a list."""
        found = self.type_of(items)
        self._bound[variable] = found.items if isinstance(found, ListOf) else None

    def type_of(self, term: Term) -> ValueType | None:
        """The type of the values of the term; None if it is not known."""
        match term:
            case Argument(name):
                return self._arguments.get(name)
            case BoundValue(variable, None):
                return self._bound.get(variable)
            case BoundValue(_, str(name), str(table)):
                return self._field(table, name)
            case ValueOf(entity=entity, field=name):
                return self._field(entity.table, name)
            case FieldOf(record, name):
                found = self.type_of(record)
                return found.fields.get(name) if isinstance(found, ObjectOf) else None
            case Choose(_, then, _):
                return self.type_of(then)
            case IfGiven(_, body, _):
                return self.type_of(body)
            case _:
                return None

    def _field(self, table: str, name: str) -> ValueType | None:
        entity = self._entities.get(table)
        field = entity.fields.get(name) if entity else None
        return field.type if field else None
