"""Parser of the messages that a program sends. Every byte of them may be hostile.

`lawtrace.environments.sandbox.inside` describes the frames. Checked here: the size before anything is parsed, strict
JSON (no NaN, infinities, repeated keys, lone surrogates or deep nesting), and the exact fields of the two messages that
a program can send.
"""

from dataclasses import dataclass

from lawtrace.environments.sandbox.inside.wire import DEPTH, HEADER, MESSAGE_CHARACTERS, size
from lawtrace.environments.strict_json import parse_strict_json
from lawtrace.schemas.events import Json

NAME_CHARACTERS = 200


class ProtocolError(Exception):
    """The program wrote something that is not a message. Not raised outside the sandbox package."""


@dataclass(frozen=True, slots=True)
class CallMessage:
    """A tool call. The tool may have any name.

    Attributes:
        pause: seconds that the program paused since its last call.
    """

    tool: str
    arguments: dict[str, Json]
    pause: int = 0


@dataclass(frozen=True, slots=True)
class EndMessage:
    """The program's description of its own end, believed only if the wait status agrees."""

    ending: str
    type: str | None
    message: str | None
    line: int | None


class FrameReader:
    """Splits the byte stream into frames. It never holds more than one frame and one read."""

    def __init__(self, frame_bytes: int) -> None:
        self._frame_bytes = frame_bytes
        self._data = bytearray()

    def feed(self, data: bytes) -> None:
        self._data += data

    def take(self) -> bytes | None:
        """The next complete frame without its header; None if more bytes are needed."""
        if len(self._data) < HEADER.size:
            return None
        (length,) = HEADER.unpack_from(self._data)
        if length > self._frame_bytes:
            raise ProtocolError(f"a message of {length} bytes; the limit is {self._frame_bytes}")
        end = HEADER.size + length
        if len(self._data) < end:
            return None
        body = bytes(self._data[HEADER.size : end])
        del self._data[:end]
        if size(body) > self._frame_bytes:
            raise ProtocolError(f"a message of {size(body)} bytes in memory; the limit is {self._frame_bytes}")
        return body


def read_message(body: bytes) -> CallMessage | EndMessage:
    """Parse the message in a frame. Raises ProtocolError."""
    try:
        text = body.decode("utf-8")
        message = parse_strict_json(text, DEPTH + 1)  # one level deeper than the arguments inside
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"not strict JSON: {error}") from error
    match message:
        case {"tool": str(tool), "arguments": dict() as arguments, **rest} if not rest:
            return CallMessage(tool, arguments)
        case {"tool": str(tool), "arguments": dict() as arguments, "pause": int(pause), **rest} if (
            not rest and not isinstance(pause, bool) and pause >= 0
        ):
            return CallMessage(tool, arguments, pause)
        case {
            "end": str(ending),
            "type": str() | None as kind,
            "message": str() | None as reason,
            "line": int() | None as line,
            **rest,
        } if not rest and not isinstance(line, bool):
            return EndMessage(ending, _cut(kind, NAME_CHARACTERS), _cut(reason, MESSAGE_CHARACTERS), line)
        case _:
            raise ProtocolError("neither a call nor an end")


def _cut(text: str | None, characters: int) -> str | None:
    return text and (text.splitlines() or [""])[0][:characters]
