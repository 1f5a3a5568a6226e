"""What has to happen, before or after a step, so that a formula is true there or false."""

from collections.abc import Iterator
from random import Random

from lawtrace.solver.logic import syntax as s

_STRONG = (s.Eventually, s.Once, s.Next, s.Yesterday)
_WEAK = (s.Always, s.Historically, s.WeakNext)


def demands(formula: s.Formula, truth: bool, random: Random, step: int = 0) -> Iterator[tuple[int, s.Atom]]:
    """Calls that may make a formula true, or false, with how many steps of time before (negative) or after the step.

    Of alternatives one is drawn. That something is not to happen demands nothing, so the calls are no guarantee.
    """
    match formula:
        case s.Atom():
            if truth:
                yield step, formula
        case s.Not(operand):
            yield from demands(operand, not truth, random, step)
        case s.Implies(left, right):
            yield from demands(s.Or(s.Not(left), right), truth, random, step)
        case s.Iff(left, right):
            both = random.random() < 0.5
            yield from demands(left, both, random, step)
            yield from demands(right, both == truth, random, step)
        case s.And(parts) | s.Or(parts):
            for part in parts if isinstance(formula, s.And) == truth else [random.choice(parts)]:
                yield from demands(part, truth, random, step)
        case s.ForAll() | s.Exists():
            yield from demands(formula.body, truth, random, step)
        case s.Until(left, right) | s.Since(left, right):
            if truth:
                later = step - 1 if isinstance(formula, s.Since) else step + 1
                yield from demands(right, True, random, later)
            else:
                yield from demands(left, False, random, step - 1)
        case s.WeakUntil(always, until) | s.Release(until, always):
            yield from demands(until if truth else always, truth, random, step - 1 if truth else step + 1)
        case s.Compare():
            for aggregate in s.aggregates_of(formula):
                if isinstance(aggregate, s.EventAggregate) and random.random() < 0.5:
                    yield step - 1, aggregate.atom
        case _ if isinstance(formula, _STRONG if truth else _WEAK):
            later = step - 1 if isinstance(formula, s.PAST) else step + 1
            yield from demands(s.children(formula)[0], truth, random, later)
        case _:
            pass
