"""Transcripts of recorded conversations, from several formats.

Three formats are detected by content:

- OpenAI messages: a JSON list of them, or JSON lines with a conversation each, ``{"id": ..., "messages": [...]}``;
- logs of Inspect: a ``.eval`` archive or a ``.json`` log, one conversation for each sample and epoch;
- JSON lines of events: ``{"conversation": ..., "tool": ..., "arguments": {...}, "result": ...}``, and
  ``{"conversation": ..., "user": "..."}`` or ``"agent"`` for what was said; with ``"time"`` (seconds, or a date and
  time of ISO 8601) if rules are about time.

What a user or the agent says is an event too, of the pseudo-tool ``user`` or ``agent`` with the arguments ``text`` and
``words`` (lower case), so a rule can ask for ``user("yes")`` before a write.
"""

import json
import math
import re
import zipfile
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from lawtrace.environments.errors import InputError, describe_read_error
from lawtrace.environments.events import SPEAKERS, Json
from lawtrace.solver.ltlf.terms import parse_date

ROLES = ("system", "developer", "user", "assistant", "tool")
"""The supported message roles."""

MAX_FILE_BYTES = 512 * 2**20
"""Maximum file size in bytes."""


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """A message of the user or the agent."""

    speaker: str
    text: str
    time: int | None = None


@dataclass(frozen=True, slots=True)
class TranscriptCall:
    """A recorded tool call.

    Attributes:
        arguments: None if they are not a JSON object.
        answered: whether its result is recorded; without one, the call may or may not have happened.
        result: the result, parsed if it is JSON.
        error: the recorded error, if any.
        time: in seconds since 1970, if it is recorded.
    """

    tool: str
    arguments: Mapping[str, Json] | None
    answered: bool
    result: Json = None
    error: str | None = None
    time: int | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript: place, id, turns in order, and the error if it cannot be read."""

    place: str
    id: str
    turns: tuple[TranscriptMessage | TranscriptCall, ...]
    trouble: str | None = None


def read_transcripts(path: Path) -> list[Transcript]:
    """Read the transcripts of a file in order. A repeated id is an error, since one may be a copy.

    Raises InputError only if nothing in the file can be read.
    """
    first: dict[str, str] = {}
    conversations: list[Transcript] = []
    for one in _read(path):
        place = first.setdefault(one.id, one.place)
        if place != one.place and one.trouble is None:
            one = replace(one, turns=(), trouble=f"its id is there before, at {place}")
        conversations.append(one)
    return conversations


def _read(path: Path) -> list[Transcript]:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputError(f"{path}: larger than {MAX_FILE_BYTES // 2**20} MB; split it and audit the parts")
        if zipfile.is_zipfile(path):
            return list(_inspect_archive(path))
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: cannot be read: {describe_read_error(error)}") from error
    if not text.strip():
        raise InputError(f"{path}: is empty")
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return list(_lines(path, text))
    samples = _items(_fields(whole).get("samples"))
    if samples is not None:
        return list(_inspect_samples(str(path), samples))
    entries = _items(whole)
    if entries is None:
        return list(_lines(path, text))
    if not entries:
        raise InputError(f"{path}: holds no conversation")
    if _are_messages(entries):
        return [_from_messages(str(path), path.stem, entries)]
    return [_from_entry(f"{path}, entry {number}", entry) for number, entry in enumerate(entries, 1)]


def _fields(value: object) -> dict[str, Any]:
    """The fields of a JSON object; empty for any other value."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _items(value: object) -> list[Any] | None:
    return cast("list[Any]", value) if isinstance(value, list) else None


def _are_messages(entries: list[Any]) -> bool:
    return bool(entries) and all("role" in _fields(entry) for entry in entries)


def _lines(path: Path, text: str) -> Iterator[Transcript]:
    """Read JSON lines of conversations, or of events grouped by conversation id."""
    events: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield Transcript(place, f"line {number}", (), f"not JSON: {error}")
            continue
        fields = _fields(entry)
        if "conversation" in fields and "messages" not in fields:
            events.setdefault(str(fields["conversation"]), []).append((place, fields))
        else:
            yield _from_entry(place, entry)
    for name, entries in events.items():
        yield _from_events(name, entries)


def _from_entry(place: str, entry: object) -> Transcript:
    messages = _items(_fields(entry).get("messages"))
    if messages is not None:
        return _from_messages(place, str(_fields(entry).get("id", place)), messages)
    alone = _items(entry)
    if alone is not None and _are_messages(alone):
        return _from_messages(place, place, alone)
    return Transcript(place, place, (), "neither a conversation with messages nor an event with its conversation")


def _from_messages(place: str, name: str, messages: list[Any]) -> Transcript:
    """Read messages in OpenAI's form, or Inspect's, which places name, arguments and error of a call differently."""
    try:
        if foreign := next((what for message in messages if (what := _unsupported_form(message))), None):
            return Transcript(place, name, (), f"{foreign} is not read; calls must stand in tool_calls")
        answers = _answers(messages)
        turns = [turn for place, message in enumerate(messages) for turn in _turns(place, message, answers)]
    except (KeyError, TypeError, AttributeError) as error:
        return Transcript(place, name, (), f"a message is not as expected: {error!r}")
    return Transcript(place, name, tuple(turns))


def _unsupported_form(message: Mapping[str, Any]) -> str | None:
    """An unsupported form of a call or result. Ignoring it would make the conversation look compliant."""
    if message["role"] not in ROLES:
        return f"a message of role {message['role']!r}"
    if message.get("function_call"):
        return "a function_call"
    kinds = (str(_fields(part).get("type", "text")) for part in _items(message.get("content")) or ())
    return next((f"content of type {kind!r}" for kind in kinds if re.search("tool|call|function", kind)), None)


ToolAnswers = Mapping[tuple[int, int], Mapping[str, Any]]
"""Tool results by message index and call index."""


def _answers(messages: Sequence[Mapping[str, Any]]) -> ToolAnswers:
    """Match each result to the first unanswered call with its id: some agents reuse ids."""
    waiting: dict[object, deque[tuple[int, int]]] = defaultdict(deque)
    found: dict[tuple[int, int], Mapping[str, Any]] = {}
    for place, message in enumerate(messages):
        if message["role"] == "assistant":
            for number, call in enumerate(message.get("tool_calls") or ()):
                waiting[call.get("id")].append((place, number))
        elif message["role"] == "tool" and waiting[message.get("tool_call_id")]:
            found[waiting[message.get("tool_call_id")].popleft()] = message
    return found


def _turns(
    place: int, message: Mapping[str, Any], answers: ToolAnswers
) -> Iterable[TranscriptMessage | TranscriptCall]:
    role, said = message["role"], _text(message.get("content"))
    if role == "user":
        yield TranscriptMessage("user", said)
    elif role == "assistant":
        if said.strip():
            yield TranscriptMessage("agent", said)
        for number, call in enumerate(message.get("tool_calls") or ()):
            yield _call(call, answers.get((place, number)))


def _call(call: Mapping[str, Any], answer: Mapping[str, Any] | None) -> TranscriptCall:
    nested = _fields(call["function"])  # OpenAI's form; Inspect has the name here and the arguments beside it
    name = nested["name"] if nested else call["function"]
    arguments = _json_object(nested.get("arguments") if nested else call["arguments"])
    if answer is None:
        return TranscriptCall(str(name), arguments, answered=False)
    error = answer.get("error")
    if error:
        error = _fields(error).get("message") or error
    text = _text(answer.get("content"))
    return TranscriptCall(str(name), arguments, True, _parsed(text), str(error) if error else None)


def _from_events(name: str, entries: list[tuple[str, dict[str, Any]]]) -> Transcript:
    turns: list[TranscriptMessage | TranscriptCall] = []
    for place, entry in entries:
        time = _time(entry.get("time"))
        if time is None and entry.get("time") is not None:
            return Transcript(place, name, (), f"the time {entry['time']!r} is neither seconds nor a date of ISO 8601")
        if "tool" in entry:
            error = entry.get("error")
            turns.append(
                TranscriptCall(
                    str(entry["tool"]),
                    _json_object(entry.get("arguments")),
                    "result" in entry or bool(error),
                    _parsed(result) if isinstance(result := entry.get("result"), str) else result,
                    str(error) if error else None,
                    time,
                )
            )
        elif speaker := next((speaker for speaker in SPEAKERS if speaker in entry), None):
            turns.append(TranscriptMessage(speaker, str(entry[speaker]), time))
        else:
            return Transcript(place, name, (), "an event needs 'tool', 'user' or 'agent'")
    return Transcript(entries[0][0], name, tuple(turns))


def _time(value: object) -> int | None:
    """Seconds since 1970, from a number of them or a text of ISO 8601."""
    moment = parse_date(value) if isinstance(value, str) else value
    if isinstance(moment, bool) or not isinstance(moment, int | float) or not math.isfinite(moment):
        return None
    return int(moment)


def _inspect_samples(place: str, samples: Iterable[Any]) -> Iterator[Transcript]:
    for number, sample in enumerate(samples, 1):
        where = f"{place}, sample {number}"
        try:
            name = f"{sample['id']}, epoch {sample.get('epoch', 1)}"
            yield _from_messages(where, name, sample["messages"])
        except (KeyError, TypeError, AttributeError) as error:
            yield Transcript(where, f"sample {number}", (), f"not a sample of an Inspect log: {error!r}")


def _inspect_archive(path: Path) -> Iterator[Transcript]:
    with zipfile.ZipFile(path) as archive:
        members = [member for member in archive.infolist() if member.filename.startswith("samples/")]
        if not members:
            raise InputError(f"{path}: an archive without samples/; expected a log of Inspect")
        for member in sorted(members, key=lambda member: member.filename):
            where = f"{path}, {member.filename}"
            if member.file_size > MAX_FILE_BYTES:
                yield Transcript(where, member.filename, (), f"larger than {MAX_FILE_BYTES // 2**20} MB")
                continue
            try:
                sample = json.loads(archive.read(member))
            except (ValueError, RecursionError, zipfile.BadZipFile, NotImplementedError) as error:
                yield Transcript(where, member.filename, (), f"not JSON: {error}")
                continue
            yield from _inspect_samples(where, [sample])


def _text(content: object) -> str:
    """The text of a message content: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    parts = (_fields(part).get("text", part) for part in _items(content) or ())
    return "\n".join(part for part in parts if isinstance(part, str))


def _parsed(text: str) -> Json:
    try:
        return cast("Json", json.loads(text))
    except (ValueError, RecursionError):
        return text


def _json_object(raw: object) -> dict[str, Json] | None:
    """The arguments of a call. Some endpoints write an empty object as null or blank."""
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return {}
    value = _parsed(raw) if isinstance(raw, str) else raw
    return cast("dict[str, Json]", value) if isinstance(value, dict) else None
