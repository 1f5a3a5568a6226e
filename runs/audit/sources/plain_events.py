"""The plain format: JSON lines of events, each with the id of its conversation.

    {"conversation": "7", "user": "Pay the bill.", "time": "2026-03-01T10:00:00Z"}
    {"conversation": "7", "tool": "PayBill", "arguments": {"amount": 12.5}, "result": {"success": true}}

The events of a conversation need not stand together. A call with an id, in ``call``, may have its answer in a later
line with this id. A line with ``note`` is no event. ``by`` says who acts: there, and if it is on a line with ``note``
from there on.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, cast

from lawtrace.environments.literals import fields_of, parse_if_json
from lawtrace.runs.audit.sources.grouping import Groups
from lawtrace.runs.audit.sources.source import Record, Source
from lawtrace.runs.audit.transcripts import (
    RecordedAnswer,
    RecordedCall,
    RecordedMessage,
    Speaker,
    Transcript,
    belongs,
    id_of,
    read_actor,
    read_arguments,
    read_time,
)
from lawtrace.schemas.events import SPEAKERS, Actor, Json


class PlainEvents(Source):
    title: ClassVar = "JSON lines of events"

    def __init__(self) -> None:
        self._groups = Groups()

    @staticmethod
    def recognizes(value: Json) -> bool:
        fields = fields_of(value)
        return "conversation" in fields and "messages" not in fields

    def read(self, record: Record) -> Iterable[Transcript]:
        self._groups.add(str(fields_of(record.value)["conversation"]), record.place, record.value)
        return ()

    def end(self) -> Iterable[Transcript]:
        return (_transcript(name, entries) for name, _, entries in self._groups.joined())


def _transcript(name: str, entries: list[tuple[str, Any]]) -> Transcript:
    messages: list[RecordedMessage] = []
    labels: dict[str, Any] = {}
    actor: Actor | None = None
    open_calls: dict[int, RecordedCall] = {}
    for place, entry in entries:
        if "trouble" in entry:
            return Transcript(place, name, (), str(entry["trouble"]))
        labels |= fields_of(entry.get("labels"))
        by = read_actor(fields_of(entry.get("by"))) or actor
        if "note" in entry:
            actor = by
        time = read_time(entry.get("time"))
        if time is None and entry.get("time") is not None:
            trouble = f"the time {entry['time']!r} is neither seconds nor a date of ISO 8601"
            return Transcript(place, name, (), trouble)
        message, identity = RecordedMessage(None), id_of(entry.get("call"))
        if "tool" in entry and "note" not in entry:
            arguments = read_arguments(entry.get("arguments"))
            tool, permitted = str(entry["tool"]), _permitted(fields_of(entry.get("decision")))
            call = RecordedCall(tool, arguments, identity, answer=_answer(entry), permitted=permitted)
            message = RecordedMessage(None, calls=[call], time=time)
            if call.answer is None:
                open_calls[len(messages)] = call
        elif "call" in entry or "result" in entry:
            answered = RecordedAnswer(None, call=identity, tool=entry.get("answers"))
            index = next((index for index, call in open_calls.items() if belongs(answered, call)), None)
            if index is None:
                what = "call" if identity is None else f"call with the id {identity!r}"
                return Transcript(place, name, (), f"no {what} waits for an answer")
            messages[index] = replace(messages[index], calls=[replace(open_calls.pop(index), answer=_answer(entry))])
        elif speaker := next((speaker for speaker in SPEAKERS if speaker in entry), None):
            message = RecordedMessage(cast("Speaker", speaker), str(entry[speaker]), time=time)
        elif "labels" not in entry and "note" not in entry:
            return Transcript(place, name, (), "an event needs 'tool', 'user' or 'agent'")
        messages.append(replace(message, by=by))
    return Transcript(entries[0][0], name, messages, labels=labels)


def _answer(entry: dict[str, Any]) -> RecordedAnswer | None:
    error = entry.get("error")
    if "result" not in entry and not error:
        return None
    return RecordedAnswer(parse_if_json(entry.get("result")), str(error) if error else None)


def _permitted(decision: Mapping[str, Json]) -> tuple[str, ...]:
    """The rules that a guard asked a person about who permitted the call."""
    if fields_of(decision.get("asked")).get("granted") is not True:
        return ()
    rules = decision.get("rules")
    return tuple(map(str, rules)) if isinstance(rules, list) else ()
