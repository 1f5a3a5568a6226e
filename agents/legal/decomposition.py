"""Recursive decomposition of a question, dispatch of its parts, integration of what was found (M Algorithms 1 and 2).

A work list holds tasks that nobody has judged yet. Each is judged: atomic, it is done by the agent it fits, from that
agent's own store; not atomic, it is split and its parts join the list. Depth and calls are bounded, and a task that was
seen before is not taken up again, so the list ends; a task that met a bound is done as it is, and says so.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, TypeVar

from pydantic import BaseModel

from lawtrace.agents.event_log import Context, EventLog
from lawtrace.agents.legal import LegalRole
from lawtrace.agents.legal.meta_llm import LegalAnswer, ask_role
from lawtrace.agents.legal.team_roles import (
    MAX_SUBTASKS,
    Atomicity,
    Decomposition,
    PartAnswer,
    SubTask,
    SubTaskResult,
    make_atomicity_judge,
    make_decomposer,
    make_integrator,
    make_role_agent,
)
from lawtrace.agents.participants import RoleFailure
from lawtrace.agents.role_models import RoleModels
from lawtrace.environments.legal.case import Agent, Case, Chunk, Question
from lawtrace.environments.legal.retrieval.tokenizer import tokenize

Answer = TypeVar("Answer", bound=BaseModel)

StopReason = Literal["atomic", "depth", "calls", "not split", "not judged"]
"""Why a task was not split further: it was judged atomic, a bound was met, nothing new came of splitting it, or the
judge said nothing usable."""

AgentStore = Callable[[Agent, str], tuple[Sequence[Chunk], float]]
"""An agent's own store: the best pieces for a text, and the best score."""


_STORE_THREADS = ThreadPoolExecutor(8, thread_name_prefix="store")
"""Where stores are asked: one may wait for an endpoint. The loop's own threads look the endpoint's address up; with all
of those taken by stores, they would wait for ever."""


@dataclass(frozen=True, slots=True)
class DecompositionLimits:
    """``depth``: how many splits a part may come from (1: only the question is split). ``calls``: of decomposer and
    judge together, for one question."""

    depth: int = 2
    calls: int = 12

    def most(self) -> dict[LegalRole, int]:
        """The most that each role of the team can be asked for one question, if no answer is asked for once more.

        Not all at once: calls that judge are none that split.
        """
        by_depth = [MAX_SUBTASKS**depth for depth in range(self.depth)]
        splits = min(1 + (self.calls - 1) // 2, sum(by_depth))
        return {
            "decomposer": splits,
            "atomicity_judge": min(max(0, self.calls - 2), sum(by_depth[1:])),
            "role_agent": 1 + splits * (MAX_SUBTASKS - 1),
            "integrator": 1,
        }


@dataclass(frozen=True, slots=True)
class CompletedSubTask:
    """A task that was done.

    Attributes:
        depth: how many splits it comes from.
        wanted: the agent that the decomposer named; ``agent`` is another where that one is not active.
        passages: references of the pieces that the agent was shown.
        found: None if the agent said nothing usable.
    """

    task: str
    depth: int
    ended: StopReason
    wanted: str
    agent: Agent
    passages: tuple[str, ...]
    found: PartAnswer | None


@dataclass(frozen=True, slots=True)
class TeamAnswer:
    """The answer, or why there is none, with the parts it was made from."""

    answer: LegalAnswer | RoleFailure
    parts: tuple[CompletedSubTask, ...]


@dataclass(frozen=True, slots=True)
class _Pending:
    task: SubTask
    depth: int


class _EndpointUnavailable(Exception):
    """No answer came from an endpoint: the question cannot be judged."""

    def __init__(self, failure: RoleFailure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


class _Team:
    """One question on its way."""

    def __init__(
        self,
        case: Case,
        question: Question,
        active: Sequence[Agent],
        store: AgentStore,
        role_models: RoleModels,
        context: Context,
        event_log: EventLog,
        limits: DecompositionLimits,
    ) -> None:
        self.case = case
        self.question = question
        self.active: Sequence[Agent] = active
        self.store = store
        self.role_models = role_models
        self.context = context
        self.event_log = event_log
        self.limits = limits
        self.calls = 0

    async def decompose(self) -> list[tuple[_Pending, StopReason]]:
        """Algorithm 1. The question itself is always split once; what comes of it goes through the work list."""
        whole = _Pending(SubTask(task=self.question.text), 0)
        seen = {_key(whole.task.task)}
        first = await self.split(whole, seen)
        if not first:
            return [(whole, "not split")]
        work, done = deque(first), list[tuple[_Pending, StopReason]]()
        while work:
            pending = work.popleft()
            if pending.depth >= self.limits.depth:
                done.append((pending, "depth"))
            elif self.calls + 2 > self.limits.calls:
                done.append((pending, "calls"))
            elif (atomic := await self.is_atomic(pending)) is None:
                done.append((pending, "not judged"))
            elif atomic:
                done.append((pending, "atomic"))
            elif parts := await self.split(pending, seen):
                work.extend(parts)
            else:
                done.append((pending, "not split"))
        return done

    async def split(self, pending: _Pending, seen: set[str]) -> list[_Pending]:
        self.calls += 1
        context = self.context.at(role="decomposer", turn=self.calls)
        client, prompt = self.role_models.client("decomposer", context), self.role_models.prompt("decomposer")
        seat = make_decomposer(client, prompt, self.question, self.case.introduction, pending.task.task, self.active)
        said = await ask_role(seat, Decomposition, "Split the task.", context=context, event_log=self.event_log)
        parts: list[_Pending] = []
        usable = _usable(said)
        for task in usable.tasks if usable else ():
            if task.task.strip() and _key(task.task) not in seen:
                seen.add(_key(task.task))
                parts.append(_Pending(task, pending.depth + 1))
        return parts

    async def is_atomic(self, pending: _Pending) -> bool | None:
        """Whether one step of reasoning does it; None if the judge said nothing usable."""
        self.calls += 1
        context = self.context.at(role="atomicity_judge", turn=self.calls)
        client, prompt = self.role_models.client("atomicity_judge", context), self.role_models.prompt("atomicity_judge")
        seat = make_atomicity_judge(client, prompt, pending.task.task)
        said = await ask_role(seat, Atomicity, "Judge the task.", context=context, event_log=self.event_log)
        usable = _usable(said)
        return usable.atomic if usable else None

    async def work_on(self, number: int, pending: _Pending, ended: StopReason) -> CompletedSubTask:
        """Algorithm 2: the agent that the part fits answers from its own store."""
        task = pending.task
        agent, chunks = await asyncio.get_running_loop().run_in_executor(_STORE_THREADS, self.dispatch, task)
        context = self.context.at(role="role_agent", turn=self.limits.calls + number)
        client, prompt = self.role_models.client("role_agent", context), self.role_models.prompt("role_agent")
        seat = make_role_agent(client, prompt, agent, task.task, chunks)
        said = await ask_role(seat, PartAnswer, "Do the task.", context=context, event_log=self.event_log)
        shown = tuple(chunk.ref for chunk in chunks)
        return CompletedSubTask(task.task, pending.depth, ended, task.agent, agent, shown, _usable(said))

    def dispatch(self, task: SubTask) -> tuple[Agent, Sequence[Chunk]]:
        """The agent that was named, if it is active; else the active one whose store has the best piece for it."""
        wanted = task.agent.strip().upper()
        for agent in self.active:
            if agent.upper() == wanted:
                return agent, self.store(agent, task.task)[0]
        found = {agent: self.store(agent, task.task) for agent in self.active}
        best = max(self.active, key=lambda agent: found[agent][1])
        return best, found[best][0]

    async def integrate(self, parts: Sequence[CompletedSubTask], *, may_refuse: bool) -> LegalAnswer | RoleFailure:
        context = self.context.at(role="integrator", turn=self.limits.calls + len(parts) + 1)
        shown = [
            SubTaskResult(
                task=part.task,
                agent=part.agent,
                found=part.found.answer if part.found else None,
                citations=part.found.citations if part.found else (),
            )
            for part in parts
        ]
        client, prompt = self.role_models.client("integrator", context), self.role_models.prompt("integrator")
        seat = make_integrator(client, prompt, self.question, self.case.introduction, shown, may_refuse=may_refuse)
        return await ask_role(seat, LegalAnswer, "Answer the question.", context=context, event_log=self.event_log)


async def answer_by_decomposition(
    case: Case,
    question: Question,
    active: Sequence[Agent],
    store: AgentStore,
    *,
    role_models: RoleModels,
    context: Context,
    event_log: EventLog,
    limits: DecompositionLimits,
    may_refuse: bool = True,
) -> TeamAnswer:
    """Decompose, dispatch, integrate. Raises what the whole run must stop for."""
    team = _Team(case, question, active, store, role_models, context, event_log, limits)
    parts: list[CompletedSubTask] = []
    try:
        tasks = await team.decompose()
        parts += await asyncio.gather(
            *(team.work_on(number, pending, ended) for number, (pending, ended) in enumerate(tasks, 1))
        )
    except _EndpointUnavailable as stopped:
        return TeamAnswer(stopped.failure, tuple(parts))
    return TeamAnswer(await team.integrate(parts, may_refuse=may_refuse), tuple(parts))


def _key(task: str) -> str:
    return " ".join(tokenize(task))


def _usable(said: Answer | RoleFailure) -> Answer | None:
    """What was said, or None if it cannot be used. An endpoint that gave no answer stops the question."""
    if not isinstance(said, RoleFailure):
        return said
    if not said.answered:
        raise _EndpointUnavailable(said)
    return None
