"""Limits on the model calls of a run: time, concurrency, retries, budget and prices."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import get_args

from lawtrace.schemas.call_options import BudgetOptions, CallOptions, Price
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.log_entries import BudgetName


@dataclass(frozen=True, slots=True)
class Spending:
    """Calls, tokens of prompts and answers, seconds of waiting for answers, money."""

    messages: int = 0
    tokens: int = 0
    seconds: float = 0.0
    money: float = 0.0

    def __str__(self) -> str:
        """For the progress of a run: ``12,000 tokens, cost 0.42``; empty before the first answer."""
        cost = f", cost {self.money:,.2f}" if self.money else ""
        return f"{self.tokens:,} tokens{cost}" if self.tokens else ""

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(
            self.messages + other.messages,
            self.tokens + other.tokens,
            self.seconds + other.seconds,
            self.money + other.money,
        )

    def __sub__(self, other: "Spending") -> "Spending":
        return self + Spending(-other.messages, -other.tokens, -other.seconds, -other.money)


class Budget(BudgetOptions):
    """Limits of a run; None means no limit. ``prices`` are keyed by model spec."""

    prices: Mapping[str, Price] = {}

    @property
    def limits(self) -> dict[BudgetName, float]:
        return {name: limit for name in get_args(BudgetName) if (limit := getattr(self, name)) is not None}

    def spending(self, model: str, prompt_tokens: int, completion_tokens: int, seconds: float) -> Spending:
        """What one call uses."""
        money = self.cost(model, prompt_tokens, completion_tokens)
        return Spending(1, prompt_tokens + completion_tokens, seconds, money)

    def share(self, parts: int) -> "Budget":
        """The part of each limit that one of so many processes may use."""
        shares: dict[str, float] = {
            name: limit // parts if isinstance(limit, int) else limit / parts for name, limit in self.limits.items()
        }
        return self.model_copy(update=shares)

    def cost(self, model: str, prompt_tokens: int, completion_tokens: int) -> float:
        """The cost in money; 0 for a model without a price. Raises InputError if a money budget needs the price."""
        price = self.prices.get(model)
        if price is None and self.money is not None:
            raise InputError(f'budget.money: what does {model!r} cost? Give its price in [prices."{model}"]')
        return price.of(prompt_tokens, completion_tokens) if price else 0.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The number of tries and the waits between them. Waits double from `first_wait` to `longest_wait` seconds, with
    jitter; a wait that the endpoint requests takes precedence."""

    tries: int = 5
    first_wait: float = 0.5
    longest_wait: float = 30.0


@dataclass(frozen=True, slots=True)
class CallSettings:
    """Limits on the model calls of a run: seconds for one call with its retries, calls at once, requests to one
    endpoint in a minute (None: no limit), the budget of all."""

    deadline_seconds: float = 120.0
    concurrency: int = 8
    requests_per_minute: float | None = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    budget: Budget = field(default_factory=Budget)

    def share(self, parts: int) -> "CallSettings":
        """The limits of one of so many processes that know nothing of each other: its part of all but concurrency."""
        rate = self.requests_per_minute
        return replace(
            self, budget=self.budget.share(parts), requests_per_minute=None if rate is None else rate / parts
        )


def call_settings(options: CallOptions) -> CallSettings:
    """The limits that a recipe sets."""
    return CallSettings(
        deadline_seconds=options.conversation.deadline_seconds,
        concurrency=options.conversation.concurrency,
        requests_per_minute=options.conversation.requests_per_minute,
        budget=Budget(**options.budget.model_dump(), prices=options.prices),
    )


ABANDONED = "is not asked any more in this session"
"""In the text of `EndpointAbandoned`, and so in the reason of a verdict."""
