"""Expressions of a declaration, in the value language of the rules, as terms of the simulator and the solver.

`lawtrace.solver.logic.parser` reads the text; this module finds what its names mean and checks the types. Terms have
what both the simulator and Z3 compute, so parts of the language that only look at recorded values are errors here.

A comparison with an argument that is not given, or a field that a row lacks, is false, as in rules.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from lawtrace.environments.spec import expressions as e
from lawtrace.environments.spec import terms as t
from lawtrace.environments.spec.clock import SECONDS_PER_DAY
from lawtrace.environments.spec.expressions import RowCondition, RowVariable, Term
from lawtrace.environments.spec.state import Entity
from lawtrace.environments.spec.types import (
    BOOLEAN,
    DATE,
    INTEGER,
    MOMENT,
    MONEY,
    TEXT,
    Calendar,
    ListOf,
    ObjectOf,
    ValueType,
    WrongValue,
    is_text_type,
    usual_internal,
)
from lawtrace.schemas.errors import FormulaError, near_names
from lawtrace.solver.logic import conditions as c
from lawtrace.solver.logic import terms as v
from lawtrace.solver.logic.parser import parse_condition, parse_value

THIS_ROW: Final = "row"
"""The name of the row that a condition or an effect looks at."""
TODAY: Final = "today"


@dataclass(frozen=True, slots=True)
class SpanType:
    """A span of time, in units of so many seconds."""

    unit: int = 1

    @property
    def name(self) -> str:
        return "span of time"


AnyType = ValueType | SpanType


class ExpressionError(FormulaError):
    """What is wrong with a part of an expression. ``part``: its text."""

    def __init__(self, message: str, part: str) -> None:
        super().__init__(message)
        self.part = part


@dataclass(frozen=True, slots=True)
class MaybeMissing:
    """A part of an expression whose value may be missing: an argument, or a field. ``said``: its text."""

    term: Term
    said: str

    @property
    def is_argument(self) -> bool:
        return isinstance(self.term, e.Argument)


@dataclass(frozen=True, slots=True)
class Typed:
    """A term with its type. ``optional``: the parts without which it has no value."""

    term: Term
    type: AnyType
    optional: tuple[MaybeMissing, ...] = ()

    def or_else(self, unset: Term, ungiven: Term | None = None) -> Term:
        """The value; ``unset`` where a field is missing, ``ungiven`` (default: the same) where an argument is."""
        term = self.term
        for part in reversed(self.optional):
            if part.is_argument or part.term is not term:
                term = t.if_given(part.term, term, ungiven if part.is_argument and ungiven is not None else unset)
        return term


@dataclass(frozen=True, slots=True)
class NamedRow:
    """A row with a name: a variable, or the first row that meets a condition."""

    entity: Entity
    variable: RowVariable | None = None
    where: RowCondition | None = None

    def field(self, name: str) -> Term:
        """The term of a field that rows of the table have."""
        if self.where is None:
            return getattr(self.variable, name)
        declared = self.entity.fields[name]
        otherwise = None if declared.optional else usual_internal(declared.type)
        return t.value_of(self.entity, self.where, name, otherwise)


@dataclass(frozen=True, slots=True)
class Names:
    """What names mean in an expression.

    Attributes:
        optional: the arguments that may be missing.
        rows: rows by name.
        items: items of lists, named by `any` and `all`.
        there: the texts of parts that may be missing, and are not, by a condition.
    """

    tables: Mapping[str, Entity]
    arguments: Mapping[str, ValueType] = field(default_factory=dict[str, ValueType])
    optional: frozenset[str] = frozenset()
    rows: Mapping[str, NamedRow] = field(default_factory=dict[str, NamedRow])
    items: Mapping[str, Typed] = field(default_factory=dict[str, Typed])
    there: frozenset[str] = frozenset()

    def where(self, text: str) -> "Names":
        """The same names, where a condition is true."""
        return replace(self, there=self.there | _compared(parse_condition(text)))

    def with_row(self, variable: RowVariable, entity: Entity, name: str = THIS_ROW) -> "Names":
        """The same names, and one for a row that an enclosing part binds."""
        return replace(self, rows={**self.rows, name: NamedRow(entity, variable)})

    def condition(self, text: str) -> Term:
        """The term of a condition. Raises FormulaError."""
        return self._condition(parse_condition(text))

    def value(self, text: str, wanted: AnyType) -> Typed:
        """The term of a value of some type. Raises FormulaError."""
        parsed = parse_value(text)
        found = self._value(parsed, wanted)
        if not _fits(found.type, wanted):
            raise ExpressionError(f"`{parsed}` is a {_said(found.type)}, and a {_said(wanted)} is needed", str(parsed))
        return found

    def any_value(self, text: str) -> Typed:
        """The term of a value of any type. Raises FormulaError."""
        return self._value(parse_value(text), None)

    # Conditions

    def _condition(self, condition: c.Condition) -> Term:
        match condition:
            case c.IsTrue(read):
                found = self._value(read, BOOLEAN)
                if found.type != BOOLEAN:
                    raise ExpressionError(
                        f"`{read}` is a {_said(found.type)}, and alone it is no condition: compare it", str(read)
                    )
                return _if_there(found.term, found)
            case c.Comparison(left, sign, right):
                return self._comparison(left, sign, right)
            case c.NotCondition(part):
                return ~self._condition(part)
            case c.AndCondition(parts) | c.OrCondition(parts):
                word = "and" if isinstance(condition, c.AndCondition) else "or"
                return e.Junction(word, tuple(map(self._condition, parts)))
            case c.ElementCondition(quantifier, name, elements, part):
                found = self._elements(name, elements, part if quantifier == "any" else c.NotCondition(part))
                return found if quantifier == "any" else ~found

    def _elements(self, name: str, elements: v.Term, part: c.Condition) -> Term:
        """Some row of a table, or some item of a list, meets the condition."""
        if isinstance(elements, v.FieldPath) and len(elements.path) == 1 and elements.path[0] in self.tables:
            entity = self.tables[str(elements.path[0])]
            row = RowVariable(entity)
            return e.Exists(entity, row, self.with_row(row, entity, name)._condition(part))
        items = self._value(elements, None)
        if not isinstance(items.type, ListOf):
            known = near_names(str(elements), self.tables)
            raise ExpressionError(f"`{elements}` is no table and no list{known}", str(elements))
        variable, item = t.item_variable()
        inner = replace(self, items={**self.items, name: Typed(item, items.type.items)})
        return _if_there(e.AnyItem(items.term, variable, inner._condition(part)), items)

    def _comparison(self, left: v.Term, sign: c.Operator, right: v.Term) -> Term:
        if sign == "in":
            return self._membership(left, right)
        one, other = self._both(left, right)
        whole = f"{left} {sign} {right}"
        if sign in c.TEXTS:
            if not (_is_text(one.type) and _is_text(other.type)):
                raise ExpressionError(f"`{sign}` compares texts, not a {_said(one.type)}", whole)
            compared: Term = t.apply(f"{{0}} {sign} {{1}}", c.TEXTS[sign], one.term, other.term)
        else:
            if not (_fits(one.type, other.type) or _fits(other.type, one.type)):
                raise ExpressionError(
                    f"`{left}` is a {_said(one.type)} and `{right}` a {_said(other.type)}: they cannot be compared",
                    str(right),
                )
            if sign not in ("==", "!=") and (_is_text(one.type) or isinstance(one.type, ListOf | ObjectOf)):
                raise ExpressionError(f"`{sign}` compares numbers and times, not a {_said(one.type)}", whole)
            compared = _SIGNS[sign](one.term, other.term)
        return _if_there(compared, one, other)

    def _membership(self, left: v.Term, right: v.Term) -> Term:
        if isinstance(right, v.LiteralList):
            found = self._value(left, None)
            options = [self._value(item, found.type) for item in right.items]
            return _if_there(e.Junction("or", tuple(found.term == option.term for option in options)), found)
        items = self._value(right, None)
        if not isinstance(items.type, ListOf):
            raise ExpressionError(f"`{right}` is no list", str(right))
        found = self._value(left, items.type.items)
        return _if_there(t.any_item(items.term, lambda item: item == found.term), items, found)

    def _both(self, left: v.Term, right: v.Term, wanted: AnyType | None = None) -> tuple[Typed, Typed]:
        """Two values; the type of the one tells what a literal, or `now`, on the other side is."""
        if _is_open(left):
            other = self._value(right, wanted)
            return _aligned(self._value(left, other.type), other)
        one = self._value(left, wanted)
        other = self._value(right, one.type)
        return _aligned(self._value(left, other.type) if isinstance(other.type, Calendar) else one, other)

    # Values

    def _value(self, term: v.Term, wanted: AnyType | None) -> Typed:
        match term:
            case v.FieldPath() | v.Element():
                found = self._path(term.path if isinstance(term, v.FieldPath) else (term.name, *term.path))
                return replace(found, term=found.or_else(_NOTHING), optional=()) if str(term) in self.there else found
            case v.Now():
                kind = wanted if isinstance(wanted, Calendar) and wanted != DATE else MOMENT
                return Typed(e.Now("the current moment", kind.unit, -kind.seconds(0) // kind.unit), kind)
            case v.LiteralValue(content):
                kind = wanted if isinstance(wanted, ValueType) else _type_of(content)
                return self._literal(term, content, kind)
            case v.LiteralList(items):
                inner = wanted.items if isinstance(wanted, ListOf) else _type_of(items[0].content) if items else TEXT
                return self._literal(term, [item.content for item in items], ListOf(inner))
            case v.SpanLiteral(span):
                unit = wanted.unit if isinstance(wanted, SpanType | Calendar) else 1
                number, rest = divmod(span.seconds, unit)
                if rest:
                    raise ExpressionError(f"`{span}` is no whole number of {_unit_name(unit)}", str(span))
                return Typed(e.Constant(number), SpanType(unit))
            case v.Arithmetic(left, sign, right):
                return self._arithmetic(term, left, sign, right, wanted)
            case v.FunctionCall(function, arguments):
                return self._function(function, arguments[0])
            case _:
                raise ExpressionError(f"`{term}` cannot stand in a declaration", str(term))

    def _literal(self, term: v.Term, content: object, kind: ValueType) -> Typed:
        try:
            return Typed(e.Constant(kind.decode(content)), kind)  # pyright: ignore[reportArgumentType] -- it is JSON
        except WrongValue as error:
            raise ExpressionError(str(error), str(term)) from None

    def _path(self, path: tuple[str | int, ...]) -> Typed:
        first, *steps = map(str, path)
        if first in self.rows and not (len(path) == 1 and first in self.arguments):
            return self._field_of_row(first, self.rows[first], steps)
        if first in self.items:
            found = self.items[first]
        elif first in self.arguments:
            argument = e.Argument(first)
            missing = (MaybeMissing(argument, first),) if first in self.optional else ()
            found = Typed(argument, self.arguments[first], missing)
        elif first == TODAY:
            found = Typed(t.TODAY, DATE)
        else:
            known = [*self.arguments, *self.rows, *self.items, TODAY, "now"]
            raise ExpressionError(f"nothing here is named `{first}`{near_names(first, known)}", first)
        return _inside(found, first, steps)

    def _field_of_row(self, name: str, row: NamedRow, steps: list[str]) -> Typed:
        if not steps:
            raise ExpressionError(f"`{name}` is a row: name one of its fields, `{name}.{row.entity.key}`", name)
        if steps[0] not in row.entity.fields:
            raise ExpressionError(
                f"a row of {row.entity.table!r} has no field `{steps[0]}`{near_names(steps[0], row.entity.fields)}",
                f"{name}.{steps[0]}",
            )
        declared, term = row.entity.fields[steps[0]], row.field(steps[0])
        optional = (MaybeMissing(term, f"{name}.{steps[0]}"),) if declared.optional else ()
        return _inside(Typed(term, declared.type, optional), f"{name}.{steps[0]}", steps[1:])

    def _arithmetic(self, whole: v.Term, left: v.Term, sign: str, right: v.Term, wanted: AnyType | None) -> Typed:
        if sign == "*":
            if isinstance(left, v.LiteralValue):
                left, right = right, left
            if isinstance(right, v.LiteralValue) and isinstance(right.content, int):
                found = self._value(left, wanted)
                if found.type in (INTEGER, MONEY) or isinstance(found.type, SpanType):
                    return replace(found, term=found.term * int(right.content))
            elif isinstance(left, v.SpanLiteral) or isinstance(right, v.SpanLiteral):
                number, span = (right, left) if isinstance(left, v.SpanLiteral) else (left, right)
                found, unit = self._value(number, INTEGER), self._value(span, wanted)
                if found.type == INTEGER and isinstance(unit.term, e.Constant):
                    return Typed(found.term * unit.term.value, unit.type, found.optional)
            raise ExpressionError(f"`{whole}`: numbers and spans are multiplied by a whole number only", str(whole))
        if sign == "/":
            raise ExpressionError(f"`{whole}`: a declaration does not divide", str(whole))
        one, other = self._both(left, right, wanted)
        optional = (*one.optional, *other.optional)
        term = one.term + other.term if sign == "+" else one.term - other.term
        match one.type, other.type:
            case Calendar() as time, SpanType():
                return Typed(term, time, optional)
            case SpanType(), Calendar() as time if sign == "+":
                return Typed(term, time, optional)
            case Calendar() as time, Calendar() if sign == "-":
                return Typed(term, SpanType(time.unit), optional)
            case same, also if same == also and (same in (INTEGER, MONEY) or isinstance(same, SpanType)):
                return Typed(term, same, optional)
            case _:
                message = f"`{whole}`: there is no `{sign}` of a {_said(one.type)} and a {_said(other.type)}"
                raise ExpressionError(message, str(whole))

    def _function(self, function: str, argument: v.Term) -> Typed:
        found = self._value(argument, None)
        if function == "lower" and _is_text(found.type):
            return Typed(t.apply("{0} in lower case", str.casefold, found.term), TEXT, found.optional)
        if function == "len" and isinstance(found.type, ListOf):
            return Typed(t.count_of(found.term), INTEGER, found.optional)
        if function == "total" and isinstance(found.type, ListOf) and found.type.items in (INTEGER, MONEY):
            return Typed(t.total_of(found.term, lambda item: item), found.type.items, found.optional)
        raise ExpressionError(
            f"`{function}` of a {_said(found.type)} cannot stand in a declaration; `lower` of a text, and `len` and "
            "`total` of a list can",
            function,
        )


_NOTHING: Final = e.Constant(None)
_SIGNS: Final[Mapping[str, Callable[[Term, Term], Term]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}  # pyright: ignore[reportAssignmentType] -- terms overload them


def _inside(found: Typed, said: str, steps: list[str]) -> Typed:
    """A part of a value: a field of an object."""
    for step in steps:
        if not isinstance(found.type, ObjectOf):
            raise ExpressionError(f"`{said}` is a {_said(found.type)} and has no field `{step}`", f"{said}.{step}")
        if step not in found.type.fields:
            known = near_names(step, found.type.fields)
            raise ExpressionError(f"`{said}` has no field `{step}`{known}", f"{said}.{step}")
        term = found.term[step]
        said = f"{said}.{step}"
        missing = (MaybeMissing(term, said),) if step in found.type.optional else ()
        found = Typed(term, found.type.fields[step], (*found.optional, *missing))
    return found


def _if_there(truth: Term, *read: Typed) -> Term:
    """False where one of the values that a condition reads is missing."""
    for term in dict.fromkeys(part.term for one in read for part in reversed(one.optional)):
        truth = t.if_given(term, truth, default=False) if isinstance(term, e.Argument) else ~(term == None) & truth  # noqa: E711
    return truth


def _compared(condition: c.Condition) -> frozenset[str]:
    """The texts of what has a value wherever a condition is true."""
    match condition:
        case c.IsTrue(read):
            return frozenset(map(str, v.leaves(read)))
        case c.Comparison(left, _, right):
            return frozenset(map(str, (*v.leaves(left), *v.leaves(right))))
        case c.AndCondition(parts):
            return frozenset[str]().union(*map(_compared, parts))
        case c.OrCondition(parts):
            return frozenset[str].intersection(*map(_compared, parts))
        case _:
            return frozenset()


def _aligned(one: Typed, other: Typed) -> tuple[Typed, Typed]:
    """Two times in the same unit, the shorter one: a day beside a moment is its midnight."""
    match one.type, other.type:
        case Calendar() as kind, Calendar(unit=unit) if kind.unit < unit:
            return one, replace(other, term=other.term * (unit // kind.unit), type=kind)
        case Calendar(unit=unit), Calendar() as kind if kind.unit < unit:
            return replace(one, term=one.term * (unit // kind.unit), type=kind), other
        case _:
            return one, other


def _is_open(term: v.Term) -> bool:
    """Whether the type of a term depends on what it stands beside."""
    return all(isinstance(leaf, v.LiteralValue | v.LiteralList | v.SpanLiteral) for leaf in v.leaves(term))


def _type_of(content: object) -> ValueType:
    return BOOLEAN if isinstance(content, bool) else TEXT if isinstance(content, str) else INTEGER


def _is_text(kind: AnyType) -> bool:
    return isinstance(kind, ValueType) and not kind.parts and is_text_type(kind)


def _fits(found: AnyType, wanted: AnyType) -> bool:
    """Whether values of the one type can stand for those of the other. Which texts they are is not checked."""
    if isinstance(found, ListOf) and isinstance(wanted, ListOf):
        return _fits(found.items, wanted.items)
    if isinstance(found, Calendar) and isinstance(wanted, Calendar):
        return found.unit == wanted.unit
    return found == wanted or (_is_text(found) and _is_text(wanted))


def _said(kind: AnyType) -> str:
    """What a type is called, after "a"."""
    names: dict[ValueType, str] = {DATE: "day", MONEY: "sum of money", INTEGER: "whole number"}
    if isinstance(kind, SpanType):
        return kind.name
    if isinstance(kind, Calendar) and kind != DATE:
        return "moment" if kind == MOMENT else f"moment of the form {kind.format}"
    return "text" if _is_text(kind) else names.get(kind, kind.name)


def _unit_name(unit: int) -> str:
    return {SECONDS_PER_DAY: "days", 60: "minutes"}.get(unit, "seconds")
