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
    """Candidate values, most likely first."""
    for candidate in _candidates(text):
        with suppress(json.JSONDecodeError, RecursionError):
            yield _DECODER.decode(candidate)
    plain = _THOUGHT.sub("", text)
    braced = plain[plain.find("{") : plain.rfind("}") + 1]
    for candidate in (*_fenced(plain)[::-1], braced):
        if len(candidate) <= _MOST_FORGIVEN:
            with suppress(ValueError, RecursionError):
                yield json5.loads(candidate)


def _fenced(text: str) -> list[str]:
    return re.findall(r"```(?:json5?)?[^\n]*\n(.*?)```", text, re.DOTALL)


def _candidates(text: str) -> list[str]:
    """Candidate texts, most likely first: fenced blocks from the last, the whole text, objects from the last.

    Reasoning in ``<think>`` is left out; it often contains objects of its own. A list of objects comes last, since only
    few answers can be lists.
    """
    text = _THOUGHT.sub("", text)
    return [*_fenced(text)[::-1], text.strip(), *_objects(text)[::-1], *_list(text)]


def _list(text: str) -> list[str]:
    """The first list of objects in the text; none if it is truncated or within an object."""
    begun = re.search(r"\[\s*[{\]]", text)
    if begun is None or 0 <= text.find("{") < begun.start():
        return []
    try:
        _, end = _DECODER.raw_decode(text, begun.start())
    except (json.JSONDecodeError, RecursionError):
        return []
    return [text[begun.start() : end]]


def _objects(text: str) -> list[str]:
    """The outermost JSON objects in the text, in order."""
    found: list[str] = []
    start = text.find("{")
    while start >= 0 and len(found) < _MOST_OBJECTS:
        try:
            _, end = _DECODER.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError):
            end = start + 1
        else:
            found.append(text[start:end])
        start = text.find("{", end)
    return found
