"""The equations of `lawtrace.solver.logic.syntax`, evaluated literally: the oracle for monitors.

It shares the syntax, the comparison of values and the calendar with them, and nothing else. It is slow: each operator
looks at each step that it quantifies over, each quantifier at each value.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any

from lawtrace.schemas.events import Event
from lawtrace.solver.logic import syntax
from lawtrace.solver.logic.conditions import compare
from lawtrace.solver.logic.terms import FUNCTIONS, MISSING, Arithmetic, FunctionCall, Now, Position, Term, Time
from lawtrace.solver.logic.windows import Span, Window


@dataclass(frozen=True)
class Step:
    time: int
    events: tuple[Event, ...]


Truth = bool | None
"""None: undetermined, because the end of the session leaves a deadline open."""


def holds(formula: syntax.Formula, trace: Sequence[Step], values: Sequence[Any]) -> bool:
    """Whether the trace satisfies the formula; quantifiers try the given values."""
    return _at(formula, trace, 0, _Setting({}, values, None)) is True


def value_at_end(formula: syntax.Formula, trace: Sequence[Step], values: Sequence[Any], end: int) -> Truth:
    """The value if the session ends at this time: undetermined if not satisfied, but a deadline is not before the end.

    Then F, G, U, R and W with a window that is still open have the third value, and the logic is Kleene's.
    """
    return holds(formula, trace, values) or _at(formula, trace, 0, _Setting({}, values, end))


@dataclass(frozen=True)
class _Setting:
    """The values of variables, all values there are, and the end of the session; None decides everything.

    `known`: the truth of subformulas, by position and values.
    """

    bound: Mapping[str, Any]
    domain: Sequence[Any]
    end: int | None
    known: dict[Hashable, Truth] = field(default_factory=dict[Hashable, Truth])

    def binding(self, name: str, value: Any) -> "_Setting":
        return replace(self, bound={**self.bound, name: value})

    @property
    def values(self) -> Hashable:
        return tuple((name, isinstance(value, bool), value) for name, value in self.bound.items())


def _inside(w: Window, earlier: int, later: int) -> bool:
    """t, t' |= w"""

    def reached(span: Span, sign: str) -> bool:
        one, other = (later - earlier, span.seconds) if span.fixed else (later, span.end(earlier))
        return {"<": one < other, "<=": one <= other, ">": one > other, ">=": one >= other}[sign]

    return (w.lower is None or reached(w.lower.span, ">" if w.lower.strict else ">=")) and (
        w.upper is None or reached(w.upper.span, "<" if w.upper.strict else "<=")
    )


def _no(value: Truth) -> Truth:
    return None if value is None else not value


def _all(values: Iterable[Truth]) -> Truth:
    undetermined = False
    for value in values:
        if value is False:
            return False
        undetermined |= value is None
    return None if undetermined else True


def _any(values: Iterable[Truth]) -> Truth:
    return _no(_all(map(_no, values)))


def _at(f: syntax.Formula, t: Sequence[Step], i: int, s: _Setting) -> Truth:
    key = (id(f), i, s.values)
    if key not in s.known:
        s.known[key] = _equation(f, t, i, s)
    return s.known[key]


@cache
def _without_first(f: syntax.ForAll | syntax.Exists) -> syntax.Formula:
    return replace(f, variables=f.variables[1:])


def _equation(f: syntax.Formula, t: Sequence[Step], i: int, s: _Setting) -> Truth:
    n = len(t)

    def at(g: syntax.Formula, j: int) -> Truth:
        return _at(g, t, j, s)

    def ahead(w: Window, j: int) -> bool:
        return _inside(w, t[i].time, t[j].time)

    def back(w: Window, j: int) -> bool:
        return _inside(w, t[j].time, t[i].time)

    def to_come(w: Window) -> Truth:
        """Whether a step after the end of the trace is in the window, as far as that is known."""
        if s.end is None or w.upper is None or not n:
            return False
        return None if _inside(Window(upper=w.upper), t[i].time, s.end) else False

    match f:
        case syntax.Top():
            return True
        case syntax.Bottom():
            return False
        case syntax.Atom():
            return i < n and any(f.matches(event, s.bound) for event in t[i].events)
        case syntax.Compare(c):
            return i < n and compare(_value(c.left, t, i, s), c.operator, _value(c.right, t, i, s))
        case syntax.Not(g):
            return _no(at(g, i))
        case syntax.And(parts):
            return _all(at(g, i) for g in parts)
        case syntax.Or(parts):
            return _any(at(g, i) for g in parts)
        case syntax.Implies(g, h):
            return _any([_no(at(g, i)), at(h, i)])
        case syntax.Iff(g, h):
            return None if None in (at(g, i), at(h, i)) else at(g, i) == at(h, i)
        case syntax.ForAll((x, *rest), g):
            inner = _without_first(f) if rest else g
            return _all(_at(inner, t, i, s.binding(x, value)) for value in s.domain)
        case syntax.Exists((x, *rest), g):
            inner = _without_first(f) if rest else g
            return _any(_at(inner, t, i, s.binding(x, value)) for value in s.domain)
        case syntax.Next(g, w):
            return i + 1 < n and ahead(w, i + 1) and at(g, i + 1)
        case syntax.WeakNext(g, w):
            return i + 1 >= n or not ahead(w, i + 1) or at(g, i + 1)
        case syntax.Eventually(g, w):
            return _any([*(at(g, j) for j in range(i, n) if ahead(w, j)), to_come(w)])
        case syntax.Always(g, w):
            return _all([*(at(g, j) for j in range(i, n) if ahead(w, j)), _no(to_come(w))])
        case syntax.Until(g, h, w):
            found = [_all([at(h, j), *(at(g, k) for k in range(i, j))]) for j in range(i, n) if ahead(w, j)]
            return _any([*found, _all([to_come(w), *(at(g, k) for k in range(i, n))])])
        case syntax.Release(g, h, w):
            found = [_any([at(h, j), *(at(g, k) for k in range(i, j))]) for j in range(i, n) if ahead(w, j)]
            return _all([*found, _any([_no(to_come(w)), *(at(g, k) for k in range(i, n))])])
        case syntax.WeakUntil(g, h, w):
            kept = [at(g, j) for j in range(i, n) if _inside(Window(upper=w.upper), t[i].time, t[j].time)]
            return _any([_all([*kept, _no(to_come(Window(upper=w.upper)))]), _equation(syntax.Until(g, h, w), t, i, s)])
        case syntax.Yesterday(g, w):
            return i > 0 and back(w, i - 1) and at(g, i - 1)
        case syntax.Once(g, w):
            return _any(at(g, j) for j in range(min(i + 1, n)) if back(w, j))
        case syntax.Historically(g, w):
            return _all(at(g, j) for j in range(min(i + 1, n)) if back(w, j))
        case syntax.Since(g, h, w):
            return _any(
                _all([at(h, j), *(at(g, k) for k in range(j + 1, i + 1))]) for j in range(min(i + 1, n)) if back(w, j)
            )
        case _:
            raise TypeError(f)


def _value(term: Term, t: Sequence[Step], i: int, s: _Setting) -> Any:
    v = s.bound
    match term:
        case Arithmetic(left, sign, right):
            one, other = _value(left, t, i, s), _value(right, t, i, s)
            return _calculated(one, sign, other)
        case Position():
            return i
        case syntax.EventAggregate(function, inner, atom, window, since, distinct):
            last = max((j for j in range(i + 1) if since is not None and _at(since, t, j, s)), default=-1)
            events = [
                event
                for j in range(last + 1, i + 1)
                if _inside(window, t[j].time, t[i].time)
                for event in t[j].events
                if atom.matches(event, v)
            ]
            found = [None if inner is None else inner.value(event, v) for event in events]
            found = [value for value in found if value is not MISSING]
            return _summary(function, _distinct(found) if distinct else found)
        case syntax.RelationAggregate(function, inner, variables, formula):
            found = [
                None if inner is None else _value(inner, t, i, replace(s, bound=names))
                for names in _assignments(variables, s)
                if _at(formula, t, i, replace(s, bound=names))
            ]
            return _summary(function, found)
        case FunctionCall(function, arguments):
            return FUNCTIONS[function].apply(*(_value(argument, t, i, s) for argument in arguments))
        case Now():
            return term.value(Event("", {}, time=t[i].time), v)
        case _:
            return term.value(Event("", {}), v)


def _calculated(one: Any, sign: str, other: Any) -> Any:
    if any(not isinstance(value, int | float) or isinstance(value, bool) for value in (one, other)):
        return MISSING  # the generator adds no texts to times
    if isinstance(one, Time) or isinstance(other, Time):
        if sign == "-" and isinstance(other, Time):
            return float(one) - float(other) if isinstance(one, Time) else MISSING
        if sign not in "+-" or (isinstance(one, Time) and isinstance(other, Time)):
            return MISSING
        return Time(one + other if sign == "+" else one - other)
    return {"+": one + other, "-": one - other, "*": one * other}.get(sign, one / other if other else MISSING)


def _distinct(values: list[Any]) -> list[Any]:
    return list({(isinstance(value, bool), value): value for value in values}.values())


def _assignments(variables: tuple[str, ...], s: _Setting) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{**s.bound}]
    for name in variables:
        found = [{**one, name: value} for one in found for value in s.domain]
    return found


def _summary(function: str, values: list[Any]) -> Any:
    if function == "count":
        return len(values)
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if function == "last":
        return values[-1] if values else MISSING
    if function == "sum":
        return float(sum(map(Fraction, numbers)))
    if not numbers:
        return MISSING
    mean = float(sum(map(Fraction, numbers))) / len(numbers)
    return {"min": min(numbers), "max": max(numbers), "avg": mean}[function]
