"""Entailment that the form of formulas shows: that of propositions, of one operator with a wider window, and of
quantifiers whose variables have other names. A sequent calculus; how operators nest, it does not know.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Final

from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.conditions import conjuncts, equations
from lawtrace.solver.logic.normal_form import rename_variables
from lawtrace.solver.logic.terms import NUMBERED
from lawtrace.solver.logic.windows import Bound, Window

MOST_STEPS: Final = 3_000
"""How many sequents one question may take."""
MOST_INSTANCES: Final = 64
"""In how many ways the variables of a quantifier are named."""
_STEP: Final = s.Until(s.Top(), s.Top())
"""That there is a step: the trace is not empty."""


def visibly_entails(one: s.Formula, other: s.Formula) -> bool:
    """Whether at each step of each trace a formula is false or another is true; if False is returned, it may be so.

    Both are in normal form, and safe if they have variables.
    """
    return _Question().follows([one], [other])


@dataclass(slots=True)
class _Question:
    """The sequents that are left, and how many variables were named."""

    left: int = MOST_STEPS
    named: int = 10**6  # no variable of a rule has such a number

    def follows(
        self, facts: Sequence[s.Formula], goals: Sequence[s.Formula], unfolded: Sequence[s.Formula] = ()
    ) -> bool:
        """Whether one of the goals is true where all facts are. `unfolded`: goals of which what they ask now is one."""
        self.left -= 1
        if self.left < 0:
            return False
        for fact, others in _each(facts):
            match fact:
                case s.Bottom():
                    return True
                case s.Top():
                    return self.follows(others, goals, unfolded)
                case s.Not(operand):
                    return self.follows(others, [*goals, operand], unfolded)
                case s.And(parts):
                    return self.follows([*others, *parts], goals, unfolded)
                case s.Exists(variables, body):
                    self.named += len(variables)
                    names = {name: f"x{NUMBERED}{self.named - place}" for place, name in enumerate(variables)}
                    return self.follows([*others, rename_variables(body, names)], goals, unfolded)
                case _ if fact in goals:
                    return True
                case _:
                    pass
        for goal, others in _each(goals):
            match goal:
                case s.Top():
                    return True
                case s.Bottom():
                    return self.follows(facts, others, unfolded)
                case s.Not(operand):
                    return self.follows([*facts, operand], others, unfolded)
                case s.Or(parts):
                    return self.follows(facts, [*others, *parts], unfolded)
                case _:
                    pass
        for fact, others in _each(facts):
            if isinstance(fact, s.Or):
                return all(self.follows([*others, part], goals, unfolded) for part in fact.operands)
        if any(self._follows_from(fact, goals) for fact in facts if fact is not _STEP):
            return True
        for goal, others in _each(goals):
            if isinstance(goal, s.Exists):
                return self.follows(facts, [*others, *_instances(goal, facts)], unfolded)
        joined = [goal for goal in goals if isinstance(goal, s.And)]
        single = [goal for goal in goals if goal not in joined]
        if len(joined) > 1:  # one by one first: all together, their parts are combined in too many ways
            for goal in joined:
                if all(self.follows(facts, [*single, part], goals) for part in goal.operands):
                    return True
        for goal in goals if facts else ():
            if isinstance(goal, s.Until | s.Since) and goal not in unfolded and _begins_now(goal.window):
                return self.follows(facts, [*goals, goal.right], [*unfolded, goal])
        for goal, others in _each(goals):
            if isinstance(goal, s.And):
                return all(self.follows(facts, [*others, part], unfolded) for part in goal.operands)
        return False

    def _follows_from(self, fact: s.Formula, goals: Sequence[s.Formula]) -> bool:
        """Whether some of the goals follow from a fact that is no junction."""
        alike = [goal for goal in goals if type(goal) is type(fact)]
        match fact:
            case s.Atom():
                return any(isinstance(goal, s.Atom) and _is_such_a_call(fact, goal) for goal in alike)
            case s.Until(left, right, window) | s.Since(left, right, window):
                ends = [
                    goal.right
                    for goal in alike
                    if isinstance(goal, s.Until | s.Since)
                    and _is_inside(window, goal.window)
                    and self.follows([_STEP, left], [goal.left])
                ]
                return bool(ends) and self.follows([_STEP, right], ends)
            case s.Next(operand, window) | s.Yesterday(operand, window):
                ends = [
                    goal.operand
                    for goal in alike
                    if isinstance(goal, s.Next | s.Yesterday) and _is_inside(window, goal.window)
                ]
                return bool(ends) and self.follows([_STEP, operand], ends)
            case _:
                return False


def _each(formulas: Sequence[s.Formula]) -> Iterator[tuple[s.Formula, list[s.Formula]]]:
    """Each formula with the others."""
    for place, formula in enumerate(formulas):
        yield formula, [*formulas[:place], *formulas[place + 1 :]]


def _instances(goal: s.Exists, facts: Sequence[s.Formula]) -> Iterator[s.Formula]:
    """What has to be true of values that the facts name, if they are compared with the same fields."""
    named = {name: _fields(name, facts) for name in sorted(frozenset[str]().union(*map(s.free_variables, facts)))}
    wanted = [_fields(name, [goal.body]) for name in goal.variables]
    choices = [[name for name, fields in named.items() if fields & own or not fields or not own] for own in wanted]
    for names in islice(product(*choices), MOST_INSTANCES):
        yield rename_variables(goal.body, dict(zip(goal.variables, names, strict=True)))


def _fields(variable: str, formulas: Sequence[s.Formula]) -> set[tuple[object, ...]]:
    """The fields with which a variable is equated."""
    return {
        (atom.tool, *place)
        for atom in s.atoms_of(formulas)
        for name, *place in equations(atom.condition)
        if name == variable
    }


def _is_such_a_call(call: s.Atom, other: s.Atom) -> bool:
    """Whether a call that makes the one atom true makes the other true."""
    return (
        call.tool == other.tool
        and (other.attempted or not call.attempted)
        and {*conjuncts(other.condition)} <= {*conjuncts(call.condition)}
    )


def _begins_now(window: Window) -> bool:
    """Whether the step itself is inside."""
    return window.lower is None and (window.upper is None or window.upper.span.amount > 0 or not window.upper.strict)


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
