"""Terms over rows: variables, quantifiers over tables and lists, and the key of a new row."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from lawtrace.environments.errors import InputError
from lawtrace.environments.spec.state import Entity, Row
from lawtrace.environments.spec.terms.expressions import Compiled, EvaluationScope, Term
from lawtrace.environments.spec.terms.logic import Logic
from lawtrace.environments.spec.types import Value


class Variable:
    """A variable that an enclosing term binds. Compared by identity, not by name."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __str__(self) -> str:
        return self._name


class RowVariable(Variable):
    """A row inside a lambda: ``a.balance`` is a term, and an unknown field raises InputError."""

    __slots__ = ("_entity",)

    def __init__(self, entity: Entity) -> None:
        super().__init__(entity.singular)
        self._entity = entity

    def __getattr__(self, name: str) -> Term:
        if name not in self._entity.fields:
            raise InputError(f"{self._entity.singular} has no field {name!r}; it has {list(self._entity.fields)}")
        return BoundValue(self, name, self._entity.table)


RowCondition = Callable[[RowVariable], Term]


@dataclass(frozen=True, slots=True, eq=False)
class BoundValue(Term):
    """A row's field, or an item of a list, that an enclosing term has bound."""

    variable: "Variable"
    field: str | None = None
    table: str | None = None

    def compile(self, logic: Logic) -> Compiled:
        variable, name = self.variable, self.field
        if name is None:
            return lambda scope: scope.bound[variable]
        return lambda scope: scope.bound[variable].values[name]

    def __str__(self) -> str:
        return str(self.variable) if self.field is None else f"{self.variable}.{self.field}"


@dataclass(frozen=True, slots=True, eq=False)
class Exists(Term):
    """Some row of the table meets the condition."""

    entity: Entity
    variable: "Variable"
    condition: Term

    def compile(self, logic: Logic) -> Compiled:
        table, variable, condition = self.entity.table, self.variable, self.condition.compile(logic)

        def compiled(scope: EvaluationScope) -> Value:
            with closing(bind(scope, variable, scope.state.tables[table])) as rows:
                return logic.any(logic.all((row.present, condition(scope))) for row in rows if row.present is not False)

        return compiled

    def parts(self) -> Iterator[Term]:
        return iter((self.condition,))

    def __str__(self) -> str:
        return f"some {self.entity.singular} {self.variable} has {self.condition}"


@dataclass(frozen=True, slots=True, eq=False)
class ValueOf(Term):
    """A field of the first row that meets the condition; ``otherwise`` where none does."""

    entity: Entity
    variable: "Variable"
    condition: Term
    field: str
    otherwise: Value

    def compile(self, logic: Logic) -> Compiled:
        table, variable, condition = self.entity.table, self.variable, self.condition.compile(logic)
        name, otherwise = self.field, self.otherwise

        def compiled(scope: EvaluationScope) -> Value:
            matches = [
                (logic.all((row.present, condition(scope))), row.values[name])
                for row in bind(scope, variable, scope.state.tables[table])
                if row.present is not False
            ]
            value = otherwise
            for truth, candidate in reversed(matches):
                value = logic.choose(truth, candidate, value)
            return value

        return compiled

    def parts(self) -> Iterator[Term]:
        return iter((self.condition,))

    def __str__(self) -> str:
        return f"the {self.field} of the {self.entity.singular} with {self.condition}"


@dataclass(frozen=True, slots=True, eq=False)
class AnyItem(Term):
    """Some item of a list argument meets the condition."""

    items: Term
    variable: "Variable"
    condition: Term

    def compile(self, logic: Logic) -> Compiled:
        items, variable, condition = self.items.compile(logic), self.variable, self.condition.compile(logic)

        def compiled(scope: EvaluationScope) -> Value:
            with closing(bind(scope, variable, distinct(items(scope)))) as bound:
                return logic.any(condition(scope) for _ in bound)

        return compiled

    def parts(self) -> Iterator[Term]:
        return iter((self.items, self.condition))

    def __str__(self) -> str:
        return f"some {self.variable} of {self.items} has {self.condition}"


@dataclass(frozen=True, slots=True, eq=False)
class FreshKey(Term):
    """The key of the row that this call appends."""

    entity: Entity

    def compile(self, logic: Logic) -> Compiled:
        entity = self.entity
        return lambda scope: entity.generated_key(scope.state.tables[entity.table])

    def __str__(self) -> str:
        return f"the new {self.entity.singular}'s {self.entity.key}"


def field_read(term: Term) -> tuple[str, str] | None:
    """The field that the term itself (not one inside it) reads, with its table; None if it reads none."""
    match term:
        case BoundValue(table=str(table), field=str(name)):
            return table, name
        case ValueOf():
            return term.entity.table, term.field
        case _:
            return None


def distinct(items: Sequence[Value]) -> tuple[Value, ...]:
    """The items without repetitions. If some are expressions, which may turn out equal, all items stay."""
    return tuple(dict.fromkeys(items)) if all(isinstance(item, str) for item in items) else tuple(items)


def bind(scope: EvaluationScope, variable: Variable, values: tuple[Any, ...] | tuple[Row, ...]) -> Generator[Any]:
    """Bind each value to the variable in turn. Close the generator if the loop may stop early, or the variable stays
    bound."""
    outer = scope.bound.get(variable)
    try:
        for value in values:
            scope.bound[variable] = value
            yield value
    finally:
        scope.bound[variable] = outer
