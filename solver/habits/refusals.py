"""Refusals without a thought: the look-ups of a request, and each change that it asks for declined for one reason.

What a refusal is about is not told by the declaration, so each value in the request and in its results is tried, and
the first is taken with which the call completes.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.schemas.events import Json, SaidByUser, scalars
from lawtrace.solver.traces import PlannedCall


def reasons_to_decline(environment: Environment) -> list[dict[str, Json]]:
    """The reasons with which a request can be declined; none where no tool declines requests."""
    if environment.declines is None:
        return []
    options = {name: of.options for name, of in environment.decline_options.items()}
    return [dict(zip(options, chosen, strict=True)) for chosen in product(*options.values())]


def refusing_session(
    environment: Environment, initial: State, requested: Sequence[PlannedCall], reason: Mapping[str, Json]
) -> Session | None:
    """The session in which each change is declined for this reason; None if one cannot be."""
    session = Session(environment, initial)
    place: dict[int, int] = {}
    for number, call in enumerate(requested):
        changes = call.event.tool in environment.changing_tools
        arguments = call.arguments(lambda step: session.events[place[step]].result if step in place else None)
        kind = environment.declined_as.get(call.event.tool)
        said = {**reason, "request": kind} if kind else reason
        if changes and not _declined(environment, session, {**call.event.arguments, **(arguments or {})}, said):
            return None
        if not changes and arguments is not None:
            place[number] = len(session.events)
            session.call(call.event.tool, arguments)
    return session


def refusing_calls(
    environment: Environment, initial: State, requested: Sequence[PlannedCall]
) -> tuple[PlannedCall, ...] | None:
    """The calls that decline the request with the first reason that completes; None if none does."""
    for reason in reasons_to_decline(environment):
        session = refusing_session(environment, initial, requested, reason)
        if session is not None:
            said = ({name: SaidByUser() for name in event.arguments} for event in session.events)
            return tuple(PlannedCall(event, origins) for event, origins in zip(session.events, said, strict=True))
    return None


def _declined(
    environment: Environment, session: Session, asked: Mapping[str, Json], reason: Mapping[str, Json]
) -> bool:
    """Decline what a call with these arguments asks for, if that can be done."""
    tool = environment.tools[str(environment.declines)]
    open_names = [one.name for one in tool.parameters if one.name not in reason]
    for values in product(*(_candidates(session, name, asked) for name in open_names)):
        tried = Session(environment, session.state)
        tried.now = session.now
        arguments = {**dict(zip(open_names, values, strict=True)), **reason}
        if tried.call(tool.name, arguments).event.completed:
            session.call(tool.name, arguments)
            return True
    return False


def _candidates(session: Session, name: str, asked: Mapping[str, Json]) -> Iterator[Json]:
    """The values that an argument may have: that of the same name first, then those in the request and in results."""
    shown = [value for event in session.events for value in (*scalars(dict(event.arguments)), *scalars(event.result))]
    values = [*([asked[name]] if name in asked else []), *scalars(dict(asked)), *shown]
    return iter(dict.fromkeys(value for value in values if isinstance(value, str)))
