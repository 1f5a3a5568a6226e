"""How the questions read a quantified rule: they follow one value, the same for all rules.

A trace breaks `forall x: f` if f is false for some value that occurs. So whoever asks about traces that break one rule
and keep others may follow a value for which the one is broken; the others hold for every value, hence for that one.
What a rule says of a value that does not occur for it, nobody promised. Therefore

    traces that break the rule    are among those on which f is false for the value followed
    traces that keep the rule     are among those on which f is true for it, or on which it does not occur

where *does not occur* is read generously again: no condition is met that could not be met without the value. A rule
without such a condition may be about no value at all, whatever is called. So *no trace does this* stays a safe claim,
also with quantified rules in it.
"""

from collections.abc import Sequence

from lawtrace.solver.analysis.search import Component
from lawtrace.solver.ltlf import Always, Automaton, ForAll, Formula, Not, Or, Top, atoms_of, compile_formula, renamed
from lawtrace.solver.ltlf.conditions import All, Anyone, Comparison, Condition, No, condition_variables


def followed(formulas: Sequence[Formula]) -> list[Formula]:
    """What formulas say of the value that is followed: quantified ones without their quantifier, over one variable."""
    names = [formula.variable for formula in formulas if isinstance(formula, ForAll)]
    return [renamed(formula, names[0]).body if isinstance(formula, ForAll) else formula for formula in formulas]


def kept_by(body: Formula) -> Formula:
    """What holds of the value followed on every trace that keeps the rule with this body."""
    if not any(atom.variables for atom in atoms_of([body])):
        return body
    occurrences = [
        atom for atom in atoms_of([body]) if atom.condition is not None and not _possible(atom.condition, True)
    ]
    if not occurrences:
        return Top()
    return Or(body, Always(Not(Or(*occurrences) if len(occurrences) > 1 else occurrences[0])))


def keeping(automaton: Automaton) -> Component:
    """A component that every trace passes that keeps the rule of an automaton; of other traces, hardly any."""
    formula = automaton.formula
    return Component(compile_formula(kept_by(formula.body)) if isinstance(formula, ForAll) else automaton)


def _possible(condition: Condition, truth: bool) -> bool:
    """Whether a condition can have that truth for a value that does not occur."""
    match condition:
        case Comparison() if condition_variables(condition):
            return not truth
        case No(part):
            return _possible(part, not truth)
        case All(parts) | Anyone(parts):
            every = isinstance(condition, All) is truth
            return (all if every else any)(_possible(part, truth) for part in parts)
        case _:
            return True
