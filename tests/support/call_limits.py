"""Limits on model calls, and short waits between tries."""

from collections.abc import Mapping
from typing import Any, Final

from lawtrace.agents.models.retry import RetryPolicy
from lawtrace.schemas.call_options import BudgetOptions, CallOptions, ConversationOptions, Price

SHORT_WAITS: Final = RetryPolicy(tries=3, first_wait=0.01, longest_wait=0.02)


def call_limits(
    *, budget: BudgetOptions | None = None, prices: Mapping[str, Price] | None = None, **conversation: Any
) -> CallOptions:
    """The options of a recipe for calls. ``conversation``: fields of its table of that name."""
    return CallOptions(
        conversation=ConversationOptions(**conversation), budget=budget or BudgetOptions(), prices=prices or {}
    )
