"""Goals: the calls that produce the target state.

A goal states an outcome, so changes that a later call undoes are not part of it: a door that is locked and unlocked
again is left out, while the steps of a workflow keep both.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.schemas.events import Json
from lawtrace.solver.masking.wording import has_outcome
from lawtrace.solver.traces import PlannedCall, Trace, literal_calls


def goal_calls(environment: Environment, initial: State, calls: Sequence[PlannedCall]) -> tuple[int, ...]:
    """The indices of the calls that a goal is about: those whose change remains at the end, and the look-ups they use.
    ``calls`` are literal calls that all complete from the initial state.
    """
    states = _replay(environment, initial, calls, range(len(calls)))
    wanted = {number for number, planned in enumerate(calls) if _may_change(environment, planned)}
    candidates = [
        pair for pair in combinations(sorted(wanted), 2) if states and _is_undone_by(environment, states, calls, pair)
    ]
    for pair in candidates:
        if not wanted.issuperset(pair):
            continue
        fewer = wanted.difference(pair)
        without = _replay(environment, initial, calls, _with_sources(calls, fewer))
        if without and not compare_states(environment, initial, states[-1], without[-1]):
            wanted = fewer
    return _with_sources(calls, wanted)


def depends_on_order(environment: Environment, trace: Trace) -> bool:
    """Whether no goal can describe the trace, because its final state depends on the order of its changes.

    A goal leaves the order open. An appointment that is moved twice ends where it was moved last: *moved to Monday* and
    *moved to Tuesday* cannot both be goals. An order in which a call is refused does not count: the caller notices it.
    """
    calls = literal_calls(environment, trace.calls)
    needed = goal_calls(environment, trace.initial, calls)
    changes = [number for number in needed if _may_change(environment, calls[number])]
    for earlier, later in combinations(changes, 2):
        first = _with_sources(calls, [later])
        if earlier in first:
            continue
        order = [number for number in needed if number < earlier or number in first]
        states = _replay(environment, trace.initial, calls, [*order, *(n for n in needed if n not in order)])
        if states and compare_states(environment, trace.initial, trace.final, states[-1]):
            return True
    return False


def _may_change(environment: Environment, call: PlannedCall) -> bool:
    return call.event.tool in environment.changing_tools and has_outcome(environment, call)


def _is_undone_by(
    environment: Environment, states: Sequence[State], calls: Sequence[PlannedCall], pair: tuple[int, int]
) -> bool:
    """Whether the second call, made right after the first, restores the state before it."""
    first, second = (calls[number].event for number in pair)
    before = states[pair[0]]
    session = Session(environment, before)
    for event in (first, second):
        if not session.call(event.tool, event.arguments).event.completed:
            return False
    return not compare_states(environment, before, before, session.state)


def _with_sources(calls: Sequence[PlannedCall], numbers: Iterable[int]) -> tuple[int, ...]:
    """The calls and all calls whose results they use, directly or not, in order."""
    needed = set(numbers)
    for number in reversed(range(len(calls))):
        if number in needed:
            needed |= calls[number].sources
    return tuple(sorted(needed))


def _replay(
    environment: Environment, initial: State, calls: Sequence[PlannedCall], numbers: Iterable[int]
) -> tuple[State, ...]:
    """The states before, between and after the calls of those indices; none if one of them does not complete."""
    session, states, results = Session(environment, initial), [initial], dict[int, Json]()
    for number in numbers:
        arguments = calls[number].arguments(results.__getitem__)
        if arguments is None:
            return ()
        event = session.call(calls[number].event.tool, arguments).event
        if not event.completed:
            return ()
        results[number] = event.result
        states.append(session.state)
    return tuple(states)
