"""The events that still wait to be recorded: what an audit call is made from, and what masking hides with it."""

from lawtrace.environments.declaration import Environment
from lawtrace.environments.events import Event
from lawtrace.environments.tool import FromTrace, Tool


def pending_events(environment: Environment, events: tuple[Event, ...]) -> tuple[str, ...]:
    """The event names of the completed calls since the last one that recorded such a list, in order, each repeated as
    often as it occurred."""
    pending: list[str] = []
    for event in events:
        if not event.completed:
            continue
        tool = environment.tools[event.tool]
        if _records_pending(tool):
            pending.clear()
        elif tool.emits:
            pending.append(tool.emits)
    return tuple(pending)


def _records_pending(tool: Tool) -> bool:
    sources = (parameter.source for parameter in tool.parameters)
    return any(isinstance(source, FromTrace) and source.function is pending_events for source in sources)
