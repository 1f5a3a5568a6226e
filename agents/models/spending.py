"""What model calls use, and the words of an endpoint that is given up."""

from dataclasses import dataclass

from lawtrace.schemas.call_options import CallOptions
from lawtrace.schemas.errors import InputError


@dataclass(frozen=True, slots=True)
class Spending:
    """Calls, tokens of prompts and answers, seconds of waiting for answers, money."""

    messages: int = 0
    tokens: int = 0
    seconds: float = 0.0
    money: float = 0.0

    @classmethod
    def of_call(
        cls, options: CallOptions, model: str, prompt_tokens: int, completion_tokens: int, seconds: float
    ) -> "Spending":
        """What one call uses; no money for a model without a price. Raises InputError if a money budget needs it."""
        price = options.prices.get(model)
        if price is None and options.budget.money is not None:
            raise InputError(f'budget.money: what does {model!r} cost? Give its price in [prices."{model}"]')
        money = price.of(prompt_tokens, completion_tokens) if price else 0.0
        return cls(1, prompt_tokens + completion_tokens, seconds, money)

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


ABANDONED = "is not asked any more in this session"
"""In the text of `EndpointAbandoned`, and so in the reason of a verdict."""
