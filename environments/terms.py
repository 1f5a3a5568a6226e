"""Terms: what preconditions, effects and results are written in.

A term is a small immutable tree, made by operator overloading over arguments and rows:

    exists(ACCOUNTS, lambda a: (a.account_number == argument("account_number")) & (a.balance >= argument("amount")))

It prints as a sentence a reader understands, because certificates and documentation need text, and it is compiled
once to a closure over a :class:`Scope` that works on whatever carrier the logic brings (see ``logic.py``). There is
no second translator: simulator and solver read the same closure.

``==`` builds a term, so terms have no equality of their own: they hash by identity, and ``bool(term)`` raises, which
catches ``and``, ``or``, ``not`` and chained comparisons at once.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from environments.errors import InputError
from environments.kinds import Value
from environments.logic import Logic
from environments.state import Entity, Row, State

__all__ = [
    "SUCCEEDED",
    "Compiled",
    "Scope",
    "Term",
    "any_item",
    "apply",
    "argument",
    "arguments_of",
    "choose",
    "constant",
    "contains_text",
    "exists",
    "fresh_key",
    "if_given",
    "is_empty",
    "is_given",
    "tables_of",
    "value_of",
]


@dataclass(slots=True)
class Scope:
    """What a compiled term looks at: the state before the call, the arguments, and the rows and items now bound."""

    state: State
    arguments: Mapping[str, Value]
    bound: dict[object, Any] = field(default_factory=dict[object, Any])
    """By variable, not by the variable's name: a condition may look at two rows of one table."""


Compiled = Callable[[Scope], Value]


class Term:
    """A node of the tree. Subclasses say how they print and how they compile."""

    __slots__ = ()
    __hash__ = object.__hash__

    def compile(self, logic: Logic) -> Compiled:
        raise NotImplementedError

    def parts(self) -> "Iterator[Term]":
        """The direct subterms."""
        return iter(())

    def __bool__(self) -> bool:
        raise TypeError(f"the term ({self}) has no truth value; write & | ~ instead of and, or, not")

    def __eq__(self, other: object) -> "Term":  # type: ignore[override]
        return Equal(self, as_term(other))

    def __ne__(self, other: object) -> "Term":  # type: ignore[override]
        return Not(Equal(self, as_term(other)))

    def __lt__(self, other: object) -> "Term":
        return Binary("<", operator.lt, self, as_term(other))

    def __le__(self, other: object) -> "Term":
        return Binary("<=", operator.le, self, as_term(other))

    def __gt__(self, other: object) -> "Term":
        return Binary(">", operator.gt, self, as_term(other))

    def __ge__(self, other: object) -> "Term":
        return Binary(">=", operator.ge, self, as_term(other))

    def __add__(self, other: object) -> "Term":
        return Binary("+", operator.add, self, as_term(other))

    def __sub__(self, other: object) -> "Term":
        return Binary("-", operator.sub, self, as_term(other))

    def __neg__(self) -> "Term":
        return Binary("-", operator.sub, Constant(0), self)

    def __and__(self, other: object) -> "Term":
        return Every((self, as_term(other)))

    def __or__(self, other: object) -> "Term":
        return Either((self, as_term(other)))

    def __invert__(self) -> "Term":
        return Not(self)


def as_term(value: object) -> Term:
    return value if isinstance(value, Term) else Constant(value)


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Term):
    value: Value

    def compile(self, logic: Logic) -> Compiled:
        value = self.value
        return lambda scope: value

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, slots=True, eq=False)
class Argument(Term):
    name: str

    def compile(self, logic: Logic) -> Compiled:
        name = self.name
        return lambda scope: scope.arguments[name]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class Bound(Term):
    """A row's field, or an item of a list, that an enclosing term has bound."""

    variable: "Variable"
    field: str | None = None

    def compile(self, logic: Logic) -> Compiled:
        variable, name = self.variable, self.field
        if name is None:
            return lambda scope: scope.bound[variable]
        return lambda scope: scope.bound[variable].values[name]

    def __str__(self) -> str:
        return str(self.variable) if self.field is None else f"{self.variable}.{self.field}"


@dataclass(frozen=True, slots=True, eq=False)
class Equal(Term):
    left: Term
    right: Term

    def compile(self, logic: Logic) -> Compiled:
        left, right, equal = self.left.compile(logic), self.right.compile(logic), logic.equal
        return lambda scope: equal(left(scope), right(scope))

    def parts(self) -> Iterator[Term]:
        return iter((self.left, self.right))

    def __str__(self) -> str:
        return f"{_operand(self.left)} = {_operand(self.right)}"


@dataclass(frozen=True, slots=True, eq=False)
class Binary(Term):
    """Order and arithmetic: Python's operator works on every carrier."""

    symbol: str
    function: Callable[[Any, Any], Any]
    left: Term
    right: Term

    def compile(self, logic: Logic) -> Compiled:
        left, right, function = self.left.compile(logic), self.right.compile(logic), self.function
        return lambda scope: function(left(scope), right(scope))

    def parts(self) -> Iterator[Term]:
        return iter((self.left, self.right))

    def __str__(self) -> str:
        return f"{_operand(self.left)} {self.symbol} {_operand(self.right)}"


@dataclass(frozen=True, slots=True, eq=False)
class Every(Term):
    terms: tuple[Term, ...]

    def compile(self, logic: Logic) -> Compiled:
        compiled, every = [term.compile(logic) for term in self.terms], logic.all
        return lambda scope: every([term(scope) for term in compiled])

    def parts(self) -> Iterator[Term]:
        return iter(self.terms)

    def __str__(self) -> str:
        return "(" + " and ".join(map(str, self.terms)) + ")"


@dataclass(frozen=True, slots=True, eq=False)
class Either(Term):
    terms: tuple[Term, ...]

    def compile(self, logic: Logic) -> Compiled:
        compiled, either = [term.compile(logic) for term in self.terms], logic.any
        return lambda scope: either([term(scope) for term in compiled])

    def parts(self) -> Iterator[Term]:
        return iter(self.terms)

    def __str__(self) -> str:
        return "(" + " or ".join(map(str, self.terms)) + ")"


@dataclass(frozen=True, slots=True, eq=False)
class Not(Term):
    term: Term

    def compile(self, logic: Logic) -> Compiled:
        compiled, negate = self.term.compile(logic), logic.negate
        return lambda scope: negate(compiled(scope))

    def parts(self) -> Iterator[Term]:
        return iter((self.term,))

    def __str__(self) -> str:
        return f"not {_operand(self.term)}"


@dataclass(frozen=True, slots=True, eq=False)
class Choose(Term):
    condition: Term
    then: Term
    otherwise: Term

    def compile(self, logic: Logic) -> Compiled:
        condition, then, otherwise = (term.compile(logic) for term in self.parts())
        return lambda scope: logic.choose(condition(scope), then(scope), otherwise(scope))

    def parts(self) -> Iterator[Term]:
        return iter((self.condition, self.then, self.otherwise))

    def __str__(self) -> str:
        return f"({self.then} if {self.condition} else {self.otherwise})"


@dataclass(frozen=True, slots=True, eq=False)
class IfGiven(Term):
    """``body`` where the argument was given, ``default`` where it was not. Whether it was is always concrete."""

    argument: Argument
    body: Term
    default: Term

    def compile(self, logic: Logic) -> Compiled:
        name, body, default = self.argument.name, self.body.compile(logic), self.default.compile(logic)
        return lambda scope: default(scope) if scope.arguments[name] is None else body(scope)

    def parts(self) -> Iterator[Term]:
        return iter((self.argument, self.body, self.default))

    def __str__(self) -> str:
        return f"({self.body} if {self.argument} is given, else {self.default})"


@dataclass(frozen=True, slots=True, eq=False)
class Exists(Term):
    """Some row of the table meets the condition."""

    entity: Entity
    variable: "Variable"
    condition: Term

    def compile(self, logic: Logic) -> Compiled:
        table, variable, condition = self.entity.table, self.variable, self.condition.compile(logic)

        def compiled(scope: Scope) -> Value:
            return logic.any(
                [logic.all([row.present, condition(scope)]) for row in bind(scope, variable, scope.state.tables[table])]
            )

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

        def compiled(scope: Scope) -> Value:
            matches = [
                (logic.all([row.present, condition(scope)]), row.values[name])
                for row in bind(scope, variable, scope.state.tables[table])
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

        def compiled(scope: Scope) -> Value:
            return logic.any([condition(scope) for _ in bind(scope, variable, items(scope))])

        return compiled

    def parts(self) -> Iterator[Term]:
        return iter((self.items, self.condition))

    def __str__(self) -> str:
        return f"some {self.variable} of {self.items} has {self.condition}"


@dataclass(frozen=True, slots=True, eq=False)
class IsEmpty(Term):
    """A list argument has no items. How many it has is always concrete."""

    items: Term

    def compile(self, logic: Logic) -> Compiled:
        items = self.items.compile(logic)
        return lambda scope: not items(scope)

    def parts(self) -> Iterator[Term]:
        return iter((self.items,))

    def __str__(self) -> str:
        return f"{self.items} is empty"


@dataclass(frozen=True, slots=True, eq=False)
class Apply(Term):
    """A Python function of strings; ``words`` prints it, with one {} for each operand."""

    words: str
    function: Callable[..., Value]
    operands: tuple[Term, ...]

    def compile(self, logic: Logic) -> Compiled:
        operands, function, apply_ = [term.compile(logic) for term in self.operands], self.function, logic.apply
        return lambda scope: apply_(function, *[term(scope) for term in operands])

    def parts(self) -> Iterator[Term]:
        return iter(self.operands)

    def __str__(self) -> str:
        return self.words.format(*self.operands)


@dataclass(frozen=True, slots=True, eq=False)
class FreshKey(Term):
    """The key of the row that this call is about to append."""

    entity: Entity

    def compile(self, logic: Logic) -> Compiled:
        entity = self.entity
        return lambda scope: entity.generated_key(scope.state.tables[entity.table])

    def __str__(self) -> str:
        return f"the new {self.entity.singular}'s {self.entity.key}"


@dataclass(frozen=True, slots=True, eq=False)
class Succeeded(Term):
    """Whether the tool did what it promises. Bound by the step, which alone knows."""

    def compile(self, logic: Logic) -> Compiled:
        return lambda scope: scope.bound["succeeded"]

    def __str__(self) -> str:
        return "the call succeeded"


SUCCEEDED = Succeeded()


def _operand(term: Term) -> str:
    """The term as an operand: in parentheses where a reader could take it apart in another way."""
    return f"({term})" if isinstance(term, Binary | Equal | Not) else str(term)


class Variable:
    """What an enclosing term binds. Each is itself and no other, whatever it is called."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __str__(self) -> str:
        return self._name


class RowVariable(Variable):
    """A row inside a lambda: ``a.balance`` is a term, and a field that the entity lacks is an error at once."""

    __slots__ = ("_entity",)

    def __init__(self, entity: Entity) -> None:
        super().__init__(entity.singular)
        self._entity = entity

    def __getattr__(self, name: str) -> Term:
        if name not in self._entity.fields:
            raise InputError(f"{self._entity.singular} has no field {name!r}; it has {list(self._entity.fields)}")
        return Bound(self, name)


RowCondition = Callable[[RowVariable], Term]


def argument(name: str) -> Argument:
    """The argument of that name of the call at hand."""
    return Argument(name)


def constant(value: Value) -> Term:
    return Constant(value)


def row_variable(entity: Entity) -> RowVariable:
    return RowVariable(entity)


def exists(entity: Entity, condition: RowCondition) -> Term:
    """Some row of the entity's table meets the condition."""
    row = row_variable(entity)
    return Exists(entity, row, condition(row))


def value_of(entity: Entity, condition: RowCondition, field: str, otherwise: Value = None) -> Term:
    """The ``field`` of the first row that meets the condition, else ``otherwise``."""
    if field not in entity.fields:
        raise InputError(f"{entity.singular} has no field {field!r}; it has {list(entity.fields)}")
    row = row_variable(entity)
    return ValueOf(entity, row, condition(row), field, otherwise)


def any_item(items: Argument, condition: Callable[[Term], Term]) -> Term:
    """Some item of the list argument meets the condition."""
    item = Variable("item")
    return AnyItem(items, item, condition(Bound(item)))


def if_given(optional: Argument, body: Term, default: object = True) -> Term:
    return IfGiven(optional, body, as_term(default))


def is_given(optional: Argument) -> Term:
    return IfGiven(optional, Constant(True), Constant(False))


def is_empty(items: Argument) -> Term:
    return IsEmpty(items)


def choose(condition: Term, then: object, otherwise: object) -> Term:
    return Choose(condition, as_term(then), as_term(otherwise))


def apply(words: str, function: Callable[..., Value], *operands: object) -> Term:
    return Apply(words, function, tuple(as_term(operand) for operand in operands))


def contains_text(text: Term, part: Term) -> Term:
    """``part`` occurs in ``text``, upper and lower case alike."""
    return apply("{0} contains {1}", _contains, text, part)


def _contains(whole: str, part: str) -> bool:
    return part.lower() in whole.lower()


def fresh_key(entity: Entity) -> Term:
    return FreshKey(entity)


def arguments_of(term: Term) -> set[str]:
    """The names of the arguments that the term looks at."""
    own = {term.name} if isinstance(term, Argument) else set[str]()
    return own.union(*(arguments_of(part) for part in term.parts()))


def tables_of(term: Term) -> set[str]:
    """The tables that the term looks at."""
    own = {term.entity.table} if isinstance(term, Exists | ValueOf | FreshKey) else set[str]()
    return own.union(*(tables_of(part) for part in term.parts()))


def bind(scope: Scope, variable: Variable, values: tuple[Any, ...] | tuple[Row, ...]) -> Iterator[Any]:
    """Each value in turn, bound to the variable while the loop's body looks at it."""
    outer = scope.bound.get(variable)
    try:
        for value in values:
            scope.bound[variable] = value
            yield value
    finally:
        scope.bound[variable] = outer
