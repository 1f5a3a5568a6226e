"""The tree of terms: constants, arguments, connectives, arithmetic. Terms over rows are in ``row_terms.py``."""

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.terms.logic import Logic
from lawtrace.environments.spec.types import Value


@dataclass(slots=True)
class EvaluationScope:
    """Input of a compiled term: the state before the call, the arguments, and the bound rows and items."""

    state: State
    arguments: Mapping[str, Value]
    bound: dict[object, Any] = field(default_factory=dict[object, Any])
    """Keyed by variable, not by name: a condition may use two rows of one table."""


Compiled = Callable[[EvaluationScope], Value]


class Term:
    """A node of the tree. Subclasses define printing and compilation."""

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
        return Negation(Equal(self, as_term(other)))

    def __lt__(self, other: object) -> "Term":
        return BinaryOperation("<", operator.lt, self, as_term(other))

    def __le__(self, other: object) -> "Term":
        return BinaryOperation("<=", operator.le, self, as_term(other))

    def __gt__(self, other: object) -> "Term":
        return BinaryOperation(">", operator.gt, self, as_term(other))

    def __ge__(self, other: object) -> "Term":
        return BinaryOperation(">=", operator.ge, self, as_term(other))

    def __add__(self, other: object) -> "Term":
        return BinaryOperation("+", operator.add, self, as_term(other))

    def __sub__(self, other: object) -> "Term":
        return BinaryOperation("-", operator.sub, self, as_term(other))

    def __mul__(self, factor: int) -> "Term":
        return BinaryOperation("*", operator.mul, self, Constant(factor))

    def __neg__(self) -> "Term":
        return BinaryOperation("-", operator.sub, Constant(0), self)

    def __and__(self, other: object) -> "Term":
        return Conjunction((self, as_term(other)))

    def __or__(self, other: object) -> "Term":
        return Disjunction((self, as_term(other)))

    def __invert__(self) -> "Term":
        return Negation(self)


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
class BinaryOperation(Term):
    """Order and arithmetic, with Python's operator for every logic."""

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
class Conjunction(Term):
    terms: tuple[Term, ...]

    def compile(self, logic: Logic) -> Compiled:
        compiled, every = [term.compile(logic) for term in self.terms], logic.all
        return lambda scope: every(term(scope) for term in compiled)

    def parts(self) -> Iterator[Term]:
        return iter(self.terms)

    def __str__(self) -> str:
        return "(" + " and ".join(map(str, self.terms)) + ")"


@dataclass(frozen=True, slots=True, eq=False)
class Disjunction(Term):
    terms: tuple[Term, ...]

    def compile(self, logic: Logic) -> Compiled:
        compiled, either = [term.compile(logic) for term in self.terms], logic.any
        return lambda scope: either(term(scope) for term in compiled)

    def parts(self) -> Iterator[Term]:
        return iter(self.terms)

    def __str__(self) -> str:
        return "(" + " or ".join(map(str, self.terms)) + ")"


@dataclass(frozen=True, slots=True, eq=False)
class Negation(Term):
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
    """``body`` if the argument is given, else ``default``. Whether it is given is always concrete."""

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
class IsEmpty(Term):
    """Whether a list argument has no items. The number of items is always concrete."""

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
class Succeeded(Term):
    """Whether the call succeeds. The transition binds it."""

    def compile(self, logic: Logic) -> Compiled:
        return lambda scope: scope.bound["succeeded"]

    def __str__(self) -> str:
        return "the call succeeded"


SUCCEEDED = Succeeded()


def _operand(term: Term) -> str:
    """The term as an operand, in parentheses where it would be ambiguous."""
    return f"({term})" if isinstance(term, BinaryOperation | Equal | Negation) else str(term)
