"""A company's own JSON lines, read by a mapping: a TOML file that says where the parts of events stand.

    conversation = "session.id"
    time = "ts"

    [[events]]
    when = { type = "tool_call" }
    tool = "payload.name"
    arguments = "payload.input"

Each line gives the lines of `plain_events` that the mapping finds in it, and these are read. docs/sources.md describes
the format.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Self

from pydantic import BeforeValidator, Field, model_validator

from lawtrace.environments.literals import fields_of, items_of, parse_if_json, parse_result
from lawtrace.environments.toml_file import read_toml_model
from lawtrace.runs.audit.sources.chat_messages import text_of
from lawtrace.runs.audit.sources.json_files import unreadable
from lawtrace.runs.audit.sources.plain_events import PlainEvents
from lawtrace.runs.audit.sources.source import Record
from lawtrace.runs.audit.transcripts import Transcript, read_time, unwrap_result
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.schemas.models import StrictModel
from lawtrace.schemas.violations import Scalar


def _several(value: object) -> object:
    return [value] if isinstance(value, Scalar) else value


Paths = Annotated[tuple[str, ...], BeforeValidator(_several)]
"""Where a value stands: names with dots between them. Of several paths the first that leads to a value counts."""
Parts = Mapping[str, Paths] | Paths
"""Where an object stands, or where each of its fields does."""
Values = Annotated[tuple[Scalar, ...], BeforeValidator(_several)]
"""Of which one has to stand at a path."""

_UNITS: Final[Mapping[str, float]] = {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}
_LATEST: Final = 1e11
"""The year 5138, in seconds: a larger number is in another unit."""
_MISSING: Final = object()


class MappedEvent(StrictModel):
    """One kind of event: a call, a message, or an answer that does not stand with its call.

    Attributes:
        when: which records are of this kind; without it, those that have the tool, the message or the answer.
        each: a list of which each item is such an event.
        tool: the name of the tool of a call.
        user, agent: the text of a message.
        call: the id that joins a call and its answer.
        answers: the name of the tool that was called, in an answer without such an id.
        succeeded: what tells that a call succeeded; any other has failed.
    """

    when: Mapping[str, Values] = {}
    each: str | None = None
    tool: Paths | None = None
    user: Paths | None = None
    agent: Paths | None = None
    arguments: Parts | None = None
    call: Paths | None = None
    answers: Paths | None = None
    result: Parts | None = None
    error: Paths | None = None
    succeeded: Mapping[str, Values] = {}

    @property
    def kinds(self) -> dict[str, Paths]:
        """What it is, and where that stands; empty for an answer."""
        given = {"tool": self.tool, "user": self.user, "agent": self.agent}
        return {kind: paths for kind, paths in given.items() if paths is not None}

    @model_validator(mode="after")
    def _check(self) -> Self:
        kinds = self.kinds
        if len(kinds) > 1:
            raise ValueError(f"an event has one of `tool`, `user` and `agent`, not {' and '.join(kinds)}")
        if not kinds and self.result is None and self.error is None and not self.succeeded:
            raise ValueError("an event needs `tool`, `user`, `agent`, or, for an answer, `result` or `error`")
        return self


class LogMapping(StrictModel):
    """The mapping of a log.

    Attributes:
        conversation: the id of the conversation; without it, each file is one.
        time_format: of numbers, their unit; a text with ``%`` is a pattern of ``strptime``.
        principal, role: on whose behalf calls are made, and in which role.
        each: a list in each line of which each item is a record of its own.
        labels: by name.
        tools: the names by which rules know tools, by those in the log.
    """

    conversation: Paths | None = None
    time: Paths | None = None
    time_format: Annotated[str, Field(pattern=r"^(s|ms|us|ns|.*%.*)$")] = "s"
    principal: Paths | None = None
    role: Paths | None = None
    each: str | None = None
    events: tuple[MappedEvent, ...] = Field(min_length=1)
    labels: Mapping[str, Paths] = {}
    tools: Mapping[str, str] = {}


def read_mapping(path: Path) -> LogMapping:
    """Read a mapping. Raises InputError naming the line and the key that is wrong."""
    return read_toml_model(path, LogMapping)


class MappedLines(PlainEvents):
    """The records of one file, by a mapping."""

    title: ClassVar = "lines by a mapping"

    def __init__(self, mapping: LogMapping, file: Path) -> None:
        super().__init__()
        self._mapping = mapping
        self._file = file
        self._found = False
        self._others = 0
        self._first_other = ""

    def read(self, record: Record) -> Iterable[Transcript]:
        """Collect the events of a record; a transcript only for an event that belongs to no conversation."""
        for place, scopes in self._records(record):
            try:
                entries = [*self._entries(scopes)]
            except ValueError as error:
                entries = [{"trouble": str(error)}]
            if not entries:
                self._first_other = self._first_other or f"{place}: {', '.join([*fields_of(scopes[0])][:6])}"
                self._others += 1
                continue
            self._found = True
            name, paths = self._file.stem, self._mapping.conversation
            if paths is not None:
                name = _text(_find(scopes, paths))
                if name is None:
                    yield unreadable(place, record.name, f"no conversation at {_shown(paths)}")
                    continue
            for entry in entries:
                self._groups.add(name, place, {"conversation": name, **entry})

    def end(self) -> Iterable[Transcript]:
        """The transcripts. Raises InputError if no record holds an event."""
        if not self._found:
            raise InputError(f"{self._first_other or self._file}: no record is an event by the mapping")
        note = f"records that are no event by the mapping: {self._others}, the first at {self._first_other}"
        for number, one in enumerate(super().end()):
            yield one if number or not self._others else replace(one, notes=(*one.notes, note))

    def _records(self, record: Record) -> Iterator[tuple[str, list[Json]]]:
        """The places and values of what counts as one record, each with what it stands in."""
        lines = items_of(record.value) if isinstance(record.value, list) else [record.value]
        for number, line in enumerate(lines, 1):
            place = record.place if line is record.value else f"{record.place}, entry {number}"
            if self._mapping.each is None:
                yield place, [line]
                continue
            for position, item in enumerate(_items(line, self._mapping.each), 1):
                yield f"{place}, {self._mapping.each} {position}", [item, line]

    def _entries(self, scopes: list[Json]) -> Iterator[dict[str, Any]]:
        """The plain events of a record. Raises ValueError naming the field that cannot be read."""
        mapping = self._mapping
        found: list[dict[str, Any]] = []
        for event in mapping.events:
            for item in [scopes[0]] if event.each is None else _items(scopes[0], event.each):
                if _holds(event.when, [item, *scopes[: event.each is not None]]):
                    found += self._event(event, item)
        common = self._common(scopes) if found else {}
        yield from ({**common, **entry} for entry in found)
        labels = {name: one for name, paths in mapping.labels.items() if (one := _find(scopes, paths)) is not _MISSING}
        if labels:
            yield {"labels": labels}

    def _common(self, scopes: list[Json]) -> dict[str, Any]:
        """What the events of a record have in common: when, and who acts."""
        mapping, common = self._mapping, dict[str, Any]()
        if mapping.time is not None and (given := _find(scopes, mapping.time)) not in (_MISSING, None):
            common["time"] = _seconds(given, mapping.time_format, _shown(mapping.time))
        actor = {
            "principal": _text(_find(scopes, mapping.principal or ())),
            "role": _text(_find(scopes, mapping.role or ())),
        }
        return common | ({"by": actor} if any(actor.values()) else {})

    def _event(self, event: MappedEvent, item: Json) -> Iterator[dict[str, Any]]:
        answer = _answer(event, item)
        if not event.kinds:
            if answer or event.when:
                name = _text(_find([item], event.answers or ()))
                joined = {} if event.call is None else {"call": _text(_find([item], event.call))}
                yield {"result": None, "answers": self._mapping.tools.get(name or "", name), **joined, **answer}
            return
        ((kind, paths),) = event.kinds.items()
        given = _find([item], paths)
        if given in (_MISSING, None):
            if event.when:
                raise ValueError(f"no {kind} at {_shown(paths)}")
            return
        if kind != "tool":
            yield {kind: given if isinstance(given, str) else text_of(given)}
            return
        if not isinstance(given, str):
            raise ValueError(f"the tool at {_shown(paths)} is no text: {str(given)[:80]}")
        arguments = _find_parts(item, event.arguments)
        identity = {} if event.call is None else {"call": _text(_find([item], event.call))}
        yield {
            "tool": self._mapping.tools.get(given, given),
            "arguments": {} if arguments is _MISSING else parse_result(arguments),
            **identity,
            **answer,
        }


def _answer(event: MappedEvent, item: Json) -> dict[str, Any]:
    """The fields of an answer, as far as the record has them."""
    found: dict[str, Any] = {}
    if (result := _find_parts(item, event.result)) is not _MISSING:
        found["result"] = unwrap_result(parse_result(result))
    error = _find([item], event.error or ())
    if error not in (_MISSING, None, False, ""):
        found["error"] = str(fields_of(error).get("message") or error)
    elif event.succeeded and any(_find([item], (path,)) is not _MISSING for path in event.succeeded):
        if not _holds(event.succeeded, [item]):
            found["error"] = str(found.get("result") or "the call failed")
        found.setdefault("result", None)
    return found


def _find_parts(item: Json, parts: Parts | None) -> Any:  # noqa: ANN401 (any JSON value, or none)
    if parts is None or isinstance(parts, tuple):
        return _find([item], parts or ())
    found = {name: _find([item], paths) for name, paths in parts.items()}
    known = {name: value for name, value in found.items() if value is not _MISSING}
    return known or _MISSING


def _find(scopes: Iterable[Json], paths: Iterable[str]) -> Any:  # noqa: ANN401 (any JSON value, or none)
    """The first value at one of the paths, in the innermost scope that has one. A null gives way to a later value."""
    found: Any = _MISSING
    for scope in scopes:
        for path in paths:
            value = _step(scope, path)
            if value is not _MISSING and value is not None:
                return value
            found = None if value is None else found
    return found


def _step(value: Json, path: str) -> Any:  # noqa: ANN401 (any JSON value, or none)
    """What a path leads to. A name may have dots itself, and a text may hold JSON."""
    value = parse_if_json(value)
    if path in ("", "."):
        return value
    if isinstance(value, list):
        first, _, rest = path.partition(".")
        return _step(value[int(first)], rest) if first.isdigit() and int(first) < len(value) else _MISSING
    fields = fields_of(value)
    if path in fields:
        return fields[path]
    end = path.find(".")
    while end > 0:
        if path[:end] in fields and (found := _step(fields[path[:end]], path[end + 1 :])) is not _MISSING:
            return found
        end = path.find(".", end + 1)
    flat = {key.removeprefix(f"{path}."): inner for key, inner in fields.items() if key.startswith(f"{path}.")}
    return flat or _MISSING


def _items(value: Json, path: str) -> list[Json]:
    found = _step(value, path)
    return items_of(parse_if_json(found)) if found is not _MISSING else []


def _holds(conditions: Mapping[str, Values], scopes: list[Json]) -> bool:
    """Whether one of the values listed stands at each path; a text counts as the number that it spells."""
    for path, values in conditions.items():
        found = _find(scopes, (path,))
        if found is _MISSING or _spelled(found) not in map(_spelled, values):
            return False
    return True


def _spelled(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(value: object) -> str | None:
    return None if value in (_MISSING, None) else str(value)


def _shown(paths: Iterable[str]) -> str:
    return " or ".join(map(repr, paths))


def _seconds(value: Json, form: str, place: str) -> int:
    """Seconds since 1970. Raises ValueError for what is no time."""
    number = float(value) if isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value.strip()) else value
    try:
        if "%" in form:
            moment = datetime.strptime(str(value), form)
            return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
        if isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number):
            seconds = number / _UNITS[form]
            if abs(seconds) < _LATEST:
                return int(seconds)
            raise ValueError(f'the time at {place} is too large for {form!r}; is time_format "ms", "us" or "ns"?')
    except OverflowError:
        pass
    except ValueError as error:
        raise ValueError(str(error) if "%" not in form else f"the time at {place} is not {form}: {value!r}") from None
    found = read_time(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"the time at {place} is neither a number nor a date of ISO 8601: {str(value)[:80]!r}")
    return found
