"""Limits on model calls."""

from collections.abc import Mapping
from typing import Any

from lawtrace.schemas.call_options import BudgetOptions, CallOptions, ConversationOptions, Price


def call_limits(
    *, budget: BudgetOptions | None = None, prices: Mapping[str, Price] | None = None, **conversation: Any
) -> CallOptions:
    """The options of a recipe for calls. ``conversation``: fields of its table of that name."""
    return CallOptions(
        conversation=ConversationOptions(**conversation), budget=budget or BudgetOptions(), prices=prices or {}
    )
