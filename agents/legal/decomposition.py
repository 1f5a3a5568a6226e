"""The work of the legal team on one question, as messages: decomposition, dispatch, questions back (M Alg. 1, 2).

The dispatcher holds a work list of tasks that have not been judged. A task that the Meta-LLM calls atomic becomes a
part for an agent; any other task is split, and its subtasks join the list. Depth and calls are limited and a repeated
task is dropped, so the list ends. A task that meets a limit becomes a part as it is, unjudged. When the agents have
answered, the Meta-LLM says what is missing and asks them back, a limited number of times; then it answers the question.

Nothing here calls a model: `Dispatch.converse` yields requests and is sent the replies.
"""

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, Field, SerializeAsAny, field_validator

from lawtrace.agents.legal import LegalRole
from lawtrace.agents.legal.meta_llm import Citation
from lawtrace.environments.legal.case import AGENTS, Agent, Chunk
from lawtrace.environments.legal.retrieval.tokenizer import tokenize
from lawtrace.schemas.models import FrozenModel, StrictModel

AGENT_ROLES: Mapping[Agent, LegalRole] = {
    "F": "facts_agent",
    "LR": "rules_agent",
    "AR": "application_agent",
    "CS": "common_sense_agent",
}
"""The role that answers parts from the chunks of an agent."""

AGENT_FIELDS: Mapping[Agent, str] = {
    "F": "the events and the investigation",
    "LR": "the provisions and their requirements",
    "AR": "the legal roles and classes of parties and things, their relations, and questions decided before",
    "CS": "what necessarily follows about legal roles and classes",
}

MAX_SUBTASKS = 8
"""The most subtasks of one split, and questions of one round: twice what the prompts ask for. It bounds the cost."""

DISPATCHER = "dispatcher"

StopReason = Literal["atomic", "depth", "calls", "not split", "not judged", "asked back"]
"""Why a part was not split further: it is atomic, a limit was met, the split gave nothing new, the judge's reply was
unusable, or the Meta-LLM asked it back."""


class SubTask(FrozenModel):
    """A subtask and the agent that is to answer it."""

    task: str
    agent: str = ""


def _not_too_many(tasks: tuple[SubTask, ...]) -> tuple[SubTask, ...]:
    if len(tasks) > MAX_SUBTASKS:
        raise ValueError(f"{len(tasks)} are too many; {MAX_SUBTASKS} are the most")
    return tasks


class Decomposition(FrozenModel):
    """The subtasks of a task."""

    tasks: tuple[SubTask, ...]

    _limit = field_validator("tasks")(_not_too_many)


class Atomicity(FrozenModel):
    """Whether a task needs a single step of reasoning."""

    atomic: bool
    because: str = ""


class QuestionsBack(FrozenModel):
    """What is missing from the agents' answers; no questions if they suffice."""

    missing: str = ""
    questions: tuple[SubTask, ...]

    _limit = field_validator("questions")(_not_too_many)


class PartAnswer(FrozenModel):
    """An agent's finding. ``part``: its number, set by code."""

    part: int | None = None
    answer: str
    citations: tuple[Citation, ...] = ()


class Task(FrozenModel):
    """A task for one role."""

    task: str


class Part(Task):
    """A task for an agent, with its number and the references of the chunks it may use."""

    part: int
    passages: tuple[str, ...]


class Tasks(FrozenModel):
    """A message of the dispatcher: tasks for a role, each answered by a call of its own."""

    to: LegalRole = Field(exclude=True)
    tasks: tuple[SerializeAsAny[Task], ...]


class PartResult(FrozenModel):
    """A part with the agent's finding; None if its reply was unusable."""

    part: int
    task: str
    agent: LegalRole
    found: str | None
    citations: tuple[Citation, ...] = ()


class Results(FrozenModel):
    """A message of the dispatcher: all findings so far."""

    to: LegalRole = Field(exclude=True)
    results: tuple[PartResult, ...]


class Replies(FrozenModel):
    """A message of a role: its answers to the last request, in order; a `RoleFailure` for an unusable one."""

    to: str = Field(default=DISPATCHER, exclude=True)
    replies: tuple[SerializeAsAny[BaseModel], ...]


Request = Tasks | Results

Search = Callable[[Sequence[Agent], Sequence[str]], Sequence[Sequence[Chunk]]]
"""The best chunks for each of some texts, among all chunks of some agents."""

Answers = Generator[Request, Replies, "list[CompletedPart]"]


@dataclass(frozen=True, slots=True)
class CallBounds:
    """The most calls for one question, without repairs, which cannot all occur together. ``agents``: of all of them."""

    decomposer: int
    atomicity_judge: int
    agents: int
    sufficiency_judge: int
    integrator: int = 1


class DecompositionLimits(StrictModel):
    """Limits for one question.

    Attributes:
        depth: greatest number of splits above a part (1: only the question is split). At this depth nothing is judged.
        calls: calls of decomposer and atomicity judge together.
        rounds: times that the Meta-LLM may ask the agents back; 0: it is not asked what is missing.
    """

    depth: int = Field(default=2, ge=1, le=10)
    calls: int = Field(default=12, ge=1, le=200)
    rounds: int = Field(default=1, ge=0, le=10)

    def most_calls(self) -> CallBounds:
        by_depth = [MAX_SUBTASKS**depth for depth in range(self.depth)]
        splits = min(1 + (self.calls - 1) // 2, sum(by_depth))
        return CallBounds(
            decomposer=splits,
            atomicity_judge=min(max(0, self.calls - 2), sum(by_depth[1:])),
            agents=1 + splits * (MAX_SUBTASKS - 1) + self.rounds * MAX_SUBTASKS,
            sufficiency_judge=self.rounds,
        )

    def most_messages(self) -> int:
        """The most messages of the team: the question, and a request with replies for each call or agent."""
        return 3 + 2 * (self.calls + len(AGENTS) * (1 + self.rounds) + self.rounds)


class CompletedPart(StrictModel):
    """A part with its answer, as the rows of a run have it.

    Attributes:
        depth: number of splits above it; ``ended`` says why it was not split further.
        wanted: the agent that the Meta-LLM named; ``agent`` differs where that one is not active.
        passages: references of the chunks that the agent was shown.
        found: the agent's answer; None if it was unusable.
    """

    task: str
    depth: int
    ended: StopReason
    wanted: str
    agent: Agent
    passages: tuple[str, ...]
    found: str | None
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class _Pending:
    task: SubTask
    depth: int = 0
    ended: StopReason = "atomic"

    def ends(self, reason: StopReason) -> "_Pending":
        return _Pending(self.task, self.depth, reason)


@dataclass(slots=True)
class Dispatch:
    """The requests of the dispatcher about one question.

    Attributes:
        active: the agents that may answer.
        done: the parts answered so far.
    """

    question: str
    active: Sequence[Agent]
    search: Search
    limits: DecompositionLimits
    done: list[CompletedPart] = field(default_factory=list["CompletedPart"])
    _seen: set[str] = field(default_factory=set[str])
    _calls: int = 0

    def converse(self) -> Generator[Request, Replies]:
        """Yield the requests in order; the last one is to the integrator. ``search`` is called between requests."""
        yield from self._answer((yield from self._decompose()))
        for _ in range(self.limits.rounds):
            replies = yield Results(to="sufficiency_judge", results=self._results())
            (back,) = replies.replies
            asked = self._new(back.questions, depth=0) if isinstance(back, QuestionsBack) else []
            if not asked:
                break
            yield from self._answer([pending.ends("asked back") for pending in asked])
        yield Results(to="integrator", results=self._results())

    def _decompose(self) -> Generator[Request, Replies, list[_Pending]]:
        """Algorithm 1. The question itself is always split once; its subtasks go through the work list."""
        (whole,) = self._new([SubTask(task=self.question)], depth=0)
        first = yield from self._split(whole)
        if not first:
            return [whole.ends("not split")]
        work, parts = deque(first), list[_Pending]()
        while work:
            pending = work.popleft()
            if pending.depth >= self.limits.depth:
                parts.append(pending.ends("depth"))
            elif self._calls + 2 > self.limits.calls:
                parts.append(pending.ends("calls"))
            elif (atomic := (yield from self._is_atomic(pending))) is None:
                parts.append(pending.ends("not judged"))
            elif atomic:
                parts.append(pending.ends("atomic"))
            elif subtasks := (yield from self._split(pending)):
                work.extend(subtasks)
            else:
                parts.append(pending.ends("not split"))
        return parts

    def _split(self, pending: _Pending) -> Generator[Request, Replies, list[_Pending]]:
        self._calls += 1
        replies = yield Tasks(to="decomposer", tasks=(Task(task=pending.task.task),))
        (split,) = replies.replies
        return self._new(split.tasks, pending.depth + 1) if isinstance(split, Decomposition) else []

    def _is_atomic(self, pending: _Pending) -> Generator[Request, Replies, bool | None]:
        """Whether the task needs a single step of reasoning; None if the judge's reply was unusable."""
        self._calls += 1
        replies = yield Tasks(to="atomicity_judge", tasks=(Task(task=pending.task.task),))
        (verdict,) = replies.replies
        return verdict.atomic if isinstance(verdict, Atomicity) else None

    def _answer(self, parts: Sequence[_Pending]) -> Generator[Request, Replies]:
        """Algorithm 2: each part goes to an agent, which answers from its own chunks."""
        chosen = [named_agent(part.task.agent, self.active) for part in parts]
        unnamed = [number for number, agent in enumerate(chosen) if agent is None]
        for number, best in zip(unnamed, self._closest([parts[one].task.task for one in unnamed]), strict=True):
            chosen[number] = best
        answered: dict[int, CompletedPart] = {}
        first = len(self.done) + 1
        for agent in self.active:
            own = [number for number, one in enumerate(chosen) if one == agent]
            if not own:
                continue
            texts = [parts[number].task.task for number in own]
            found = [tuple(chunk.ref for chunk in chunks) for chunks in self.search((agent,), texts)]
            tasks = [
                Part(part=first + number, task=text, passages=passages)
                for number, text, passages in zip(own, texts, found, strict=True)
            ]
            replies = yield Tasks(to=AGENT_ROLES[agent], tasks=tuple(tasks))
            for number, passages, reply in zip(own, found, replies.replies, strict=True):
                part, answer = parts[number], reply if isinstance(reply, PartAnswer) else None
                answered[number] = CompletedPart(
                    task=part.task.task,
                    depth=part.depth,
                    ended=part.ended,
                    wanted=part.task.agent,
                    agent=agent,
                    passages=passages,
                    found=answer.answer if answer else None,
                    citations=answer.citations if answer else (),
                )
        self.done += [answered[number] for number in range(len(parts))]

    def _closest(self, texts: Sequence[str]) -> Sequence[Agent]:
        """The agent with the best chunk for each text; the first where no chunk was found."""
        if not texts:
            return []
        return [chunks[0].agent if chunks else self.active[0] for chunks in self.search(self.active, texts)]

    def _new(self, tasks: Sequence[SubTask], depth: int) -> list[_Pending]:
        """The tasks that did not occur before."""
        new: list[_Pending] = []
        for task in tasks:
            key = " ".join(tokenize(task.task))
            if task.task.strip() and key not in self._seen:
                self._seen.add(key)
                new.append(_Pending(task, depth))
        return new

    def _results(self) -> tuple[PartResult, ...]:
        return tuple(
            PartResult(
                part=number, task=part.task, agent=AGENT_ROLES[part.agent], found=part.found, citations=part.citations
            )
            for number, part in enumerate(self.done, 1)
        )


def named_agent(name: str, active: Sequence[Agent]) -> Agent | None:
    """The active agent with that name (``facts_agent``, or ``F``); None if there is none."""
    wanted = name.strip().casefold()
    return next((agent for agent in active if wanted in (AGENT_ROLES[agent], agent.casefold())), None)
