"""Reading of TOML files, with errors that name the file."""

import tomllib
from pathlib import Path
from typing import Any

from lawtrace.environments.errors import InputError


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file. Raises InputError."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a TOML file: {error}") from error
