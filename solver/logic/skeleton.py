"""Skeletons: what a rule says of tools alone, without objects and aggregates, and with little of time.

The skeleton of a formula is a propositional formula without windows that every trace satisfies that satisfies the
formula. So an automaton can lead a search to sequences of tools that may keep a rule about time and objects; arguments
and times are chosen afterwards. It is built from the equations of `lawtrace.solver.logic.syntax`, weakening what stands
under an even number of negations and strengthening the rest. Comparisons and conditions with variables, aggregates or
`now` become true; false where strengthened.

Of time it knows how long calls take, if that is given. Let P be the tools of which a call can last d or more, alone or
with as many others as the trace has. Between two steps without such a call from the first on, less than d passes. So

    F[>= d] f       is weakened to      F(P & X F f)         O[>= d] f    to    Y O(P & O f)
    F[<= d] f       is strengthened to  !P U f               O[<= d] f    to    f | Y(!P S (f & !P))
    all other windows are weakened to none, and strengthened to the step itself, if they contain it; G and H by duality

The one gain of a quantifier in front: `forall x: G(A(p == x) -> f)` holds for the value that an A itself has, so its
skeleton is `G(A -> f)` and not `true`. The atom that a variable is read from may stand where the quantifier
distributes: below G, H, WX and & and as one of several alternatives. Operators are those of the core
(`lawtrace.solver.logic.core`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from lawtrace.solver.logic import conditions
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.core import in_core
from lawtrace.solver.logic.normal_form import conjunction, disjunction, negated
from lawtrace.solver.logic.terms import BoundVariable, FieldPath, FunctionCall, LiteralValue, Now
from lawtrace.solver.logic.windows import Window

IsRequired = Callable[[str, FieldPath], bool]
"""Whether every completed call of a tool has a value in a field."""


def has_table(formula: s.Formula) -> bool:
    """Whether the state of an automaton and the arguments of a call say all that the rule needs to know."""
    return (
        s.is_untimed(formula)
        and not isinstance(formula, s.ForAll)
        and not any(isinstance(node, s.Atom) and _depends(node.condition) for node in s.subformulas(formula))
    )


@dataclass(frozen=True, slots=True)
class CallTimes:
    """How long the calls of a trace take.

    Attributes:
        durations: seconds by tool; None for a tool whose calls can take any time.
        length: how many calls the trace has at most.
    """

    durations: tuple[tuple[str, int | None], ...]
    length: int

    def passing(self, seconds: int) -> s.Formula:
        """A call that can last so long, alone or with as many others as the trace has."""
        return disjunction(
            s.Atom(tool) for tool, duration in self.durations if duration is None or duration * self.length >= seconds
        )


@lru_cache(maxsize=4096)
def skeleton(formula: s.Formula, is_required: IsRequired, times: CallTimes | None = None) -> s.Formula:
    """The skeleton; a formula that has a table is its own.

    `times`: how long calls take, for traces in which each call completes and begins when the one before has ended.
    """
    return formula if has_table(formula) else _Relaxation(is_required, times).weaker(formula)


class _Relaxation:
    def __init__(self, is_required: IsRequired, times: CallTimes | None) -> None:
        self._is_required = is_required
        self._times = times

    def weaker(self, formula: s.Formula) -> s.Formula:
        """A propositional formula that the formula implies."""
        return self._relaxed(formula, weaken=True)

    def _relaxed(self, formula: s.Formula, *, weaken: bool) -> s.Formula:
        match formula:
            case s.Top() | s.Bottom():
                return formula
            case s.Atom():
                return _relaxed_atom(formula, weaken=weaken)
            case s.Compare():
                return s.Top() if weaken else s.Bottom()
            case s.Not(f):
                return negated(self._relaxed(f, weaken=not weaken))
            case s.And(parts):
                return conjunction(self._relaxed(part, weaken=weaken) for part in parts)
            case s.Or(parts):
                return disjunction(self._relaxed(part, weaken=weaken) for part in parts)
            case s.Exists(variables, body):
                if weaken:
                    return self._relaxed(body, weaken=True)
                return negated(self._for_all(frozenset(variables), s.Not(body)))
            case s.Next(f, window) | s.Yesterday(f, window):
                part = self._relaxed(f, weaken=weaken)
                return _rebuilt(formula, part) if weaken or window.unlimited else s.Bottom()
            case s.Until(s.Top(), f, window) | s.Since(s.Top(), f, window):
                future = isinstance(formula, s.Until)
                return self._some(window, self._relaxed(f, weaken=weaken), future=future, weaken=weaken)
            case s.Until(f, g, window) | s.Since(f, g, window):
                left, right = self._relaxed(f, weaken=weaken), self._relaxed(g, weaken=weaken)
                if weaken or window.unlimited:
                    return replace(formula, left=left, right=right, window=Window())
                return _if_now(window, replace(formula, left=s.Bottom(), right=right, window=Window()))
            case _:
                return self._relaxed(in_core(formula), weaken=weaken)

    def _some(self, window: Window, part: s.Formula, *, future: bool, weaken: bool) -> s.Formula:
        """The part is true at some step of the window, which is one of the future or of the past."""
        if window.unlimited:
            return _eventually(part) if future else _once(part)
        low, high = window.lower, window.upper
        if weaken:
            if self._times is None or low is None or not low.span.fixed or not low.span.seconds:
                return _eventually(part) if future else _once(part)
            passing = self._times.passing(low.span.seconds)
            if isinstance(passing, s.Bottom):
                return s.Bottom()
            if future:
                return s.Eventually(conjunction([passing, s.Next(_eventually(part))]))
            return s.Yesterday(_once(conjunction([passing, _once(part)])))
        if low is not None and (low.span.amount or low.strict or not low.span.fixed):
            return s.Bottom()
        stays: s.Formula = s.Bottom()  # nothing is said of later steps
        if high is not None and self._times is not None and high.span.fixed:
            stays = negated(self._times.passing(high.span.seconds))
        if future:
            return s.Until(stays, part)
        return disjunction([s.Since(s.Bottom(), part), s.Yesterday(s.Since(stays, conjunction([part, stays])))])

    def _for_all(self, variables: frozenset[str], formula: s.Formula) -> s.Formula:
        """Weaker than the formula for all values of the variables: each is that of some event, where one has it."""
        match _without_double_negation(formula):
            case s.Not(s.Until(s.Top(), f, window) | s.Since(s.Top(), f, window) as inner):
                part = negated(self._for_all(variables, s.Not(f)))
                return negated(self._some(window, part, future=isinstance(inner, s.Until), weaken=False))
            case s.Not(s.Next(f, window) as inner) if window.unlimited:
                return negated(_rebuilt(inner, negated(self._for_all(variables, s.Not(f)))))
            case s.Not(s.Until(f, g, window)) if window.unlimited:
                return s.Not(s.Until(negated(self.weaker(s.Not(f))), negated(self._for_all(variables, s.Not(g)))))
            case s.Not(s.Exists(more, f)):
                return self._for_all(variables | frozenset(more), s.Not(f))
            case s.Not(s.Or(parts)):
                return conjunction(self._for_all(variables, s.Not(part)) for part in parts)
            case s.And(parts):
                return conjunction(self._for_all(variables, part) for part in parts)
            case other:
                return self._alternatives(variables, other)

    def _alternatives(self, variables: frozenset[str], formula: s.Formula) -> s.Formula:
        parts = _disjuncts(formula)
        for number, part in enumerate(parts):
            if isinstance(part, s.Not) and isinstance(part.operand, s.Atom):
                event = self._own_event(part.operand, variables)
                if event is not None:
                    others = (self.weaker(other) for place, other in enumerate(parts) if place != number)
                    return disjunction([s.Not(event), *others])
        return disjunction(self.weaker(part) for part in parts)

    def _own_event(self, atom: s.Atom, variables: frozenset[str]) -> s.Atom | None:
        """The atom for the values that its event has itself; None if it does not say them."""
        kept: list[conditions.Condition] = []
        found = False
        for part in conditions.conjuncts(atom.condition):
            if not _depends(part):
                kept.append(part)
                continue
            equated = conditions.equation(part)
            if equated is None or equated[0] not in variables:
                return None
            _, place, spread = equated
            found = True
            if spread:
                kept.append(conditions.Comparison(FunctionCall("len", (place,)), ">", LiteralValue(0)))
            elif atom.attempted or not self._is_required(atom.tool, place):
                kept.append(conditions.Comparison(place, "==", place))
        return replace(atom, condition=conditions.all_of(kept)) if found else None


def _relaxed_atom(atom: s.Atom, *, weaken: bool) -> s.Formula:
    if atom.condition is None or not _depends(atom.condition):
        return atom
    condition = _relaxed_condition(atom.condition, weaken=weaken)
    if condition is False:
        return s.Bottom()
    return replace(atom, condition=None if condition is True else condition)


def _relaxed_condition(condition: conditions.Condition, *, weaken: bool) -> conditions.Condition | bool:
    if not _depends(condition):
        return condition
    match condition:
        case conditions.NotCondition(part):
            relaxed = _relaxed_condition(part, weaken=not weaken)
            return not relaxed if isinstance(relaxed, bool) else conditions.NotCondition(relaxed)
        case conditions.AndCondition(parts) | conditions.OrCondition(parts):
            absorbing = isinstance(condition, conditions.OrCondition)
            relaxed = [_relaxed_condition(part, weaken=weaken) for part in parts]
            if absorbing in relaxed:
                return absorbing
            left = [part for part in relaxed if not isinstance(part, bool)]
            if not left:
                return not absorbing
            return left[0] if len(left) == 1 else type(condition)(tuple(left))
        case _:
            return weaken


def _depends(condition: conditions.Condition | None) -> bool:
    """Whether a condition needs more than the event to be decided: a variable or the time."""
    if condition is None:
        return False
    return any(isinstance(leaf, BoundVariable | Now) for leaf in conditions.condition_leaves(condition))


def _without_double_negation(formula: s.Formula) -> s.Formula:
    """The formula in the core, and what is negated, if it is a negation."""
    formula = in_core(formula)
    if not isinstance(formula, s.Not):
        return formula
    operand = in_core(formula.operand)
    return _without_double_negation(operand.operand) if isinstance(operand, s.Not) else s.Not(operand)


def _disjuncts(formula: s.Formula) -> list[s.Formula]:
    match _without_double_negation(formula):
        case s.Or(parts):
            return [disjunct for part in parts for disjunct in _disjuncts(part)]
        case s.Not(s.And(parts)):
            return [disjunct for part in parts for disjunct in _disjuncts(s.Not(part))]
        case other:
            return [other]


def _eventually(part: s.Formula) -> s.Formula:
    return part if isinstance(part, s.Bottom) else s.Eventually(part)


def _once(part: s.Formula) -> s.Formula:
    return part if isinstance(part, s.Bottom) else s.Once(part)


def _rebuilt(formula: s.Next | s.Yesterday, operand: s.Formula) -> s.Formula:
    """The same operator over another operand, without its window."""
    return operand if isinstance(operand, s.Bottom) else replace(formula, operand=operand, window=Window())


def _if_now(window: Window, part: s.Formula) -> s.Formula:
    """The part if the window contains the step itself, else false."""
    low = window.lower
    contains_now = low is None or (low.span.fixed and not low.span.amount and not low.strict)
    return part if contains_now else s.Bottom()
