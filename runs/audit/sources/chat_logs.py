"""Conversations as OpenAI, Anthropic, LangChain and AutoGen write them: messages, or requests with their responses.

A record is a list of messages or items, or an object with one: ``messages`` or ``input``, also below ``request``,
``body`` or ``llm_context`` (AutoGen), and the response with ``choices``, ``output`` or ``content``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

from lawtrace.environments.literals import fields_of, items_of
from lawtrace.runs.audit.sources.chat_messages import is_message, read_messages
from lawtrace.runs.audit.sources.source import Record, Source
from lawtrace.runs.audit.transcripts import Transcript, is_list, make_transcript, read_actor
from lawtrace.schemas.events import Json

_IDS: Final = ("id", "conversation_id", "session_id", "thread_id", "custom_id", "request_id", "trace_id")
_LABELS: Final = ("reward", "score", "scores", "label", "labels", "success", "passed", "outcome", "model", "task_id")


class ChatLogs(Source):
    title: ClassVar = "messages of OpenAI, Anthropic, LangChain or AutoGen"
    lists: ClassVar = ("conversations",)

    @staticmethod
    def recognizes(value: Json) -> bool:
        return bool(_messages(value)) or (isinstance(value, dict) and _asked(fields_of(value)) == [])

    def name(self, record: Record) -> str:
        fields = fields_of(record.value)
        return next((str(fields[key]) for key in _IDS if fields.get(key) is not None), record.name)

    def read(self, record: Record) -> Iterable[Transcript]:
        fields = fields_of(record.value)
        labels = {key: fields[key] for key in _LABELS if fields.get(key) is not None}
        transcript = make_transcript(record.place, self.name(record), read_messages(_messages(record.value)), labels)
        beside = {name: fields.get(name) for name in ("user_id", "user")}
        yield replace(transcript, by=read_actor(fields_of(fields.get("by")) or beside))


def _messages(value: Json) -> list[Any]:
    """The messages of a record, in order; empty if it has none."""
    if isinstance(value, list):
        entries = items_of(value)
        return entries if entries and all(map(is_message, entries)) else []
    fields = fields_of(value)
    asked = _asked(fields) or []
    found = [*asked, *_answered(fields)]
    return found if found and all(map(is_message, found)) else []


def _asked(fields: Mapping[str, Any]) -> list[Any] | None:
    """The messages of a request; None if there is no request."""
    for holder in (fields, *(fields_of(fields.get(name)) for name in ("request", "body", "llm_context"))):
        if is_list(holder.get("messages")):
            return items_of(holder["messages"])
        given = holder.get("input")
        if is_list(given):
            return given
        if isinstance(given, str) and ("output" in fields or "response" in fields):
            return [{"role": "user", "content": given}]
    return None


def _answered(fields: Mapping[str, Any]) -> list[Any]:
    for holder in (fields, fields_of(fields.get("response")), fields_of(fields_of(fields.get("response")).get("body"))):
        if choices := items_of(holder.get("choices")):
            return [fields_of(choices[0]).get("message")]
        if items := items_of(holder.get("output")):
            return items
        if holder.get("role") == "assistant" and "content" in holder:
            return [{"role": "assistant", "content": holder["content"]}]
    return []
