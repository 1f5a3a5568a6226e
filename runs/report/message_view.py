"""A line of a conversation as what a reader sees of it: who spoke, from which seat, and the words in readable form."""

import json
from dataclasses import dataclass
from typing import Literal, cast

from lawtrace.agents.event_log import FunctionCalled, MessageSent
from lawtrace.agents.roles import ROLES
from lawtrace.environments.events import Json
from lawtrace.runs.report.text import visible
from lawtrace.runs.store.event_log_queries import ConversationKey, LogLine

SpeakerKind = Literal["user", "role", "code", "failure"]
"""Who spoke: whoever opened the conversation, a model or its stand-in, code between the turns, or nobody any more."""


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A piece of what was said: a field's name, if it has one, its text, or its items."""

    name: str | None
    text: str
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MessageView:
    """A line made ready. All text in it is visible: control characters are written as escapes.

    Attributes:
        remark: what code found in a word or two, or why a role could not go on.
        good: of a check by code: whether it let pass what was said; None for any other line.
    """

    turn: int
    seat: SpeakerKind
    speaker: str
    model: str | None
    prompt: str | None
    remark: str
    good: bool | None
    parts: tuple[MessagePart, ...]
    calls: tuple[str, ...]


def conversation_title(place: ConversationKey) -> str:
    """A conversation's place on one line."""
    trial = f"trial {place.trial}" if place.trial else None
    parts = (
        place.stage,
        place.variant,
        place.task,
        place.unit,
        place.style,
        place.conversation_kind,
        place.tested_model,
        trial,
    )
    return visible(" · ".join(part for part in parts if part))


def view_message(line: LogLine) -> MessageView:
    context = line.context
    if not isinstance(line, MessageSent):
        parts = _parts(line.text)
        return MessageView(
            context.turn,
            "failure",
            visible(context.role),
            context.model,
            None,
            f"failed: {line.reason}",
            None,
            parts,
            (),
        )
    seat = _speaker_kind(line)
    fields = _fields(line.content)
    objections = fields.get("objections") if fields is not None and seat == "code" and len(fields) == 1 else None
    remark, good = "", None
    if isinstance(objections, list):
        good = not objections
        remark = "has no objection" if good else "objects"
    parts = _parts(line.content, fields)
    return MessageView(
        context.turn,
        seat,
        visible(line.source),
        visible(context.model) if context.model else None,
        line.prompt_id,
        remark,
        good,
        () if good else parts,
        tuple(_call(call) for call in line.function_calls),
    )


def _speaker_kind(line: MessageSent) -> SpeakerKind:
    if line.source == "user":
        return "user"
    return "role" if line.source in ROLES or line.prompt_id or line.function_calls else "code"


def _call(call: FunctionCalled) -> str:
    return _call_text(call.name, _fields(call.arguments)) or visible(f"{call.name} {call.arguments}")


def _call_text(tool: Json, arguments: Json) -> str | None:
    """A call as a program would write it; None for what is none."""
    if not isinstance(tool, str) or not isinstance(arguments, dict):
        return None
    return visible(f"{tool}({', '.join(f'{name}={_json(value)}' for name, value in arguments.items())})")


def _fields(content: str) -> dict[str, Json] | None:
    """The fields of an answer that is a JSON object; of anything else None."""
    if not content.startswith("{"):
        return None
    try:
        parsed: object = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Json]", parsed) if isinstance(parsed, dict) else None


def _parts(content: str, fields: dict[str, Json] | None = None) -> tuple[MessagePart, ...]:
    if fields is None:
        return (MessagePart(None, visible(content)),) if content else ()
    return tuple(_part(visible(name), value) for name, value in fields.items())


def _part(name: str, value: Json) -> MessagePart:
    """Text as it reads, a list an item a line, a call as one, anything else as compact JSON: nothing is cut off."""
    if isinstance(value, str):
        return MessagePart(name, visible(value))
    if isinstance(value, list) and value:
        return MessagePart(name, "", tuple(_item(item) for item in value))
    return MessagePart(name, visible(_json(value)))


def _item(value: Json) -> str:
    if isinstance(value, dict) and value.keys() == {"tool", "arguments"}:
        called = _call_text(value["tool"], value["arguments"])
        if called is not None:
            return called
    return visible(value if isinstance(value, str) else _json(value))


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
