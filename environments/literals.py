"""Values of JSON, and those that were written as text: JSON, or what Python prints."""

import ast
import json
from collections.abc import Sequence
from datetime import date
from typing import Any, cast

from lawtrace.schemas.events import Json


def parse_if_json(content: Json) -> Json:
    """The value in a text of JSON; any other value as it is."""
    if not isinstance(content, str):
        return content
    try:
        return cast("Json", json.loads(content))
    except (ValueError, RecursionError):
        return content


def parse_result(content: Json) -> Json:
    """The value in a text of JSON, or of a dict or list as Python prints it; any other value as it is.

    Agents without a serializer send their model ``str(result)``.
    """
    value = parse_if_json(content)
    if value is not content or not isinstance(content, str) or not content.lstrip().startswith(("{", "[")):
        return value
    try:
        return as_json(ast.literal_eval(content.strip()))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return content


def as_json(value: object) -> Json:
    """A value of Python as JSON: tuples are lists, dates texts. Raises ValueError for what JSON has no form for."""
    kind = type(value).__name__
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [as_json(item) for item in cast("Sequence[object]", value)]
    if isinstance(value, dict):
        fields = cast("dict[object, object]", value)
        if all(isinstance(key, str) for key in fields):
            return {str(key): as_json(part) for key, part in fields.items()}
    raise ValueError(f"{kind} has no form in JSON")


def fields_of(value: object) -> dict[str, Any]:
    """The fields of a JSON object; empty for any other value."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items_of(value: object) -> list[Any]:
    """The items of a JSON list; empty for any other value."""
    return cast("list[Any]", value) if isinstance(value, list) else []
