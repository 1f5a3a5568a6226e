"""The legal team: the Meta-LLM and the role agents answer a question in one conversation (M 3.2).

The dispatcher, a participant without a model, sends each request to a role, and the role replies to it. The Meta-LLM
plays decomposer, atomicity judge, sufficiency judge and integrator; each active agent is a role with a model of its
own. A role answers the tasks of one request concurrently.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

from autogen_core import CancellationToken
from pydantic import BaseModel

from lawtrace.agents.concurrency import gather
from lawtrace.agents.conversation import Utterance, run_conversation
from lawtrace.agents.legal.decomposition import (
    AGENT_FIELDS,
    AGENT_ROLES,
    DISPATCHER,
    Atomicity,
    CompletedPart,
    Decomposition,
    DecompositionLimits,
    Dispatch,
    Part,
    PartAnswer,
    QuestionsBack,
    Replies,
    Request,
    Results,
    Search,
    Task,
    Tasks,
)
from lawtrace.agents.legal.meta_llm import LegalAnswer, passages_json, question_json
from lawtrace.agents.legal.role_calls import RoleCalls, as_json
from lawtrace.agents.participants import Participant, Role, RoleAgent, RoleFailure
from lawtrace.environments.legal.case import Agent, Case, Question
from lawtrace.environments.legal.choice_parser import is_refusal

_SEARCH_THREADS = ThreadPoolExecutor(8, thread_name_prefix="search")
"""Threads for retrieval, which may wait for an endpoint.

The default threads of the event loop resolve the endpoint's address: if retrieval occupied all of them, both would wait
forever.
"""

Answer = TypeVar("Answer", bound=BaseModel)

Inputs = Mapping[str, object]
"""What fills the prompt for one answer."""


@dataclass(frozen=True, slots=True)
class TeamAnswer:
    """The answer to the question, or a failure, with the parts it rests on."""

    answer: LegalAnswer | RoleFailure
    parts: tuple[CompletedPart, ...]


class Dispatcher(Participant):
    """Sends the requests of a `Dispatch`, each after the replies to the one before."""

    def __init__(self, dispatch: Dispatch) -> None:
        super().__init__(DISPATCHER, "carries out the decomposition and the dispatch by code", Tasks, Results)
        self._requests = dispatch.converse()

    async def reply(self, contents: Sequence[BaseModel | str], cancellation_token: CancellationToken) -> Request:
        return await asyncio.get_running_loop().run_in_executor(_SEARCH_THREADS, self._next, contents[-1])

    def _next(self, last: BaseModel | str) -> Request:
        return self._requests.send(last) if isinstance(last, Replies) else next(self._requests)


class Member(Participant, Generic[Answer]):
    """A role of the team. It answers each task of a request with a model call of its own, concurrently.

    Args:
        inputs: what fills the prompt, for each answer that the request asks for.
        finish: completes an answer with what code knows of its task.
    """

    def __init__(
        self,
        role: Role[Answer],
        calls: RoleCalls,
        inputs: Callable[[Request], Sequence[Inputs]],
        *,
        opening: str,
        finish: Callable[[Answer, Request, int], Answer] = lambda answer, request, number: answer,
    ) -> None:
        super().__init__(role.name, f"plays the role {role.name}", Replies)
        self._role = role
        self._calls = calls
        self._inputs = inputs
        self._opening = opening
        self._finish = finish
        self._asked = 0

    async def reply(
        self, contents: Sequence[BaseModel | str], cancellation_token: CancellationToken
    ) -> Replies | RoleFailure:
        request = contents[-1]
        assert isinstance(request, Tasks | Results)
        agents = [self._agent(inputs) for inputs in self._inputs(request)]
        answers = await gather(agent.reply([self._opening], cancellation_token) for agent in agents)
        replies = tuple(
            answer if isinstance(answer, RoleFailure) else self._finish(answer, request, number)
            for number, answer in enumerate(answers)
        )
        self.spoken = tuple(zip(agents, replies, strict=True))
        unanswered = (reply for reply in replies if isinstance(reply, RoleFailure) and not reply.answered)
        return next(unanswered, Replies(replies=replies))

    def _agent(self, inputs: Inputs) -> RoleAgent[Answer]:
        """A new agent for one answer: it must not see the other tasks."""
        context = self._calls.context.at(role=self.name, turn=self._asked)
        self._asked += 1
        return self._role.agent(self._calls.role_models, context, **inputs)


def _members(
    case: Case, question: Question, active: Sequence[Agent], calls: RoleCalls, *, may_refuse: bool
) -> list[Participant]:
    shown = {"question": question_json(question)}
    agents = as_json({AGENT_ROLES[agent]: AGENT_FIELDS[agent] for agent in active})
    chunks = {chunk.ref: chunk for chunk in case.chunks}

    def parts_of(request: Request) -> str:
        assert isinstance(request, Results)
        return as_json([result.model_dump(mode="json") for result in request.results])

    def notes(task: Task) -> Inputs:
        assert isinstance(task, Part)
        return {"task": _task(task), "passages": passages_json([chunks[ref] for ref in task.passages])}

    def numbered(answer: PartAnswer, request: Request, number: int) -> PartAnswer:
        part = _tasks(request)[number]
        assert isinstance(part, Part)
        return answer.model_copy(update={"part": part.part})

    return [
        Member(
            Role("decomposer", Decomposition, stateful=False),
            calls,
            lambda request: [{"task": _task(task), "agents": agents, **shown} for task in _tasks(request)],
            opening="Split the task.",
        ),
        Member(
            Role("atomicity_judge", Atomicity, stateful=False),
            calls,
            lambda request: [{"task": _task(task)} for task in _tasks(request)],
            opening="Judge the task.",
        ),
        *(
            Member(
                Role(AGENT_ROLES[agent], PartAnswer, stateful=False),
                calls,
                lambda request: list(map(notes, _tasks(request))),
                opening="Do the task.",
                finish=numbered,
            )
            for agent in active
        ),
        Member(
            Role("sufficiency_judge", QuestionsBack, stateful=False),
            calls,
            lambda request: [{"parts": parts_of(request), "agents": agents, **shown}],
            opening="Say what is missing.",
        ),
        Member(
            Role("integrator", LegalAnswer, stateful=False, is_refusal=is_refusal),
            calls,
            lambda request: [{"parts": parts_of(request), "may_refuse": may_refuse, **shown}],
            opening="Answer the question.",
        ),
    ]


def _tasks(request: Request) -> Sequence[Task]:
    assert isinstance(request, Tasks)
    return request.tasks


def _task(task: Task) -> str:
    return as_json({"task": task.task})


def next_speaker(messages: Sequence[Utterance]) -> str | None:
    """The role that the dispatcher addresses; the dispatcher after each other message, until the integrator replied."""
    source, content = messages[-1]
    if isinstance(content, Tasks | Results):
        return content.to
    return None if source == "integrator" else DISPATCHER


async def answer_as_team(
    case: Case,
    question: Question,
    active: Sequence[Agent],
    search: Search,
    calls: RoleCalls,
    *,
    limits: DecompositionLimits,
    may_refuse: bool = True,
) -> TeamAnswer:
    """The conversation about one question. Raises errors that stop the run.

    If an endpoint gives no reply, the answer is its failure.
    """
    dispatch = Dispatch(question.text, active, search, limits)
    messages = await run_conversation(
        [Dispatcher(dispatch), *_members(case, question, active, calls, may_refuse=may_refuse)],
        opening=question.text,
        next_speaker=next_speaker,
        context=calls.context,
        event_log=calls.event_log,
        most_messages=limits.most_messages(),
    )
    last = messages[-1][1]
    answer = last.replies[0] if isinstance(last, Replies) else last
    assert isinstance(answer, LegalAnswer | RoleFailure)
    return TeamAnswer(answer, tuple(dispatch.done))
