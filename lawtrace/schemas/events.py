"""Events, which traces consist of, and the origins of their arguments.

An event is one tool call with its arguments, its outcome and its result. The outcomes:

- ``completed``: the tool did what it promises. Only completed calls make a plain atom of a rule true.
- ``failed``: the tool answered that it did not succeed (its documented ``success`` result is false). No change.
- ``raised``: the tool raised one of its documented exceptions. No change.
- ``rejected``: the call itself was malformed (unknown tool, missing or ill-typed argument). No change.
- ``shielded``: a guard refused the call before it reached the tool. To the rules it has not happened.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from pydantic import JsonValue, SerializerFunctionWrapHandler, model_serializer

Json = JsonValue
"""A JSON value as Python represents it. Arguments and results have this type at every boundary."""

CallOutcome = Literal["completed", "failed", "raised", "rejected", "shielded"]

JsonPath = tuple[str | int, ...]
"""Steps into a JSON value: ``("payees", 0, "payee_id")``."""


SPEAKERS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"user": ("text", "words"), "agent": ("text", "words")}
)
"""Messages are events, too: of these pseudo-tools, with these arguments. `words`: of the text, in lower case."""

CALLS: Final = "calls"
"""The argument of a message of the agent that lists the tools which it calls, where a rule asks."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: the principal on whose behalf, in which role, and in which session; None where that is not known."""

    principal: str | None = None
    role: str | None = None
    session: str | None = None


def known_parts(actor: Actor | None) -> dict[str, str]:
    """What is known of who acts: ``principal``, ``role`` and ``session``."""
    return {} if actor is None else {name: value for name, value in asdict(actor).items() if value is not None}


def name_actor(actor: Actor) -> str:
    """Who acts, for readers: ``ann (supervisor) in session 7``."""
    who = actor.principal or "unknown"
    role = f" ({actor.role})" if actor.role else ""
    return f"{who}{role}" + (f" in session {actor.session}" if actor.session else "")


@dataclass(frozen=True, slots=True)
class Event:
    """One tool call.

    Attributes:
        tool: name of the tool, as called (a rejected call may name a tool that does not exist).
        arguments: the arguments by parameter name, as JSON values.
        outcome: see the module docstring.
        result: what the tool returned (completed or failed), else None.
        error: ``Name: reason`` of the exception (raised, rejected or shielded), else None.
        time: when it happened, in seconds (since the beginning of the session, or since 1970 where dates matter); None
            where it is unknown. It is left out of files then.
        message: id of the message in the event log that made the call, where there is one. It is provenance: it takes
            no part in equality and in rules, and is left out of files where it is None.
        by: who acts; None where it is unknown. It is left out of files then.
    """

    tool: str
    arguments: Mapping[str, Json]
    outcome: CallOutcome = "completed"
    result: Json = None
    error: str | None = None
    time: int | None = None
    message: str | None = field(default=None, compare=False)
    by: Actor | None = None

    @property
    def completed(self) -> bool:
        return self.outcome == "completed"

    @model_serializer(mode="wrap")
    def _omit_missing_fields(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Json]:
        fields = serialize(self)
        for name in ("time", "message", "by"):
            if getattr(self, name) is None:
                fields.pop(name, None)
        return fields


def message_event(
    speaker: str, text: str, time: int | None, message: str | None = None, by: Actor | None = None
) -> Event:
    """A message of one of the `SPEAKERS` as an event. ``message``: its id in the event log."""
    words: list[Json] = [*re.findall(r"\w+", text.lower())]
    return Event(speaker, {"text": text, "words": words}, time=time, message=message, by=by)


def event_labels(events: Iterable[Event]) -> list[str]:
    """What readers call each event: calls are ``1``, ``2`` ..., messages ``m1``, ``m2`` ..."""
    labels: list[str] = []
    calls = 0
    for event in events:
        calls += event.tool not in SPEAKERS
        labels.append(f"m{len(labels) + 1 - calls}" if event.tool in SPEAKERS else str(calls))
    return labels


def name_events(labels: Sequence[str]) -> str:
    """Events in words, given their labels: ``call 3``, ``calls 1, 2 and 6``, ``call 4 and message m1``. The label
    ``t7`` is time point 7 of a log."""
    messages = [label for label in labels if label.startswith("m")]
    points = [label[1:] for label in labels if label.startswith("t")]
    calls = [label for label in labels if label[:1] not in {"m", "t"}]
    named = (("call", calls), ("message", messages), ("time point", points))
    return " and ".join(count_off(noun, some) for noun, some in named if some)


def count_off(noun: str, numbers: Sequence[str]) -> str:
    """Numbered things in words: ``step 3``, ``steps 1, 2 and 6``."""
    *others, last = numbers
    return f"{noun}s {', '.join(others)} and {last}" if others else f"{noun} {last}"


@dataclass(frozen=True, slots=True)
class SaidByUser:
    """The instruction states the argument."""

    kind: Literal["said"] = "said"


@dataclass(frozen=True, slots=True)
class FromResult:
    """The argument is read from an earlier result: ``path`` into the result of call number ``step`` (from 0)."""

    step: int
    path: JsonPath
    kind: Literal["from_result"] = "from_result"


@dataclass(frozen=True, slots=True)
class FromResults:
    """The argument is a list, and each of its items is read from an earlier result."""

    items: tuple[FromResult, ...]
    kind: Literal["from_results"] = "from_results"


@dataclass(frozen=True, slots=True)
class Derived:
    """The argument is computed from the earlier calls, such as the list of events to record."""

    function: str
    kind: Literal["derived"] = "derived"


Origin = SaidByUser | FromResult | FromResults | Derived
"""Where an argument of a reference trace comes from. Every argument must have an origin, or no caller could know it."""


def scalars(value: Json) -> Iterator[Json]:
    """The values in a value that are neither objects nor lists nor missing."""
    match value:
        case dict() | list():
            for part in value.values() if isinstance(value, dict) else value:
                yield from scalars(part)
        case None:
            pass
        case _:
            yield value
