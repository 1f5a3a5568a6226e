"""Having a model write programs, some at a time, until there are enough: the baseline beside the search (P Table 2)."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel

from lawtrace.agents.conversation import run_conversation
from lawtrace.agents.event_log import Context, EventLog
from lawtrace.agents.participants import CodeCheck, RoleFailure
from lawtrace.agents.roles.trace_writer import ProgramBatch, WriteMore, make_trace_writer
from lawtrace.environments.events import Json
from lawtrace.environments.spec.declaration import Environment
from lawtrace.prompts.loader import Prompt
from lawtrace.solver.rules import Rule

PROGRAMS_PER_REQUEST = 5
MAX_UNUSABLE_ANSWERS = 3


@dataclass(frozen=True, slots=True)
class WrittenPrograms:
    """The programs as the model wrote them, and why there are no more; None if there are as many as asked for."""

    programs: tuple[str, ...]
    failure: str | None


class _Collector:
    """Keeps what was written and says how many programs are still wanted."""

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
        """The programs of one answer, no more than were asked for."""
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
    client: Callable[[Context], ChatCompletionClient],
    prompt: Prompt,
    context: Context,
    event_log: EventLog,
    on_program: Callable[[], None] = lambda: None,
) -> WrittenPrograms:
    """Ask for a few programs at a time. Each request tells which tools the earlier programs call, in their order.

    Ends early if the endpoint fails, or if several answers in a row hold no programs.
    """
    collector = _Collector(environment, count, on_program)
    unusable = 0
    while not collector.complete:
        before = len(collector.programs)
        place = context.at(unit=f"from program {before + 1}, try {unusable + 1}")
        said = await run_conversation(
            [
                make_trace_writer(client(place), prompt, environment, rules, initial_state, length),
                CodeCheck("counter", WriteMore, collector.take),
            ],
            opening=collector.request().request(),
            next_speaker=lambda said: _next_speaker(said[-1][1]),
            context=place,
            event_log=event_log,
        )
        unusable = unusable + 1 if len(collector.programs) == before else 0
        last = said[-1][1]
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
