"""Terms: the expressions of preconditions, effects and results.

A term is a small immutable tree, built by operator overloading over arguments and rows:

    exists(ACCOUNTS, lambda a: (a.account_number == argument("account_number")) & (a.balance >= argument("amount")))

It prints as a readable sentence for certificates and documentation. It is compiled once to a function of an
:class:`EvaluationScope`, whose values are Python values or solver expressions, depending on the logic
(``environments/spec/logic.py``). Simulator and solver compile the same source (``environments/spec/term_code.py``), so
they cannot disagree.

``==`` builds a term, so terms have no equality of their own: they hash by identity, and ``bool(term)`` raises, which
catches ``and``, ``or``, ``not`` and chained comparisons at once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, cast

from lawtrace.environments.spec.logic import Logic
from lawtrace.environments.spec.state import Entity, State
from lawtrace.environments.spec.term_code import TermCode
from lawtrace.environments.spec.types import Record, Value
from lawtrace.schemas.errors import InputError


@dataclass(slots=True)
class EvaluationScope:
    """Input of a compiled term.

    Attributes:
        state: before the call.
        now: the time at which the call begins, in seconds since 1970; None where terms must not read it.
        succeeded: whether the call succeeds; None where terms must not read it.
    """

    state: State
    arguments: Mapping[str, Value]
    now: Value = None
    succeeded: Value = None


Compiled = Callable[..., Value]
"""A compiled term: a function of an `EvaluationScope` and of the values of its free variables."""


def _operator(symbol: str) -> "Callable[[Term, object], Term]":
    return lambda left, right: BinaryOperation(symbol, left, as_term(right))


class Term:
    """A node of the tree. Subclasses define printing and source."""

    __slots__ = ()
    __hash__ = object.__hash__
    __match_args__: ClassVar[tuple[str, ...]] = ()

    def compile(self, logic: Logic, *variables: "Variable") -> Compiled:
        """The function of the term. `variables`: its free ones, whose values the function takes after the scope."""
        return TermCode(logic, variables).function(self)

    def code(self, code: TermCode) -> str:
        """The Python expression of the term."""
        raise NotImplementedError

    def parts(self) -> "Iterator[Term]":
        """The direct subterms, in the order of the fields."""
        for name in self.__match_args__:
            value: object = getattr(self, name)
            inner = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
            yield from (part for part in inner if isinstance(part, Term))

    def walk(self) -> "Iterator[Term]":
        """The term and everything in it."""
        yield self
        for part in self.parts():
            yield from part.walk()

    __iter__ = None  # or Python would iterate by __getitem__

    def __getitem__(self, name: str) -> "Term":
        """A field of an object; None where it is absent."""
        return FieldOf(self, name)

    def get(self, name: str, otherwise: object) -> "Term":
        """A field of an object; ``otherwise`` where it is absent."""
        return FieldOf(self, name, otherwise)

    def __bool__(self) -> bool:
        raise TypeError(f"the term ({self}) has no truth value; write & | ~ instead of and, or, not")

    def __eq__(self, other: object) -> "Term":  # type: ignore[override]
        return BinaryOperation("=", self, as_term(other))

    def __ne__(self, other: object) -> "Term":  # type: ignore[override]
        return Negation(self == other)

    __lt__ = _operator("<")
    __le__ = _operator("<=")
    __gt__ = _operator(">")
    __ge__ = _operator(">=")
    __add__ = _operator("+")
    __sub__ = _operator("-")

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

    def code(self, code: TermCode) -> str:
        return code.constant(self.value)

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, slots=True, eq=False)
class Undeclared(Term):
    """A value that the declaration leaves open: ``otherwise`` in a simulation, unknown where a record is compared."""

    otherwise: Term

    def code(self, code: TermCode) -> str:
        return f"logic.undeclared({code.of(self.otherwise)})"

    def __str__(self) -> str:
        return "what is not declared"


@dataclass(frozen=True, slots=True, eq=False)
class Argument(Term):
    name: str

    def code(self, code: TermCode) -> str:
        return f"arguments[{self.name!r}]"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class BoundValue(Term):
    """A row's field, or an item of a list, that an enclosing term has bound."""

    variable: Variable
    field: str | None = None
    table: str | None = None

    def code(self, code: TermCode) -> str:
        bound = code.variable(self.variable)
        return bound if self.field is None else f"{bound}.values[{self.field!r}]"

    def __str__(self) -> str:
        return str(self.variable) if self.field is None else f"{self.variable}.{self.field}"


@dataclass(frozen=True, slots=True, eq=False)
class FieldOf(Term):
    """A field of an object; ``otherwise`` where it is absent."""

    record: Term
    field: str
    otherwise: Value = None

    def code(self, code: TermCode) -> str:
        return code.call(_field_of, code.of(self.record), repr(self.field), code.constant(self.otherwise))

    def __str__(self) -> str:
        return f"{self.record}.{self.field}"


@dataclass(frozen=True, slots=True, eq=False)
class IsPresent(Term):
    """Whether a row that an enclosing loop has bound is there."""

    variable: Variable

    def code(self, code: TermCode) -> str:
        return f"{code.variable(self.variable)}.present"

    def __str__(self) -> str:
        return f"{self.variable} is there"


@dataclass(frozen=True, slots=True, eq=False)
class Succeeded(Term):
    """Whether the call succeeds. The transition binds it."""

    def code(self, code: TermCode) -> str:
        return "scope.succeeded"

    def __str__(self) -> str:
        return "the call succeeded"


SUCCEEDED = Succeeded()


@dataclass(frozen=True, slots=True, eq=False)
class Now(Term):
    """The time at which the call begins, in whole units of some seconds, counted from ``origin`` at 1970-01-01."""

    words: str
    unit: int = 1
    origin: int = 0

    def code(self, code: TermCode) -> str:
        return f"({code.quotient('scope.now', self.unit)} + {self.origin})"

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, slots=True, eq=False)
class FreshKey(Term):
    """The key of the row that this call appends."""

    entity: Entity

    def code(self, code: TermCode) -> str:
        return f"{code.constant(self.entity)}.generated_key(tables[{self.entity.table!r}])"

    def __str__(self) -> str:
        return f"the new {self.entity.singular}'s {self.entity.key}"


@dataclass(frozen=True, slots=True, eq=False)
class BinaryOperation(Term):
    """Equality, order and arithmetic. Order and arithmetic are Python's operators in every logic; equality is the
    logic's.
    """

    symbol: str
    left: Term
    right: Term

    def code(self, code: TermCode) -> str:
        left, right = code.of(self.left), code.of(self.right)
        if self.symbol == "=":
            return code.equal(left, right)
        left, right = (
            code.there(side) if isinstance(term, _MAYBE_ABSENT) else side
            for term, side in zip((self.left, self.right), (left, right), strict=True)
        )
        return f"({left} {self.symbol} {right})"

    def __str__(self) -> str:
        return f"{_operand(self.left)} {self.symbol} {_operand(self.right)}"


@dataclass(frozen=True, slots=True, eq=False)
class Junction(Term):
    """Conjunction or disjunction."""

    word: Literal["and", "or"]
    terms: tuple[Term, ...]

    def code(self, code: TermCode) -> str:
        truths = [code.of(term) for term in self.terms]
        return code.all(truths) if self.word == "and" else code.any(truths)

    def __str__(self) -> str:
        return "(" + f" {self.word} ".join(map(str, self.terms)) + ")"


@dataclass(frozen=True, slots=True, eq=False)
class Negation(Term):
    term: Term

    def code(self, code: TermCode) -> str:
        return code.negate(code.of(self.term))

    def __str__(self) -> str:
        return f"not {_operand(self.term)}"


@dataclass(frozen=True, slots=True, eq=False)
class Choose(Term):
    condition: Term
    then: Term
    otherwise: Term

    def code(self, code: TermCode) -> str:
        return code.choose(*(code.of(term) for term in self.parts()))

    def __str__(self) -> str:
        return f"({self.then} if {self.condition} else {self.otherwise})"


@dataclass(frozen=True, slots=True, eq=False)
class IfGiven(Term):
    """``body`` if the argument is given, or another value is there; else ``default``."""

    argument: Term
    body: Term
    default: Term

    def code(self, code: TermCode) -> str:
        given, body, default = code.of(self.argument), code.of(self.body), code.of(self.default)
        if code.is_plain or isinstance(self.argument, Argument):  # whether it is given is concrete
            return f"({default} if {given} is None else {body})"
        return code.call(_if_there, given, f"lambda: {body}", f"lambda: {default}")

    def __str__(self) -> str:
        return f"({self.body} if {self.argument} is given, else {self.default})"


@dataclass(frozen=True, slots=True, eq=False)
class IsEmpty(Term):
    """Whether a list has no items."""

    items: Term

    def code(self, code: TermCode) -> str:
        items = code.of(self.items)
        return f"(not {items})" if code.is_plain else code.call(_is_empty, items)

    def __str__(self) -> str:
        return f"{self.items} is empty"


@dataclass(frozen=True, slots=True, eq=False)
class Apply(Term):
    """A Python function of strings; ``words`` prints it, with one {} for each operand."""

    words: str
    function: Callable[..., Value]
    operands: tuple[Term, ...]

    def code(self, code: TermCode) -> str:
        return code.apply(self.function, [code.of(term) for term in self.operands])

    def __str__(self) -> str:
        return self.words.format(*self.operands)


@dataclass(frozen=True, slots=True, eq=False)
class Exists(Term):
    """Some row of the table meets the condition."""

    entity: Entity
    variable: Variable
    condition: Term

    def code(self, code: TermCode) -> str:
        with code.bound(self.variable) as row:
            here = code.all([f"{row}.present", code.of(self.condition)])
        return code.some(here, _each_row(row, self.entity))

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

    def code(self, code: TermCode) -> str:
        with code.bound(self.variable) as row:
            here = code.all([f"{row}.present", code.of(self.condition)])
        value = f"{row}.values[{self.field!r}]"
        return code.first(here, value, _each_row(row, self.entity), code.constant(self.otherwise))

    def __str__(self) -> str:
        return f"the {self.field} of the {self.entity.singular} with {self.condition}"


@dataclass(frozen=True, slots=True, eq=False)
class AnyItem(Term):
    """Some item of a list meets the condition."""

    items: Term
    variable: Variable
    condition: Term

    def code(self, code: TermCode) -> str:
        items = code.of(self.items)
        with code.bound(self.variable) as item:
            condition = code.of(self.condition)
        if code.is_plain:
            return f"any({condition} for {item} in {items} or ())"
        return code.call(_any_item, items, f"lambda {item}: {condition}")

    def __str__(self) -> str:
        return f"some {self.variable} of {self.items} has {self.condition}"


@dataclass(frozen=True, slots=True, eq=False)
class Total(Term):
    """The sum of a value over the items of a list, each as often as it is there."""

    items: Term
    variable: Variable
    value: Term

    def code(self, code: TermCode) -> str:
        items = code.of(self.items)
        with code.bound(self.variable) as item:
            return code.call(_total, items, f"lambda {item}: {code.of(self.value)}")

    def __str__(self) -> str:
        if isinstance(self.value, Constant):
            return f"the number of {self.items}"
        return f"the sum of {self.value} over {self.items}"


_MAYBE_ABSENT: Final = (BoundValue, FieldOf, Choose, IfGiven, ValueOf)
"""Terms whose value may be open, and may not be there."""


def _field_of(logic: Logic, record: Value, name: str, otherwise: Value) -> Value:
    *others, (_, last) = logic.cases(record)
    value = _part_of(last, name, otherwise)
    for truth, one in others:
        value = logic.choose(truth, _part_of(one, name, otherwise), value)
    return value


def _part_of(record: Value, name: str, otherwise: Value) -> Value:
    found = None if record is None else record[name]
    return otherwise if found is None else found


def _if_there(logic: Logic, read: Value, body: Callable[[], Value], default: Callable[[], Value]) -> Value:
    there = read is not None and logic.negate(logic.equal(read, None))
    if isinstance(there, bool):
        return body() if there else default()
    return logic.choose(there, body(), default())


def _is_empty(logic: Logic, items: Value) -> Value:
    return logic.any(truth for truth, found in logic.cases(items) if not found)


def _any_item(logic: Logic, items: Value, condition: Callable[[Value], Value]) -> Value:
    return logic.any(
        logic.all([truth, logic.any(map(condition, distinct(found or ())))]) for truth, found in logic.cases(items)
    )


def _total(logic: Logic, items: Value, value: Callable[[Value], Value]) -> Value:
    total: Value = 0
    for truth, found in logic.cases(items):
        total = logic.choose(truth, sum(map(value, found or ())), total)
    return total


def _each_row(row: str, entity: Entity) -> str:
    return f"for {row} in tables[{entity.table!r}]"


def _operand(term: Term) -> str:
    """The term as an operand, in parentheses where it would be ambiguous."""
    return f"({term})" if isinstance(term, BinaryOperation | Negation) else str(term)


def distinct(items: Sequence[Value]) -> tuple[Value, ...]:
    """The items without repetitions of texts and objects. Expressions all stay, which may turn out equal to an earlier
    item."""
    seen = set[str | Record]()
    kept: list[Value] = []
    for item in items:
        if not isinstance(item, str | Record):
            kept.append(item)
        elif item not in seen:
            seen.add(item)
            kept.append(item)
    return tuple(kept)
