"""Habits that references suggest: reflexes that repeat the compliance calls of a reference around its requested calls.

A reference shows which calls pass one task. A habit that makes the same calls there may pass the tasks that ask for the
same, and is a good beginning for a search. Calls whose arguments no reflex can give are left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.events import Event
from lawtrace.schemas.habits import EVERY, Habit, Place, Reflex, ReflexCall
from lawtrace.solver.habits.grading import Grader, HabitCase
from lawtrace.solver.habits.reflexes import call_chains
from lawtrace.solver.habits.wrapper import WrappedProgram

_MOST_TRIED: Final = 60
"""How many reflexes are tried for one call of a reference."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A compliance call of a reference, after so many requested calls."""

    gap: int
    event: Event


def induce_habit(environment: Environment, grader: Grader, case: HabitCase) -> Habit:
    """The habit that makes the compliance calls of the reference, as far as a habit can."""
    wanted = _compliance_calls(environment, case)
    habit = Habit()
    matched = _matched(wanted, grader.wrap(case, habit))
    while matched < len(wanted):
        best: tuple[int, Habit] | None = None
        for reflex in islice(_reflexes_for(environment, case, wanted[matched]), _MOST_TRIED):
            if reflex in habit.reflexes:
                continue
            longer = Habit((*habit.reflexes, reflex))
            reached = _matched(wanted, grader.wrap(case, longer))
            if reached > (matched if best is None else best[0]):
                best = reached, longer
        if best is None:
            del wanted[matched]
        else:
            matched, habit = best
    return habit


def _compliance_calls(environment: Environment, case: HabitCase) -> list[_Wanted]:
    wanted: list[_Wanted] = []
    gap = 0
    for call in case.reference:
        if call.event.tool in environment.compliance_tools:
            wanted.append(_Wanted(gap, call.event))
        elif gap < len(case.requested) and call.event.tool == case.requested[gap].event.tool:
            gap += 1
    return wanted


def _matched(wanted: Sequence[_Wanted], program: WrappedProgram) -> int:
    """How many of the calls, from the first on, the program makes after as many requested calls, in this order."""
    gap, matched = 0, 0
    for number, event in enumerate(program.events):
        if number not in program.own:
            gap += 1
            if matched < len(wanted) and wanted[matched].gap < gap:
                return matched
        elif matched < len(wanted) and wanted[matched].gap == gap and _same_call(wanted[matched].event, event):
            matched += 1
    return matched


def _same_call(wanted: Event, made: Event) -> bool:
    return made.tool == wanted.tool and made.completed and made.arguments == wanted.arguments


def _reflexes_for(environment: Environment, case: HabitCase, wanted: _Wanted) -> Iterator[Reflex]:
    """The reflexes that may make the call at its place, simple ones first."""
    tool = environment.tools[wanted.event.tool]
    chains = sorted(call_chains(environment, tool, wanted.event.arguments), key=len)
    for calls, (place, around, once) in product(chains, list(_places(case, wanted.gap))):
        if place != "before" or not any(_reads_event(call) for call in calls):
            yield Reflex(calls, place, around, once)


def _reads_event(call: ReflexCall) -> bool:
    return any(argument.source == "event" for argument in call.arguments)


def _places(case: HabitCase, gap: int) -> Iterator[tuple[Place, str, bool]]:
    """Where a reflex acts after so many requested calls: its place, what it is around, and whether only once."""
    if gap < len(case.requested):
        for once in (False, True):
            yield "before", case.requested[gap].event.tool, once
    if gap:
        for once in (False, True):
            yield "after", case.requested[gap - 1].event.tool, once
    if gap == len(case.requested):
        for once in (True, False):
            yield "end", case.requested[-1].event.tool, once
    if not gap:
        yield "before", EVERY, True
