"""An environment in a known state, a valid call of each tool, and calls that cause each documented refusal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from lawtrace.environments.runtime.simulation import simulate_call
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State, encode_state
from lawtrace.schemas.events import Event, Json

Arguments = dict[str, Json]


@dataclass(frozen=True, slots=True)
class EnvironmentFixture:
    """A small, known piece of an environment.

    Attributes:
        good: for each tool, a call that completes.
        more: further calls that complete, so that every documented field of a result is seen.
        completing: other states for tools whose good calls need them.
        refusing: other states for tools whose refusals need them.
        raised: for each tool, for each documented exception in the order of the documentation, calls that raise it.
        failed: for each tool that can fail, for each documented reason, a call that fails for that reason alone.
    """

    environment: Environment
    state: State
    good: Mapping[str, Arguments]
    raised: Mapping[str, Sequence[Sequence[Arguments]]]
    failed: Mapping[str, Sequence[Arguments]] = field(default_factory=dict[str, Sequence[Arguments]])
    more: Mapping[str, Sequence[Arguments]] = field(default_factory=dict[str, Sequence[Arguments]])
    completing: Mapping[str, State] = field(default_factory=dict[str, State])
    refusing: Mapping[str, State] = field(default_factory=dict[str, State])

    def completing_in(self, name: str) -> State:
        return self.completing.get(name, self.state)

    def refusing_in(self, name: str) -> State:
        return self.refusing.get(name, self.state)

    def do(self, name: str, arguments: Mapping[str, Json], state: State | None = None) -> tuple[Event, State]:
        before = state or self.state
        return simulate_call(self.environment, before, name, arguments, self.environment.clock.start(before))

    def tables(self, state: State | None = None) -> dict[str, Any]:
        return cast("dict[str, Any]", encode_state(state or self.state, self.environment.entities))
