"""Values of the terms of rules over open calls.

A value is a JSON value or a time, as on an event, or an open one (`lawtrace.solver.search.smt.open_values`). Concrete
values are compared and computed with by the language's own functions, so that only what depends on an open value
becomes an expression. What an expression over whole numbers cannot say, such as a product of two open numbers, raises
`Unsupported`.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from math import lcm
from operator import ge, gt, le, lt
from typing import Any, Final, cast

import z3

from lawtrace.environments.spec.clock import SECONDS_PER_DAY
from lawtrace.environments.spec.types import Calendar, WrongFormat
from lawtrace.environments.spec.types import Value as Truth
from lawtrace.solver.logic.conditions import MIRRORED, TEXTS, Operator, compare
from lawtrace.solver.logic.syntax import AggregateFunction
from lawtrace.solver.logic.terms import FUNCTIONS, Time, calculate, elements_of, json_equal, step_into
from lawtrace.solver.logic.terms import Value as Concrete
from lawtrace.solver.monitoring.totals import summarise
from lawtrace.solver.search.smt.open_values import (
    NO_VALUE,
    Alternatives,
    OpenList,
    OpenObject,
    Symbolic,
    SymbolicValue,
    Unsupported,
    calendar_numbers,
    is_open,
    singleton,
    value_kind,
)
from lawtrace.solver.search.smt.symbolic_logic import SymbolicLogic

_ORDERS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
MOST_WORDS: Final = 256
"""Functions of an open text are tabulated for up to so many texts."""


class SymbolicValues:
    """Comparisons, arithmetic, functions and aggregates of values."""

    def __init__(self, logic: SymbolicLogic) -> None:
        self._logic = logic

    # Comparisons

    def compare(self, left: Alternatives, operator: Operator, right: Alternatives) -> Truth:
        """Whether two terms compare so."""
        cases = self._cases_of(left, right)
        return self._logic.any([self._logic.all([here, self._compared(a, operator, b)]) for here, (a, b) in cases])

    def _compared(self, left: SymbolicValue, operator: Operator, right: SymbolicValue) -> Truth:
        if not (is_open(left) or is_open(right)):
            return compare(cast("Concrete", left), operator, cast("Concrete", right))
        if operator == "in":
            return self.contains(right, left)
        if operator in TEXTS:
            return self._tabulated(operator, left, right)
        kinds = value_kind(left), value_kind(right)
        if kinds[0] != kinds[1]:
            if set(kinds) != {"string", "time"}:
                return False
            return self.compare(self._as_time(left), operator, self._as_time(right))
        if operator in ("==", "!="):
            same = self.same(left, right)
            return same if operator == "==" else self._logic.negate(same)
        if kinds[0] in ("number", "time"):
            return self._ordered(left, operator, right)
        return self._ordered_texts(left, operator, right) if kinds[0] == "string" else False

    def same(self, left: SymbolicValue, right: SymbolicValue) -> Truth:
        """Deep equality of values of one kind, as `json_equal`."""
        if value_kind(left) != value_kind(right):
            return False
        if not (is_open(left) or is_open(right)):
            return json_equal(cast("Concrete", left), cast("Concrete", right))
        match value_kind(left):
            case "number" | "time":
                return self._ordered(left, "==", right)
            case "string":
                return self._same_text(left, right)
            case "boolean":
                return self._logic.equal(_raw(left), _raw(right))
            case "list":
                return self._same_list(left, right)
            case _:
                raise Unsupported("open objects are compared as a whole")

    def _same_list(self, left: SymbolicValue, right: SymbolicValue) -> Truth:
        one, other = elements(left), elements(right)
        certain = all(here is True for here, _ in (*one, *other))
        if not certain or not (_is_counted(left) and _is_counted(right)):
            raise Unsupported("lists of open length are compared as a whole")
        if len(one) != len(other):
            return False
        return self._logic.all([self.same(a, b) for (_, a), (_, b) in zip(one, other, strict=True)])

    def contains(self, values: SymbolicValue, value: SymbolicValue) -> Truth:
        """Whether a list has an element, or an object a field of a name, equal to the value."""
        if value_kind(values) not in ("list", "object"):
            return False
        return self._logic.any([self._logic.all([here, self.same(value, item)]) for here, item in elements(values)])

    def _same_text(self, left: SymbolicValue, right: SymbolicValue) -> Truth:
        if not isinstance(left, Symbolic):
            left, right = right, left
        if not isinstance(left, Symbolic):
            raise TypeError(left)
        if isinstance(right, Symbolic):
            if left.calendar != right.calendar:
                raise Unsupported("open values of different kinds")
            return True if left.expression.eq(right.expression) else left.expression == right.expression
        if left.calendar is not None:
            try:
                number = left.calendar.decode(cast("str", right))
            except WrongFormat:
                return False
            return left.expression == number
        range_ = self._logic.range_of(left.expression)
        if range_ is not None and right not in range_:
            return False
        return self._logic.equal(left.expression, right)

    def _ordered(self, left: SymbolicValue, operator: Operator, right: SymbolicValue) -> Truth:
        one, other = _scaled(left), _scaled(right)
        if z3.is_expr(one[0]) and z3.is_expr(other[0]) and one[0].eq(other[0]) and one[1] == other[1]:
            return operator in ("==", "<=", ">=")
        a, b = one[0] * other[1], other[0] * one[1]
        if operator == "==":
            return self._logic.equal(a, b)
        return _ORDERS[operator](a, b)

    def _ordered_texts(self, left: SymbolicValue, operator: Operator, right: SymbolicValue) -> Truth:
        if not isinstance(left, Symbolic):
            left, operator, right = right, MIRRORED[operator], left
        if not isinstance(left, Symbolic) or left.calendar is None:
            return self._tabulated(operator, left, right)
        if isinstance(right, Symbolic):
            if left.calendar != right.calendar:
                raise Unsupported("the order of texts of different kinds")
            return self._ordered(Symbolic("number", left.expression), operator, Symbolic("number", right.expression))
        calendar, numbers = left.calendar, calendar_numbers(left.calendar)
        if numbers is None:
            raise TypeError(calendar)
        find = bisect_left if operator in ("<", ">=") else bisect_right
        place = find(numbers, cast("str", right), key=lambda number: cast("str", calendar.encode(number)))
        first = numbers.start + place  # the first number whose text is not below, or is above
        return left.expression < first if operator in ("<", "<=") else left.expression >= first

    def _tabulated(self, operator: Operator, left: SymbolicValue, right: SymbolicValue) -> Truth:
        """A comparison of open texts: whether they have values for which it is true."""
        return self._logic.any(
            self._logic.all([here, there])
            for here, one in self._cases(left)
            for there, other in self._cases(right)
            if compare(one, operator, other)
        )

    def _cases(self, value: SymbolicValue) -> Sequence[tuple[Truth, Concrete]]:
        """The concrete values that an open text or truth can have."""
        match value:
            case Symbolic("boolean", truth):
                return [(truth, True), (self._logic.negate(truth), False)]
            case Symbolic("string", text, calendar=None):
                words = self._logic.words_of(text)
                if len(words) > MOST_WORDS:
                    raise Unsupported("functions and the order of texts with too many values")
                return [(self._logic.equal(text, word), word) for word in words]
            case Symbolic() | OpenList() | OpenObject():
                raise Unsupported(f"a function of an open {value_kind(value)}")
            case _:
                return [(True, value)]

    # Arithmetic

    def each(self, function: Callable[..., Alternatives], *terms: Alternatives) -> Alternatives:
        """The alternatives of a function of terms."""
        cases = self._cases_of(*terms)
        return [(self._logic.all([here, there]), v) for here, values in cases for there, v in function(*values)]

    def _cases_of(self, *terms: Alternatives) -> Iterator[tuple[Truth, tuple[SymbolicValue, ...]]]:
        """The combinations of the values of terms that are possible, with their truths."""
        for case in product(*terms):
            here = self._logic.all([condition for condition, _ in case])
            if here is not False:
                yield here, tuple(value for _, value in case)

    def calculate(self, sign: str, left: SymbolicValue, right: SymbolicValue) -> Alternatives:
        """Arithmetic, as `terms.calculate`."""
        if not (is_open(left) or is_open(right)):
            return singleton(calculate(sign, cast("Concrete", left), cast("Concrete", right)))
        if "time" in (value_kind(left), value_kind(right)) and "string" in (value_kind(left), value_kind(right)):
            return self.each(partial(self.calculate, sign), self._as_time(left), self._as_time(right))
        kinds = value_kind(left), value_kind(right)
        gives_time = (kinds == ("time", "number") and sign in "+-") or (kinds == ("number", "time") and sign == "+")
        if not (gives_time or kinds == ("number", "number") or (kinds == ("time", "time") and sign == "-")):
            return NO_VALUE
        (one, scale), (other, other_scale) = _scaled(left), _scaled(right)
        if sign in "+-":
            common = lcm(scale, other_scale)
            a, b = one * (common // scale), other * (common // other_scale)
            return singleton(Symbolic("time" if gives_time else "number", a + b if sign == "+" else a - b, common))
        if sign == "/":
            if z3.is_expr(other):
                raise Unsupported("a division by an open number")
            if not other:
                return NO_VALUE
            other, other_scale = (other_scale, other) if other > 0 else (-other_scale, -other)
        if z3.is_expr(one) and z3.is_expr(other):
            raise Unsupported("a product of open numbers")
        return singleton(Symbolic("number", one * other, scale * other_scale))

    def _as_time(self, value: SymbolicValue) -> Alternatives:
        """A text as the time that it names; other values as they are."""
        match value:
            case Symbolic("string", calendar=None):
                return self.apply("date", value)
            case Symbolic("string", expression, calendar=Calendar() as calendar):
                return singleton(Symbolic("time", calendar.seconds(expression)))
            case Symbolic("string"):
                return NO_VALUE
            case str():
                return singleton(FUNCTIONS["date"].apply(value))
            case _:
                return singleton(value)

    # Functions

    def apply(self, function: str, *values: SymbolicValue) -> Alternatives:
        """A function of the language."""
        if not any(map(is_open, values)):
            return singleton(FUNCTIONS[function].apply(*cast("Sequence[Concrete]", values)))
        first, *others = values
        match function, first:
            case "len", OpenList(items):
                if not _is_counted(first):
                    raise Unsupported("the length of an open list")
                return self.summary("count", items)
            case "len", OpenObject():
                return self.summary("count", elements(first))
            case "values", OpenObject(fields):
                return singleton(OpenList(tuple(one for alternatives in fields.values() for one in alternatives)))
            case (("largest" | "smallest" | "total"), OpenList(items)):
                if any(value_kind(item) != "number" for _, item in items):
                    return NO_VALUE
                if not _is_counted(first):
                    raise Unsupported("the numbers of an open list")
                aggregate: Mapping[str, AggregateFunction] = {"largest": "max", "smallest": "min", "total": "sum"}
                return self.summary(aggregate[function], items)
            case (("len" | "lower" | "number" | "date"), Symbolic("string", calendar=None)):
                return self.each(partial(self.apply, function), self._cases(first))
            case (("abs" | "number"), Symbolic("number", expression, scale)):
                shown = z3.If(expression >= 0, expression, -expression) if function == "abs" else expression
                return singleton(Symbolic("number", shown, scale))
            case "date", Symbolic("time" | "number", expression, scale):
                return singleton(Symbolic("time", expression, scale))
            case "date", Symbolic("string"):
                return self._as_time(first)
            case (("years" | "days"), _):
                difference = partial(self._calendar_difference, function)
                return self.each(difference, self._as_time(first), self._as_time(others[0]))
            case (("len" | "lower"), Symbolic("string")):
                raise Unsupported("a function of an open date")
            case _:
                return NO_VALUE

    def _calendar_difference(self, function: str, earlier: SymbolicValue, later: SymbolicValue) -> Alternatives:
        if not (is_open(earlier) or is_open(later)):
            return singleton(FUNCTIONS[function].apply(cast("Concrete", earlier), cast("Concrete", later)))
        if value_kind(earlier) != "time" or value_kind(later) != "time":
            return NO_VALUE
        one, other = _day(earlier), _day(later)
        if function == "days":
            return singleton(Symbolic("number", other - one))
        (year, in_year), (last_year, in_last) = _date_parts(one), _date_parts(other)
        return singleton(Symbolic("number", last_year - year - z3.If(in_last < in_year, 1, 0)))

    # Paths and lists

    def part(self, whole: Alternatives, steps: Sequence[str | int]) -> Alternatives:
        """The parts at the end of some steps."""
        for step in steps:
            whole = self.each(partial(self._step, step), whole)
        return whole

    def _step(self, step: str | int, value: SymbolicValue) -> Alternatives:
        match value:
            case OpenObject(fields):
                return fields.get(str(step), NO_VALUE) if isinstance(step, str) else NO_VALUE
            case OpenList(items) if isinstance(step, str):
                parts = self.each(partial(self._step, step), [one for one in items if value_kind(one[1]) == "object"])
                return singleton(OpenList(tuple(parts), value.counted))
            case OpenList(items):
                if not value.counted:
                    raise Unsupported("the place of an element in an open list")
                return self._element(items, cast("int", step))
            case Symbolic():
                return NO_VALUE
            case _:
                return singleton(step_into(value, (step,)))

    def _element(self, items: Sequence[tuple[Truth, SymbolicValue]], place: int) -> Alternatives:
        """The element at a place of a list: the item that is there with so many before it."""
        found: list[tuple[Truth, SymbolicValue]] = []
        before: list[Truth] = [True, *(False for _ in range(place))]
        """For each number whether so many of the items seen are there."""
        for here, item in items:
            chosen = self._logic.all([here, before[place]])
            if chosen is not False:
                found.append((chosen, item))
            without, absent = [False, *before], self._logic.negate(here)
            before = [
                self._logic.any([self._logic.all([absent, same]), self._logic.all([here, less])])
                for same, less in zip(before, without, strict=False)
            ]
        return found

    # Aggregates

    def distinct(self, entries: Alternatives) -> Alternatives:
        """The first occurrence of each value."""
        found: list[tuple[Truth, SymbolicValue]] = []
        for here, value in entries:
            before = [self._logic.all([there, self.same(value, other)]) for there, other in found]
            first = self._logic.all([here, self._logic.negate(self._logic.any(before))])
            if first is not False:
                found.append((first, value))
        return found

    def summary(self, function: AggregateFunction, entries: Alternatives) -> Alternatives:
        """The aggregate of the values that are there."""
        entries = [(here, value) for here, value in entries if here is not False]
        certain = all(here is True for here, _ in entries)
        if function == "count":
            return singleton(self._count([here for here, _ in entries]))
        if function == "last":
            return self._last(entries)
        numbers = [(here, value) for here, value in entries if value_kind(value) in ("number", "time")]
        if certain and not any(is_open(value) for _, value in numbers):
            return singleton(summarise(function, [cast("Concrete", value) for _, value in numbers]))
        if function == "sum":
            return singleton(self._sum(numbers))
        if function == "avg":
            total, count = self._sum(numbers), self._count([here for here, _ in numbers])
            counts = [(self.same(count, number), number) for number in range(1, len(numbers) + 1)]
            return self.each(partial(self.calculate, "/", total), counts)
        return self._extreme(function, numbers)

    def _count(self, truths: Sequence[Truth]) -> SymbolicValue:
        certain = sum(truth is True for truth in truths)
        unsure = [z3.If(truth, 1, 0) for truth in truths if truth is not True]
        return Symbolic("number", z3.Sum([self._logic.numeral(certain), *unsure])) if unsure else certain

    def _sum(self, numbers: Alternatives) -> SymbolicValue:
        common = lcm(*(_scaled(value)[1] for _, value in numbers))
        terms = [
            self._logic.choose(here, number * (common // scale), 0)
            for here, value in numbers
            for number, scale in [_scaled(value)]
        ]
        if not any(map(z3.is_expr, terms)):
            return sum(terms) // common if sum(terms) % common == 0 else sum(terms) / common
        return Symbolic("number", z3.Sum(terms), common)

    def _extreme(self, function: AggregateFunction, numbers: Alternatives) -> Alternatives:
        if not numbers:
            return NO_VALUE
        if len({value_kind(value) for _, value in numbers}) > 1:
            raise Unsupported("the least or greatest of times and numbers")
        common = lcm(*(_scaled(value)[1] for _, value in numbers))
        beats = lt if function == "min" else gt
        there: Truth = False
        best: Any = 0
        for here, value in numbers:
            number, scale = _scaled(value)
            number *= common // scale
            better = self._logic.all([here, self._logic.any([self._logic.negate(there), beats(number, best)])])
            best = self._logic.choose(better, number, best)
            there = self._logic.any([there, here])
        as_time = value_kind(numbers[0][1]) == "time"
        if not z3.is_expr(best):
            number = best / common if best % common else best // common
            return [(there, Time(number) if as_time else number)]
        return [(there, Symbolic("time" if as_time else "number", best, common))]

    def _last(self, entries: Alternatives) -> Alternatives:
        found: list[tuple[Truth, SymbolicValue]] = []
        later: Truth = False
        for here, value in reversed(entries):
            last = self._logic.all([here, self._logic.negate(later)])
            if last is not False:
                found.append((last, value))
            later = self._logic.any([later, here])
        return found


def elements(value: SymbolicValue) -> Sequence[tuple[Truth, SymbolicValue]]:
    """The elements of a list, or the names of the fields of an object, each with the truth that it is there."""
    if isinstance(value, OpenList):
        return value.items
    if isinstance(value, OpenObject):
        return [(here, name) for name, alternatives in value.fields.items() for here, _ in alternatives]
    return [(True, item) for item in elements_of(value)] if not isinstance(value, Symbolic) else ()


def _is_counted(value: SymbolicValue) -> bool:
    return value.counted if isinstance(value, OpenList) else True


def _raw(value: SymbolicValue) -> Any:  # noqa: ANN401 (an expression or a truth)
    return value.expression if isinstance(value, Symbolic) else value


def _scaled(value: SymbolicValue) -> tuple[Any, int]:
    """A number or a time as a whole number, maybe an expression, over its scale."""
    if isinstance(value, Symbolic):
        return value.expression, value.scale
    fraction = Fraction(str(float(value))) if isinstance(value, float) else Fraction(cast("int", value))
    return fraction.numerator, fraction.denominator


def _day(time: SymbolicValue) -> Any:  # noqa: ANN401 (a number or an expression)
    """The number of the day of a time, from 1970-01-01."""
    seconds, scale = _scaled(time)
    return seconds / (SECONDS_PER_DAY * scale) if z3.is_expr(seconds) else seconds // (SECONDS_PER_DAY * scale)


def _date_parts(day: Any) -> tuple[Any, Any]:  # noqa: ANN401 (numbers or expressions)
    """The year of a day, and the place of its month and day in the year, ascending.

    Howard Hinnant's algorithm: years begin in March, so that a leap day is their last. Divisors are constants, and
    division of an expression rounds down like that of Python.
    """

    def over(number: Any, divisor: int) -> Any:  # noqa: ANN401
        return number / divisor if z3.is_expr(number) else number // divisor

    shifted = day + 719_468
    era = over(shifted, 146_097)
    of_era = shifted - era * 146_097
    year = over(of_era - over(of_era, 1460) + over(of_era, 36_524) - over(of_era, 146_096), 365)
    of_year = of_era - (365 * year + over(year, 4) - over(year, 100))
    march = over(5 * of_year + 2, 153)
    in_month = of_year - over(153 * march + 2, 5) + 1
    if not z3.is_expr(day):
        month = march + 3 if march < 10 else march - 9
        return year + era * 400 + (month <= 2), month * 32 + in_month
    month = z3.If(march < 10, march + 3, march - 9)
    return year + era * 400 + z3.If(month <= 2, 1, 0), month * 32 + in_month
