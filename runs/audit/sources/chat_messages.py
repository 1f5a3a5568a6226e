"""Messages of chat interfaces, as recorded by many tools.

A message has a role and a content. Interfaces differ in where calls and answers stand: in ``tool_calls`` (OpenAI,
tau-bench, Inspect, AgentDojo, each with its own names), in blocks of the content (Anthropic), or as items of
their own (OpenAI Responses). All of these are read, also beside each other.
Those of LangChain and AutoGen are brought into this form first.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from lawtrace.environments.literals import fields_of, items_of
from lawtrace.runs.audit.transcripts import (
    RecordedAnswer,
    RecordedCall,
    RecordedMessage,
    Speaker,
    id_of,
    is_list,
    read_arguments,
    read_time,
)
from lawtrace.schemas.events import Json

_SPEAKERS: Final[Mapping[str, Speaker | None]] = {
    "system": None,
    "developer": None,
    "user": "user",
    "human": "user",
    "assistant": "agent",
    "ai": "agent",
    "model": "agent",
    "tool": None,
    "function": None,
}
_SILENT: Final = frozenset({"reasoning", "thinking", "redacted_thinking", "item_reference", "refusal"})
"""Items and blocks that neither say anything to the user nor call a tool."""
_MEDIA: Final = frozenset(
    {"image", "image_url", "input_image", "audio", "input_audio", "video", "file", "input_file", "document", "data"}
)
_LANGCHAIN: Final[Mapping[str, str]] = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}
"""The roles by the types of LangChain's messages."""
_AUTOGEN_ANSWERS: Final = frozenset({"ToolCallExecutionEvent", "FunctionExecutionResultMessage"})
_AUTOGEN_SAID: Final = frozenset(
    {"TextMessage", "MultiModalMessage", "StopMessage", "HandoffMessage", "StructuredMessage", "ToolCallSummaryMessage"}
)
_AUTOGEN_CONTEXT: Final = {"UserMessage": "user", "AssistantMessage": "assistant", "SystemMessage": "system"}


def is_message(value: object) -> bool:
    """Whether a JSON value is a message or an item that `read_messages` reads."""
    fields = _plain(value)
    return isinstance(fields.get("role"), str) or _item_kind(fields) is not None


def read_messages(entries: Sequence[Any]) -> list[RecordedMessage]:
    """The messages of a list. Raises ValueError for a form that could hide a call."""
    return [_read(_plain(entry)) for entry in entries]


def _read(entry: Mapping[str, Any]) -> RecordedMessage:
    kind = _item_kind(entry)
    if kind is not None:
        return _item(kind, entry)
    role = entry.get("role")
    if role not in _SPEAKERS:
        raise ValueError(f"a message of role {role!r} is not read")
    time = read_time(entry.get("timestamp"))
    if role in {"tool", "function"}:
        return RecordedMessage(None, answers=_tool_message(entry), time=time)
    texts, calls, answers = _content(entry.get("content"))
    again = {call.id for call in calls}
    beside = (_tool_call(call) for call in items_of(entry.get("tool_calls")))
    calls += [call for call in beside if call.id is None or call.id not in again]
    if legacy := fields_of(entry.get("function_call")):
        calls.append(RecordedCall(str(legacy["name"]), read_arguments(legacy.get("arguments"))))
    return RecordedMessage(_SPEAKERS[role], "\n".join(texts), calls, answers, time)


def _tool_message(entry: Mapping[str, Any]) -> list[RecordedAnswer]:
    """The answers of a message of the role tool: one, or several beside each other."""
    if several := items_of(entry.get("tool_messages")):
        return [answer for one in several for answer in _tool_message(fields_of(one))]
    made = fields_of(entry.get("tool_call"))
    tool = entry.get("name") or _name(made.get("function")) or _name(entry.get("function"))
    content = entry.get("content")
    blocks = items_of(content)
    if not blocks or all(isinstance(block, dict) and ("text" in block or "content" in block) for block in blocks):
        content = text_of(content)
    return [RecordedAnswer(content, _error(entry, content), id_of(entry.get("tool_call_id", entry.get("id"))), tool)]


def _error(entry: Mapping[str, Any], content: Json) -> str | None:
    error = entry.get("error")
    if error is True or (entry.get("status") == "error" and entry.get("role") == "tool"):
        return str(content)
    message = fields_of(error).get("message") or error
    return str(message) if message else None


def _name(value: object) -> str | None:
    return value if isinstance(value, str) else fields_of(value).get("name")


def _tool_call(call: Mapping[str, Any]) -> RecordedCall:
    nested = fields_of(call.get("function"))
    name = nested.get("name") or call.get("function") or call.get("name") or fields_of(call.get("custom")).get("name")
    if not isinstance(name, str):
        raise ValueError("a tool call without the name of its tool")
    given = nested if nested else call
    raw = given.get("arguments", given.get("args", given.get("input")))
    return RecordedCall(name, read_arguments(raw), id_of(call.get("id")))


def _content(content: object) -> tuple[list[str], list[RecordedCall], list[RecordedAnswer]]:
    """Texts, calls and answers of the content of a message: a text, or a list of blocks."""
    if not is_list(content):
        return ([content] if isinstance(content, str) else [], [], [])
    texts: list[str] = []
    calls: list[RecordedCall] = []
    answers: list[RecordedAnswer] = []
    for block in items_of(content):
        fields = fields_of(block)
        kind = str(fields.get("type", "text"))
        if isinstance(block, str):
            texts.append(block)
        elif kind in {"tool_use", "server_tool_use", "mcp_tool_use", "tool_call"}:
            raw = fields.get("input", fields.get("arguments"))
            done = RecordedAnswer(fields["result"], _error(fields, fields["result"])) if "result" in fields else None
            calls.append(RecordedCall(str(fields["name"]), read_arguments(raw), id_of(fields.get("id")), done))
        elif kind.endswith("tool_result"):
            said = fields.get("content")
            said = text_of(said) if all(_is_text(part) for part in items_of(said)) else said
            error = str(said) if fields.get("is_error") else None
            answers.append(RecordedAnswer(said, error, str(fields["tool_use_id"])))
        elif kind == "tool_call_response":
            answers.append(RecordedAnswer(fields.get("response", fields.get("result")), None, id_of(fields.get("id"))))
        elif kind in _SILENT or kind in _MEDIA:
            continue
        elif _is_text(block):
            texts.append(text_of([block]))
        else:
            raise ValueError(f"content of type {kind!r} is not read")
    return texts, calls, answers


def _is_text(block: object) -> bool:
    fields = fields_of(block)
    return isinstance(block, str) or "text" in fields or isinstance(fields.get("content"), str)


def text_of(content: object) -> str:
    """The text of a content: a string, or the text blocks of a list."""
    if isinstance(content, str):
        return content
    blocks = ({"text": part} if isinstance(part, str) else fields_of(part) for part in items_of(content))
    parts = (block.get("text", block.get("content")) for block in blocks)
    return "\n".join(part for part in parts if isinstance(part, str))


def _item_kind(entry: Mapping[str, Any]) -> str | None:
    """The type of an item of the Responses interface; None for a message with a role."""
    kind = entry.get("type")
    if not isinstance(kind, str) or "role" in entry:
        return None
    return kind if kind.endswith(("_call", "_call_output")) or kind in _SILENT else None


def _item(kind: str, item: Mapping[str, Any]) -> RecordedMessage:
    """A call or an answer that stands beside the messages."""
    if kind in _SILENT:
        return RecordedMessage(None)
    call = id_of(item.get("call_id", item.get("id")))
    if kind.endswith("_output"):
        output = item.get("output")
        said = text_of(output) if is_list(output) else output
        return RecordedMessage(None, answers=[RecordedAnswer(said, _error(item, said), call)])
    # Tools of the provider itself have no name but their type, and no answer of their own.
    name = str(item.get("name") or kind.removesuffix("_call"))
    answer = None
    if kind == "mcp_call" and (item.get("output") is not None or item.get("error")):
        answer = RecordedAnswer(item.get("output"), _error(item, item.get("output")))
    arguments = read_arguments(item.get("arguments", item.get("input")))
    return RecordedMessage("agent", calls=[RecordedCall(name, arguments, call, answer)])


def _plain(entry: object) -> dict[str, Any]:
    """The fields of a message, with its role where the source says it in another way."""
    fields = fields_of(entry)
    if "role" in fields:
        return fields
    return _langchain(fields) or _autogen(fields) or fields


def _langchain(fields: dict[str, Any]) -> dict[str, Any] | None:
    """A message of LangChain: it has a type, and may be wrapped as ``data`` or ``kwargs``."""
    inner = fields_of(fields.get("kwargs" if fields.get("type") == "constructor" else "data")) or fields
    role = _LANGCHAIN.get(str(inner.get("type", "")).lower().removesuffix("messagechunk"))
    return {**inner, "role": role} if role is not None and "content" in inner else None


def _autogen(fields: dict[str, Any]) -> dict[str, Any] | None:
    """A message or event of AutoGen, from a result of a run or from the context of a saved agent."""
    kind, content = str(fields.get("type", "")), fields.get("content")
    if "content" not in fields or ("source" not in fields and kind not in _AUTOGEN_ANSWERS):
        return None
    if kind in _AUTOGEN_ANSWERS:
        answers = (fields_of(answer) for answer in items_of(content))
        return {
            "role": "tool",
            "tool_messages": [
                {**one, "role": "tool", "tool_call_id": one.get("call_id"), "error": one.get("is_error")}
                for one in answers
            ],
            "timestamp": fields.get("created_at"),
        }
    role = _AUTOGEN_CONTEXT.get(kind)
    if role is None and kind in _AUTOGEN_SAID:
        role = "user" if str(fields["source"]).lower().startswith("user") else "assistant"
    are_calls = bool(items_of(content)) and all("arguments" in fields_of(one) for one in items_of(content))
    if kind == "ToolCallRequestEvent" or (role == "assistant" and are_calls):
        return {"role": "assistant", "tool_calls": content, "timestamp": fields.get("created_at")}
    if role is None:
        # Only the agent sees thoughts, memories and the like.
        return {"role": "system", "content": ""} if kind.endswith("Event") else None
    return {**fields, "role": role, "timestamp": fields.get("created_at")}
