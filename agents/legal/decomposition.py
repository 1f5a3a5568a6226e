"""Recursive decomposition of a question, dispatch of subtasks to agents, integration of their answers (M Alg. 1, 2).

The Meta-LLM is decomposer, atomicity judge and integrator; the recipe names the model of the role agents. A work list
holds tasks that have not been judged. An atomic task goes to an agent, which answers from its own chunks. Any other
task is split, and its subtasks join the list. Depth and calls are limited and a repeated task is dropped, so the list
ends. A task that meets a limit is answered as it is.
"""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, field_validator

from lawtrace.agents.legal import LegalRole
from lawtrace.agents.legal.meta_llm import Citation, LegalAnswer, passages_json, question_json
from lawtrace.agents.legal.role_calls import RoleCalls, as_json
from lawtrace.agents.participants import Role, RoleFailure
from lawtrace.environments.legal.case import Agent, Case, Chunk, Question
from lawtrace.environments.legal.choice_parser import is_refusal
from lawtrace.environments.legal.retrieval.tokenizer import tokenize

Answer = TypeVar("Answer", bound=BaseModel)

AGENT_DESCRIPTIONS: Mapping[Agent, str] = {
    "F": "facts: the events and the investigation",
    "LR": "rules: the provisions and their requirements",
    "AR": "application: the legal roles of entities, the kinds of data, and the relations between entities",
    "CS": "common sense: what necessarily follows about legal roles and kinds of data",
}


MAX_SUBTASKS = 8
"""The most subtasks of one split: twice what the prompt asks for. It bounds the cost of a question."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class SubTask(_Frozen):
    """A subtask and the agent it is assigned to."""

    task: str
    agent: str = ""


class Decomposition(_Frozen):
    """The subtasks of a task."""

    tasks: tuple[SubTask, ...]

    @field_validator("tasks")
    @classmethod
    def _not_too_many(cls, tasks: tuple[SubTask, ...]) -> tuple[SubTask, ...]:
        if len(tasks) > MAX_SUBTASKS:
            raise ValueError(f"{len(tasks)} tasks are too many; {MAX_SUBTASKS} are the most")
        return tasks


class Atomicity(_Frozen):
    """Whether a task needs a single step of reasoning."""

    atomic: bool
    because: str = ""


class SubTaskAnswer(_Frozen):
    """The answer of a role agent to its subtask."""

    answer: str
    citations: tuple[Citation, ...] = ()


_DECOMPOSER = Role("decomposer", Decomposition, remembers=False)
_ATOMICITY_JUDGE = Role("atomicity_judge", Atomicity, remembers=False)
_ROLE_AGENT = Role("role_agent", SubTaskAnswer, remembers=False)
_INTEGRATOR = Role("integrator", LegalAnswer, remembers=False, declines=is_refusal)


StopReason = Literal["atomic", "depth", "calls", "not split", "not judged"]
"""Why a task was not split further: it is atomic, a limit was met, the split gave nothing new, or the judge's reply was
unusable."""

AgentStore = Callable[[Agent, str], tuple[Sequence[Chunk], float]]
"""The best chunks of an agent for a text, and the best score."""


_STORE_THREADS = ThreadPoolExecutor(8, thread_name_prefix="store")
"""Threads for retrieval, which may wait for an endpoint.

The default threads of the event loop resolve the endpoint's address: if retrieval occupied all of them, both would wait
forever.
"""


@dataclass(frozen=True, slots=True)
class DecompositionLimits:
    """``depth``: greatest number of splits above a subtask (1: only the question is split). ``calls``: calls of
    decomposer and judge together, for one question."""

    depth: int = 2
    calls: int = 12

    def most(self) -> dict[LegalRole, int]:
        """The most calls of each role for one question, without repairs. They cannot all occur together."""
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
    """A subtask with its answer.

    Attributes:
        depth: number of splits above it.
        wanted: the agent that the decomposer named; ``agent`` differs where that one is not active.
        passages: references of the chunks that the agent was shown.
        answer: None if the agent's reply was unusable.
    """

    task: str
    depth: int
    ended: StopReason
    wanted: str
    agent: Agent
    passages: tuple[str, ...]
    answer: SubTaskAnswer | None


@dataclass(frozen=True, slots=True)
class TeamAnswer:
    """The answer to the question, or a failure, with the subtasks it rests on."""

    answer: LegalAnswer | RoleFailure
    subtasks: tuple[CompletedSubTask, ...]


@dataclass(frozen=True, slots=True)
class _Pending:
    task: SubTask
    depth: int


class _EndpointUnavailable(Exception):
    """An endpoint gave no reply, so the question has no answer."""

    def __init__(self, failure: RoleFailure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


class _Team:
    """The decomposition of one question."""

    def __init__(
        self,
        case: Case,
        question: Question,
        active: Sequence[Agent],
        store: AgentStore,
        calls: RoleCalls,
        limits: DecompositionLimits,
    ) -> None:
        self.active: Sequence[Agent] = active
        self.store = store
        self.calls = calls
        self.limits = limits
        self.splits_and_verdicts = 0
        self.task = question.text
        self.shown = {"introduction": case.introduction, "question": question_json(question)}

    async def decompose(self) -> list[tuple[_Pending, StopReason]]:
        """Algorithm 1. The question itself is always split once; its subtasks go through the work list."""
        whole = _Pending(SubTask(task=self.task), 0)
        seen = {_key(whole.task.task)}
        first = await self.split(whole, seen)
        if not first:
            return [(whole, "not split")]
        work, done = deque(first), list[tuple[_Pending, StopReason]]()
        while work:
            pending = work.popleft()
            if pending.depth >= self.limits.depth:
                done.append((pending, "depth"))
            elif self.splits_and_verdicts + 2 > self.limits.calls:
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
        self.splits_and_verdicts += 1
        answer = await self.calls.ask(
            _DECOMPOSER,
            opening="Split the task.",
            turn=self.splits_and_verdicts,
            task=_task_json(pending.task.task),
            agents=json.dumps({agent: AGENT_DESCRIPTIONS[agent] for agent in self.active}, indent=1),
            **self.shown,
        )
        subtasks: list[_Pending] = []
        usable = _usable(answer)
        for task in usable.tasks if usable else ():
            if task.task.strip() and _key(task.task) not in seen:
                seen.add(_key(task.task))
                subtasks.append(_Pending(task, pending.depth + 1))
        return subtasks

    async def is_atomic(self, pending: _Pending) -> bool | None:
        """Whether the task needs a single step of reasoning; None if the judge's reply was unusable."""
        self.splits_and_verdicts += 1
        task, turn = _task_json(pending.task.task), self.splits_and_verdicts
        usable = _usable(await self.calls.ask(_ATOMICITY_JUDGE, opening="Judge the task.", turn=turn, task=task))
        return usable.atomic if usable else None

    async def work_on(self, number: int, pending: _Pending, ended: StopReason) -> CompletedSubTask:
        """Algorithm 2: an agent answers the subtask from its own chunks."""
        task = pending.task
        agent, chunks = await asyncio.get_running_loop().run_in_executor(_STORE_THREADS, self.dispatch, task)
        answer = await self.calls.ask(
            _ROLE_AGENT,
            opening="Do the task.",
            turn=self.limits.calls + number,
            agent=AGENT_DESCRIPTIONS[agent],
            task=_task_json(task.task),
            passages=passages_json(chunks),
        )
        shown = tuple(chunk.ref for chunk in chunks)
        return CompletedSubTask(task.task, pending.depth, ended, task.agent, agent, shown, _usable(answer))

    def dispatch(self, task: SubTask) -> tuple[Agent, Sequence[Chunk]]:
        """The named agent if it is active, else the active agent with the best chunk for the task."""
        wanted = task.agent.strip().upper()
        for agent in self.active:
            if agent.upper() == wanted:
                return agent, self.store(agent, task.task)[0]
        found = {agent: self.store(agent, task.task) for agent in self.active}
        best = max(self.active, key=lambda agent: found[agent][1])
        return best, found[best][0]

    async def integrate(self, subtasks: Sequence[CompletedSubTask], *, may_refuse: bool) -> LegalAnswer | RoleFailure:
        results = [
            {
                "task": subtask.task,
                "agent": subtask.agent,
                "found": subtask.answer.answer if subtask.answer else None,
                "citations": [cited.model_dump() for cited in subtask.answer.citations] if subtask.answer else [],
            }
            for subtask in subtasks
        ]
        return await self.calls.ask(
            _INTEGRATOR,
            opening="Answer the question.",
            turn=self.limits.calls + len(subtasks) + 1,
            parts=as_json(results),
            may_refuse=may_refuse,
            **self.shown,
        )


async def answer_by_decomposition(
    case: Case,
    question: Question,
    active: Sequence[Agent],
    store: AgentStore,
    calls: RoleCalls,
    *,
    limits: DecompositionLimits,
    may_refuse: bool = True,
) -> TeamAnswer:
    """Decompose the question, dispatch its subtasks, integrate their answers. Raises errors that stop the run."""
    team = _Team(case, question, active, store, calls, limits)
    subtasks: list[CompletedSubTask] = []
    try:
        tasks = await team.decompose()
        subtasks += await asyncio.gather(
            *(team.work_on(number, pending, ended) for number, (pending, ended) in enumerate(tasks, 1))
        )
    except _EndpointUnavailable as stopped:
        return TeamAnswer(stopped.failure, tuple(subtasks))
    return TeamAnswer(await team.integrate(subtasks, may_refuse=may_refuse), tuple(subtasks))


def _task_json(task: str) -> str:
    return json.dumps({"task": task}, ensure_ascii=False)


def _key(task: str) -> str:
    return " ".join(tokenize(task))


def _usable(answer: Answer | RoleFailure) -> Answer | None:
    """The answer; None if it was unusable. Raises if the endpoint gave no reply."""
    if not isinstance(answer, RoleFailure):
        return answer
    if not answer.answered:
        raise _EndpointUnavailable(answer)
    return None
