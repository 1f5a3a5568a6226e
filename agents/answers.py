"""From what a model wrote to a typed answer: tolerant about the wrapping, strict about the content."""

import json
import re
from typing import TypeVar

from pydantic import BaseModel, ValidationError

__all__ = ["UnusableAnswer", "parse_answer"]

_DECODER = json.JSONDecoder(strict=False)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_MOST_OBJECTS = 50

Answer = TypeVar("Answer", bound=BaseModel)


class UnusableAnswer(Exception):
    """The text holds no answer of the wanted type; the message says what is wrong, for the record."""


def parse_answer(text: str, answer: type[Answer]) -> Answer:
    """The typed answer in the text: a JSON object, bare or in a fence or with words around it; of several, the last.

    Raises UnusableAnswer. Nothing is ever filled in: an answer that lacks a field is not an answer.
    """
    error: Exception | None = None
    for candidate in _candidates(text):
        try:
            return answer.model_validate(_DECODER.decode(candidate))
        except (json.JSONDecodeError, ValidationError, RecursionError) as problem:
            error = error or problem
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UnusableAnswer(f"not a {answer.__name__}: {place}: {first['msg']}")
    raise UnusableAnswer(f"no JSON object for a {answer.__name__} in {text[:80]!r}")


def _candidates(text: str) -> list[str]:
    """What may be the answer, likeliest first: fenced blocks from the last, the whole text, objects from the last.

    What a model thinks aloud before it answers is left out; it often holds objects of its own.
    """
    text = _THOUGHT.sub("", text)
    fenced = re.findall(r"```(?:json)?[^\n]*\n(.*?)```", text, re.DOTALL)
    return [*fenced[::-1], text.strip(), *_objects(text)[::-1]]


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
