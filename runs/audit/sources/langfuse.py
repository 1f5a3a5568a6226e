"""Exports of Langfuse: a trace with its observations, or observations with the id of their trace.

Names of fields are written in two ways, ``startTime`` and ``start_time``; both are read. Traces of one session are one
conversation.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from lawtrace.environments.literals import fields_of, items_of, parse_if_json
from lawtrace.runs.audit.sources.chat_messages import is_message, read_messages
from lawtrace.runs.audit.sources.grouping import Groups
from lawtrace.runs.audit.sources.otel import nanoseconds
from lawtrace.runs.audit.sources.source import Record, Source
from lawtrace.runs.audit.sources.spans import Span, transcript_of_spans
from lawtrace.runs.audit.transcripts import (
    RecordedAnswer,
    RecordedCall,
    RecordedMessage,
    Speaker,
    Transcript,
    read_actor,
    read_arguments,
)
from lawtrace.schemas.events import Json

_TYPES = {"GENERATION", "TOOL", "SPAN", "EVENT", "AGENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"}


class Langfuse(Source):
    title: ClassVar = "Langfuse exports"
    lists: ClassVar = ("data", "traces")

    def __init__(self) -> None:
        self._observations = Groups()
        self._sessions: dict[str, str] = {}
        self._labels: dict[str, dict[str, Json]] = {}

    @staticmethod
    def recognizes(value: Json) -> bool:
        fields = _fields(value)
        return _is_observation(fields) or any(
            _is_observation(_fields(one)) for one in items_of(fields.get("observations"))
        )

    def read(self, record: Record) -> Iterable[Transcript]:
        fields = _fields(record.value)
        trace = _fields(fields.get("trace")) or fields
        observations = [_fields(one) for one in items_of(fields.get("observations"))]
        if not observations:
            observations, trace = [fields], {"id": fields["traceid"], "sessionid": fields.get("sessionid")}
        name = str(trace.get("id") or observations[0]["traceid"])
        if session := trace.get("sessionid"):
            self._sessions[name] = str(session)
        scores = [fields_of(score) for score in [*items_of(fields.get("scores")), *items_of(trace.get("scores"))]]
        self._labels.setdefault(name, {}).update(
            {str(score["name"]): score.get("value") for score in scores if "name" in score}
        )
        for one in observations:
            self._observations.add(name, record.place, one)
        if "input" in trace or "output" in trace:
            times = [one.get("starttime") for one in observations] + [one.get("endtime") for one in observations]
            known = sorted(str(time) for time in times if time)
            bounds = {"starttime": known[0], "endtime": known[-1]} if known else {}
            self._observations.add(name, record.place, {"type": "TRACE", **bounds, **trace})
        return ()

    def end(self) -> Iterable[Transcript]:
        for name, traces, entries in self._observations.joined(lambda trace: self._sessions.get(trace, trace)):
            labels = {key: value for trace in traces for key, value in self._labels.get(trace, {}).items()}
            transcript = transcript_of_spans(entries[0][0], name, [_span(one) for _, one in entries], labels)
            yield replace(transcript, by=next(filter(None, (read_actor(one) for _, one in entries)), None))


def _fields(value: object) -> dict[str, Any]:
    """The fields of an object, with names without case and underscores."""
    return {key.replace("_", "").lower(): inner for key, inner in fields_of(value).items()}


def _is_observation(fields: Mapping[str, Any]) -> bool:
    return fields.get("type") in _TYPES and "traceid" in fields


def _span(one: Mapping[str, Any]) -> Span:
    begin = nanoseconds(one.get("starttime"))
    end = nanoseconds(one.get("endtime")) or begin
    given, made = parse_if_json(one.get("input")), parse_if_json(one.get("output"))
    if one["type"] == "TOOL":
        error = str(one.get("statusmessage") or "the call failed") if one.get("level") == "ERROR" else None
        arguments = None if given is None else read_arguments(given)
        inner = fields_of(arguments)
        arguments = fields_of(inner.get("kwargs")) or fields_of(inner.get("arguments")) or arguments
        call = RecordedCall(str(one.get("name")), arguments, None, RecordedAnswer(made, error))
        return Span("tool", begin, end, call=call)
    if one["type"] == "GENERATION":
        return Span("model", begin, end, inputs=_messages(given, "user"), outputs=_messages(made, "agent"))
    root = one["type"] == "TRACE"
    return Span("other", begin, end, root=root, asked=_text(given, "user"), told=_text(made, "agent"))


def _messages(value: Json, speaker: Speaker) -> tuple[RecordedMessage, ...]:
    """The messages of a generation: a list, an object with one, one message, or a text."""
    fields = fields_of(value)
    entries = items_of(fields.get("messages")) or items_of(value) or ([value] if is_message(value) else [])
    if entries and all(map(is_message, entries)):
        return tuple(read_messages(entries))
    text = value if isinstance(value, str) else fields.get("content") or fields.get("completion")
    return (RecordedMessage(speaker, str(text)),) if text else ()


def _text(value: Json, speaker: Speaker) -> str:
    messages = [message for message in _messages(value, speaker) if message.speaker == speaker]
    return messages[-1].text if messages else ""
