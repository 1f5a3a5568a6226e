"""What a run may use of models, and what it has used: the layer that says when it is enough.

A run that reaches a budget stops cleanly. Nothing new is asked; what is in flight comes back and is recorded; then
every conversation that wants to ask gets `BudgetExhausted`.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from autogen_core.models import CreateResult

from lawtrace.agents.event_log import BudgetName, BudgetReached, EventLog, ModelCalled
from lawtrace.agents.models.model_call import Layer, ModelCall, plain_messages
from lawtrace.environments.errors import InputError, OperationalError

_CHARACTERS_A_TOKEN = 4
_A_MILLION = 1_000_000


class BudgetExhausted(OperationalError):
    """A budget of the run is used up; the whole run stops, and can go on with a higher one."""


@dataclass(frozen=True, slots=True)
class Price:
    """Money for a million tokens, in whatever currency the recipe means."""

    input: float
    output: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        return (prompt_tokens * self.input + completion_tokens * self.output) / _A_MILLION


@dataclass(frozen=True, slots=True)
class Spending:
    """Calls, tokens of prompts and answers, seconds of waiting for answers, money."""

    messages: int = 0
    tokens: int = 0
    seconds: float = 0.0
    money: float = 0.0

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(
            self.messages + other.messages,
            self.tokens + other.tokens,
            self.seconds + other.seconds,
            self.money + other.money,
        )

    def __sub__(self, other: "Spending") -> "Spending":
        return self + Spending(-other.messages, -other.tokens, -other.seconds, -other.money)


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that a run may use; None: as much as it takes. ``prices`` by the model's spec."""

    messages: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    money: float | None = None
    prices: Mapping[str, Price] = field(default_factory=dict[str, Price])

    @property
    def limits(self) -> dict[BudgetName, float]:
        limits: dict[BudgetName, float | None] = {
            "messages": self.messages,
            "tokens": self.tokens,
            "seconds": self.seconds,
            "money": self.money,
        }
        return {name: limit for name, limit in limits.items() if limit is not None}

    def cost(self, model: str, prompt_tokens: int, completion_tokens: int) -> float:
        """In money; 0 for a model without a price. Raises InputError if a budget of money needs one."""
        price = self.prices.get(model)
        if price is None and self.money is not None:
            raise InputError(f'budget.money: what does {model!r} cost? Give its price in [prices."{model}"]')
        return price.of(prompt_tokens, completion_tokens) if price else 0.0


class BudgetTracker:
    """What one run has used and may still use. For calls in flight what they will probably use is set aside, so that a
    thousand conversations do not run past a budget together."""

    def __init__(
        self, budget: Budget, event_log: EventLog, earlier: Iterable[ModelCalled] = (), earlier_calls: int = 0
    ) -> None:
        """``earlier``: what was answered before the run was interrupted, of ``earlier_calls`` that had left."""
        self._budget = budget
        self._ledger = event_log
        self._reserved = Spending()
        self._in_flight = 0
        self._changed = asyncio.Event()
        self._told = False
        self.spent = Spending()
        for call in earlier:
            self.spent += self._of(call)
        # A call that brought nothing is one, too.
        self.spent = replace(self.spent, messages=max(self.spent.messages, earlier_calls))

    async def reserve(self, call: ModelCall) -> Spending:
        """When the call may leave, what is set aside for it. Raises BudgetSpent once nothing is in flight."""
        while True:
            wanted = self._expected(call)
            reached = self._reached(self.spent)
            if reached is None and (not self._in_flight or self._is_safe(wanted)):
                break
            if reached is not None and not self._in_flight:
                raise self._end(reached, call)
            await self._changed.wait()
        self._in_flight += 1
        self._reserved += wanted
        return wanted

    def settle(self, set_aside: Spending, used: Spending) -> None:
        """The call came back."""
        self._in_flight -= 1
        self._reserved -= set_aside
        self.spent += used
        self._changed.set()
        self._changed = asyncio.Event()

    def used(self, call: ModelCall, result: CreateResult, seconds: float) -> Spending:
        usage = result.usage
        return self._spending(call.context.model or "", usage.prompt_tokens, usage.completion_tokens, seconds)

    def _of(self, call: ModelCalled) -> Spending:
        if call.replayed or not call.paid:
            return Spending()
        model = call.context.model or ""
        return self._spending(model, call.prompt_tokens, call.completion_tokens, call.latency_ms / 1000)

    def _spending(self, model: str, prompt_tokens: int, completion_tokens: int, seconds: float) -> Spending:
        money = self._budget.cost(model, prompt_tokens, completion_tokens)
        return Spending(1, prompt_tokens + completion_tokens, seconds, money)

    def _expected(self, call: ModelCall) -> Spending:
        """The prompt by its length; the answer, its time and its cost by the mean of those so far."""
        prompt = sum(len(line.content) for line in plain_messages(call.request.messages)) // _CHARACTERS_A_TOKEN
        answers = max(1, self.spent.messages)
        model = call.context.model or ""
        completion = call.parameters.max_tokens or 0
        tokens = max(prompt + completion, round(self.spent.tokens / answers))
        return Spending(
            1,
            tokens,
            self.spent.seconds / answers,
            max(self._budget.cost(model, prompt, completion), self.spent.money / answers),
        )

    def _reached(self, spending: Spending) -> BudgetName | None:
        """The first budget that is used up."""
        limits = self._budget.limits
        return next((name for name, limit in limits.items() if getattr(spending, name) >= limit), None)

    def _is_safe(self, wanted: Spending) -> bool:
        """Whether the call may join those in flight. Until one has come back, nobody knows what an answer uses."""
        limits = self._budget.limits
        if not self.spent.messages and limits.keys() - {"messages"}:
            return False
        together = self.spent + self._reserved + wanted
        return all(getattr(together, name) <= limit for name, limit in limits.items())

    def _end(self, name: BudgetName, call: ModelCall) -> BudgetExhausted:
        limit, spent = self._budget.limits[name], float(getattr(self.spent, name))
        if not self._told:
            self._told = True
            self._ledger.record(BudgetReached(context=call.context, budget=name, limit=limit, spent=round(spent, 6)))
        return BudgetExhausted(
            f"the run's budget of {limit:g} {name} is used up ({spent:g}); what was answered is on record: go on with "
            f"`lawtrace resume RUN --budget {name}=MORE`"
        )


class BudgetLayer:
    """The layer."""

    def __init__(self, inner: Layer, purse: BudgetTracker) -> None:
        self._inner = inner
        self._purse = purse

    async def ask(self, call: ModelCall) -> CreateResult:
        set_aside = await self._purse.reserve(call)
        used = Spending(messages=1)  # a call that brings nothing counts as one all the same
        try:
            started = asyncio.get_running_loop().time()
            result = await self._inner.ask(call)
            seconds = asyncio.get_running_loop().time() - started - call.progress.queued_seconds
            used = self._purse.used(call, result, seconds)
        finally:
            self._purse.settle(set_aside, used)
        return result
