"""Transcripts: recorded conversations, whatever file they come from.

What a user or the agent says is an event too, of the pseudo-tool ``user`` or ``agent`` with the arguments ``text`` and
``words`` (lower case), so a rule can ask for ``user("yes")`` before a write.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeGuard, cast

from lawtrace.environments.literals import fields_of, items_of, parse_if_json, parse_result
from lawtrace.schemas.events import Actor, Json
from lawtrace.solver.logic.terms import parse_date

_ENVELOPE = frozenset({"content", "structuredContent", "isError", "_meta"})
"""The fields of a result of MCP."""

_PRINCIPALS = ("principal", "user_id", "enduser.id", "user.id", "userid", "user")
_ROLES = ("role", "enduser.role")

Speaker = Literal["user", "agent"]


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """The answer to a call.

    Attributes:
        content: as it is recorded; in a `Transcript` the result, parsed if it is JSON.
        error: the recorded error, if any.
        call: the id of the call, and ``tool``: its tool; None where the source does not say.
    """

    content: Json
    error: str | None = None
    call: str | None = None
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A tool call.

    Attributes:
        arguments: None if they are not a JSON object.
        answer: None if none is recorded: the call may or may not have happened. Sources give it where it stands with
            the call; in a `Transcript` each call has its own.
        caller: who called. In some simulations the user has tools, too.
        permitted: the rules that it breaks, as far as a person permitted it (a guard's log says so).
    """

    tool: str
    arguments: Mapping[str, Json] | None
    id: str | None = None
    answer: RecordedAnswer | None = None
    caller: Speaker = "agent"
    permitted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedMessage:
    """One message of a source: what is said, the calls that it makes and the answers that it brings.

    Attributes:
        speaker: None for a message of neither the user nor the agent, such as a system prompt or a tool's answer; in a
            `Transcript` also for one that says nothing.
        time: in seconds since 1970, if it is recorded.
        by: who acts, if that is not who acts in the whole conversation.
        place: where it stands, if not at its place in its transcript.
        turn: in a `Transcript`, the tools that the agent calls in the turn that begins here, without an answer in
            between; None if none begins.
    """

    speaker: Speaker | None
    text: str = ""
    calls: Sequence[RecordedCall] = ()
    answers: Sequence[RecordedAnswer] = ()
    time: int | None = None
    by: Actor | None = None
    place: str | None = None
    turn: tuple[str, ...] | None = None


class Turn(NamedTuple):
    """A message that is said, or a call of one. ``number``: the place of the message in its source, from 1."""

    number: int
    message: RecordedMessage
    call: RecordedCall | None


@dataclass(frozen=True, slots=True)
class Transcript:
    """A recorded conversation: place, id, messages in order. `make_transcript` gives each call its answer.

    Attributes:
        trouble: why it cannot be read; None if it can.
        labels: what the source says of it beside the messages: reward, scores, task, model.
        notes: what is odd in it and does not prevent a verdict.
        reference: the calls, tool and arguments, by which the source's task scores an agent.
        by: who acts in it, as far as the source says.
    """

    place: str
    id: str
    messages: Sequence[RecordedMessage]
    trouble: str | None = None
    labels: Mapping[str, Json] = field(default_factory=dict[str, Json])
    notes: tuple[str, ...] = ()
    reference: tuple[tuple[str, Mapping[str, Json]], ...] = ()
    by: Actor | None = None

    @property
    def turns(self) -> Iterator[Turn]:
        """What is said and called, in order."""
        return self.turns_with(silent=False)

    def turns_with(self, *, silent: bool) -> Iterator[Turn]:
        """What is said and called, in order. ``silent``: messages of the agent without words, too, if they call."""
        for number, message in enumerate(self.messages, 1):
            if message.speaker is not None or (silent and message.turn):
                yield Turn(number, message, None)
            for call in message.calls:
                yield Turn(number, message, call)


def make_transcript(
    place: str,
    name: str,
    messages: Sequence[RecordedMessage],
    labels: Mapping[str, Json] | None = None,
    reference: Iterable[tuple[str, Mapping[str, Json]]] = (),
) -> Transcript:
    """The transcript of the messages, with each answer at its call.

    An answer belongs to the first open call with its id: some agents use an id again. An answer without an id belongs
    to the first open call of its tool. It may stand with its call, or in a later message.
    """
    answers, lost = _match_answers(messages)
    read = [_read_message(message, index, answers) for index, message in enumerate(messages)]
    for index, tools in _agent_turns(messages).items():
        read[index] = replace(read[index], turn=tuple(tools))
    notes = (f"{lost} answer(s) belong to no recorded call",) if lost else ()
    return Transcript(place, name, read, labels=labels or {}, notes=notes, reference=tuple(reference))


def _read_message(
    message: RecordedMessage, index: int, answers: Mapping[tuple[int, int], RecordedAnswer]
) -> RecordedMessage:
    """A message with results at its calls. Who says nothing is no speaker, unless the user sends an empty message."""
    speaker = message.speaker
    silent = not message.text.strip() and (speaker == "agent" or message.calls or message.answers)
    calls = [
        replace(call, answer=_read_answer(call.answer or answers.get((index, position))), caller=speaker or "agent")
        for position, call in enumerate(message.calls)
    ]
    return replace(message, speaker=None if silent else speaker, calls=calls)


def _agent_turns(messages: Sequence[RecordedMessage]) -> dict[int, list[str]]:
    """The tools that the agent calls in each of its turns, by the index of its first message.

    Items in a row without an answer between them are one turn; a call that stands with its answer ends one.
    """
    turns: dict[int, list[str]] = {}
    first: int | None = None
    for index, message in enumerate(messages):
        if message.speaker != "agent":
            first = None
            continue
        first = index if first is None else first
        turns.setdefault(first, []).extend(call.tool for call in message.calls)
        if any(call.answer is not None for call in message.calls):
            first = None
    return turns


def _read_answer(answer: RecordedAnswer | None) -> RecordedAnswer | None:
    return None if answer is None else RecordedAnswer(unwrap_result(parse_result(answer.content)), answer.error)


def _match_answers(messages: Sequence[RecordedMessage]) -> tuple[dict[tuple[int, int], RecordedAnswer], int]:
    """Answers by message index and call index, and how many belong to no call."""
    open_calls: dict[tuple[int, int], RecordedCall] = {}
    found: dict[tuple[int, int], RecordedAnswer] = {}
    lost = 0
    for index, message in enumerate(messages):
        open_calls |= {(index, n): call for n, call in enumerate(message.calls) if call.answer is None}
        for answer in message.answers:
            place = next((place for place, call in open_calls.items() if belongs(answer, call)), None)
            if place is None:
                lost += 1
            else:
                del open_calls[place]
                found[place] = answer
    return found, lost


def belongs(answer: RecordedAnswer, call: RecordedCall) -> bool:
    """Whether an answer is one to a call: by its id, else by its tool, if it names one."""
    if answer.call is not None and call.id is not None:
        return answer.call == call.id
    return answer.tool in {None, call.tool}


def unwrap_result(result: Json) -> Json:
    """What a tool returned, out of the envelope in which MCP sends it, unless that says that the call failed."""
    envelope = fields_of(result)
    parts = [fields_of(part) for part in items_of(envelope.get("content"))]
    if not parts or envelope.keys() - _ENVELOPE or envelope.get("isError") or not all("type" in one for one in parts):
        return result
    if envelope.get("structuredContent") is not None:
        return cast("Json", envelope["structuredContent"])
    texts = [one.get("text") for one in parts]
    return parse_if_json("\n".join(map(str, texts))) if all(isinstance(text, str) for text in texts) else result


def read_arguments(raw: object) -> dict[str, Json] | None:
    """The arguments of a call. Some endpoints write an empty object as null or blank."""
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return {}
    value = parse_if_json(cast("Json", raw))
    return value if isinstance(value, dict) else None


def read_time(value: object) -> int | None:
    """Seconds since 1970, from a number of them or a text of ISO 8601; None for anything else."""
    moment = parse_date(value) if isinstance(value, str) else value
    if isinstance(moment, bool) or not isinstance(moment, int | float) or not math.isfinite(moment):
        return None
    return int(moment)


def read_actor(fields: Mapping[str, Any]) -> Actor | None:
    """Who acts, by the names that sources have for it; None if they do not say."""
    found = [
        next((str(fields[name]) for name in names if isinstance(fields.get(name), str | int)), None)
        for names in (_PRINCIPALS, _ROLES)
    ]
    return Actor(*found) if any(found) else None


def id_of(value: object) -> str | None:
    """An id as text; None if there is none."""
    return None if value is None else str(value)


def is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
