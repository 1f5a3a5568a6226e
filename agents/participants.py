"""The participants of conversations: roles played by models, and checks by code.

All are thin AutoGen agents. A role fills its prompt once, reads the messages that concern it, calls its model and
returns a structured answer. An answer that does not parse is rejected once, with the reason; after a second one the
agent returns a `RoleFailure`, which ends the conversation. A check applies a pure function to the last message.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, StructuredMessage
from autogen_core import CancellationToken
from autogen_core.models import AssistantMessage, ChatCompletionClient, LLMMessage, SystemMessage, UserMessage
from pydantic import BaseModel

from lawtrace.agents.concurrency import run_in_worker_thread
from lawtrace.agents.models.model_call import CallFailed, ModelCall
from lawtrace.agents.models.recording import recorded_call
from lawtrace.agents.role_models import RoleModels
from lawtrace.agents.structured_output import UnusableAnswer, parse_answer
from lawtrace.prompts.loader import Prompt
from lawtrace.schemas.errors import LawtraceError
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.models import FrozenModel

Answer = TypeVar("Answer", bound=BaseModel)
Content = TypeVar("Content", bound=BaseModel | str)
MessageFilter = Callable[[BaseModel | str], str | None]
"""The text that a role reads of a message's content; None for messages that do not concern it."""


class RoleFailure(FrozenModel):
    """A role failed. Never replaced by a default answer: the conversation ends with it.

    Attributes:
        answered: whether there was an answer that could not be used; otherwise no answer came.
        declined: whether the answer was a refusal in plain text.
    """

    role: str
    reason: str
    text: str = ""
    answered: bool = True
    declined: bool = False


class Objections(FrozenModel):
    """Objections of code to a proposal; none if it is accepted."""

    objections: tuple[str, ...]


class NotChecked(Objections):
    """No objections, because code could not check the proposal."""

    objections: tuple[str, ...] = ()
    not_checked: str


@dataclass(frozen=True, slots=True)
class RejectedAnswer:
    """An answer that could not be used, the request for a better one, and the call that gave the answer."""

    text: str
    request: str
    call: ModelCall | None = None


def content_of(message: BaseChatMessage) -> BaseModel | str:
    """The structured content of a message, or its text."""
    if isinstance(message, StructuredMessage):
        content: object = message.content  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if isinstance(content, BaseModel):
            return content
    return message.to_text()


def read_objections(content: BaseModel | str) -> str | None:
    """The message filter of a role that proposes: the opening, and objections to its last proposal."""
    if isinstance(content, str):
        return content
    objections: Sequence[str] = getattr(content, "objections", ())
    return "Objections:\n" + "\n".join(f"- {objection}" for objection in objections) if objections else None


class Participant(BaseChatAgent):
    """A participant of `run_conversation`.

    Attributes:
        prompt: the prompt file of a role; None for code.
        call: the recorded model call that gave its last answer, if there is one.
        rejected_answers: the rejected answers of its last turn.
        spoken: if its last message joins answers to several requests, each of them with the agent that gave it.
        fatal_error: an error that must stop the run, such as a full disk. An exception loses its type on its way
            through an AutoGen team, so the agent keeps it here and `run_conversation` raises it.
    """

    prompt: Prompt | None = None
    call: ModelCall | None = None
    rejected_answers: Sequence[RejectedAnswer] = ()
    spoken: "Sequence[tuple[Participant, BaseModel]]" = ()
    fatal_error: LawtraceError | None = None

    def __init__(self, name: str, description: str, *answers: type[BaseModel]) -> None:
        """``answers``: the types of its replies, besides `RoleFailure`."""
        super().__init__(name, description)
        self._answers = answers

    @abstractmethod
    async def reply(self, contents: Sequence[BaseModel | str], cancellation_token: CancellationToken) -> BaseModel:
        """The content of its next message, after what was said since its last. Raises errors that stop the run."""

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return [StructuredMessage[answer] for answer in (*self._answers, RoleFailure)]

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        try:
            content = await self.reply([content_of(message) for message in messages], cancellation_token)
        except LawtraceError as error:
            self.fatal_error = error
            content = RoleFailure(role=self.name, reason=str(error), answered=False)
        return Response(chat_message=StructuredMessage[type(content)](content=content, source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """Does nothing: each conversation has new participants."""


@dataclass(frozen=True)
class Role(Generic[Answer]):
    """A row of the role tables.

    Attributes:
        answer: the type of the answer.
        message_filter: which text of a message the role reads.
        stateful: whether it sees its own earlier turns; a role that must judge afresh does not.
        is_refusal: whether an answer that does not parse is a refusal. A refusal is final and is not asked for again.
    """

    name: str
    answer: type[Answer]
    message_filter: MessageFilter = read_objections
    stateful: bool = True
    is_refusal: Callable[[str], bool] = lambda text: False

    def agent(self, models: RoleModels, context: Context, /, **inputs: object) -> "RoleAgent[Answer]":
        """A new agent with the model and prompt of a run. ``inputs`` fill the prompt."""
        prompt = models.prompt(self.name)
        return RoleAgent(self, models.client(self.name, context), prompt, prompt.fill(**inputs))


class RoleAgent(Participant, Generic[Answer]):
    """A role played by a model. It remembers, so each conversation needs a new one.

    Args:
        role: what it answers and reads.
        client: the model.
        prompt: the prompt file, for the event log.
        system: the filled prompt.
    """

    def __init__(self, role: Role[Answer], client: ChatCompletionClient, prompt: Prompt, system: str) -> None:
        super().__init__(role.name, f"plays the role {role.name}", role.answer)
        self.prompt = prompt
        self.role = role
        self._client = client
        self._system = UserMessage(content=system, source="user") if prompt.verbatim else SystemMessage(content=system)
        self._history: list[LLMMessage] = []

    async def reply(
        self, contents: Sequence[BaseModel | str], cancellation_token: CancellationToken
    ) -> Answer | RoleFailure:
        read = [text for content in contents if (text := self.role.message_filter(content))]
        if not self.role.stateful:
            self._history.clear()
            read = read[-1:]
        self._history.append(UserMessage(content="\n".join(read) or "Begin.", source="user"))
        self.rejected_answers = []
        while True:
            try:
                text = await self._ask(cancellation_token)
            except CallFailed as failed:
                return RoleFailure(role=self.name, reason=str(failed), answered=False)
            try:
                answer = parse_answer(text, self.role.answer)
            except UnusableAnswer as error:
                declined = self.role.is_refusal(text)
                if self.rejected_answers or declined:
                    return RoleFailure(role=self.name, reason=str(error), text=text[:2000], declined=declined)
                request = (
                    f"That answer cannot be used: {error}. Answer again with one JSON object of the requested form."
                )
                self.rejected_answers.append(RejectedAnswer(text, request, self.call))
            else:
                # Rejected answers are not remembered.
                self._history.append(AssistantMessage(content=text, source=self.name))
                return answer

    async def _ask(self, cancellation_token: CancellationToken) -> str:
        repair: list[LLMMessage] = []
        for rejected in self.rejected_answers:
            repair.append(AssistantMessage(content=rejected.text, source=self.name))
            repair.append(UserMessage(content=rejected.request, source="user"))
        verbatim = self.prompt is not None and self.prompt.verbatim
        messages = [self._system, *([] if verbatim else self._history), *repair]
        form = None if verbatim else self.role.answer
        try:
            result = await self._client.create(messages, json_output=form, cancellation_token=cancellation_token)
        finally:
            self.call = recorded_call(self._client)
        return result.content if isinstance(result.content, str) else ""


class CodeCheck(Participant, Generic[Content, Answer]):
    """A pure function of the last content of the type ``about``.

    A ``slow`` one runs in the worker thread, so that other conversations continue meanwhile.
    """

    def __init__(
        self,
        name: str,
        about: type[Content],
        answer: type[Answer],
        check: Callable[[Content], Answer],
        *also: type[Answer],
        slow: bool = False,
    ) -> None:
        """``also``: further types of its answers."""
        super().__init__(name, f"checks by code: {name}", answer, *also)
        self._about = about
        self._check = check
        self._slow = slow

    async def reply(self, contents: Sequence[BaseModel | str], cancellation_token: CancellationToken) -> Answer:
        content = [one for one in contents if isinstance(one, self._about)][-1]
        return await run_in_worker_thread(lambda: self._check(content)) if self._slow else self._check(content)
