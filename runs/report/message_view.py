"""View of a message: sender and readable content."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from lawtrace.runs.report.text import visible
from lawtrace.runs.store.event_log_queries import CallFigures, ConversationKey, LogLine
from lawtrace.schemas.call_options import Price
from lawtrace.schemas.choices import ROLES
from lawtrace.schemas.events import Json
from lawtrace.schemas.log_entries import FunctionCalled, MessageSent

SpeakerKind = Literal["user", "role", "code", "failure"]
"""The sender: the user, a role (model or script), a check by code, or a role that failed."""


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A part of a message: text or items, with the field name if it is a field."""

    name: str | None
    text: str
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MessageView:
    """A message for display, with control characters escaped.

    Attributes:
        to: the role that it is addressed to; None if it is for all.
        remark: short result of a check by code, or why a role failed.
        passed: result of a check by code; None for any other message.
    """

    turn: int
    kind: SpeakerKind
    speaker: str
    to: str | None
    model: str | None
    prompt: str | None
    remark: str
    passed: bool | None
    parts: tuple[MessagePart, ...]
    calls: tuple[str, ...]


def conversation_title(place: ConversationKey, other: ConversationKey | None = None) -> str:
    """The title of a conversation, on one line. ``other``: of a conversation it is compared with; what differs, such as
    the model under test, is named for both."""
    pairs = zip(_title_parts(place), _title_parts(other or place), strict=True)
    parts = [first if first == second else f"{first or '–'} / {second or '–'}" for first, second in pairs]
    return visible(" · ".join(part for part in parts if part))


def _title_parts(of: ConversationKey) -> tuple[str | None, ...]:
    trial = f"trial {of.trial}" if of.trial else None
    return of.stage, of.variant, of.task, of.unit, of.style, of.conversation_kind, of.tested_model, trial


def describe_call(call: CallFigures | None, prices: Mapping[str, Price]) -> str:
    """When the model answered, how long it took, its tokens, cost and tries; empty for code and offline roles."""
    if call is None or not (call.paid or call.replayed or call.tries > 1):
        return ""
    cost = call.cost(prices)
    parts = (
        "replayed" if call.replayed else call.at[11:19],
        f"{call.seconds:.1f} s",
        f"{call.prompt_tokens} + {call.completion_tokens} tokens",
        f"cost {cost:.4f}" if cost is not None else "",
        f"{call.tries} tries" if call.tries > 1 else "",
    )
    return ", ".join(part for part in parts if part)


def view_message(line: LogLine) -> MessageView:
    context = line.context
    if not isinstance(line, MessageSent):
        remark, parts = f"failed: {line.reason}", _parts(line.text)
        role = visible(context.role)
        return MessageView(context.turn, "failure", role, None, context.model, None, remark, None, parts, ())
    kind = _speaker_kind(line)
    fields = json_fields(line.content)
    checked = fields is not None and kind == "code" and fields.keys() <= {"objections", "not_checked"}
    remark, passed = "", None
    if fields is not None and checked and isinstance(objections := fields.get("objections"), list):
        passed = None if "not_checked" in fields else not objections
        remark = {True: "accepts", False: "objects", None: "does not decide"}[passed]
    parts = _parts(line.content, fields)
    return MessageView(
        context.turn,
        kind,
        visible(line.source),
        visible(line.to) if line.to else None,
        visible(context.model) if context.model else None,
        _prompt(line),
        remark,
        passed,
        () if passed else parts,
        tuple(_call(call) for call in line.function_calls),
    )


def _prompt(line: MessageSent) -> str | None:
    """The prompt file of a message, with its version and the beginning of its hash."""
    if line.prompt_id is None:
        return None
    version = f" {line.prompt_version}" if line.prompt_version is not None else ""
    return visible(f"{line.prompt_id}{version} ({(line.prompt_hash or '')[:8]})")


def _speaker_kind(line: MessageSent) -> SpeakerKind:
    if line.source == "user":
        return "user"
    return "role" if line.source in ROLES or line.prompt_id or line.function_calls else "code"


def _call(call: FunctionCalled) -> str:
    return _call_text(call.name, json_fields(call.arguments)) or visible(f"{call.name} {call.arguments}")


def _call_text(tool: Json, arguments: Json) -> str | None:
    """A call in Python syntax; None for any other value."""
    if not isinstance(tool, str) or not isinstance(arguments, dict):
        return None
    return visible(f"{tool}({', '.join(f'{name}={_json(value)}' for name, value in arguments.items())})")


def json_fields(content: str) -> dict[str, Json] | None:
    """The fields, if the content is a JSON object; else None."""
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
    """Text unchanged, a list with one item per line, a call in Python syntax, other values as JSON; never truncated."""
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
