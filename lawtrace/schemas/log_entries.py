"""The entries of an event log: what happened, and in which conversation (`Context`).

Entries are frozen and say nothing about storage; ``kind`` is the discriminator. Ids are derived from the context: the
same message in a resumed, replayed or repeated run has the same id.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from lawtrace.schemas.choices import Style
from lawtrace.schemas.model_spec import ModelParameters
from lawtrace.schemas.models import StrictModel

FailureReason = Literal["answer", "deadline", "endpoint", "cancelled"]
"""Why a role failed: its answer could not be used, the deadline passed, the endpoint failed or refused, or the caller
cancelled the call."""


class Context(StrictModel):
    """The conversation and turn that an entry belongs to. Bound once and copied with `at`.

    All fields but ``role``, ``model`` and ``turn`` identify the conversation.

    Attributes:
        stage: the stage of the run, such as ``tasks`` or ``attempts``.
        role: the role that speaks or calls its model.
        model: the spec of the model that plays the role; None for code.
        task: the task or question, if there is one.
        unit: the part of a longer input that the conversation covers, such as ``batch 3`` or a paragraph.
        style: the instruction style, if there is one.
        conversation_kind: what the conversation is for, where a stage has several kinds.
        tested_model: the spec of the model under test, if one is tested.
        trial: the repetition, from 0. Part of every request hash, so that k trials are k answers.
        variant: the ablation variant that the work was first done for; other variants may reuse its result.
        turn: from 0; for a message its position in the conversation, for a model call the role's earlier calls.
    """

    stage: str
    role: str
    model: str | None = None
    task: str | None = None
    unit: str | None = None
    style: Style | None = None
    conversation_kind: str | None = None
    tested_model: str | None = None
    trial: int = 0
    variant: str | None = None
    turn: int = 0

    def at(self, **changes: str | int | None) -> "Context":
        """A copy with some fields changed: ``context.at(turn=2)``."""
        return self.model_copy(update=changes)

    @property
    def conversation_id(self) -> str:
        return conversation_id(self.model_dump(exclude={"role", "model", "turn"}))


def conversation_id(key: Mapping[str, str | int | None]) -> str:
    """12 hexadecimal digits of the SHA-256 of the fields that identify a conversation (see `Context`)."""
    given = {name: value for name, value in key.items() if value not in (None, 0)}
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:12]


class FunctionCalled(StrictModel):
    """A tool call in a model's answer. ``arguments`` is JSON text exactly as the model wrote it."""

    id: str
    name: str
    arguments: str


class MessageSent(StrictModel):
    """One message of a conversation, from a model or from code.

    Attributes:
        source: the role or the piece of code that sent it.
        to: the role that it is addressed to; None if it is for all.
        function_calls: the tool calls that it requests; each tool result is a message of its own.
        prompt_id: the prompt file that the sender was instructed with, if any.
        prompt_version: the version that this file states.
        prompt_hash: the SHA-256 of that file.
        request_hash: with ``occurrence``, the model call that gave the message (see `ModelCalled`); None for code.
    """

    kind: Literal["message"] = "message"
    context: Context
    source: str
    to: str | None = None
    content: str
    function_calls: tuple[FunctionCalled, ...] = ()
    prompt_id: str | None = None
    prompt_version: int | None = None
    prompt_hash: str | None = None
    request_hash: str | None = None
    occurrence: int | None = None

    @property
    def id(self) -> str:
        """``CONVERSATION-TURN``. Events, answers and verdicts refer to messages by it."""
        return f"{self.context.conversation_id}-{self.context.turn}"


class RequestMessage(StrictModel):
    """One message of a request. ``role`` is the endpoint's: ``system``, ``user``, ``assistant`` or ``tool``."""

    role: str
    content: str


class RequestSent(StrictModel):
    """Written before a request is sent to an endpoint. If neither an answer nor a failure follows, the request was in
    flight when the run stopped."""

    kind: Literal["asked"] = "asked"
    context: Context
    request_hash: str
    occurrence: int


class ModelCalled(StrictModel):
    """One answered model call.

    Attributes:
        request_hash: identifies the request (see `hash_request`).
        occurrence: 0-based index among identical requests of the same role for the same task, unit, style and model
            under test.
        answer: the text; empty if the model called functions instead.
        thought: reasoning text that came with the answer.
        latency_ms: from the start of the call to its answer, including retries, excluding ``queued_ms``.
        queued_ms: the wait for a free slot.
        paid: the answer came from an endpoint rather than from a scripted model.
        address: of that endpoint, without credentials.
        replayed: answer, usage and latency were copied from an earlier event log; no model was called.
        recorded_hash: the ``request_hash`` that the answer was recorded for, if it was given to another request.
        reworded: whether the request differs from that of the replayed log in the words of the package's prompts alone.
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
    address: str | None = None
    replayed: bool = False
    recorded_hash: str | None = None
    reworded: bool | None = None


class CallRetried(StrictModel):
    """A try that failed with a transport error and is repeated. ``try_number`` counts from 1."""

    kind: Literal["retry"] = "retry"
    context: Context
    try_number: int
    error: str
    waited_seconds: float


class RoleFailed(StrictModel):
    """A role failed. A failed model call also has its request hash, so that a replay fails in the same way."""

    kind: Literal["failure"] = "failure"
    context: Context
    reason: FailureReason
    text: str
    request_hash: str | None = None
    occurrence: int | None = None


class StageFinished(StrictModel):
    """A stage wrote a file.

    Attributes:
        key: identifies what the file was made from (`lawtrace.runs.store.stage_store`); empty if it is not complete.
        file: relative to the folder of the run.
        sha256: over its bytes.
    """

    kind: Literal["stage"] = "stage"
    stage: str
    key: str = ""
    file: str
    sha256: str
    rows: int


class RunResumed(StrictModel):
    """A run continues. ``in_flight``: the calls that were sent and not answered; they are sent again. ``models``: those
    that are under test from now on, besides those of the recipe."""

    kind: Literal["resumed"] = "resumed"
    in_flight: tuple[Context, ...] = ()
    models: tuple[str, ...] = ()


BudgetName = Literal["messages", "tokens", "seconds", "money"]


class BudgetReached(StrictModel):
    """A budget of the run is used up, and the run ends. ``context`` is that of the first call refused."""

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
    """The entry with these fields. Raises pydantic's ``ValidationError`` if they do not describe one."""
    return _ENTRY.validate_python(fields)
