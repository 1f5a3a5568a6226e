"""Goals: the calls that produce the target state.

A goal states an outcome, so changes that a later call undoes are not part of it: a door that is locked and unlocked
again is left out, while the steps of a workflow keep both.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.schemas.events import Json
from lawtrace.solver.masking.wording import has_outcome
from lawtrace.solver.traces import PlannedCall, Trace, completed_replay, drop_calls, in_order, literal_calls


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


@dataclass(frozen=True, slots=True)
class OpenOrder:
    """Two changes whose order a goal leaves open, and sessions in which the second one comes before the first."""

    first: str
    second: str
    sessions: tuple[Session, ...]

    def __str__(self) -> str:
        return f"two calls of {self.first}" if self.first == self.second else f"{self.first} and {self.second}"


def open_orders(environment: Environment, initial: State, calls: Sequence[PlannedCall]) -> Iterator[OpenOrder]:
    """The pairs of changes in calls that a goal leaves open. The calls in between come before both, or after both.

    An order in which a call is refused does not count: the caller notices it.
    """
    changes = [number for number, call in enumerate(calls) if _may_change(environment, call)]
    for earlier, later in combinations(changes, 2):
        first = _with_sources(calls, [later])
        if earlier in first:
            continue
        tied = [number for number in range(earlier, later) if earlier in _with_sources(calls, [number])]
        orders = (
            [number for number in range(later + 1) if number not in tied],
            [number for number in range(later + 1) if number < earlier or number in first],
        )
        found = (completed_replay(environment, initial, in_order(calls, order)) for order in orders)
        sessions = tuple(session for session in found if session is not None)
        yield OpenOrder(calls[earlier].event.tool, calls[later].event.tool, sessions)


def depends_on_order(environment: Environment, trace: Trace) -> OpenOrder | None:
    """The changes because of whose order no goal can describe the trace: its final state depends on it.

    An appointment that is moved twice ends where it was moved last: *moved to Monday* and *moved to Tuesday* cannot
    both be goals.
    """
    calls = literal_calls(environment, trace.calls)
    needed = goal_calls(environment, trace.initial, calls)
    calls = drop_calls(calls, set(range(len(calls))).difference(needed))
    for order in open_orders(environment, trace.initial, calls):
        if any(compare_states(environment, trace.initial, trace.final, one.state) for one in order.sessions):
            return order
    return None


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
