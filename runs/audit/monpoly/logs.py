"""Reader of logs in MonPoly's format, one time point after the other.

    @100 pay("C-1", 12.5) pay("C-2", 3) login("ada");
    1388364081|@101 pay ("C-1", 7)("C-3", 8)
    @102

A time point begins with `@` and its timestamp, and ends with `;` or where the next begins. It has any number of events;
without any, only time passes. The number before `|@` is not read. Strings may be bare: `login(ada)`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lawtrace.runs.audit.monpoly.mfotl_signature import ArgumentType, LogSignature
from lawtrace.schemas.errors import InputError, input_errors
from lawtrace.schemas.events import Event, Json

_START: Final = re.compile(r"\s*(?:[0-9]+\s*\|\s*)?@\s*[0-9]")
_QUOTED: Final = r"""\"[^"\\]*(?:\\.[^"\\]*)*\""""
_VALUES: Final = rf"""[^"()]*(?:{_QUOTED}[^"()]*)*"""
_ITEM: Final = re.compile(
    rf"""\s*(?:
      (?:[0-9]+\s*\|\s*)?@\s*(?P<time>[^\s;]+)
    | (?P<name>[^\W\d][^\s(),;@"]*)\s*\((?P<first>{_VALUES})\)
    | \((?P<again>{_VALUES})\)
    | (?P<end>;)
    | (?P<rest>\#.*|>[^<\n]*<|$)
    )""",
    re.VERBOSE,
)
_VALUE: Final = rf"""\s*({_QUOTED}|[^",]*)\s*"""
_LOOK_AHEAD: Final = 2**16
"""How many characters of a line are looked at to tell the format."""
_MAX_JOINED: Final = 10_000
"""How many characters an event may have that is written over several lines."""


@dataclass(frozen=True, slots=True)
class LogStep:
    """A time point: its timestamp in seconds, its events, and the line on which it begins."""

    time: int
    events: tuple[Event, ...]
    line: int


@dataclass(frozen=True, slots=True)
class MonpolyLog:
    """A log that is read when it is judged.

    Attributes:
        alone: whether it is all that is audited, so that it is an error if it cannot be read.
    """

    path: Path
    alone: bool = False

    @property
    def place(self) -> str:
        return str(self.path)

    @property
    def id(self) -> str:
        return self.path.name

    def steps(self, signature: LogSignature, *, time_unit: int = 1) -> Iterator[LogStep]:
        """The time points.

        Args:
            signature: the predicates that may occur.
            time_unit: the unit of its timestamps, in seconds.

        Raises:
            InputError: with the line: not an event, a predicate or a value that does not fit the signature, a timestamp
                before the last one.
        """
        with input_errors(self.path), self.path.open(encoding="utf-8-sig") as lines:
            yield from parse_monpoly_log(lines, signature, self.place, time_unit=time_unit)


def is_monpoly_log(path: Path) -> bool:
    """Whether a file looks like one: its first line that is neither empty nor a comment begins with a timestamp."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as lines:
            for line in iter(lambda: lines.readline(_LOOK_AHEAD), ""):
                if line.strip() and not line.lstrip().startswith("#"):
                    return bool(_START.match(line[:200]))
    except OSError:
        pass
    return False


def parse_monpoly_log(
    lines: Iterable[str], signature: LogSignature, place: str = "log", *, time_unit: int = 1
) -> Iterator[LogStep]:
    """The time points of the lines of a log; see `MonpolyLog.steps`."""
    readers = {name: _Reader(name, signature) for name in signature.predicates}
    time: int | None = None
    latest: int | None = None
    began = 0
    events: list[Event] = []
    name = ""
    unfinished = ""
    number = 0
    for number, line in enumerate(lines, 1):
        text = f"{unfinished}{line}" if unfinished else line
        unfinished = ""
        at, end = 0, len(text)
        while at < end:
            found = _ITEM.match(text, at)
            if found is None:
                unfinished = text[at:]
                if len(unfinished) > _MAX_JOINED:
                    raise _not_an_event(place, number, unfinished)
                break
            at = found.end()
            kind = found.lastgroup or ""
            if kind == "rest":
                continue
            if kind == "time":
                if time is not None:
                    yield LogStep(time, tuple(events), began)
                time, began, events, name = _timestamp(found["time"], time_unit, place, number), number, [], ""
                if latest is not None and time < latest:
                    raise InputError(
                        f"{place}, line {number}: the timestamp {time // time_unit} is before the last one, "
                        f"{latest // time_unit}; a log does not go back in time"
                    )
                latest = time
                continue
            if time is None:
                raise InputError(f"{place}, line {number}: `{found.group().strip()}` stands before any timestamp")
            if kind == "end":
                yield LogStep(time, tuple(events), began)
                time = None
                continue
            name = found["name"] or name
            reader = readers.get(name)
            if reader is None:
                raise InputError(f"{place}, line {number}: the signature has no predicate `{name}`")
            try:
                arguments = reader.arguments(found[kind])
            except ValueError as error:
                raise InputError(f"{place}, line {number}: {error}") from None
            events.append(Event(name, arguments, time=time))
    if unfinished.strip():
        raise _not_an_event(place, number, unfinished)
    if time is not None:
        yield LogStep(time, tuple(events), began)


def _not_an_event(place: str, number: int, text: str) -> InputError:
    shown = text.strip().split("\n")[0][:60]
    return InputError(f"{place}, line {number}: `{shown}` is neither an event nor a timestamp")


def _timestamp(text: str, time_unit: int, place: str, number: int) -> int:
    if not (text.isascii() and text.isdigit()):
        raise InputError(f"{place}, line {number}: the timestamp `{text}` is not a whole number")
    return int(text) * time_unit


class _Reader:
    """Reads the arguments of one predicate."""

    def __init__(self, name: str, signature: LogSignature) -> None:
        predicate = signature.predicates[name]
        self._name = name
        self._names = predicate.arguments
        self._decoders = tuple(_DECODERS[kind] for kind in predicate.types)
        self._match = re.compile(",".join([_VALUE] * len(self._names)) if self._names else r"\s*").fullmatch

    def arguments(self, text: str) -> dict[str, Json]:
        """The arguments by name. Raises ValueError with the reason."""
        found = self._match(text)
        if found is None:
            raise ValueError(f"`({text})` is not a list of {len(self._names)} value(s), as `{self._name}` takes")
        arguments: dict[str, Json] = {}
        for name, decode, part in zip(self._names, self._decoders, found.groups(), strict=True):
            try:
                arguments[name] = decode(part)
            except ValueError as error:
                raise ValueError(f"the argument `{name}` of `{self._name}` {error}") from None
        return arguments


def _text(part: str) -> Json:
    if part[:1] != '"':
        return part.rstrip()
    inner = part[1:-1]
    return re.sub(r"\\(.)", r"\1", inner) if "\\" in inner else inner


def _whole(part: str) -> Json:
    try:
        return int(part.strip('"'))
    except ValueError:
        raise ValueError(f"is a whole number in the signature, not `{part}`") from None


def _fraction(part: str) -> Json:
    try:
        value = float(part.strip('"'))
    except ValueError:
        value = float("nan")
    if value - value != 0:  # nan and the infinities
        raise ValueError(f"is a number in the signature, not `{part}`")
    return value


_DECODERS: Final[Mapping[ArgumentType, Callable[[str], Json]]] = {"string": _text, "int": _whole, "float": _fraction}
