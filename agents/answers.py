"""From what a model wrote to a typed answer: tolerant about the wrapping, strict about the content."""

import json
import re
from typing import TypeVar

from pydantic import BaseModel, ValidationError

__all__ = ["UnusableAnswer", "parse_answer"]

Answer = TypeVar("Answer", bound=BaseModel)


class UnusableAnswer(Exception):
    """The text holds no answer of the wanted type; the message says what is wrong, for the record."""


def parse_answer(text: str, answer: type[Answer]) -> Answer:
    """The typed answer in the text: a JSON object, bare or in a fence or with words around it.

    Raises UnusableAnswer. Nothing is ever filled in: an answer that lacks a field is not an answer.
    """
    error: Exception | None = None
    for candidate in _candidates(text):
        try:
            return answer.model_validate(json.loads(candidate))
        except (json.JSONDecodeError, ValidationError, RecursionError) as problem:
            error = error or problem
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UnusableAnswer(f"not a {answer.__name__}: {place}: {first['msg']}")
    raise UnusableAnswer(f"no JSON object for a {answer.__name__} in {text[:80]!r}")


def _candidates(text: str) -> list[str]:
    fenced = re.findall(r"```(?:json)?[^\n]*\n(.*?)```", text, re.DOTALL)
    braces = text[text.find("{") : text.rfind("}") + 1]
    return [*fenced[::-1], text.strip(), braces]
