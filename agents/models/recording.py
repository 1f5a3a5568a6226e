"""The outermost layer: every call of a role is recorded before its answer is used."""

import asyncio
import logging
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from autogen_core import FunctionCall
from autogen_core.models import ChatCompletionClient, CreateResult

from lawtrace.agents.event_log import EventLog
from lawtrace.agents.models.limits import run_cancellable
from lawtrace.agents.models.model_call import (
    CallFailed,
    EndpointAbandoned,
    Layer,
    ModelCall,
    Request,
    hash_request,
    plain_messages,
    tool_name,
)
from lawtrace.agents.models.replay import ReplaySource, recorded_result
from lawtrace.agents.models.request_client import RequestClient
from lawtrace.environments.logs import get_logger
from lawtrace.prompts.loader import package_lines
from lawtrace.schemas.log_entries import (
    Context,
    FailureReason,
    FunctionCalled,
    ModelCalled,
    RequestMessage,
    RequestSent,
    RoleFailed,
)
from lawtrace.schemas.model_spec import ModelParameters

log = get_logger(__name__)
_BLOCK = re.compile(r"^```json \w+\n.*?^```$", re.MULTILINE | re.DOTALL)
"""A labelled block of a prompt."""


Occurrences = Counter[tuple[str | None, ...]]
"""How often each request was sent by the same stage, role, task, unit, style, model under test and variant of a run.

Two tasks that send the same request concurrently do not share numbers, so a replay gives each its own answer.
"""


class RecordedClient(RequestClient):
    """The client of one role in one conversation. Cheap: connections are in the layers below and shared.

    Each call is a turn of its own, starting at the turn of the given context. A call that is already in the record
    `earlier` (the same run, before it was interrupted) is answered from there and not recorded again, unless the answer
    came from another address. `address`: of the endpoint; None for a scripted model, which costs nothing.

    Attributes:
        seconds: the recorded time of the answers so far; the same when answered from a record.
        finish_reason: why the latest answer ended.
        last_call: the latest call, answered or not.
    """

    def __init__(
        self,
        answerer: Layer,
        context: Context,
        *,
        event_log: EventLog,
        occurrences: Occurrences,
        parameters: ModelParameters,
        earlier: ReplaySource | None,
        address: str | None = None,
    ) -> None:
        super().__init__()
        self.context = context
        self._answerer = answerer
        self._event_log = event_log
        self._occurrences = occurrences
        self._parameters = parameters
        self._earlier = earlier
        self._address = address
        self._turn = context.turn
        self.seconds = 0.0
        self.last_call: ModelCall | None = None
        self.finish_reason: str = "unknown"

    async def respond(self, request: Request) -> CreateResult:
        call = self.last_call = self._place(request)
        known = self._earlier and self._earlier.answer(call.context, call.request_hash, call.occurrence)
        if isinstance(known, ModelCalled) and self._is_elsewhere(known):
            _warn_of_other_address(known.context.model, known.address, self._address)
        elif isinstance(known, ModelCalled) and _same_place(known.context, call.context):
            self.seconds += known.latency_ms / 1000
            self.finish_reason = known.finish_reason
            return recorded_result(known)
        started = time.monotonic()
        try:
            result, entry = await run_cancellable(self._ask(call, started), token=request.cancellation_token)
        except CallFailed as failed:
            level = logging.DEBUG if isinstance(failed, EndpointAbandoned) else logging.WARNING
            self._record_failure(call, failed.reason, str(failed), level)
            raise
        except asyncio.CancelledError:
            self._record_failure(call, "cancelled", "cancelled by the caller", None)
            raise
        self.seconds += entry.latency_ms / 1000
        self.finish_reason = entry.finish_reason
        return result

    def _is_elsewhere(self, known: ModelCalled) -> bool:
        """Whether an answer came from another address than that of this client."""
        return None not in (known.address, self._address) and known.address != self._address

    async def _ask(self, call: ModelCall, started: float) -> tuple[CreateResult, ModelCalled]:
        """The answer, recorded in the step in which it arrives, so that no answer is lost."""
        result = _storable(await self._answerer.ask(call))
        entry = _entry(call, result, time.monotonic() - started, self._address)
        self._event_log.record(entry)
        log.log(
            logging.DEBUG if self._address is None else logging.INFO,
            "model answered",
            **call.context.model_dump(exclude_none=True),
            seconds=round(entry.latency_ms / 1000, 3),
            prompt_tokens=entry.prompt_tokens,
            completion_tokens=entry.completion_tokens,
            replayed=entry.replayed,
        )
        return result, entry

    def _place(self, request: Request) -> ModelCall:
        context = self.context.at(turn=self._turn)
        self._turn += 1
        request_hash = hash_request(request, context.model or "", self._parameters, context.trial)
        place = (context.stage, context.role, context.task, context.unit, context.style, context.tested_model)
        key = (*place, context.variant, request_hash)
        occurrence = self._occurrences[key]
        self._occurrences[key] += 1
        return ModelCall(request, context, self._parameters, request_hash, occurrence)

    def _record_failure(self, call: ModelCall, reason: FailureReason, text: str, level: int | None) -> None:
        """Record it, and log it at a level; None: the caller logs the reason once."""
        self._event_log.record(
            RoleFailed(
                context=call.context,
                reason=reason,
                text=text,
                request_hash=call.request_hash,
                occurrence=call.occurrence,
            )
        )
        if level is not None:
            context = call.context.model_dump(exclude_none=True)
            log.log(level, "model call failed", **context, reason=reason, error=text)


@cache
def _warn_of_other_address(model: str | None, before: str | None, now: str | None) -> None:
    text = "answers from another address are not used: the model is asked again"
    log.warning(text, model=model, was=before, now=now)


def _same_place(one: Context, other: Context) -> bool:
    """Whether two conversations are with the same model under test, in the same variant."""
    return (one.tested_model, one.variant) == (other.tested_model, other.variant)


def recorded_call(client: ChatCompletionClient) -> ModelCall | None:
    """The latest call of a client; None if it records none."""
    return client.last_call if isinstance(client, RecordedClient) else None


def _entry(call: ModelCall, result: CreateResult, seconds: float, address: str | None) -> ModelCalled:
    request = call.request
    functions = () if isinstance(result.content, str) else result.content
    entry = ModelCalled(
        context=call.context,
        parameters=call.parameters,
        request=plain_messages(request.messages),
        tools=tuple(tool_name(tool) for tool in request.tools),
        schema_name=request.json_output.__name__ if isinstance(request.json_output, type) else None,
        request_hash=call.request_hash,
        occurrence=call.occurrence,
        answer=result.content if isinstance(result.content, str) else "",
        function_calls=tuple(FunctionCalled(id=f.id, name=f.name, arguments=f.arguments) for f in functions),
        thought=result.thought,
        finish_reason=result.finish_reason,
        prompt_tokens=result.usage.prompt_tokens,
        completion_tokens=result.usage.completion_tokens,
        latency_ms=round((seconds - call.progress.queued_seconds) * 1000, 3),
        queued_ms=round(call.progress.queued_seconds * 1000, 3),
        paid=address is not None,
        address=address,
    )
    recorded = call.progress.recorded
    if recorded is None:
        return entry
    measured = recorded.model_dump(include={"latency_ms", "queued_ms", "paid", "address", "recorded_hash", "reworded"})
    if recorded.request_hash != call.request_hash:
        reworded = _same_material(recorded.request, entry.request) or None
        measured |= {"recorded_hash": recorded.recorded_hash or recorded.request_hash, "reworded": reworded}
    return entry.model_copy(update={**measured, "replayed": True})


def _same_material(recorded: Sequence[RequestMessage], asked: Sequence[RequestMessage]) -> bool:
    """Whether two requests differ in the prompt's own words alone: labelled blocks and other messages are equal, and
    each new line is one of a prompt of the package. A document without a block that only lost lines is not noticed."""
    if [one for one in recorded if one.role != "system"] != [one for one in asked if one.role != "system"]:
        return False
    before, now = ("\n".join(one.content for one in of if one.role == "system") for of in (recorded, asked))
    new = {*_BLOCK.sub("", now).splitlines()} - {*before.splitlines()}
    return _BLOCK.findall(before) == _BLOCK.findall(now) and new <= package_lines()


def _storable(result: CreateResult) -> CreateResult:
    """Replace lone surrogates, which JSON can carry and no file can hold, by question marks, so that the role and the
    event log see the same text. Missing ids and arguments of calls, which some endpoints omit, become empty strings."""
    content = (
        _without_surrogates(result.content)
        if isinstance(result.content, str)
        else [
            FunctionCall(
                _without_surrogates(call.id), _without_surrogates(call.arguments), _without_surrogates(call.name)
            )
            for call in result.content
        ]
    )
    thought = None if result.thought is None else _without_surrogates(result.thought)
    return result.model_copy(update={"content": content, "thought": thought})


def _without_surrogates(text: object) -> str:
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else ""


@dataclass(frozen=True, slots=True)
class WriteAheadLayer:
    """Records `RequestSent` and waits for the disk: after a crash the event log shows what was in flight."""

    inner: Layer
    event_log: EventLog

    async def ask(self, call: ModelCall) -> CreateResult:
        self.event_log.record(
            RequestSent(context=call.context, request_hash=call.request_hash, occurrence=call.occurrence)
        )
        await self.event_log.flush()
        return await self.inner.ask(call)
