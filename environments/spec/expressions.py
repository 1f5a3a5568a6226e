"""Terms: the expressions of preconditions, effects and results.

A term is a small immutable tree, built by operator overloading over arguments and rows:

    exists(ACCOUNTS, lambda a: (a.account_number == argument("account_number")) & (a.balance >= argument("amount")))

It prints as a readable sentence for certificates and documentation. It is compiled once to a closure over an
:class:`EvaluationScope`, whose values are Python values or solver expressions, depending on the logic
(``environments/spec/logic.py``). Simulator and solver use the same closure, so they cannot disagree.

``==`` builds a term, so terms have no equality of their own: they hash by identity, and ``bool(term)`` raises, which
catches ``and``, ``or``, ``not`` and chained comparisons at once.
"""

import operator
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, cast

from lawtrace.environments.errors import InputError
from lawtrace.environments.spec.logic import PLAIN, Logic
from lawtrace.environments.spec.state import Entity, Row, State
from lawtrace.environments.spec.types import Value


@dataclass(slots=True)
class EvaluationScope:
    """Input of a compiled term.

    Attributes:
        state: before the call.
        bound: the bound rows and items. Keyed by variable, not by name: a condition may use two rows of one table.
        now: the time at which the call begins, in seconds since 1970; None where terms must not read it.
    """

    state: State
    arguments: Mapping[str, Value]
    bound: dict[object, Any] = field(default_factory=dict[object, Any])
    now: Value = None


Compiled = Callable[[EvaluationScope], Value]


class Term:
    """A node of the tree. Subclasses define printing and compilation."""

    __slots__ = ()
    __hash__ = object.__hash__
    __match_args__: ClassVar[tuple[str, ...]] = ()

    def compile(self, logic: Logic) -> Compiled:
        raise NotImplementedError

    def parts(self) -> "Iterator[Term]":
        """The direct subterms, in the order of the fields."""
        for name in self.__match_args__:
            value: object = getattr(self, name)
            inner = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
            yield from (part for part in inner if isinstance(part, Term))

    def __bool__(self) -> bool:
        raise TypeError(f"the term ({self}) has no truth value; write & | ~ instead of and, or, not")

    def __eq__(self, other: object) -> "Term":  # type: ignore[override]
        return BinaryOperation("=", self, as_term(other))

    def __ne__(self, other: object) -> "Term":  # type: ignore[override]
        return Negation(self == other)

    def __lt__(self, other: object) -> "Term":
        return BinaryOperation("<", self, as_term(other))

    def __le__(self, other: object) -> "Term":
        return BinaryOperation("<=", self, as_term(other))

    def __gt__(self, other: object) -> "Term":
        return BinaryOperation(">", self, as_term(other))

    def __ge__(self, other: object) -> "Term":
        return BinaryOperation(">=", self, as_term(other))

    def __add__(self, other: object) -> "Term":
        return BinaryOperation("+", self, as_term(other))

    def __sub__(self, other: object) -> "Term":
        return BinaryOperation("-", self, as_term(other))

    def __mul__(self, factor: int) -> "Term":
        return BinaryOperation("*", self, Constant(factor))

    def __neg__(self) -> "Term":
        return BinaryOperation("-", Constant(0), self)

    def __and__(self, other: object) -> "Term":
        return Junction("and", (self, as_term(other)))

    def __or__(self, other: object) -> "Term":
        return Junction("or", (self, as_term(other)))

    def __invert__(self) -> "Term":
        return Negation(self)


def as_term(value: object) -> Term:
    return value if isinstance(value, Term) else Constant(value)


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
        check_field(self._entity, name)
        return BoundValue(self, name, self._entity.table)


RowCondition = Callable[[RowVariable], Term]


def check_field(entity: Entity, name: str) -> None:
    if name not in entity.fields:
        raise InputError(f"{entity.singular} has no field {name!r}; it has {list(entity.fields)}")


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
class BoundValue(Term):
    """A row's field, or an item of a list, that an enclosing term has bound."""

    variable: Variable
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
class Succeeded(Term):
    """Whether the call succeeds. The transition binds it."""

    def compile(self, logic: Logic) -> Compiled:
        return lambda scope: scope.bound["succeeded"]

    def __str__(self) -> str:
        return "the call succeeded"


SUCCEEDED = Succeeded()


@dataclass(frozen=True, slots=True, eq=False)
class Now(Term):
    """The time at which the call begins, in whole units of some seconds, counted from ``origin`` at 1970-01-01."""

    words: str
    unit: int = 1
    origin: int = 0

    def compile(self, logic: Logic) -> Compiled:
        unit, origin, quotient = self.unit, self.origin, logic.quotient
        return lambda scope: quotient(scope.now, unit) + origin

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, slots=True, eq=False)
class FreshKey(Term):
    """The key of the row that this call appends."""

    entity: Entity

    def compile(self, logic: Logic) -> Compiled:
        entity = self.entity
        return lambda scope: entity.generated_key(scope.state.tables[entity.table])

    def __str__(self) -> str:
        return f"the new {self.entity.singular}'s {self.entity.key}"


_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
"""Order and arithmetic are Python's operators in every logic; equality is the logic's."""


@dataclass(frozen=True, slots=True, eq=False)
class BinaryOperation(Term):
    """Equality, order and arithmetic."""

    symbol: str
    left: Term
    right: Term

    def compile(self, logic: Logic) -> Compiled:
        left, right = self.left.compile(logic), self.right.compile(logic)
        function = logic.equal if self.symbol == "=" else _OPERATORS[self.symbol]
        return lambda scope: function(left(scope), right(scope))

    def __str__(self) -> str:
        return f"{_operand(self.left)} {self.symbol} {_operand(self.right)}"


@dataclass(frozen=True, slots=True, eq=False)
class Junction(Term):
    """Conjunction or disjunction."""

    word: Literal["and", "or"]
    terms: tuple[Term, ...]

    def compile(self, logic: Logic) -> Compiled:
        compiled, join = [term.compile(logic) for term in self.terms], logic.all if self.word == "and" else logic.any
        if logic is PLAIN and len(compiled) == 2:  # the common case of the simulator, without a generator
            first, second = compiled
            if self.word == "and":
                return lambda scope: first(scope) and second(scope)
            return lambda scope: first(scope) or second(scope)
        return lambda scope: join(term(scope) for term in compiled)

    def __str__(self) -> str:
        return "(" + f" {self.word} ".join(map(str, self.terms)) + ")"


@dataclass(frozen=True, slots=True, eq=False)
class Negation(Term):
    term: Term

    def compile(self, logic: Logic) -> Compiled:
        compiled, negate = self.term.compile(logic), logic.negate
        return lambda scope: negate(compiled(scope))

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

    def __str__(self) -> str:
        return f"({self.then} if {self.condition} else {self.otherwise})"


@dataclass(frozen=True, slots=True, eq=False)
class IfGiven(Term):
    """``body`` if the argument is given, else ``default``. Whether it is given is always concrete."""

    argument: Argument
    body: Term
    default: Term

    def compile(self, logic: Logic) -> Compiled:
        name, body, default = self.argument.name, self.body.compile(logic), self.default.compile(logic)
        return lambda scope: default(scope) if scope.arguments[name] is None else body(scope)

    def __str__(self) -> str:
        return f"({self.body} if {self.argument} is given, else {self.default})"


@dataclass(frozen=True, slots=True, eq=False)
class IsEmpty(Term):
    """Whether a list argument has no items. The number of items is always concrete."""

    items: Term

    def compile(self, logic: Logic) -> Compiled:
        items = self.items.compile(logic)
        return lambda scope: not items(scope)

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

    def __str__(self) -> str:
        return self.words.format(*self.operands)


@dataclass(frozen=True, slots=True, eq=False)
class Exists(Term):
    """Some row of the table meets the condition."""

    entity: Entity
    variable: Variable
    condition: Term

    def compile(self, logic: Logic) -> Compiled:
        table, variable, condition = self.entity.table, self.variable, self.condition.compile(logic)

        def compiled(scope: EvaluationScope) -> Value:
            with closing(bind(scope, variable, scope.state.tables[table])) as rows:
                return logic.any(logic.all((row.present, condition(scope))) for row in rows if row.present is not False)

        return compiled

    def __str__(self) -> str:
        return f"some {self.entity.singular} {self.variable} has {self.condition}"


@dataclass(frozen=True, slots=True, eq=False)
class ValueOf(Term):
    """A field of the first row that meets the condition; ``otherwise`` where no row does."""

    entity: Entity
    variable: Variable
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

    def __str__(self) -> str:
        return f"the {self.field} of the {self.entity.singular} with {self.condition}"


@dataclass(frozen=True, slots=True, eq=False)
class AnyItem(Term):
    """Some item of a list argument meets the condition."""

    items: Term
    variable: Variable
    condition: Term

    def compile(self, logic: Logic) -> Compiled:
        items, variable, condition = self.items.compile(logic), self.variable, self.condition.compile(logic)

        def compiled(scope: EvaluationScope) -> Value:
            with closing(bind(scope, variable, distinct(items(scope)))) as bound:
                return logic.any(condition(scope) for _ in bound)

        return compiled

    def __str__(self) -> str:
        return f"some {self.variable} of {self.items} has {self.condition}"


def _operand(term: Term) -> str:
    """The term as an operand, in parentheses where it would be ambiguous."""
    return f"({term})" if isinstance(term, BinaryOperation | Negation) else str(term)


def distinct(items: Sequence[Value]) -> tuple[Value, ...]:
    """The items without repetitions of texts. Expressions all stay, which may turn out equal to an earlier item."""
    texts = set[str]()
    kept: list[Value] = []
    for item in items:
        if not isinstance(item, str):
            kept.append(item)
        elif item not in texts:
            texts.add(item)
            kept.append(item)
    return tuple(kept)


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
