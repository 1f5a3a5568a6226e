"""What is recorded while agents talk, and the one method that records it.

An entry says what happened, where (`Context`), and nothing about how it is stored: `lawtrace.runs.store` keeps
entries in a file, `MemoryEventLog` in a list, `NullEventLog` nowhere. All entries are frozen and told apart by
``kind``.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Protocol, TypedDict, Unpack

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from lawtrace.agents.model_spec import ModelParameters

FailureReason = Literal["answer", "deadline", "endpoint", "cancelled"]
"""Why a role could not go on: its answer is unusable, no answer came in time, the endpoint is gone or refuses, or the
caller gave up."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _ContextChanges(TypedDict, total=False):
    stage: str
    role: str
    model: str | None
    task: str | None
    style: str | None
    conversation: str | None
    trial: int
    turn: int
    variant: str | None


class Context(_Frozen):
    """Where something happened. Bound once and copied with `at`, rather than passed along as eight arguments.

    Attributes:
        stage: the stage of the run, such as ``tasks`` or ``attempts``.
        role: the seat in the conversation.
        model: the spec of the model in that seat; None where code speaks.
        task: the task it is about, if there is one.
        style: ``goal`` or ``workflow``, if it matters.
        conversation: tells apart conversations that agree in all of the above, by what they differ in (for attempts:
            the model under test).
        trial: number of the repetition, from 0. It is part of every request's hash, so that k trials are k answers.
        variant: in an ablation, the variant that this was done for; others may share what came of it.
        turn: from 0; of a message, its place in the conversation; of a model call, how many its role made before.
    """

    stage: str
    role: str
    model: str | None = None
    task: str | None = None
    style: str | None = None
    conversation: str | None = None
    trial: int = 0
    variant: str | None = None
    turn: int = 0

    def at(self, **changes: Unpack[_ContextChanges]) -> "Context":
        """The same place with some of it changed: ``context.at(turn=2)``."""
        return self.model_copy(update=dict(changes))


class FunctionCalled(_Frozen):
    """A tool call in a model's answer; ``arguments`` is JSON text exactly as the model wrote it."""

    id: str
    name: str
    arguments: str


class MessageSent(_Frozen):
    """One message of a conversation, whoever spoke it.

    ``prompt_id`` and ``prompt_hash`` name the prompt file that the words come from, if they come from one.
    ``function_calls`` are the tools that an agent asks for with it; what a tool answers is a message of that tool's.
    """

    kind: Literal["message"] = "message"
    context: Context
    source: str
    content: str
    function_calls: tuple[FunctionCalled, ...] = ()
    prompt_id: str | None = None
    prompt_hash: str | None = None


class RequestMessage(_Frozen):
    """One message of a request as the endpoint reads it: ``system``, ``user``, ``assistant`` or ``tool``."""

    role: str
    content: str


class RequestSent(_Frozen):
    """A request is about to leave for an endpoint. Without an answer or a failure after it, it was in flight when the
    run stopped."""

    kind: Literal["asked"] = "asked"
    context: Context
    request_hash: str
    occurrence: int


class ModelCalled(_Frozen):
    """One answered call of a model.

    Attributes:
        request_hash: identifies the request (see `lawtrace.agents.models.model_call.hash_request`).
        occurrence: how many times this very request was made before, from the same seat of the same conversation.
        answer: the text; empty if the model called functions instead.
        thought: reasoning text that came beside the answer.
        latency_ms: from the start of the call to its answer, with retries, without the wait for a free slot.
        queued_ms: the wait for a free slot.
        paid: an endpoint gave the answer, rather than a function of ours.
        cached: the answer and its usage were kept from an earlier call; nobody was asked, and nothing is paid.
        replayed: the answer, its usage and its latency come from a record; no model was asked.
    """

    kind: Literal["model_call"] = "model_call"
    context: Context
    parameters: ModelParameters = ModelParameters()
    request: tuple[RequestMessage, ...]
    tools: tuple[str, ...] = ()
    schema_name: str | None = None
    request_hash: str
    occurrence: int
    answer: str
    function_calls: tuple[FunctionCalled, ...] = ()
    thought: str | None = None
    finish_reason: Literal["stop", "length", "function_calls", "content_filter", "unknown"]
    prompt_tokens: int
    completion_tokens: int
    latency_ms: float
    queued_ms: float = 0.0
    paid: bool = False
    cached: bool = False
    replayed: bool = False


class CallRetried(_Frozen):
    """A try that met a transport fault and will be followed by another one. ``try_number`` counts from 1."""

    kind: Literal["retry"] = "retry"
    context: Context
    try_number: int
    error: str
    waited_seconds: float


class RoleFailed(_Frozen):
    """A role could not go on. A failed model call also carries its request, so that a replay fails the same way."""

    kind: Literal["failure"] = "failure"
    context: Context
    reason: FailureReason
    text: str
    request_hash: str | None = None
    occurrence: int | None = None


class StageFinished(_Frozen):
    """A stage wrote its file. ``file`` is relative to the run's directory, ``sha256`` is over its bytes."""

    kind: Literal["stage"] = "stage"
    stage: str
    file: str
    sha256: str
    rows: int


class RunResumed(_Frozen):
    """The run goes on after it was interrupted. ``in_flight``: the calls that had left and brought nothing back; they
    are made again."""

    kind: Literal["resumed"] = "resumed"
    in_flight: tuple[Context, ...] = ()


BudgetName = Literal["messages", "tokens", "seconds", "money"]


class BudgetReached(_Frozen):
    """A budget of the run is used up: nothing more is asked, and the run ends. ``context``: the call refused."""

    kind: Literal["budget"] = "budget"
    context: Context
    budget: BudgetName
    limit: float
    spent: float


Entry = Annotated[
    MessageSent | RequestSent | ModelCalled | CallRetried | RoleFailed | StageFinished | RunResumed | BudgetReached,
    Field(discriminator="kind"),
]
EntryKind = Literal["message", "asked", "model_call", "retry", "failure", "stage", "resumed", "budget"]

_ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)


def parse_entry(fields: Mapping[str, object]) -> Entry:
    """The entry with those fields. Raises pydantic's ``ValidationError`` if it is none."""
    return _ENTRY.validate_python(fields)


class EventLog(Protocol):
    """Keeps entries."""

    def record(self, entry: Entry) -> None:
        """Returns once the entry is committed: it outlives this process."""
        ...

    async def settle(self) -> None:
        """Returns once all that was recorded so far outlives the machine, too: what follows may cost money."""
        ...


class MemoryEventLog:
    """Keeps entries in a list, for tests and for users of the library."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def record(self, entry: Entry) -> None:
        self.entries.append(entry)

    async def settle(self) -> None:
        """Nothing outlives this process."""


class NullEventLog:
    """Keeps nothing."""

    def record(self, entry: Entry) -> None:
        pass

    async def settle(self) -> None:
        pass
