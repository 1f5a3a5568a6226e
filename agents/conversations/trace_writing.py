"""The conversations in which a model writes test programs, the baseline of the trace search (P Table 2)."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from lawtrace.agents.conversation import run_conversation
from lawtrace.agents.conversations.request_sizes import MAX_UNUSABLE_ANSWERS, PROGRAMS_PER_REQUEST
from lawtrace.agents.event_log import EventLog
from lawtrace.agents.participants import CodeCheck, RoleFailure
from lawtrace.agents.role_models import RoleModels
from lawtrace.agents.roles.trace_writer import TRACE_WRITER, ProgramBatch, WriteMore, trace_writer_inputs
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.events import Json
from lawtrace.schemas.log_entries import Context
from lawtrace.solver.rules import Rule


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

    inputs = trace_writer_inputs(environment, rules, initial_state, length)
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
