"""Messages of LangChain and AutoGen in the form of OpenAI's: with a role, ``tool_calls`` and answers."""

from collections.abc import Mapping
from typing import Any, Final

from lawtrace.runs.audit.transcripts import fields_of, is_list, items_of

_LANGCHAIN: Final[Mapping[str, str]] = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}
"""The roles by the types of LangChain's messages."""
_AUTOGEN_ANSWERS: Final = frozenset({"ToolCallExecutionEvent", "FunctionExecutionResultMessage"})
_AUTOGEN_SAID: Final = frozenset(
    {"TextMessage", "MultiModalMessage", "StopMessage", "HandoffMessage", "StructuredMessage", "ToolCallSummaryMessage"}
)
_AUTOGEN_CONTEXT: Final = {"UserMessage": "user", "AssistantMessage": "assistant", "SystemMessage": "system"}


def plain_message(entry: object) -> dict[str, Any]:
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
    if kind == "ToolCallRequestEvent" or (role == "assistant" and is_list(content) and _are_calls(content)):
        return {"role": "assistant", "tool_calls": content, "timestamp": fields.get("created_at")}
    if role is None:
        # Only the agent sees thoughts, memories and the like.
        return {"role": "system", "content": ""} if kind.endswith("Event") else None
    return {**fields, "role": role, "timestamp": fields.get("created_at")}


def _are_calls(content: list[Any]) -> bool:
    return bool(content) and all("arguments" in fields_of(one) for one in content)
