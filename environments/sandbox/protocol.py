"""The host's reading of what comes out of a program's socket: every byte of it may be hostile.

The frames themselves are described in `lawtrace.environments.sandbox.inside`, which both sides share. Here they are
checked:
size, strict JSON (no NaN, no infinities, no repeated keys, no lone surrogates, no bottomless nesting), and exactly
the fields of one of the two messages that a program can send.
"""

from dataclasses import dataclass

from lawtrace.environments.events import Json
from lawtrace.environments.sandbox.inside.wire import DEPTH, HEADER, MESSAGE_CHARACTERS
from lawtrace.environments.strict_json import parse_strict_json

NAME_CHARACTERS = 200


class ProtocolError(Exception):
    """The program wrote something that is not a message. It never leaves the jail package."""


@dataclass(frozen=True, slots=True)
class CallMessage:
    """The program calls a tool, of whatever name."""

    tool: str
    arguments: dict[str, Json]


@dataclass(frozen=True, slots=True)
class EndMessage:
    """What the program says of its own end; a description, believed only where the wait status agrees."""

    ending: str
    type: str | None
    message: str | None
    line: int | None


class FrameReader:
    """Cuts the byte stream into frames, never holding more than one frame and one read."""

    def __init__(self, frame_bytes: int) -> None:
        self._frame_bytes = frame_bytes
        self._data = bytearray()

    def feed(self, data: bytes) -> None:
        self._data += data

    def take(self) -> bytes | None:
        """The next whole frame, without its header; None if more bytes are needed."""
        if len(self._data) < HEADER.size:
            return None
        (length,) = HEADER.unpack_from(self._data)
        if length > self._frame_bytes:
            raise ProtocolError(f"a message of {length} bytes, where {self._frame_bytes} are allowed")
        end = HEADER.size + length
        if len(self._data) < end:
            return None
        body = bytes(self._data[HEADER.size : end])
        del self._data[:end]
        return body


def read_message(body: bytes) -> CallMessage | EndMessage:
    """The message in a frame, or `ProtocolError`."""
    try:
        text = body.decode("utf-8")
        message = parse_strict_json(text, DEPTH + 1)  # the arguments may be as deep as the program's side lets them be
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"not strict JSON: {error}") from error
    match message:
        case {"tool": str(tool), "arguments": dict() as arguments, **rest} if not rest:
            return CallMessage(tool, arguments)
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
