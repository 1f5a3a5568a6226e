"""Parses structured answers: tolerant about wrapping and syntax, strict about content.

Text is read as JSON, then as JSON5, which accepts trailing commas, comments, single quotes and bare keys. Truncated
answers are not completed: the model did not give the rest.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TypeVar

import json5
from pydantic import BaseModel, ValidationError

from lawtrace.schemas.errors import describe_validation_error

_DECODER = json.JSONDecoder(strict=False)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_MOST_OBJECTS = 50
_MOST_FORGIVEN = 50_000
"""JSON5 parsing takes a thousand times as long as JSON, so longer texts are not tried."""

Answer = TypeVar("Answer", bound=BaseModel)


class UnusableAnswer(Exception):
    """The text contains no answer of the requested type; the message says why."""


def parse_answer(text: str, answer: type[Answer]) -> Answer:
    """The answer in the text: a JSON object, alone, in a fence or within other text; if there are several, the last.

    Raises UnusableAnswer. Missing fields are never filled in.
    """
    error: Exception | None = None
    for value in _values(text):
        try:
            return answer.model_validate(value)
        except (ValidationError, RecursionError) as problem:
            error = error or problem
    if isinstance(error, ValidationError):
        raise UnusableAnswer(f"not a {answer.__name__}: {describe_validation_error(error)}")
    raise UnusableAnswer(f"no JSON object for a {answer.__name__} in {text[:80]!r}")


def _values(text: str) -> Iterator[object]:
    """Candidate values, most likely first: fenced blocks from the last, the whole text, objects from the last.

    Reasoning in ``<think>`` is left out; it often contains objects of its own. A list of objects comes last of JSON,
    since only few answers can be lists.
    """
    text = _THOUGHT.sub("", text)
    fenced = re.findall(r"```(?:json5?)?[^\n]*\n(.*?)```", text, re.DOTALL)[::-1]
    for candidate in (*fenced, text.strip()):
        with suppress(json.JSONDecodeError, RecursionError):
            yield _DECODER.decode(candidate)
    yield from _objects(text)[::-1]
    begun = re.search(r"\[\s*[{\]]", text)
    if begun is not None and not 0 <= text.find("{") < begun.start():
        with suppress(json.JSONDecodeError, RecursionError):
            yield _DECODER.raw_decode(text, begun.start())[0]
    for candidate in (*fenced, text[text.find("{") : text.rfind("}") + 1]):
        if len(candidate) <= _MOST_FORGIVEN:
            with suppress(ValueError, RecursionError):
                yield json5.loads(candidate)


def _objects(text: str) -> list[object]:
    """The outermost JSON objects in the text, in order."""
    found: list[object] = []
    start = text.find("{")
    while start >= 0 and len(found) < _MOST_OBJECTS:
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError):
            end = start + 1
        else:
            found.append(value)
        start = text.find("{", end)
    return found
