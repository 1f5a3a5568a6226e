"""Traces of OpenTelemetry with GenAI, OpenInference or OpenLLMetry attributes.

Files of three forms are read: OTLP JSON (an object with ``resourceSpans``, or one on each line, as the collector writes
them), spans as the SDK prints them, and spans as Phoenix exports them. A conversation is what shares a conversation or
session id, else a trace.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from lawtrace.environments.literals import fields_of, items_of
from lawtrace.runs.audit.sources.grouping import Groups
from lawtrace.runs.audit.sources.source import Record, Source
from lawtrace.runs.audit.sources.span_attributes import CONVERSATION_KEYS, flatten, is_known, read_span
from lawtrace.runs.audit.sources.spans import transcript_of_spans
from lawtrace.runs.audit.transcripts import Transcript, read_actor, read_time
from lawtrace.schemas.events import Json


class OpenTelemetry(Source):
    title: ClassVar = "OpenTelemetry traces (OTLP JSON, GenAI or OpenInference attributes)"
    lists: ClassVar = ("resourceSpans", "spans")

    def __init__(self) -> None:
        self._spans = Groups()
        self._conversations: dict[str, str] = {}

    @staticmethod
    def recognizes(value: Json) -> bool:
        return any(True for _ in _otlp_spans(value)) or _sdk_span(fields_of(value)) is not None

    def read(self, record: Record) -> Iterable[Transcript]:
        found = [*_otlp_spans(record.value)]
        alone = _sdk_span(fields_of(record.value))
        for span in [*found, *([alone] if alone is not None else [])]:
            trace = str(span["trace"])
            if name := next((span["attributes"][key] for key in CONVERSATION_KEYS if key in span["attributes"]), ""):
                self._conversations.setdefault(trace, str(name))
            self._spans.add(trace, record.place, span)
        return ()

    def end(self) -> Iterable[Transcript]:
        for name, _, entries in self._spans.joined(lambda trace: self._conversations.get(trace, f"trace {trace}")):
            spans = [read_span(span) for _, span in entries if is_known(span["attributes"])]
            if spans:
                by = next(filter(None, (read_actor(span["attributes"]) for _, span in entries)), None)
                yield replace(transcript_of_spans(entries[0][0], name, spans), by=by)


def _otlp_spans(value: Json) -> Iterator[dict[str, Any]]:
    """The spans of an object with resourceSpans, of an element of it, or of a batch of spans."""
    fields = fields_of(value)
    for resource in items_of(fields.get("resourceSpans")) or [fields]:
        scopes = fields_of(resource).get("scopeSpans") or fields_of(resource).get("instrumentationLibrarySpans")
        for scope in items_of(scopes):
            for span in items_of(fields_of(scope).get("spans")):
                yield _otlp_span(fields_of(span))


def _otlp_span(span: Mapping[str, Any]) -> dict[str, Any]:
    begin = int(span.get("startTimeUnixNano", 0))
    status = fields_of(span.get("status"))
    failed = status.get("code") in {2, "STATUS_CODE_ERROR"}
    return {
        "trace": span.get("traceId"),
        "name": str(span.get("name", "")),
        "begin": begin,
        "end": int(span.get("endTimeUnixNano") or begin),
        "attributes": flatten(_values(span.get("attributes"))),
        "events": [[str(event.get("name")), flatten(_values(event.get("attributes")))] for event in _events(span)],
        "root": not span.get("parentSpanId"),
        "error": str(status.get("message") or "the span failed") if failed else None,
    }


def _events(span: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    return map(fields_of, items_of(span.get("events")))


def _values(pairs: object) -> dict[str, Any]:
    """The attributes of OTLP: a list of keys with typed values."""
    return {str(pair["key"]): _value(fields_of(pair.get("value"))) for pair in map(fields_of, items_of(pairs))}


def _value(typed: Mapping[str, Any]) -> Json:
    for kind, value in typed.items():
        match kind:
            case "intValue":
                return int(value)
            case "arrayValue":
                return [_value(fields_of(item)) for item in items_of(fields_of(value).get("values"))]
            case "kvlistValue":
                return _values(fields_of(value).get("values"))
            case _:
                return value
    return None


def _sdk_span(span: Mapping[str, Any]) -> dict[str, Any] | None:
    """A span as the SDK prints it or Phoenix exports it; None for anything else."""
    context = fields_of(span.get("context"))
    trace = context.get("trace_id") or span.get("context.trace_id") or span.get("trace_id")
    given = fields_of(span.get("attributes"))
    beside = {key.removeprefix("attributes."): value for key, value in span.items() if key.startswith("attributes.")}
    if trace is None or not (given or beside) or "start_time" not in span:
        return None
    status = fields_of(span.get("status"))
    code = str(span.get("status_code") or status.get("status_code") or "")
    reason = span.get("status_message") or status.get("description") or "the span failed"
    begin = nanoseconds(span["start_time"])
    return {
        "trace": trace,
        "name": str(span.get("name", "")),
        "begin": begin,
        "end": nanoseconds(span.get("end_time")) or begin,
        "attributes": flatten({**given, **{key: value for key, value in beside.items() if value is not None}}),
        "events": [[str(event.get("name")), flatten(fields_of(event.get("attributes")))] for event in _events(span)],
        "root": not span.get("parent_id"),
        "error": str(reason) if code.upper().endswith("ERROR") else None,
    }


def nanoseconds(value: object) -> int:
    """A time as text of ISO 8601, or a number of seconds, milliseconds or nanoseconds since 1970."""
    if isinstance(value, str):
        fraction = re.search(r"\.(\d{1,9})", value)
        return (read_time(value) or 0) * 10**9 + int(fraction[1].ljust(9, "0") if fraction else 0)
    if isinstance(value, int | float):
        for limit, factor in ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3)):
            if value < limit:
                return int(value * factor)
        return int(value)
    return 0
