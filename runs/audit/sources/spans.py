"""Spans of a conversation to its transcript.

Traces record calls of models and of tools. Each call of a model repeats the messages before it, so that what is new in
it has to be found; a tool call may be recorded twice, in the answer of the model and as a span of the tool.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Literal

from lawtrace.runs.audit.transcripts import RecordedCall, RecordedMessage, Speaker, Transcript, make_transcript
from lawtrace.schemas.events import Json


@dataclass(frozen=True, slots=True)
class Span:
    """One operation of a trace.

    Attributes:
        begin, end: in nanoseconds since 1970.
        call: of a tool span, the call with its answer.
        inputs, outputs: of a model span, the messages that it was sent and those that it answered.
        asked, told: of another span, the text of its input and output.
    """

    kind: Literal["tool", "model", "other"]
    begin: int
    end: int
    root: bool = False
    call: RecordedCall | None = None
    inputs: tuple[RecordedMessage, ...] = ()
    outputs: tuple[RecordedMessage, ...] = ()
    asked: str = ""
    told: str = ""


@dataclass(slots=True)
class _Said:
    """A message that is new at this time."""

    time: int
    message: RecordedMessage


def transcript_of_spans(
    place: str, name: str, spans: Iterable[Span], labels: Mapping[str, Json] | None = None
) -> Transcript:
    """The transcript of a conversation, whose spans may come in any order."""
    ordered = sorted(spans, key=lambda span: (span.begin, span.end))
    said = _new_messages([span for span in ordered if span.kind == "model"])
    if not said:
        said = _talk_of_roots(ordered)
    tools = [span for span in ordered if span.kind == "tool" and span.call is not None]
    said += _calls_outside_messages(tools, said)
    said.sort(key=lambda one: one.time)
    messages = [replace(one.message, time=one.time // 10**9) for one in said]
    transcript = make_transcript(place, name, messages, labels)
    # With spans of tools, the answers in the messages repeat theirs.
    return replace(transcript, notes=()) if tools else transcript


def _new_messages(models: Sequence[Span]) -> list[_Said]:
    """What each call of a model adds to the messages before it. Agents that talk apart have threads of their own."""
    threads: list[list[str]] = []
    said: list[_Said] = []
    for span in models:
        given = [message for message in span.inputs if message.speaker or message.answers]
        prints = [_fingerprint(message) for message in given]
        thread = max(threads, key=lambda known: _common(known, prints), default=None)
        if thread is None or (prints and not _common(thread, prints)):
            thread = list[str]()
            threads.append(thread)
        known = _common(thread, prints)
        said += [_Said(span.begin, message) for message in given[known:]]
        answered = [message for message in span.outputs if message.speaker]
        said += [_Said(span.end, message) for message in answered]
        thread[known:] = [*prints[known:], *map(_fingerprint, answered)]
    return said


def _common(known: Sequence[str], given: Sequence[str]) -> int:
    """How many messages both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(known, given, strict=False)))


def _fingerprint(message: RecordedMessage) -> str:
    calls = [[call.tool, call.arguments] for call in message.calls]
    answers = [str(answer.content).strip() for answer in message.answers]
    return json.dumps([message.speaker, message.text.strip(), calls, answers], sort_keys=True, default=str)


def _calls_outside_messages(tools: Sequence[Span], said: Sequence[_Said]) -> list[_Said]:
    """The calls of tool spans that no message makes. Answers of the others are added to the messages."""
    outside: list[_Said] = []
    for span in tools:
        call = span.call
        assert call is not None
        found = next((place for place in _open_calls(said, span.end) if _is_same(call, *place)), None)
        if found is None:
            outside.append(_Said(span.begin, RecordedMessage("agent", calls=[call])))
            continue
        one, position = found
        calls = [*one.message.calls]
        calls[position] = replace(calls[position], answer=call.answer)
        one.message = replace(one.message, calls=calls)
    return outside


def _open_calls(said: Sequence[_Said], before: int) -> Iterable[tuple[_Said, int]]:
    """The calls in messages up to a time that have no answer yet, with their positions."""
    for one in said:
        if one.time <= before:
            for position, call in enumerate(one.message.calls):
                if call.answer is None:
                    yield one, position


def _is_same(call: RecordedCall, one: _Said, position: int) -> bool:
    other = one.message.calls[position]
    if call.id is not None and other.id is not None:
        return call.id == other.id
    return call.tool == other.tool and (call.arguments == other.arguments or not call.arguments)


def _talk_of_roots(spans: Sequence[Span]) -> list[_Said]:
    """What a user asked and was told, where no span of a model says it."""
    said: list[_Said] = []
    for span in spans:
        if span.root and span.kind == "other":
            talk: list[tuple[int, Speaker, str]] = [(span.begin, "user", span.asked), (span.end, "agent", span.told)]
            said += [_Said(time, RecordedMessage(speaker, text)) for time, speaker, text in talk if text]
    return said
