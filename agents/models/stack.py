"""The client stack: from a spec to a client, and what the conversations of a run share.

    RecordedClient           an entry for every call; cancellation; one for each conversation
        BudgetLayer          refuses calls beyond the budget
          ConcurrencyLayer   limits the calls in flight, and the requests of a minute
            FailureLayer     sends nothing more to an endpoint that only fails
            DeadlineLayer    limits the time of a call with all its retries
              WriteAheadLayer  records a request on disk before it is sent
                RetryLayer     retries transport errors, each one recorded
                  Endpoint | ReplayLayer | ScriptedClient

Endpoints, replayed and scripted roles differ in the innermost layer. Only endpoints have a budget and a write-ahead
entry.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Self

from lawtrace.agents.event_log import EventLog
from lawtrace.agents.models.budget import BudgetLayer, BudgetTracker
from lawtrace.agents.models.limits import ConcurrencyLayer, DeadlineLayer, EndpointFailures, FailureLayer, RequestRate
from lawtrace.agents.models.model_call import Layer
from lawtrace.agents.models.provider import Connect, RemoteEndpoint, connect
from lawtrace.agents.models.recording import Occurrences, RecordedClient, WriteAheadLayer
from lawtrace.agents.models.replay import ReplayLayer, ReplaySource, recorded_model
from lawtrace.agents.models.retry import RetryLayer
from lawtrace.agents.models.spending import Spending
from lawtrace.schemas.call_options import CallOptions
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.model_spec import ModelParameters, ModelSpec, RecordedModel

_DEFAULTS = ModelParameters()


class ModelClients:
    """The model clients of one run. Each spec's connection is opened once; all are closed together.

    Args:
        event_log: where every call is recorded.
        settings: the limits and prices.
        environment: where addresses and keys come from.
        open_replay: opens the record of a run directory, for ``replay:`` specs.
        earlier: the record of this run before it was interrupted; its calls are not repeated.
    """

    def __init__(
        self,
        event_log: EventLog,
        *,
        settings: CallOptions | None = None,
        environment: Mapping[str, str] = os.environ,
        open_replay: Callable[[Path], ReplaySource] | None = None,
        earlier: ReplaySource | None = None,
    ) -> None:
        self._event_log = event_log
        self._settings = settings or CallOptions()
        self._environment = environment
        self._open_replay = open_replay
        self._earlier = earlier
        self._slots = asyncio.Semaphore(self._settings.conversation.concurrency)
        self._occurrences = Occurrences()
        self._budget = BudgetTracker(
            self._settings,
            event_log,
            earlier=earlier.answered() if earlier else (),
            earlier_calls=earlier.requests_sent() if earlier else 0,
        )
        self._rate = RequestRate(self._settings.conversation.requests_per_minute)
        self._endpoints: dict[tuple[Connect, ModelSpec], RemoteEndpoint] = {}
        self._failures: dict[str, EndpointFailures] = {}
        self._replays: dict[str, ReplayLayer] = {}
        self._recorded_models: dict[tuple[ModelSpec, str], RecordedModel] = {}

    @property
    def spent(self) -> Spending:
        """What the run has used so far, before an interruption as well."""
        return self._budget.spent

    def client_for(
        self, spec: ModelSpec, context: Context, parameters: ModelParameters = _DEFAULTS, connect: Connect = connect
    ) -> RecordedClient:
        """A client for one conversation, of an endpoint or a replayed role.

        The model in the context is filled in from the spec; for a replay, with the recorded model and its parameters.

        Args:
            connect: opens the endpoint, if it is not for chat completions but, for example, for embeddings.

        Raises:
            InputError: a key is missing, the run does not exist, or the spec names a built-in model.
            OperationalError: the run to replay has no calls of this role.
        """
        if spec.is_scripted:
            raise InputError(f"model '{spec}' is scripted and has no script for this role; name an endpoint")
        if spec.provider == "replay":
            recorded = self._recorded_model(spec, context.role)
            context = context.at(model=recorded.model)
            return self._recorded(self._replay(spec), context, recorded.parameters, earlier=self._earlier)
        endpoint = self._endpoint(spec, connect)
        context = context.at(model=str(spec))
        return self._recorded(endpoint, context, parameters, remote=endpoint, earlier=self._earlier)

    def name_of(self, spec: ModelSpec, role: str) -> str:
        """The model's name in rows and event logs: its spec; for a replay the spec of the recorded model, if the role
        occurs in that run.

        Raises InputError if that run does not exist, or several models played the role.
        """
        known = (spec, role) in self._recorded_models
        if spec.provider != "replay" or not (known or self._replay(spec).source.models(role)):
            return str(spec)
        return self._recorded_model(spec, role).model

    def wrap(
        self, client: Layer, spec: ModelSpec, context: Context, parameters: ModelParameters = _DEFAULTS
    ) -> RecordedClient:
        """A client for a scripted role."""
        return self._recorded(client, context.at(model=str(spec)), parameters, earlier=self._earlier_scripts)

    @cached_property
    def _earlier_scripts(self) -> ReplaySource | None:
        """The record whose answers of scripted roles are used: they are free, so not those of another version."""
        return self._earlier if self._earlier and self._earlier.written_by == version("lawtrace") else None

    def recorded_message(self, place: Context) -> str | None:
        """The content of a message of the run that is resumed, or of one that a model replays."""
        sources = [*([self._earlier] if self._earlier else ()), *(one.source for one in self._replays.values())]
        return next((text for one in sources if (text := one.message(place)) is not None), None)

    async def close(self) -> None:
        for endpoint in self._endpoints.values():
            await endpoint.client.close()
        for replay in self._replays.values():
            replay.source.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _endpoint(self, spec: ModelSpec, connect: Connect) -> RemoteEndpoint:
        if (connect, spec) not in self._endpoints:
            self._endpoints[connect, spec] = connect(spec, self._environment)
        return self._endpoints[connect, spec]

    def _recorded_model(self, spec: ModelSpec, role: str) -> RecordedModel:
        if (spec, role) not in self._recorded_models:
            self._recorded_models[spec, role] = recorded_model(self._replay(spec).source, spec, role)
        return self._recorded_models[spec, role]

    def _replay(self, spec: ModelSpec) -> ReplayLayer:
        if self._open_replay is None:
            raise InputError(f"model '{spec}': replay is not available here; name an endpoint")
        if spec.name not in self._replays:
            self._replays[spec.name] = ReplayLayer(self._open_replay(Path(spec.name)), spec.name)
        return self._replays[spec.name]

    def _recorded(
        self,
        innermost: Layer,
        context: Context,
        parameters: ModelParameters,
        remote: RemoteEndpoint | None = None,
        *,
        earlier: ReplaySource | None,
    ) -> RecordedClient:
        """The stack around an innermost layer. ``remote``: the same layer, if it is an endpoint on the network."""
        seconds = self._settings.conversation.deadline_seconds
        rate = self._rate if remote else None
        inner: Layer = RetryLayer(innermost, self._event_log, seconds, remote.key if remote else "", rate)
        if remote:
            inner = WriteAheadLayer(inner, self._event_log)
        inner = DeadlineLayer(inner, seconds)
        if remote:
            inner = FailureLayer(inner, self._failures.setdefault(context.model or "", EndpointFailures()))
        inner = ConcurrencyLayer(inner, self._slots, rate)
        if remote:
            inner = BudgetLayer(inner, self._budget, self._settings)
        return RecordedClient(
            inner,
            context,
            event_log=self._event_log,
            occurrences=self._occurrences,
            parameters=parameters,
            earlier=earlier,
            address=remote.address if remote else None,
        )
