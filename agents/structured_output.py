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
_OBJECT = re.compile(r'\{\s*["}]')
"""How a JSON object begins."""
_MOST_OBJECTS = 50
_MOST_FAILURES = 2_000
"""Of reading an object. Each takes time in proportion to the text."""
_MOST_FORGIVEN = 50_000
"""Characters of all texts that are read as JSON5, which takes a thousand times as long as JSON."""

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
    text = "".join(_outside(text, "<think>", "</think>"))
    fenced = [*_fenced(text)][::-1]
    for candidate in (*fenced, text.strip()):
        with suppress(ValueError, RecursionError):
            yield _DECODER.decode(candidate)
    yield from _objects(text)[::-1]
    begun = re.search(r"\[\s*[{\]]", text)
    if begun is not None and not 0 <= text.find("{") < begun.start():
        with suppress(ValueError, RecursionError):
            yield _DECODER.raw_decode(text, begun.start())[0]
    left = _MOST_FORGIVEN
    for candidate in (*fenced[:_MOST_OBJECTS], text[text.find("{") : text.rfind("}") + 1]):
        if len(candidate) <= left:
            left -= len(candidate)
            with suppress(ValueError, RecursionError):
                yield json5.loads(candidate)


def _outside(text: str, begin: str, end: str) -> Iterator[str]:
    """The parts of the text that are not between two marks. A mark without its end is text."""
    rest = 0
    while (start := text.find(begin, rest)) >= 0 and (stop := text.find(end, start)) >= 0:
        yield text[rest:start]
        rest = stop + len(end)
    yield text[rest:]


def _fenced(text: str) -> Iterator[str]:
    """The bodies of the fenced blocks, each from the line after its opening fence to the next fence."""
    fence = text.find("```")
    while fence >= 0 and (line := text.find("\n", fence)) >= 0 and (end := text.find("```", line)) >= 0:
        yield text[line + 1 : end]
        fence = text.find("```", end + 3)


def _objects(text: str) -> list[object]:
    """The outermost JSON objects in the text, in order."""
    found: list[object] = []
    failures = end = 0
    for begun in _OBJECT.finditer(text):
        if len(found) == _MOST_OBJECTS or failures == _MOST_FAILURES:
            break
        if begun.start() >= end:
            try:
                value, end = _DECODER.raw_decode(text, begun.start())
            except (ValueError, RecursionError):
                failures += 1
            else:
                found.append(value)
    return found
