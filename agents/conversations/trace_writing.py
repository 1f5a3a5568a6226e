"""The conversations in which a model writes test programs, the baseline of the trace search (P Table 2)."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from lawtrace.agents.conversation import run_conversation
from lawtrace.agents.conversations.request_sizes import MAX_UNUSABLE_ANSWERS, PROGRAMS_PER_REQUEST
from lawtrace.agents.event_log import EventLog
from lawtrace.agents.participants import CodeCheck, Role, RoleFailure
from lawtrace.agents.role_models import RoleModels
from lawtrace.environments.runtime.documentation import document
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.events import Json
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.models import FrozenModel
from lawtrace.solver.rules import Rule


class ProgramBatch(FrozenModel):
    """The programs of one answer."""

    programs: tuple[str, ...] = Field(min_length=1)


class WriteMore(FrozenModel):
    """A request: the number of programs wanted (0 if there are enough), and the calls of the earlier ones."""

    wanted: int
    calls_so_far: tuple[str, ...] = ()

    def request(self) -> str:
        """The text of the request."""
        earlier = "\n".join(f"- {calls or 'no call'}" for calls in self.calls_so_far)
        before = f"The programs so far call, in this order:\n{earlier}\n" if earlier else ""
        return f"{before}Write {self.wanted} {'more ' if earlier else ''}programs, each different from all others."


def _read_request(content: BaseModel | str) -> str:
    return content.request() if isinstance(content, WriteMore) else str(content)


TRACE_WRITER = Role("trace_writer", ProgramBatch, message_filter=_read_request, stateful=False)
"""Writes diverse programs that keep the rules; the baseline of the trace search (P Table 2)."""


@dataclass(frozen=True, slots=True)
class WrittenPrograms:
    """The programs, verbatim. ``failure``: why there are fewer than requested, or None."""

    programs: tuple[str, ...]
    failure: str | None


async def write_programs(
    environment: Environment,
    rules: Sequence[Rule],
    initial_state: Mapping[str, Json],
    *,
    length: int,
    count: int,
    role_models: RoleModels,
    context: Context,
    event_log: EventLog,
    on_program: Callable[[], None] = lambda: None,
) -> WrittenPrograms:
    """Request a few programs at a time. Each request lists the calls of the earlier programs.

    Stops early if the endpoint fails or several consecutive answers contain no programs.
    """
    programs: list[str] = []
    tool_call = re.compile(rf"\b{environment.object_name}\.({'|'.join(map(re.escape, environment.tools))})\b")

    def request() -> WriteMore:
        calls = tuple(", ".join(tool_call.findall(program)) for program in programs)
        return WriteMore(wanted=min(PROGRAMS_PER_REQUEST, count - len(programs)), calls_so_far=calls)

    def take(batch: ProgramBatch) -> WriteMore:
        """Add the programs of one answer, at most as many as requested."""
        for program in batch.programs[: request().wanted]:
            programs.append(program)
            on_program()
        return request()

    inputs: dict[str, object] = {
        "object_name": environment.object_name,
        "documentation": json.dumps(document(environment), indent=1),
        "rules": json.dumps([{"formula": rule.formula, "because": rule.rationale} for rule in rules], indent=1),
        "initial_state": json.dumps(initial_state, indent=1),
        "length": length,
    }
    unusable = 0
    while len(programs) < count:
        before = len(programs)
        place = context.at(unit=f"from program {before + 1}, try {unusable + 1}")
        messages = await run_conversation(
            [TRACE_WRITER.agent(role_models, place, **inputs), CodeCheck("counter", ProgramBatch, WriteMore, take)],
            opening=request().request(),
            next_speaker=lambda messages: _next_speaker(messages[-1][1]),
            context=place,
            event_log=event_log,
        )
        unusable = unusable + 1 if len(programs) == before else 0
        last = messages[-1][1]
        if isinstance(last, RoleFailure) and (not last.answered or unusable == MAX_UNUSABLE_ANSWERS):
            return WrittenPrograms(tuple(programs), last.reason)
    return WrittenPrograms(tuple(programs), None)


def _next_speaker(last: BaseModel | str) -> str | None:
    match last:
        case ProgramBatch():
            return "counter"
        case WriteMore(wanted=0):
            return None
        case _:
            return "trace_writer"
