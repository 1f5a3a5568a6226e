"""Shared by host and sandbox: frames, signals on the control socket, JSON checks."""

import json
import math
import os
import struct
from collections.abc import Mapping, Sequence
from typing import cast

HEADER = struct.Struct("!I")
"""Header of a frame: the length of its body in bytes."""

REPORT = struct.Struct("!i??")
"""Fork server -> host after each program: its wait status; whether it was ended because its processes together held too
much memory; whether the sandbox is in the same condition as before."""

READY, RUN, STOP = b"r", b"+", b"-"
"""Fork server -> host, once: ready. Host -> fork server: run a program, with its three descriptors; stop it."""

ENDINGS = ("finished", "exception", "syntax_error", "memory_limit")
"""Endings that a program can report. The index is its exit status; the host believes the report only if both agree."""

DEPTH = 64
"""Maximum nesting of an argument, in levels."""

MESSAGE_CHARACTERS = 500
"""Maximum length of an error message."""

REFUSED_CALLS = ("[Errno 1] Operation not permitted", "access permission denied")
"""Messages of Python and of sqlite3 for a system call that the sandbox refuses."""

REFUSED_BECAUSE = " (the sandbox refuses this call, as it does locks of files; a database works in memory)"

VALUE_BYTES = 100
"""Memory that a value of a message takes at most once it is parsed, beside its text. Two bytes of JSON suffice for an
empty list."""

LAST_SECOND = 253_402_300_799
"""9999-12-31 23:59:59 in seconds since 1970: the last second of the calendar, at which simulated time stops."""

NOBODY = 65534
"""The user and group that programs run as when the host is root."""

ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def require_json(value: object, depth: int = DEPTH) -> None:
    """Raise TypeError or ValueError unless ``value`` survives a round trip through JSON unchanged.

    Stricter than `json.dumps`, which writes NaN, turns keys into strings and lets lone surrogates pass.
    """
    if depth < 0:
        raise ValueError(f"the value is nested deeper than {DEPTH} levels, or contains itself")
    match value:
        case None | bool() | int():
            pass
        case float():
            if not math.isfinite(value):
                raise ValueError(f"{value} is not a JSON number")
        case str():
            value.encode()  # a lone surrogate is a UnicodeEncodeError, which is a ValueError
        case list() | tuple():
            for item in cast("Sequence[object]", value):
                require_json(item, depth - 1)
        case dict():
            for key, item in cast("Mapping[object, object]", value).items():
                if not isinstance(key, str):
                    raise TypeError(f"keys must be strings, not {type(key).__name__}")
                key.encode()
                require_json(item, depth - 1)
        case _:
            raise TypeError(f"a value of type {type(value).__name__} is not JSON serializable")


def frame(message: Mapping[str, object]) -> bytes:
    """Encode a message as a frame. NaN and lone surrogates raise ValueError."""
    body = ENCODER.encode(message).encode()
    return HEADER.pack(len(body)) + body


def size(body: bytes) -> int:
    """The memory of a message in bytes, estimated from above and before it is parsed: its text and its values, each of
    which is preceded by a comma or a bracket."""
    return len(body) + VALUE_BYTES * (body.count(b",") + body.count(b"[") + body.count(b"{"))


def read_frame(descriptor: int) -> bytes:
    """Read the next frame without its header. Raises ConnectionError if the other side has closed."""
    (length,) = HEADER.unpack(_read(descriptor, HEADER.size))
    return _read(descriptor, length)


def _read(descriptor: int, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = os.read(descriptor, count - len(data))
        if not part:
            raise ConnectionError("the host has closed the connection")
        data += part
    return data
