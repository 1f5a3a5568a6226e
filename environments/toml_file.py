"""Reading of TOML files, with errors that name the file and the line; and texts for files that are written."""

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from lawtrace.schemas.errors import InputError, describe_validation_error, input_errors

_Model = TypeVar("_Model", bound=BaseModel)
_DEEP_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){100}""")
"""A key of more than 100 parts, for which `tomllib` takes quadratic time."""


def toml_text(text: str) -> str:
    """A text as TOML has it, which is as JSON has it but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file. Raises InputError."""
    try:
        with input_errors(path):
            text = path.read_text(encoding="utf-8-sig")
            if _DEEP_KEY.search(text):
                raise InputError(f"{path}: not a TOML file: a key has more than 100 parts")
            return tomllib.loads(text)
    except RecursionError as error:
        raise InputError(f"{path}: not a TOML file: lists or tables are nested too deeply") from error
    except ValueError as error:  # numbers with too many digits, too
        raise InputError(f"{path}: not a TOML file: {str(error).partition(';')[0]}") from error


def read_toml_model(path: Path, model: type[_Model]) -> _Model:
    """The contents of a file as a model. Raises InputError naming the line and the key that is wrong."""
    try:
        return model.model_validate(read_toml(path))
    except ValidationError as error:
        place = place_in_toml(path, error.errors()[0]["loc"])
        raise InputError(f"{place}: {describe_validation_error(error)}") from error


def place_in_toml(path: Path, keys: Sequence[str | int]) -> str:
    """File and line of a key, such as ``("provisions", 0, "text")``: of its table where the key is missing."""
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    line = 0
    for key, index in zip(keys, (*keys[1:], None), strict=False):
        if isinstance(key, int):
            continue
        if isinstance(index, int):
            wanted, skipped = rf"\s*\[\[\s*{re.escape(key)}\s*\]\]", index
        else:
            wanted, skipped = rf"\s*(\[\s*)?{re.escape(key)}\s*(=|\])", 0
        found = [number for number, text in enumerate(lines[line:], line + 1) if re.match(wanted, text)]
        if len(found) <= skipped or (line and _next_table(lines, line) <= found[skipped]):
            break
        line = found[skipped]
    return f"{path}, line {line}" if line else str(path)


def _next_table(lines: Sequence[str], line: int) -> int:
    """The line of the first table after a line; one past the end if there is none."""
    after = (number for number, text in enumerate(lines[line:], line + 1) if text.lstrip().startswith("["))
    return next(after, len(lines) + 1)
