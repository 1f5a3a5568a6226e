"""Conditions: the constraints of an atom on one call, its arguments and its result.

A condition is a boolean expression over one event e and the values of variables. With v(x) for the value of a term on e
(`lawtrace.solver.logic.terms`), missing or not:

    e |= x                      iff  v(x) is exactly true                     (only a field can stand alone)
    e |= x == y, x != y         iff  both values are there, of one kind, and equal / not equal
    e |= x <  y  (<= > >=)      iff  both values are there, and both are numbers, both texts or both times
    e |= x in y                 iff  both values are there, y is a list and some element of it equals x, or y is an
                                     object and x the name of one of its fields
    e |= x startswith y         iff  both values are texts, and x begins with y       (endswith, contains likewise)
    e |= x matches "p"          iff  v(x) is a text, and the regular expression p matches the whole of it
    e |= any f in x: c          iff  v(x) is a list or an object, and c holds for some element, or name of a field, f
    e |= all f in x: c          iff  v(x) is a list or an object, and c holds for every such f
    e |= not c, c and d, c or d          as in propositional logic

So a comparison with a missing or ill-typed value is false, and `not (a == b)` differs from `a != b` exactly there:
evaluation is total and never raises. A comma is an `and` that binds most loosely. A text compared with a time is read
as a date. ``lower(x) == lower(y)`` ignores case.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal

from lawtrace.schemas.events import Event
from lawtrace.solver.logic import terms

WORDS: Final = "words"
"""The argument of a message that holds its words in lower case; a bare string refers to it."""

Operator = Literal["==", "!=", "<", "<=", ">", ">=", "in", "startswith", "endswith", "contains", "matches"]

_ORDERS: Final[Mapping[str, Callable[[Any, Any], bool]]] = MappingProxyType(
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
)
TEXTS: Final[Mapping[str, Callable[[str, str], bool]]] = MappingProxyType(
    {
        "startswith": str.startswith,
        "endswith": str.endswith,
        "contains": operator.contains,
        "matches": lambda text, pattern: re.fullmatch(pattern, text, re.DOTALL) is not None,
    }
)
"""The operators that compare texts."""


@dataclass(frozen=True, slots=True)
class IsTrue:
    """A bare field: its value is exactly true."""

    field: terms.FieldPath | terms.Element
    level: ClassVar[int] = 4

    def holds(self, event: Event, bindings: terms.Bindings = terms.NO_BINDINGS) -> bool:
        return self.field.value(event, bindings) is True

    def __str__(self) -> str:
        return str(self.field)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two terms and how their values compare."""

    left: terms.Term
    operator: Operator
    right: terms.Term
    level: ClassVar[int] = 4

    def holds(self, event: Event, bindings: terms.Bindings = terms.NO_BINDINGS) -> bool:
        return compare(self.left.value(event, bindings), self.operator, self.right.value(event, bindings))

    def __str__(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


def compare(left: terms.Value, operator: Operator, right: terms.Value) -> bool:
    """Whether two values compare so; false if one is missing or their kinds do not fit."""
    if operator == "==" and type(left) is str and type(right) is str:
        return left == right
    if isinstance(left, terms.Missing) or isinstance(right, terms.Missing):
        return False
    if operator == "in":
        if isinstance(right, terms.IndexedList) and terms.is_value(left):
            return right.has(left)
        if isinstance(right, Mapping):
            return isinstance(left, str) and left in right
        return isinstance(right, list) and any(terms.json_equal(left, element) for element in right)
    if operator in TEXTS:
        return isinstance(left, str) and isinstance(right, str) and TEXTS[operator](left, right)
    kind, other = terms.kind_of(left), terms.kind_of(right)
    if kind != other:
        if {kind, other} != {"string", "time"}:
            return False
        left, right = terms.as_time(left), terms.as_time(right)
        if isinstance(left, terms.Missing) or isinstance(right, terms.Missing):
            return False
        kind = "time"
    if operator in ("==", "!="):
        return terms.json_equal(left, right) == (operator == "==")
    return kind in ("number", "string", "time") and _ORDERS[operator](left, right)


@dataclass(frozen=True, slots=True)
class ElementCondition:
    """`any f in list: c` and `all f in list: c`."""

    quantifier: Literal["any", "all"]
    name: str
    elements: terms.Term
    part: "Condition"
    level: ClassVar[int] = 0

    def holds(self, event: Event, bindings: terms.Bindings = terms.NO_BINDINGS) -> bool:
        elements = self.elements.value(event, bindings)
        if not isinstance(elements, list | Mapping):
            return False
        test = any if self.quantifier == "any" else all
        return test(self.part.holds(event, {**bindings, self.name: element}) for element in terms.elements_of(elements))

    def __str__(self) -> str:
        return f"{self.quantifier} {self.name} in {self.elements}: {self.part}"


@dataclass(frozen=True, slots=True)
class NotCondition:
    """`not c`."""

    part: "Condition"
    level: ClassVar[int] = 3

    def holds(self, event: Event, bindings: terms.Bindings = terms.NO_BINDINGS) -> bool:
        return not self.part.holds(event, bindings)

    def __str__(self) -> str:
        return f"not {_parenthesised(self.part, self.level)}"


@dataclass(frozen=True, slots=True)
class _Junction:
    parts: "tuple[Condition, ...]"
    word: ClassVar[str]
    level: ClassVar[int]

    def __str__(self) -> str:
        return f" {self.word} ".join(_parenthesised(part, self.level + 1) for part in self.parts)


class AndCondition(_Junction):
    """`c and d and ...`."""

    word: ClassVar = "and"
    level: ClassVar[int] = 2

    def holds(self, event: Event, bindings: terms.Bindings = terms.NO_BINDINGS) -> bool:
        return all(part.holds(event, bindings) for part in self.parts)


class OrCondition(_Junction):
    """`c or d or ...`."""

    word: ClassVar = "or"
    level: ClassVar[int] = 1

    def holds(self, event: Event, bindings: terms.Bindings = terms.NO_BINDINGS) -> bool:
        return any(part.holds(event, bindings) for part in self.parts)


Condition = IsTrue | Comparison | ElementCondition | NotCondition | AndCondition | OrCondition


def _parenthesised(part: Condition, level: int) -> str:
    """The text of a part, in parentheses if it binds less tightly than its context."""
    return str(part) if part.level >= level else f"({part})"


def conjuncts(condition: Condition | None) -> tuple[Condition, ...]:
    """The conditions whose conjunction it is."""
    if condition is None:
        return ()
    return condition.parts if isinstance(condition, AndCondition) else (condition,)


def all_of(parts: Sequence[Condition]) -> Condition | None:
    """The conjunction; None for none."""
    return AndCondition(tuple(parts)) if len(parts) > 1 else parts[0] if parts else None


def condition_parts(condition: Condition) -> tuple[Condition, ...]:
    """The direct parts of a condition; a comparison has none."""
    match condition:
        case IsTrue() | Comparison():
            return ()
        case NotCondition(part) | ElementCondition(_, _, _, part):
            return (part,)
        case AndCondition(parts) | OrCondition(parts):
            return parts


MIRRORED: Final[Mapping[Operator, Operator]] = MappingProxyType(
    {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
)
"""The operator of a comparison that is read from right to left."""


def subconditions(condition: Condition | None) -> tuple[Condition, ...]:
    """The condition, if there is one, with its parts and theirs, in depth-first order."""
    if condition is None:
        return ()
    return condition, *(each for part in condition_parts(condition) for each in subconditions(part))


def operands(condition: Condition) -> tuple[terms.Term, ...]:
    """The terms of a condition itself, without those of its parts."""
    match condition:
        case IsTrue(only):
            return (only,)
        case Comparison(left, _, right):
            return left, right
        case ElementCondition(_, _, elements, _):
            return (elements,)
        case _:
            return ()


def condition_leaves(condition: Condition) -> tuple[terms.Term, ...]:
    """Every field, literal and variable in the condition."""
    own = (leaf for operand in operands(condition) for leaf in terms.leaves(operand))
    inner = (leaf for part in condition_parts(condition) for leaf in condition_leaves(part))
    return *own, *inner


def condition_fields(condition: Condition) -> frozenset[terms.FieldPath]:
    """Every field that the condition reads."""
    return frozenset(leaf for leaf in condition_leaves(condition) if isinstance(leaf, terms.FieldPath))


def condition_variables(condition: Condition) -> frozenset[str]:
    """The names of the variables that the condition reads."""
    return frozenset(leaf.name for leaf in condition_leaves(condition) if isinstance(leaf, terms.BoundVariable))


def comparisons_in(condition: Condition | None) -> Iterator[Comparison]:
    """The comparisons in the condition, in order."""
    return (part for part in subconditions(condition) if isinstance(part, Comparison))


Equation = tuple[str, terms.FieldPath, bool]
"""A variable, the field that it is equated with, and whether the elements of the field are meant."""


def equation(condition: Condition) -> Equation | None:
    """What a comparison equates with a variable; None for other conditions.

    Of `x == field`, `field == x` and `x in field` the event alone says for which values they are true.
    """
    match condition:
        case Comparison(terms.BoundVariable(name), "==" | "in" as sign, terms.FieldPath() as place):
            return name, place, sign == "in"
        case Comparison(terms.FieldPath() as place, "==", terms.BoundVariable(name)):
            return name, place, False
        case _:
            return None


def equations(condition: Condition | None) -> list[Equation]:
    """Those that have to be true if the condition is."""
    return [found for part in conjuncts(condition) if (found := equation(part)) is not None]


def bound_fields(condition: Condition) -> tuple[tuple[terms.FieldPath, bool], ...]:
    """The fields that are equated with a variable anywhere in a condition, each with whether its elements are."""
    own = equation(condition)
    inner = (met for part in condition_parts(condition) for met in bound_fields(part))
    return tuple(dict.fromkeys((*(() if own is None else (own[1:],)), *inner)))


def map_operands(condition: Condition, change: Callable[[terms.Leaf], terms.Term]) -> Condition:
    """The condition with each field, literal and variable replaced."""
    match condition:
        case IsTrue(only):
            changed = change(only)
            return IsTrue(changed) if isinstance(changed, terms.FieldPath | terms.Element) else condition
        case Comparison(left, sign, right):
            return Comparison(terms.map_leaves(left, change), sign, terms.map_leaves(right, change))
        case ElementCondition(quantifier, name, elements, part):
            return ElementCondition(quantifier, name, terms.map_leaves(elements, change), map_operands(part, change))
        case NotCondition(part):
            return NotCondition(map_operands(part, change))
        case AndCondition(parts) | OrCondition(parts):
            return type(condition)(tuple(map_operands(part, change) for part in parts))
