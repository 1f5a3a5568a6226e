"""Strict JSON: a text that every reader parses to the same value.

Rejected are NaN and infinities, repeated keys, lone surrogates and deep nesting, all of which `json.loads` lets pass.
"""

import json
import math
from typing import Any, NoReturn

from lawtrace.schemas.events import Json

MAX_DEPTH = 64
"""Levels of nesting."""


def parse_strict_json(text: str, max_depth: int = MAX_DEPTH) -> Json:
    """Parse a JSON text. Raises ValueError or RecursionError saying what is wrong."""
    value: Json = _DECODER.decode(text)
    _check(value, max_depth)
    return value


def _check(value: Json, depth: int) -> None:
    if depth < 0:
        raise ValueError(f"the value is nested deeper than {MAX_DEPTH} levels")
    match value:
        case float() if not math.isfinite(value):
            raise ValueError(f"{value} is not a JSON number")
        case str():
            value.encode()  # a lone surrogate is a UnicodeEncodeError, which is a ValueError
        case list():
            for item in value:
                _check(item, depth - 1)
        case dict():
            for key, item in value.items():
                key.encode()
                _check(item, depth - 1)
        case _:
            pass


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("an object has the same key twice")
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
