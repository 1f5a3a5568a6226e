"""Conversations on a terminal."""

import json
from collections.abc import Iterable
from typing import cast

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from agents.ledger import MessageSent
from runs.record.reading import Conversation, Line

__all__ = ["render_conversations"]

_VISIBLE = {0x1B: "␛", 0x9B: "␛"}
"""A model's words may carry escape sequences; shown, not obeyed."""


def render_conversations(conversations: Iterable[Conversation], console: Console) -> None:
    """Prints each conversation under a heading: who spoke in which turn, through which model, and what."""
    for conversation in conversations:
        console.print(Rule(Text(_heading(conversation), style="bold"), align="left"))
        for line in conversation.lines:
            console.print(_speaker(line))
            console.print(Padding(_words(line), (0, 0, 1, 2)))


def _heading(conversation: Conversation) -> str:
    parts = [conversation.stage, conversation.task, conversation.style, conversation.name]
    if conversation.trial:
        parts.append(f"trial {conversation.trial}")
    return " · ".join(part for part in parts if part)


def _speaker(line: Line) -> Text:
    context = line.context
    text = Text(f"{context.turn:>2} ", style="dim")
    if isinstance(line, MessageSent):
        text.append(line.source, style="bold cyan")
        if line.function_calls:
            text.append(" calls", style="cyan")
    else:
        text.append(f"{context.role} failed: {line.reason}", style="bold red")
    if context.model:
        text.append(f"  {context.model}", style="dim")
    if isinstance(line, MessageSent) and line.prompt_id:
        text.append(f"  prompt {line.prompt_id}", style="dim")
    return text


def _words(line: Line) -> Text:
    if not isinstance(line, MessageSent):
        return _plain(line.text)
    if line.function_calls:
        calls = [f"{call.name} {call.arguments}" for call in line.function_calls]
        return _plain("\n".join([*([line.content] if line.content else []), *calls]))
    try:
        content = json.loads(line.content)
    except ValueError:
        return _plain(line.content)
    if not isinstance(content, dict):
        return _plain(line.content)
    fields = cast("dict[str, object]", content)
    return _plain("\n".join(f"{name}: {_readable(value)}" for name, value in fields.items()))


def _readable(value: object) -> str:
    """Text as it reads, a list an item a line, anything else as compact JSON: nothing is cut off."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        items = cast("list[object]", value)
        return "".join(f"\n  - {item if isinstance(item, str) else json.dumps(item)}" for item in items)
    return json.dumps(value)


def _plain(content: str) -> Text:
    return Text(content.translate(_VISIBLE))
