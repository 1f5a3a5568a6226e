"""What both sides of the wall have in common: the frames, the signs on the control socket, JSON."""

import json
import math
import os
import struct
from collections.abc import Mapping, Sequence
from typing import cast

HEADER = struct.Struct("!I")
"""Precedes each frame: the length of what follows, in bytes."""

REPORT = struct.Struct("!i??")
"""Warm parent -> host after each program: its wait status; whether its processes together held more memory than
allowed and were ended for it; whether the jail is as it was before."""

READY, RUN, STOP = b"r", b"+", b"-"
"""Warm parent -> host, once: programs may come. Host -> warm parent: a program, with its two descriptors; end it."""

ENDINGS = ("finished", "exception", "syntax_error", "memory_limit")
"""How a program can say that it ended; the index is its exit status, and the two must agree to be believed."""

DEPTH = 64
"""How deep an argument may be nested, in levels."""

MESSAGE_CHARACTERS = 500
"""What is kept of an error's message."""

NOBODY = 65534
"""The user and group that programs run as when the host is root."""

ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def require_json(value: object, depth: int = DEPTH) -> None:
    """Raise TypeError or ValueError unless ``value`` survives the way through JSON as what it is.

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
    """One message as it travels. Strict on purpose: NaN and lone surrogates raise ValueError."""
    body = ENCODER.encode(message).encode()
    return HEADER.pack(len(body)) + body


def read_frame(descriptor: int) -> bytes:
    """The next frame without its header; ConnectionError if the other side has hung up."""
    (length,) = HEADER.unpack(_read(descriptor, HEADER.size))
    return _read(descriptor, length)


def _read(descriptor: int, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = os.read(descriptor, count - len(data))
        if not part:
            raise ConnectionError("the judge has hung up")
        data += part
    return data
