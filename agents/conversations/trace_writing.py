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


class _Collector:
    """Collects programs and counts those still wanted."""

    def __init__(self, environment: Environment, count: int, on_program: Callable[[], None]) -> None:
        self.programs: list[str] = []
        self._count = count
        self._on_program = on_program
        tools = "|".join(map(re.escape, environment.tools))
        self._call = re.compile(rf"\b{environment.object_name}\.({tools})\b")

    @property
    def complete(self) -> bool:
        return len(self.programs) >= self._count

    def request(self) -> WriteMore:
        calls = tuple(", ".join(self._call.findall(program)) for program in self.programs)
        return WriteMore(wanted=min(PROGRAMS_PER_REQUEST, self._count - len(self.programs)), calls_so_far=calls)

    def take(self, content: BaseModel | str) -> WriteMore:
        """Add the programs of one answer, at most as many as requested."""
        if isinstance(content, ProgramBatch):
            for program in content.programs[: self.request().wanted]:
                self.programs.append(program)
                self._on_program()
        return self.request()


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
    collector = _Collector(environment, count, on_program)
    inputs = trace_writer_inputs(environment, rules, initial_state, length)
    unusable = 0
    while not collector.complete:
        before = len(collector.programs)
        place = context.at(unit=f"from program {before + 1}, try {unusable + 1}")
        messages = await run_conversation(
            [TRACE_WRITER.agent(role_models, place, **inputs), CodeCheck("counter", WriteMore, collector.take)],
            opening=collector.request().request(),
            next_speaker=lambda messages: _next_speaker(messages[-1][1]),
            context=place,
            event_log=event_log,
        )
        unusable = unusable + 1 if len(collector.programs) == before else 0
        last = messages[-1][1]
        if isinstance(last, RoleFailure) and (not last.answered or unusable == MAX_UNUSABLE_ANSWERS):
            return WrittenPrograms(tuple(collector.programs), last.reason)
    return WrittenPrograms(tuple(collector.programs), None)


def _next_speaker(last: BaseModel | str) -> str | None:
    match last:
        case ProgramBatch():
            return "counter"
        case WriteMore(wanted=0):
            return None
        case _:
            return "trace_writer"
