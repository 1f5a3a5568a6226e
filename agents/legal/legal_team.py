"""The legal team: the Meta-LLM and the role agents answer a question in one conversation (M 3.2).

The dispatcher, a participant without a model, sends each request to a role, and the role replies to it. The Meta-LLM
plays decomposer, atomicity judge, sufficiency judge and integrator; each active agent is a role with a model of its
own. A role answers the tasks of one request concurrently.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

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


class Member(Participant):
    """A role of the team. It answers each task of a request with a model call of its own, concurrently.

    ``inputs``: what can fill the prompt, for each answer that the request asks for.
    """

    def __init__(
        self, role: Role[Any], calls: RoleCalls, inputs: Callable[[Request], Sequence[Inputs]], opening: str
    ) -> None:
        super().__init__(role.name, f"plays the role {role.name}", Replies)
        self._role = role
        self._calls = calls
        self._inputs = inputs
        self._opening = opening
        self._asked = 0

    async def reply(
        self, contents: Sequence[BaseModel | str], cancellation_token: CancellationToken
    ) -> Replies | RoleFailure:
        request = contents[-1]
        assert isinstance(request, Tasks | Results)
        agents = [self._agent(inputs) for inputs in self._inputs(request)]
        answers = await gather(agent.reply([self._opening], cancellation_token) for agent in agents)
        replies = tuple(_numbered(answer, request, number) for number, answer in enumerate(answers))
        self.spoken = tuple(zip(agents, replies, strict=True))
        unanswered = (reply for reply in replies if isinstance(reply, RoleFailure) and not reply.answered)
        return next(unanswered, Replies(replies=replies))

    def _agent(self, inputs: Inputs) -> RoleAgent[Any]:
        """A new agent for one answer: it must not see the other tasks."""
        models = self._calls.role_models
        context = self._calls.context.at(role=self.name, turn=self._asked)
        self._asked += 1
        prompt = models.prompt(self.name)
        return self._role.agent(models, context, **{name: inputs[name] for name in (*prompt.inputs, *prompt.unused)})


def _numbered(answer: BaseModel, request: Request, number: int) -> BaseModel:
    """The answer to a task; a finding with the number of its part."""
    task = request.tasks[number] if isinstance(request, Tasks) else None
    if isinstance(answer, PartAnswer) and isinstance(task, Part):
        return answer.model_copy(update={"part": task.part})
    return answer


def _members(
    case: Case, question: Question, active: Sequence[Agent], calls: RoleCalls, *, may_refuse: bool
) -> list[Participant]:
    agents = as_json({AGENT_ROLES[agent]: AGENT_FIELDS[agent] for agent in active})
    shown = {"question": question_json(question), "agents": agents, "may_refuse": may_refuse}
    chunks = {chunk.ref: chunk for chunk in case.chunks}

    def inputs(request: Request) -> Sequence[Inputs]:
        if isinstance(request, Results):
            return [{**shown, "parts": as_json([result.model_dump(mode="json") for result in request.results])}]
        notes = [[chunks[ref] for ref in task.passages] if isinstance(task, Part) else [] for task in request.tasks]
        return [
            {**shown, "task": as_json({"task": task.task}), "passages": passages_json(of)}
            for task, of in zip(request.tasks, notes, strict=True)
        ]

    roles: Mapping[str, Role[Any]] = {
        "Split the task.": Role("decomposer", Decomposition, stateful=False),
        "Judge the task.": Role("atomicity_judge", Atomicity, stateful=False),
        "Say what is missing.": Role("sufficiency_judge", QuestionsBack, stateful=False),
        "Answer the question.": Role("integrator", LegalAnswer, stateful=False, is_refusal=is_refusal),
    }
    answering = [Role[Any](AGENT_ROLES[agent], PartAnswer, stateful=False) for agent in active]
    return [
        *(Member(role, calls, inputs, opening) for opening, role in roles.items()),
        *(Member(role, calls, inputs, "Do the task.") for role in answering),
    ]


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
