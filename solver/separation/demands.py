"""What has to happen, before or after a step, so that a formula is true there or false."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.conditions import NotCondition
from lawtrace.solver.logic.windows import Window

_STRONG = (s.Eventually, s.Once, s.Next, s.Yesterday)
_WEAK = (s.Always, s.Historically, s.WeakNext)


Within = tuple[tuple[bool, bool, Window], ...]
"""Operators around a formula: whether each looks back, is about the next step, and its window."""


@dataclass(frozen=True, slots=True)
class Demand:
    """That a call happens, or a comparison is true, or not.

    Attributes:
        formula: the call or comparison.
        truth: whether it is to be true.
        step: how many steps of time before (negative) or after the step.
        within: the operators around it.
        needed: whether a call has to be made for it; not if it is about all steps of a period.
    """

    formula: s.Formula
    truth: bool
    step: int = 0
    within: Within = ()
    needed: bool = True

    def excludes(self, other: "Demand") -> bool:
        """Whether both cannot be, as far as their form shows."""
        if not self.truth or self.within != other.within:
            return False
        one, two = self.formula, other.formula
        if other.truth:  # a step is one call
            return not self.within and isinstance(one, s.Atom) and isinstance(two, s.Atom) and one.tool != two.tool
        plain = isinstance(two, s.Atom) and two.condition is None and isinstance(one, s.Atom) and one.tool == two.tool
        return plain or one == two


def demands(formula: s.Formula, truth: bool, random: Random, at: Demand | None = None) -> Iterator[Demand]:
    """What may make a formula true, or false. `at`: the step and the operators around.

    Of alternatives one is drawn. That something is not to happen asks for no call, so this is no guarantee.
    """
    at = at or Demand(formula, truth)

    def moved(past: bool, window: Window, *, following: bool = False) -> Demand:
        return replace(at, step=at.step + (-1 if past else 1), within=(*at.within, (past, following, window)))

    match formula:
        case s.Atom():
            yield replace(at, formula=formula, truth=truth)
        case s.Not(operand):
            yield from demands(operand, not truth, random, at)
        case s.Implies(left, right):
            yield from demands(s.Or(s.Not(left), right), truth, random, at)
        case s.Iff(left, right):
            both = s.Or(s.And(left, right), s.And(s.Not(left), s.Not(right)))
            yield from demands(both, truth, random, at)
        case s.And(parts) | s.Or(parts):
            for part in parts if isinstance(formula, s.And) == truth else [random.choice(parts)]:
                yield from demands(part, truth, random, at)
        case s.ForAll() | s.Exists():
            yield from demands(formula.body, truth, random, at)
        case s.Until(left, right, window) | s.Since(left, right, window):
            past = isinstance(formula, s.Since)
            yield from demands(right if truth else left, truth, random, moved(past or not truth, window))
        case s.WeakUntil(always, until, window) | s.Release(until, always, window):
            yield from demands(until if truth else always, truth, random, moved(truth, window))
        case s.Compare():
            yield replace(at, formula=formula, truth=truth)
            for aggregate in s.aggregates_of(formula):
                if isinstance(aggregate, s.EventAggregate) and random.random() < 0.5:
                    yield replace(moved(True, aggregate.window), formula=aggregate.atom, truth=True)
        case _ if isinstance(formula, _STRONG + _WEAK):
            inner = moved(
                isinstance(formula, s.PAST),
                formula.window,
                following=isinstance(formula, s.Next | s.WeakNext | s.Yesterday),
            )
            needed = at.needed and truth == isinstance(formula, _STRONG)
            yield from demands(formula.operand, truth, random, replace(inner, needed=needed))
        case _:
            pass


def needed_calls(found: Sequence[Demand], others: Sequence[Demand] = ()) -> Iterator[tuple[Demand, list[s.Atom]]]:
    """The calls that are needed, each with what is not to be true of it, also by other demands."""
    for one in found:
        if one.needed and one.truth and isinstance(one.formula, s.Atom):
            yield one, [one.formula, *forbidden((*found, *others), one.formula.tool, one.within)]


def forbidden(found: Iterable[Demand], tool: str, within: Within = ()) -> list[s.Atom]:
    """What is not to be true of calls of a tool."""
    atoms = [one.formula for one in found if not one.truth and one.within == within and isinstance(one.formula, s.Atom)]
    return [
        s.Atom(tool, NotCondition(one.condition)) for one in atoms if one.tool == tool and one.condition is not None
    ]
