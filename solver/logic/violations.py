"""The ways to break a rule, read off its normal form."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lawtrace.solver.logic.normal_form import disjuncts, negated, normal_form
from lawtrace.solver.logic.syntax import (
    And,
    Atom,
    Bottom,
    Compare,
    Exists,
    Formula,
    Next,
    Not,
    Or,
    Since,
    Top,
    Until,
    Yesterday,
    children,
    reads_position,
)


@dataclass(frozen=True, slots=True)
class Case:
    """One way to break a rule, in normal form.

    Attributes:
        variables: whose values make up a violation.
        formula: what is then true.
        every_step: whether it is looked for at every step; else at the first only.
    """

    variables: tuple[str, ...]
    formula: Formula
    every_step: bool


def cases(normal: Formula) -> Iterator[Case]:
    """The ways to break a rule, given in normal form."""
    for part in normal.operands if isinstance(normal, And) else (normal,):
        match part:
            case Not(Until(Top(), violation, window)) if window.unlimited:
                for case in disjuncts(violation):
                    if isinstance(case, Exists):
                        yield Case(case.variables, case.body, every_step=True)
                    else:
                        yield Case((), case, every_step=True)
            case _:
                yield Case((), negated(part), every_step=False)


def calls_of_violation(violation: Formula) -> tuple[Atom, ...]:
    """The calls of the present step that a rule is about: the first that a violation names, or alternatives of which
    it names any.
    """
    parts = violation.operands if isinstance(violation, And) else (violation,)
    for part in parts:
        if isinstance(part, Atom):
            return (part,)
    for part in parts:
        if isinstance(part, Or):
            alternatives = [calls_of_violation(operand) for operand in part.operands]
            if all(alternatives):
                return tuple(dict.fromkeys(call for calls in alternatives for call in calls))
    return ()


def occasions(formula: Formula) -> tuple[Atom, ...]:
    """The calls that a rule is about. A prohibition of some calls of a tool is about every call of it."""
    found: dict[Atom, None] = {}
    for case in cases(normal_form(formula)):
        if isinstance(case.formula, Atom):
            found[replace(case.formula, condition=None)] = None
        elif case.every_step:
            found.update(dict.fromkeys(calls_of_violation(case.formula)))
    return tuple(found)


def stays(formula: Formula) -> bool:
    """Whether a formula is true in each step without calls of certain tools."""
    return isinstance(formula, Top) or (isinstance(formula, Not) and triggers(formula.operand) is not None)


def triggers(formula: Formula) -> frozenset[str] | None:
    """The tools of which a step must have a call for the formula to be true; None if it can be true without."""
    match formula:
        case Bottom():
            return frozenset()
        case Atom(tool):
            return frozenset({tool})
        case And(parts):
            known = [tools for part in parts if (tools := triggers(part)) is not None]
            return min(known, key=len) if known else None
        case Or(parts):
            each = [triggers(part) for part in parts]
            return None if None in each else frozenset[str]().union(*(tools for tools in each if tools is not None))
        case Exists(_, body):
            return triggers(body)
        case _:
            return None


def ignores_other_calls(formula: Formula) -> bool:
    """Whether further steps with calls that no atom matches leave the value of a formula in normal form alone."""
    match formula:
        case Until(left, right) | Since(left, right):
            if not stays(left) or triggers(right) is None:
                return False
        case Yesterday(operand, window):
            if not (window.unlimited and isinstance(operand, Since) and operand.window.unlimited):
                return False
        case Next():
            return False
        case Compare():
            if reads_position(formula):
                return False
        case _:
            pass
    return all(map(ignores_other_calls, children(formula)))
