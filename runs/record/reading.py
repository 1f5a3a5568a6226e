"""The conversations of a run, put together from the entries of its record."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.ledger import MessageSent, RoleFailed
from runs.record.store import Record

__all__ = ["Conversation", "Line", "conversations"]

Line = MessageSent | RoleFailed


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was said about one task in one stage, in order; failures stand where they happened.

    Attributes:
        name: what tells this conversation apart from others about the same task and style, such as the model.
    """

    stage: str
    task: str | None
    style: str | None
    name: str | None
    trial: int
    lines: Sequence[Line]


def conversations(record: Record, *, task: str | None = None, role: str | None = None) -> Sequence[Conversation]:
    """The conversations in the order in which they began; of one task, or with the lines of one role only."""
    groups: dict[tuple[str, str | None, str | None, str | None, int], list[Line]] = {}
    for entry in record.entries(kind=("message", "failure"), task=task, role=role):
        if isinstance(entry, MessageSent | RoleFailed):
            context = entry.context
            place = (context.stage, context.task, context.style, context.conversation, context.trial)
            groups.setdefault(place, []).append(entry)
    return [Conversation(*place, lines=tuple(lines)) for place, lines in groups.items()]
