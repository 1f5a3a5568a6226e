"""The budget of a run and what it has used.

A run that reaches a budget stops cleanly: no new request is sent, calls in flight finish and are recorded, and every
further call raises `BudgetExhausted`.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace

from autogen_core.models import CreateResult

from lawtrace.agents.event_log import EventLog
from lawtrace.agents.models.model_call import EndpointAbandoned, Layer, ModelCall, plain_messages
from lawtrace.agents.models.spending import Spending
from lawtrace.schemas.call_options import CallOptions
from lawtrace.schemas.errors import OperationalError
from lawtrace.schemas.log_entries import BudgetName, BudgetReached, ModelCalled

_CHARACTERS_A_TOKEN = 4


class BudgetExhausted(OperationalError):
    """A budget of the run is used up. The run stops and can be resumed with a higher one."""


class BudgetTracker:
    """Tracks what a run has used. Reserves the expected use of calls in flight, so that a thousand concurrent
    conversations do not exceed a budget together."""

    def __init__(
        self, options: CallOptions, event_log: EventLog, earlier: Iterable[ModelCalled] = (), earlier_calls: int = 0
    ) -> None:
        """``earlier``: the calls answered before the run was interrupted, of ``earlier_calls`` that were sent."""
        self._options = options
        self._limits = options.budget.limits
        self._event_log = event_log
        self._reserved = Spending()
        self._in_flight = 0
        self._changed = asyncio.Event()
        self._recorded = False
        self.spent = Spending()
        for call in earlier:
            self.spent += self._of(call)
        # Calls without an answer count as well.
        self.spent = replace(self.spent, messages=max(self.spent.messages, earlier_calls))

    async def reserve(self, call: ModelCall) -> Spending:
        """Wait until the call may be sent, and reserve its expected use. Raises BudgetExhausted once no call is in
        flight."""
        characters = sum(len(line.content) for line in plain_messages(call.request.messages))
        while True:
            wanted = self._expected(call, characters // _CHARACTERS_A_TOKEN)
            reached = self._reached(self.spent)
            if reached is None and (not self._in_flight or self._is_safe(wanted)):
                break
            if reached is not None and not self._in_flight:
                raise self._end(reached, call)
            await self._changed.wait()
        self._in_flight += 1
        self._reserved += wanted
        return wanted

    def settle(self, reserved: Spending, used: Spending) -> None:
        """Replace the reservation by what the call used."""
        self._in_flight -= 1
        self._reserved -= reserved
        self.spent += used
        self._changed.set()
        self._changed = asyncio.Event()

    def _of(self, call: ModelCalled) -> Spending:
        if call.replayed or not call.paid:
            return Spending()
        model = call.context.model or ""
        return Spending.of_call(
            self._options, model, call.prompt_tokens, call.completion_tokens, call.latency_ms / 1000
        )

    def _expected(self, call: ModelCall, prompt_tokens: int) -> Spending:
        """The size of the prompt and the mean of the answers so far, or what the call may use at most."""
        answers = max(1, self.spent.messages)
        model, tokens = call.context.model or "", call.parameters.max_tokens or 0
        most = Spending.of_call(self._options, model, prompt_tokens, tokens, 0.0)
        return Spending(
            1,
            max(most.tokens, round(self.spent.tokens / answers)),
            self.spent.seconds / answers,
            max(most.money, self.spent.money / answers),
        )

    def _reached(self, spending: Spending) -> BudgetName | None:
        """The first budget that is used up."""
        return next((name for name, limit in self._limits.items() if getattr(spending, name) >= limit), None)

    def _is_safe(self, wanted: Spending) -> bool:
        """Whether the call may be sent while others are in flight. Before the first answer the use of a call is
        unknown."""
        if not self.spent.messages and self._limits.keys() - {"messages"}:
            return False
        together = self.spent + self._reserved + wanted
        return all(getattr(together, name) <= limit for name, limit in self._limits.items())

    def _end(self, name: BudgetName, call: ModelCall) -> BudgetExhausted:
        limit, spent = self._limits[name], float(getattr(self.spent, name))
        if not self._recorded:
            self._recorded = True
            self._event_log.record(BudgetReached(context=call.context, budget=name, limit=limit, spent=round(spent, 6)))
        return BudgetExhausted(
            f"the run's budget of {limit:g} {name} is used up ({spent:g}); answers so far are recorded: continue with "
            f"`lawtrace resume RUN --budget {name}=MORE`"
        )


@dataclass(frozen=True, slots=True)
class BudgetLayer:
    """The budget layer."""

    inner: Layer
    tracker: BudgetTracker
    options: CallOptions

    async def ask(self, call: ModelCall) -> CreateResult:
        reserved = await self.tracker.reserve(call)
        used = Spending(messages=1)  # calls without an answer count as well
        try:
            started = asyncio.get_running_loop().time()
            result = await self.inner.ask(call)
            seconds = asyncio.get_running_loop().time() - started - call.progress.queued_seconds
            usage, model = result.usage, call.context.model or ""
            used = Spending.of_call(self.options, model, usage.prompt_tokens, usage.completion_tokens, seconds)
        except EndpointAbandoned:
            used = Spending()
            raise
        finally:
            self.tracker.settle(reserved, used)
        return result
