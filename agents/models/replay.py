"""Replay: answers from the event log of an earlier run, or from a recording, only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from autogen_core import FunctionCall
from autogen_core.models import CreateResult, RequestUsage

from lawtrace.agents.models.model_call import CallFailed, ModelCall
from lawtrace.schemas.errors import InputError, NotRecorded, OperationalError
from lawtrace.schemas.log_entries import Context, ModelCalled, RoleFailed
from lawtrace.schemas.model_spec import ModelSpec, RecordedModel


class ReplaySource(Protocol):
    """The parts of a run's event log that replay needs."""

    @property
    def written_by(self) -> str:
        """The version of lawtrace that recorded it."""
        ...

    def answer(self, context: Context, request_hash: str, occurrence: int) -> ModelCalled | RoleFailed | None:
        """The answer to a request of the same stage, role, task, unit and style, of those the one for the same model
        under test and the same variant; else its failure; else None.

        A recording outlives changes of prompts: without that request, the answer at the same place, which is the
        conversation, the role, its model and the turn."""
        ...

    def message(self, place: Context) -> str | None:
        """The content of the message at a turn of a conversation."""
        ...

    def models(self, role: str) -> Sequence[RecordedModel]:
        """The models of a role, in the order of their first answers."""
        ...

    def answered(self) -> Iterable[ModelCalled]:
        """All answered calls, in order."""
        ...

    def requests_sent(self) -> int:
        """The number of requests sent to endpoints, answered or not."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ReplayLayer:
    """The innermost layer of a replayed role. Recorded failures are raised again with the same text."""

    source: ReplaySource
    directory: str

    async def ask(self, call: ModelCall) -> CreateResult:
        found = self.source.answer(call.context, call.request_hash, call.occurrence)
        if isinstance(found, ModelCalled):
            call.progress.recorded = found
            return recorded_result(found)
        if found is not None and found.reason != "cancelled":
            raise CallFailed(found.reason, found.text)
        context = call.context
        places = {"task": context.task, "part": context.unit, "style": context.style, "turn": context.turn}
        place = "".join(f", {name} {value!r}" for name, value in places.items() if value is not None)
        raise NotRecorded(
            f"no recorded answer for role {context.role!r}{place} in {self.directory}: that run never sent this "
            "request to this model, with these settings; give the role a model of an endpoint, such as openai:NAME"
        )


def recorded_model(source: ReplaySource, spec: ModelSpec, role: str) -> RecordedModel:
    """The model that ``replay:RUN`` stands for in a role. Requests are hashed with its name, so that a replay's event
    log can be compared with the original and replayed itself."""
    models = source.models(role)
    if not models:
        raise OperationalError(
            f"model '{spec}': the run holds no answer of role {role!r}; give that role another model"
        )
    names = list(dict.fromkeys(model.model for model in models))
    played = f"model '{spec}': role {role!r} was played by {', '.join(names)}"
    if spec.recorded is not None:
        models = [model for model in models if spec.recorded in (model.model, model.model.partition(":")[2])]
        if not models:
            raise InputError(f"{played}; name one of them")
    if len({model.model for model in models}) > 1:
        raise InputError(f"{played}; say which one, as in 'replay:{spec.name}#{names[0]}'")
    if len(models) > 1:
        raise OperationalError(f"model '{spec}': role {role!r} used {models[0].model} with several sets of parameters")
    return models[0]


def recorded_result(called: ModelCalled) -> CreateResult:
    """A recorded answer as AutoGen's clients return it."""
    functions = [FunctionCall(id=call.id, name=call.name, arguments=call.arguments) for call in called.function_calls]
    return CreateResult(
        finish_reason=called.finish_reason,
        content=functions or called.answer,
        usage=RequestUsage(prompt_tokens=called.prompt_tokens, completion_tokens=called.completion_tokens),
        cached=True,
        thought=called.thought,
    )
