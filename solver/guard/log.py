"""The log of a guarded session: JSON lines in the plain-events format (docs/sources.md), which an audit reads.

A call is written before it is made, with the decision, and its answer when it comes, so a killed process loses nothing.
The lines of a file are a chain: in ``previous`` each has the SHA-256 of the bytes of the line before it.
"""

import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Self, cast

from lawtrace.schemas.errors import OperationalError, input_errors
from lawtrace.schemas.events import SPEAKERS, Actor, Event, Json, known_parts
from lawtrace.solver.guard.decisions import Call, Decision, OpenDuty, Refuse, Unchecked
from lawtrace.solver.rules import Rule

MAX_RECORDED_CHARACTERS = 2_000_000
"""The longest result that is recorded. Rules about a longer one are undetermined in an audit."""


class GuardLog:
    """Appends the lines of one conversation to a file. Several guards may write to one file.

    Attributes:
        path: the file.
        conversation: the name of the conversation; every line has it.
    """

    def __init__(self, path: str | PathLike[str], conversation: str | None = None) -> None:
        """Open the file, which only its owner can read if it is new. Raises OperationalError if that is impossible.

        `conversation`: a new name by default.
        """
        self.path = Path(path)
        self.conversation = conversation or secrets.token_hex(8)
        try:
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        except OSError as error:
            raise OperationalError(f"{path}: the log cannot be written: {error.strerror}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. Nothing can be written afterwards."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def write(self, time: int, fields: Mapping[str, Any]) -> None:
        """Append a line. Control characters are escaped. Raises OSError if the disk does not take it."""
        given = {"conversation": self.conversation, "time": time, **fields}
        os.fstat(self._file)  # raises OSError if the log is closed
        fcntl.flock(self._file, fcntl.LOCK_EX)  # others may write to the file, too
        try:
            line = json.dumps({**given, "previous": _line_digest(self._last_line())}, allow_nan=False) + "\n"
            data = line.encode()
            while data:
                data = data[os.write(self._file, data) :]
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _last_line(self) -> bytes:
        """The last line of the file; empty if there is none."""
        size, reach = os.fstat(self._file).st_size, 2**12
        while True:
            start = max(0, size - reach)
            data = os.pread(self._file, size - start, start) if size else b""
            cut = data.rfind(b"\n", 0, -1)
            if cut >= 0 or not start:
                return data[cut + 1 :]
            reach *= 2


def _line_digest(line: bytes) -> str:
    """SHA-256 in hexadecimal, without the end of the line; empty for no line."""
    return hashlib.sha256(line.rstrip(b"\n")).hexdigest() if line else ""


@dataclass(frozen=True, slots=True)
class LogChain:
    """What the chain of a log says.

    Attributes:
        lines: how many there are.
        last: the digest of the last line. If it is not kept elsewhere, a changed or cut end is not noticed.
        breaks: the numbers of the lines, from 1, that do not have the digest of the line before them.
    """

    lines: int
    last: str
    breaks: tuple[int, ...]


def verify_log(path: Path) -> LogChain:
    """Check the chain of a log, line by line. Raises InputError if the file cannot be read."""
    number, last, breaks = 0, "", list[int]()
    with input_errors(path), path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                value: object = json.loads(line)
            except ValueError:
                value = None
            if not isinstance(value, dict) or cast("dict[str, object]", value).get("previous") != last:
                breaks.append(number)
            last = _line_digest(line)
    return LogChain(number, last, (*breaks,))


def is_recordable(value: object) -> bool:
    """Whether a value is strict JSON, and not too long for the log."""
    try:
        return len(json.dumps(value, allow_nan=False)) <= MAX_RECORDED_CHARACTERS
    except (TypeError, ValueError, RecursionError):
        return False


class Recorder:
    """Writes the lines of a session, if there is a log. Raises OperationalError if that is impossible."""

    def __init__(self, log: GuardLog | None, mode: str) -> None:
        self._log = log
        self._mode = mode

    def began(self, time: int, rules: Iterable[Rule], by: Actor | None = None, **options: str) -> None:
        """A new session: the rules, who acts, and how it decides what the rules leave open."""
        who = {} if by is None else {"by": known_parts(by)}
        self.note(time, "session", mode=self._mode, **options, **who, rules=[rule.id for rule in rules])

    def note(self, time: int, text: str, **fields: Any) -> None:  # noqa: ANN401 (anything that JSON can write)
        """A text for readers, with more fields."""
        self._write(time, {"note": text, **fields})

    def decided(self, time: int, call: Call, decision: Decision, number: str | None = None) -> str | None:
        """A decision about a call; the number of the call, which joins its answer to it. None without a log.

        `number`: a new one by default.
        """
        if self._log is None:
            return None
        number = number or secrets.token_hex(6)
        self._write(time, {"call": number, **_call(call.tool, call.arguments), **self._decision(decision)})
        return number

    def reviewed(self, time: int, event: Event, decision: Decision) -> None:
        """A decision about a call whose event is known."""
        if self._log is not None:
            answer = {} if isinstance(decision, Refuse) else _answer(event)
            self._write(time, {**_call(event.tool, event.arguments), **answer, **self._decision(decision)})

    def answered(self, time: int, number: str | None, event: Event) -> None:
        """The outcome of a call. Without a number it was not asked about."""
        if number is None:
            self.happened(time, event)
        elif self._log is not None:
            self._write(time, {"call": number, **_answer(event)})

    def unanswered(self, time: int, number: str | None, call: Call, reason: str) -> None:
        """A call of which no answer will come. Without a number it was not asked about."""
        if self._log is None:
            return
        if number is None:
            number = secrets.token_hex(6)
            self._write(time, {"call": number, **_call(call.tool, call.arguments)})
        self.note(time, f"call {number} may have been carried out or not: {reason}")

    def happened(self, time: int, event: Event) -> None:
        """A message, or a call that was not asked about."""
        if event.tool in SPEAKERS:
            said = {event.tool: event.arguments.get("text", "")}
            self._write(time, said if event.message is None else {**said, "id": event.message})
        elif self._log is not None:
            self._write(time, {**_call(event.tool, event.arguments), **_answer(event)})

    def finished(
        self, time: int, duties: Sequence[OpenDuty], lost: Iterable[str], counts: Mapping[str, int] | None = None
    ) -> None:
        """The duties that are open, and the rules that are lost. `counts`: more labels."""
        shown = [
            {"rule": duty.rule, "provisions": list(duty.provisions), "steps": [str(step) for step in duty.steps]}
            for duty in duties
        ]
        lost = list(lost)
        labels = {**(counts or {}), "open_duties": len(shown), "lost": len(lost)}
        self._write(time, {"labels": labels, "open": shown, "lost": lost})

    def _decision(self, decision: Decision) -> dict[str, Any]:
        is_refused, finding = isinstance(decision, Refuse), decision.finding
        shown: dict[str, Any] = {"allowed": not is_refused, "mode": self._mode}
        if finding is not None:
            shown |= {
                "rules": list(finding.rules),
                "reason": finding.reason,
                "provisions": list(finding.provisions),
                "first": [str(step) for step in finding.first],
            }
            if finding.answer is not None:
                shown["asked"] = asdict(finding.answer)
            if finding.arguable:
                shown["arguable"] = list(finding.arguable)
            if finding.undecided:
                shown["undecided"] = finding.why if isinstance(finding, Unchecked) else "budget"
        return {"decision": shown} | ({"error": decision.reason} if isinstance(decision, Refuse) else {})

    def _write(self, time: int, fields: Mapping[str, Any]) -> None:
        if self._log is None:
            return
        try:
            self._log.write(time, fields)
        except OSError as error:
            raise OperationalError(f"{self._log.path}: the log cannot be written: {error.strerror}") from error


def _call(tool: str, arguments: Mapping[str, Json]) -> dict[str, Any]:
    # Arguments that cannot be written leave the rules about them undetermined in an audit.
    return {"tool": tool, "arguments": dict(arguments) if is_recordable(dict(arguments)) else "not recorded"}


def _answer(event: Event) -> dict[str, Any]:
    if event.error is not None:
        return {"error": event.error[:10_000] or "error"}
    return {"result": event.result} if is_recordable(event.result) else {"note": "the result was not recorded"}
