"""Reference traces: calls with their events, and where each argument comes from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from environments.declaration import Environment
from environments.events import Event, FromResult, Origin, Said
from environments.state import State

__all__ = ["PlannedCall", "Trace", "business_calls", "without_calls"]


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


def business_calls(environment: Environment, calls: Sequence[PlannedCall]) -> tuple[PlannedCall, ...]:
    """Masking: the calls without those of compliance tools, in order (P 3.4)."""
    hidden = (number for number, call in enumerate(calls) if call.event.tool in environment.compliance_tools)
    return without_calls(calls, hidden)


def without_calls(calls: Sequence[PlannedCall], numbers: Iterable[int]) -> tuple[PlannedCall, ...]:
    """The calls without some of them, references renumbered. Nothing that is kept may refer to what is dropped."""
    dropped = set(numbers)
    new_number = {old: new for new, old in enumerate(n for n in range(len(calls)) if n not in dropped)}
    kept: list[PlannedCall] = []
    for number, call in enumerate(calls):
        if number in dropped:
            continue
        origins = {
            name: FromResult(new_number[origin.step], origin.path) if isinstance(origin, FromResult) else origin
            for name, origin in call.origins.items()
        }
        kept.append(PlannedCall(call.event, origins))
    return tuple(kept)
