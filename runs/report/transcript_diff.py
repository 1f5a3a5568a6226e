"""Diff of the conversations of two runs: the first different message of each, word by word."""

import difflib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal

from lawtrace.runs.report.text import visible
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import (
    ConversationKey,
    LoggedConversation,
    LoggedMessage,
    LogLine,
    MessageQuery,
    conversation_messages,
    find_conversations,
)
from lawtrace.schemas.log_entries import MessageSent

MOST_WORDS = 4000
"""Maximum number of words in a differing stretch; a longer one is shown as replaced completely."""


@dataclass(frozen=True, slots=True)
class DiffPiece:
    """A stretch of text on both sides or on one."""

    kind: Literal["both", "first", "second"]
    text: str


@dataclass(frozen=True, slots=True)
class ConversationDiff:
    """A conversation that differs between the sides; None for a missing one.

    Attributes:
        same: number of equal lines before the first difference.
        lines: the first different line on each side; None if that side has ended.
    """

    conversations: tuple[LoggedConversation | None, LoggedConversation | None]
    same: int
    lines: tuple[LoggedMessage | None, LoggedMessage | None]

    @property
    def places(self) -> tuple[ConversationKey, ConversationKey | None]:
        """The key of the conversation, and of the other one if both sides have it."""
        first, second = self.conversations
        found = [one.place for one in (first, second) if one is not None]
        return found[0], found[-1] if len(found) == 2 else None

    @property
    def models(self) -> tuple[str | None, str | None]:
        """The model under test on each side."""
        first, second = self.conversations
        return first.place.tested_model if first else None, second.place.tested_model if second else None

    @property
    def pieces(self) -> list[DiffPiece]:
        """The two lines, word by word."""
        first, second = (message_text(said.line) if said else "" for said in self.lines)
        return diff_words(first, second)


def diff_conversations(
    first: EventLogFile, second: EventLogFile, wanted: MessageQuery, models: tuple[str, str] | None = None
) -> Iterator[ConversationDiff]:
    """Yield each conversation that differs, in the order of the first run, then those only in the second run.

    Conversations are paired by their key. Those that differ only in the model under test are paired in order.
    ``models``: only those of the first model in the first run and of the second model in the second run.
    """
    of_first, of_second = (replace(wanted, tested_model=model) for model in models or (wanted.tested_model,) * 2)
    for one, other in _pairs(find_conversations(first, of_first), find_conversations(second, of_second)):
        here = conversation_messages(first, one.id) if one else ()
        there = conversation_messages(second, other.id) if other else ()
        for same, (left, right) in enumerate(zip_longest(here, there)):
            if left is None or right is None or _key(left.line) != _key(right.line):
                yield ConversationDiff((one, other), same, (left, right))
                break


def _pairs(
    first: Sequence[LoggedConversation], second: Sequence[LoggedConversation]
) -> list[tuple[LoggedConversation | None, LoggedConversation | None]]:
    by_place = {other.place: other for other in second}
    partners = {one.id: by_place.pop(one.place, None) for one in first}
    left_over = defaultdict[tuple[object, ...], list[LoggedConversation]](list)
    for other in by_place.values():
        left_over[_without_model(other)].append(other)
    pairs: list[tuple[LoggedConversation | None, LoggedConversation | None]] = []
    for one in first:
        partner = partners[one.id]
        waiting = left_over[_without_model(one)]
        if partner is None and waiting:
            partner = waiting.pop(0)
        pairs.append((one, partner))
    return [*pairs, *((None, other) for others in left_over.values() for other in others)]


def _without_model(conversation: LoggedConversation) -> tuple[object, ...]:
    place = conversation.place
    return place.stage, place.task, place.unit, place.style, place.conversation_kind, place.trial, place.variant


def _key(line: LogLine) -> tuple[object, ...]:
    if isinstance(line, MessageSent):
        calls = tuple((call.name, call.arguments) for call in line.function_calls)
        return line.source, line.content, calls
    return line.context.role, line.reason, line.text


def message_text(line: LogLine) -> str:
    """The content of a line as one text."""
    if not isinstance(line, MessageSent):
        return visible(f"{line.context.role} failed: {line.reason}\n{line.text}")
    calls = [f"{call.name} {call.arguments}" for call in line.function_calls]
    return visible("\n".join([f"{line.source}: {line.content}", *calls]))


def diff_words(first: str, second: str) -> list[DiffPiece]:
    """Word diff of two texts. The pieces of each side, joined, are its text."""
    one, other = (re.findall(r"\w+|\s+|[^\w\s]", text) for text in (first, second))
    pairs = enumerate(zip(one, other, strict=False))
    start = next((number for number, (left, right) in pairs if left != right), min(len(one), len(other)))
    pieces = [DiffPiece("both", "".join(one[:start]))]
    one, other = one[start:], other[start:]
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    whole: list[tuple[str, int, int, int, int]] = [("replace", 0, len(one), 0, len(other))]
    for kind, i, j, k, m in whole if max(len(one), len(other)) > MOST_WORDS else matcher.get_opcodes():
        if kind == "equal":
            pieces.append(DiffPiece("both", "".join(one[i:j])))
        else:
            pieces += [DiffPiece("first", "".join(one[i:j])), DiffPiece("second", "".join(other[k:m]))]
    return [piece for piece in pieces if piece.text]
