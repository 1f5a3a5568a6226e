"""Retries of transport errors only: an unwanted answer is still the answer."""

from dataclasses import dataclass

from autogen_core.models import CreateResult
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    stop_before_delay,
    wait_exponential,
    wait_random,
)

from lawtrace.agents.event_log import EventLog
from lawtrace.agents.models.limits import RequestRate
from lawtrace.agents.models.model_call import CallFailed, Layer, ModelCall
from lawtrace.agents.models.transport_errors import (
    describe_error,
    is_endpoint_error,
    is_refused_request,
    is_transport_error,
    retry_after_seconds,
)
from lawtrace.environments.logs import get_logger
from lawtrace.schemas.log_entries import CallRetried

_SHORTEST_KEY = 8
"""Shorter keys are placeholders for endpoints without keys, and may occur as words."""

MOST_TRIES = 5
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
"""Seconds between tries: they double, with jitter. A wait that the endpoint requests takes precedence."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RetryLayer:
    """Retries transport errors, records each retry, and turns the last error into `CallFailed`.

    A wait that would outlast `deadline_seconds` is not begun. Some endpoints repeat the ``key`` that they refuse; it
    goes into no record and no log. ``rate`` grants each further request its time, as the first has it already.
    """

    inner: Layer
    event_log: EventLog
    deadline_seconds: float
    key: str = ""
    rate: RequestRate | None = None

    async def ask(self, call: ModelCall) -> CreateResult:
        retrying = AsyncRetrying(
            stop=stop_after_attempt(MOST_TRIES) | stop_before_delay(self.deadline_seconds),
            wait=self._wait,
            retry=retry_if_exception(is_transport_error),
            before_sleep=lambda state: self._note(call, state),
            reraise=True,
        )
        try:
            return await retrying(self._try, call)
        except Exception as error:
            if not is_endpoint_error(error):
                raise
            tries = f" after {call.progress.tries} tries" if call.progress.tries > 1 else ""
            raise CallFailed(
                "endpoint",
                f"{call.context.model}: no answer{tries}: {self._explain(error)}",
                request_refused=is_refused_request(error),
            ) from error

    async def _try(self, call: ModelCall) -> CreateResult:
        if call.progress.tries and self.rate is not None:
            await self.rate.turn(call.context.model or "")
        call.progress.tries += 1
        return await self.inner.ask(call)

    def _wait(self, state: RetryCallState) -> float:
        error = _error(state)
        asked = None if error is None else retry_after_seconds(error)
        if asked is not None:
            return asked
        return (wait_exponential(FIRST_WAIT, LONGEST_WAIT) + wait_random(0, FIRST_WAIT))(state)

    def _note(self, call: ModelCall, state: RetryCallState) -> None:
        error = _error(state)
        text = call.progress.last_error = self._explain(error) if error else "no answer"
        retried = CallRetried(
            context=call.context, try_number=state.attempt_number, error=text, waited_seconds=state.upcoming_sleep
        )
        self.event_log.record(retried)
        log.warning(
            "model call retried",
            **call.context.model_dump(exclude_none=True),
            try_number=retried.try_number,
            error=text,
            wait_seconds=round(retried.waited_seconds, 3),
        )

    def _explain(self, error: BaseException) -> str:
        text = describe_error(error)
        return text.replace(self.key, "[the key]") if len(self.key) >= _SHORTEST_KEY else text


def _error(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None
