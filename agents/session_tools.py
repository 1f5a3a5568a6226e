"""The tools of a simulated session, for AutoGen agents."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autogen_core import CancellationToken
from autogen_core.tools import ParametersSchema, TextResultContent, ToolResult, ToolSchema, Workbench

from lawtrace.agents.guarded_tools import GuardedWorkbench, SimulatedCall, Simulator
from lawtrace.environments.runtime.documentation import call_schemas
from lawtrace.environments.runtime.session import CallResult, PreparedCall, Session
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.events import Event, Json
from lawtrace.solver.guard.decisions import Allow, Decision
from lawtrace.solver.guard.shield import Shield, objection_of


class SessionTools(Simulator):
    """A workbench whose calls are executed in a session.

    Attributes:
        message: the id of the message that makes the next calls; their events keep it.
    """

    def __init__(self, session: Session, *, hints: bool = False) -> None:
        self.message: str | None = None
        self._session = session
        self._hints = hints

    def guarded(self) -> Workbench:
        """These tools behind the guard of the session, if it has one."""
        guard = self._session.guard
        return GuardedWorkbench(self, guard.guard) if isinstance(guard, Shield) else self

    def simulate(self, name: str, arguments: Mapping[str, Json]) -> SimulatedCall:
        return _SessionCall(self._session, self._session.prepare(name, arguments, self.message))

    def reject(self, name: str, reason: str) -> ToolResult:
        """Record a call whose arguments cannot be read."""
        return _told(self._session.reject(name, reason, self.message))

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
        call_id: str | None = None,
    ) -> ToolResult:
        return self.simulate(name, arguments or {}).commit(Allow())

    async def list_tools(self) -> list[ToolSchema]:
        return tool_schemas(self._session.environment, hints=self._hints)

    async def start(self) -> None:
        """Does nothing: the session is there."""

    async def stop(self) -> None:
        """Does nothing: the session is kept, to be judged."""

    async def reset(self) -> None:
        """Does nothing: what happened in the session has happened."""

    async def save_state(self) -> Mapping[str, Any]:
        return {}

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Does nothing: a session is replayed from the record of its calls."""


@dataclass(frozen=True, slots=True)
class _SessionCall:
    session: Session
    prepared: PreparedCall

    @property
    def event(self) -> Event:
        return self.prepared.event

    def commit(self, decision: Decision) -> ToolResult:
        return _told(self.session.commit(self.prepared, objection_of(decision)))


def _told(answer: CallResult) -> ToolResult:
    content = TextResultContent(content=answer.text)
    return ToolResult(name=answer.event.tool, result=[content], is_error=answer.event.error is not None)


def tool_schemas(environment: Environment, *, hints: bool) -> list[ToolSchema]:
    """The tool declarations for function calling."""
    schemas: list[ToolSchema] = []
    for name, schema in call_schemas(environment, hints=hints).items():
        properties, required = schema["properties"], schema["required"]
        assert isinstance(properties, dict)
        assert isinstance(required, list)
        parameters = ParametersSchema(
            type="object",
            properties=properties,
            required=[str(parameter) for parameter in required],
            additionalProperties=False,
        )
        schemas.append(ToolSchema(name=name, description=str(schema["description"]), parameters=parameters))
    return schemas
