"""Traces as text: the notation of rule examples and of docs/rules-language.md, which is read, and sentences for people.

The notation has a call a line.

    2026-03-06 09:00 FindDevice(kind="phone") -> device.device_id="DV-1", device.status="active"
    2026-03-06 09:05 attempted Pay(amount=20, payee="P-1")
    end 2026-03-07 09:00

Arguments and results are `name=value`, with a JSON value; a dot leads into an object. Among the arguments
`by.principal`, `by.role` and `by.session` say who acts. After the arrow there may be one
JSON value instead: the whole result. Names with other characters than letters, digits and `_` stand in backquotes.
Times are UTC; they may be left out where no rule asks for them. `attempted` calls did not complete. `end` says when the
session ends; without it, it ends with its last call, and an open duty is not kept.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import SPEAKERS, Actor, Event, Json, name_actor

_TIME: Final = r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?"
_NAME: Final = r"(?:\w+|`[^`]+`)"
_CALL: Final = re.compile(rf"(?:(?P<time>{_TIME}) )?(?P<attempted>attempted )?(?P<tool>{_NAME})\(")
_END: Final = re.compile(rf"end (?P<time>{_TIME})")
_FIELD: Final = re.compile(rf"\s*(?P<path>{_NAME}(?:\.{_NAME})*)\s*=\s*")
_DECODER: Final = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class WrittenTrace:
    """Calls, and the time at which their session ends if the notation says so, in seconds since 1970."""

    events: tuple[Event, ...]
    end: int | None = None


def read_trace(text: str) -> WrittenTrace:
    """The calls of the lines. Raises InputError naming line and remedy."""
    events: list[Event] = []
    end: int | None = None
    for number, line in enumerate(text.strip().splitlines(), 1):
        written = line.strip()
        try:
            if end is not None:
                raise InputError("a call after the end")
            if closing := _END.fullmatch(written):
                end = _seconds(closing["time"])
            else:
                events.append(_read_call(written))
        except InputError as error:
            raise InputError(f"line {number}, `{written}`: {error}") from None
    return WrittenTrace(tuple(events), end)


def _read_call(line: str) -> Event:
    call = _CALL.match(line)
    if call is None:
        raise InputError("not a call; write `2026-03-06 09:00 Tool(name=value) -> name=value`, or `Tool(name=value)`")
    arguments, place = _read_fields(line, call.end(), ")")
    by = _take_actor(arguments)
    rest = line[place + 1 :].strip()
    if rest and not rest.startswith("->"):
        raise InputError(f"after the arguments, `->` is expected and not `{rest}`")
    return Event(
        call["tool"].strip("`"),
        arguments,
        outcome="raised" if call["attempted"] else "completed",
        result=_read_result(rest.removeprefix("->").strip()) if rest else None,
        time=_seconds(call["time"]) if call["time"] else None,
        by=by,
    )


def _take_actor(arguments: dict[str, Json]) -> Actor | None:
    """Who acts, out of the arguments; None if they do not say."""
    inner = arguments.get("by")
    if not isinstance(inner, dict):
        return None
    found = {name: inner.pop(name) for name in ("principal", "role", "session") if name in inner}
    if wrong := [name for name, value in found.items() if not isinstance(value, str)]:
        raise InputError(f"`by.{wrong[0]}` needs a text")
    if not inner:
        del arguments["by"]
    return Actor(**{name: str(value) for name, value in found.items()}) if found else None


def _read_result(text: str) -> Json:
    if _FIELD.match(text):
        return _read_fields(text, 0, "")[0]
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise InputError(f"`{text}` is neither a JSON value nor `name=value`") from None


def _read_fields(line: str, place: int, closing: str) -> tuple[dict[str, Json], int]:
    """The `name=value` from a place on, and the place of the closing character, or the end of the line."""
    fields: dict[str, Json] = {}
    while not line.startswith(closing, place) if closing else place < len(line):
        found = _FIELD.match(line, place)
        if found is None:
            raise InputError(f"`name=value` is expected at `{line[place:]}`")
        try:
            value, place = _DECODER.raw_decode(line, found.end())
        except json.JSONDecodeError:
            raise InputError(f'`{found["path"]}` has no JSON value, such as "text", 12.5, true or [1, 2]') from None
        _put(fields, [name.strip("`") for name in re.findall(_NAME, found["path"])], value)
        separator = re.compile(r"\s*(,\s*|(?=\)|$))").match(line, place)
        if separator is None:
            raise InputError(f"a comma is expected at `{line[place:]}`")
        place = separator.end()
        if place == len(line) and closing:
            raise InputError("the closing bracket is missing")
    return fields, place


def _put(fields: dict[str, Json], path: list[str], value: Json) -> None:
    *outer, last = path
    for name in outer:
        inner = fields.setdefault(name, {})
        if not isinstance(inner, dict):
            raise InputError(f"`{'.'.join(path)}`: `{name}` has a value already")
        fields = inner
    if last in fields:
        raise InputError(f"`{'.'.join(path)}` is given twice")
    fields[last] = value


def _seconds(text: str) -> int:
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
    except ValueError as error:
        raise InputError(f"`{text}` is no time: {error}") from None


def tell_session(events: Sequence[Event], end: int, environment: Environment | None = None) -> str:
    """A session in sentences for people, a call a line.

    Args:
        end: when the session ends, in seconds since 1970.
        environment: whose declaration says what each tool does, where it is called first; None to leave that out.
    """
    return "\n".join(_sentences(events, end, environment))


def _sentences(events: Sequence[Event], end: int, environment: Environment | None) -> Iterator[str]:
    told: set[str] = set()
    for number, event in enumerate(events, 1):
        if event.tool in SPEAKERS:
            words = event.arguments.get("text", event.arguments.get("words", "something"))
            yield f"{number}. {_time(event.time)}: the {event.tool} wrote {_show(words)}."
            continue
        tool = environment.tools.get(event.tool) if environment is not None and event.tool not in told else None
        told.add(event.tool)
        about = "" if tool is None else f" ({tool.summary.rstrip('.')})"
        given = ", ".join(f"{name} = {_show(value)}" for name, value in event.arguments.items()) or "no arguments"
        shown = "" if event.result is None else f" The result was {_show(event.result)}."
        done = shown if event.completed else " The call was refused."
        who = "the agent" if event.by is None else f"the agent of {name_actor(event.by)}"
        yield f"{number}. {_time(event.time)}: {who} called {event.tool}{about} with {given}.{done}"
    yield f"Nothing more happened until the session ended, {_time(end)}."


def _show(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _time(seconds: int | None) -> str:
    return "at an unknown time" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%a %d %B %Y %H:%M:%S}"
