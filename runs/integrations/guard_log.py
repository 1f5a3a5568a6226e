"""The log of a guarded session: JSON lines in the plain-events format (docs/sources.md), which an audit reads.

A call is written before it is sent, with the decision, and its answer when it comes, so a killed proxy loses nothing.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from lawtrace.environments.errors import OperationalError
from lawtrace.environments.events import Json

MAX_RECORDED_CHARACTERS = 2_000_000
"""The longest result that is recorded. Rules about a longer one are undetermined in an audit."""


class GuardLog:
    """Appends the lines of one conversation to a file. Several proxies may write to one file."""

    def __init__(self, path: Path, conversation: str) -> None:
        """Open the file, which only its owner can read if it is new. Raises OperationalError if that is impossible."""
        self.path = path
        self.conversation = conversation
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        except OSError as error:
            raise OperationalError(f"--log {path}: cannot be written: {error.strerror}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def write(self, time: int, fields: Mapping[str, Any]) -> None:
        """Append a line. Control characters are escaped. Raises OSError if the disk does not take it."""
        line = json.dumps({"conversation": self.conversation, "time": time, **fields}, allow_nan=False) + "\n"
        data = line.encode()
        while data:
            data = data[os.write(self._file, data) :]


def is_recordable(value: Json) -> bool:
    """Whether a value is strict JSON, and not too long for the log."""
    try:
        return len(json.dumps(value, allow_nan=False)) <= MAX_RECORDED_CHARACTERS
    except (ValueError, RecursionError):
        return False
