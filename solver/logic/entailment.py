"""Entailment that the written form shows: one formula is the other with wider windows, or with fewer or more parts."""

from collections.abc import Mapping

from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.normal_form import rename_variables
from lawtrace.solver.logic.windows import Bound, Window


def visibly_entails(one: s.Formula, other: s.Formula, names: Mapping[str, str] | None = None) -> bool:
    """Whether at each step of each trace a formula is false or another is true; if False is returned, it may be so.

    Both are in normal form. `names`: for each free variable of the first its name in the other.
    """
    names = names or {}
    match one, other:
        case _, s.And(parts):
            return all(visibly_entails(one, part, names) for part in parts)
        case s.Or(parts), _:
            return all(visibly_entails(part, other, names) for part in parts)
        case s.And(parts), _ if any(visibly_entails(part, other, names) for part in parts):
            return True
        case _, s.Or(parts):
            return any(visibly_entails(one, part, names) for part in parts)
        case s.Not(operand), s.Not(another):
            return visibly_entails(another, operand, {new: old for old, new in names.items()})
        case s.Exists(variables, body), s.Exists(others, another) if len(variables) == len(others):
            return visibly_entails(body, another, {**names, **dict(zip(variables, others, strict=True))})
        case (s.Until(), s.Until()) | (s.Since(), s.Since()):
            operands = visibly_entails(one.left, other.left, names) and visibly_entails(one.right, other.right, names)
            return operands and _is_inside(one.window, other.window)
        case (s.Next(), s.Next()) | (s.Yesterday(), s.Yesterday()):
            return visibly_entails(one.operand, other.operand, names) and _is_inside(one.window, other.window)
        case _:
            return rename_variables(one, names) == other


def _is_inside(window: Window, wider: Window) -> bool:
    """Whether every distance in a window is in another, as far as units can be compared."""
    return _is_tighter(window.lower, wider.lower, sign=1) and _is_tighter(window.upper, wider.upper, sign=-1)


def _is_tighter(bound: Bound | None, other: Bound | None, *, sign: int) -> bool:
    """Whether what is within a bound is within another. `sign`: 1 for lower bounds, -1 for upper ones."""
    if other is None or bound == other:
        return True
    if bound is None:
        return False
    if bound.span.fixed and other.span.fixed:
        lengths = bound.span.seconds, other.span.seconds
    elif bound.span.unit == other.span.unit:
        lengths = bound.span.amount, other.span.amount
    else:
        return False
    return (sign * lengths[0], bound.strict) >= (sign * lengths[1], other.strict)
