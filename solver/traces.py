"""Reference traces: calls with their events, and where each argument comes from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from environments.declaration import Environment
from environments.events import Derived, Event, FromResult, Origin, Said
from environments.state import State

__all__ = ["PlannedCall", "Trace", "business_calls"]


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call of a reference trace: the event, and the origin of each of its arguments by name."""

    event: Event
    origins: Mapping[str, Origin]

    @property
    def said(self) -> tuple[str, ...]:
        """The names of the arguments that are in the user's words."""
        return tuple(name for name, origin in self.origins.items() if isinstance(origin, Said))

    @property
    def derived(self) -> tuple[str, ...]:
        return tuple(name for name, origin in self.origins.items() if isinstance(origin, Derived))

    @property
    def looked_up(self) -> dict[str, FromResult]:
        """The arguments that are read from an earlier result."""
        return {name: origin for name, origin in self.origins.items() if isinstance(origin, FromResult)}


@dataclass(frozen=True, slots=True)
class Trace:
    """A compliant trace from an initial to a final state. Every call in it completes."""

    initial: State
    calls: tuple[PlannedCall, ...]
    final: State

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(call.event for call in self.calls)

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(call.event.tool for call in self.calls)


def business_calls(environment: Environment, calls: Iterable[PlannedCall]) -> tuple[PlannedCall, ...]:
    """Masking: the calls without those of compliance tools, in order, their references renumbered (P 3.4).

    A business argument never comes from a compliance tool's result: the planner takes references from look-ups only.
    """
    kept: list[PlannedCall] = []
    new_number: dict[int, int] = {}
    for number, call in enumerate(calls):
        if call.event.tool in environment.compliance_tools:
            continue
        new_number[number] = len(kept)
        origins = {
            name: FromResult(new_number[origin.step], origin.path) if isinstance(origin, FromResult) else origin
            for name, origin in call.origins.items()
        }
        kept.append(PlannedCall(call.event, origins))
    return tuple(kept)
