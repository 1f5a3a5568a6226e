"""Earlier continuations, tried again.

From one decision to the next little changes. What kept all rules after the trace before mostly keeps them after the
next call, too, together with what met the duties of an earlier call of the same tool. That is tried before any search,
and decides nearly all calls.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from lawtrace.schemas.events import Event, Json
from lawtrace.solver.guard.component import Component
from lawtrace.solver.guard.space import Path
from lawtrace.solver.logic.terms import is_value


def earlier_continuations(component: Component, events: Path, now: int) -> Iterator[Path]:
    """Earlier continuations that may still do, with what met the duties of an earlier call of the same tool."""
    hint = tuple(replace(event, time=max(event.time or now, now)) for event in component.hint)
    latest = events[-1] if events else None
    rest = hint if latest is None else tuple(event for event in hint if not _same_call(event, latest))
    if latest is not None and (known := component.follow_ups.get(latest.tool)) is not None:
        made, steps = known
        new = (_with_values(step, made, latest.arguments) for step in steps)
        later = (replace(step, time=now + (step.time or 0)) for step in new)
        yield tuple(sorted((*rest, *later), key=_time))
    if rest:
        yield rest
    if len(rest) < len(hint):
        yield hint


def _time(event: Event) -> int:
    return event.time or 0


def _same_call(one: Event, other: Event) -> bool:
    return one.tool == other.tool and one.arguments == other.arguments


def _with_values(step: Event, old: Mapping[str, Json], new: Mapping[str, Json]) -> Event:
    """A step with the arguments of another call in the place of those of the call that it was found for."""
    known = [(value, new[name]) for name, value in old.items() if name in new and is_value(value)]

    def changed(value: Json) -> Json:
        if isinstance(value, dict):
            return {name: changed(part) for name, part in value.items()}
        if isinstance(value, list):
            return [changed(part) for part in value]
        return next((after for before, after in known if before == value and type(before) is type(value)), value)

    result = changed(step.result)
    return replace(step, arguments={name: changed(value) for name, value in step.arguments.items()}, result=result)


def learn(component: Component, forced: Path, continuation: Path) -> None:
    """Remember a continuation that keeps all rules, and what in it the last of the forced events made necessary."""
    if forced:
        event = forced[-1]
        new = tuple(step for step in continuation if not any(_same_call(step, known) for known in component.hint))
        known = component.follow_ups.get(event.tool)
        if new and (known is None or len(new) < len(known[1])):
            steps = tuple(replace(step, time=_time(step) - _time(event)) for step in new)
            component.follow_ups[event.tool] = (event.arguments, steps)
    component.hint = continuation
