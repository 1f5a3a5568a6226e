"""Whether a call succeeded, by what was answered: the one meaning for guards and audits. Simulators declare outcomes.

A call did not succeed if it raised, or was answered by an object with ``"success": false`` or with a field ``error`` or
``isError`` that its tool does not promise, or by the text of an error. Which texts are errors is said once for a set of
tools, by patterns for their beginning; names of exceptions are always: ``NotFoundError: no such payee``.
"""

import re
from collections.abc import Collection, Sequence
from typing import Final, cast

from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import CallOutcome, Json

_EXCEPTION: Final = r"\w*(Exception|Error)\b"


def outcome_of(
    result: Json, error: str | None, promised: Collection[str] = (), error_texts: Sequence[str] = ()
) -> tuple[CallOutcome, str | None]:
    """The outcome of a call that was made, and the error if it raised.

    Args:
        result: what was answered.
        error: that was raised or reported beside it.
        promised: the fields of the result that the tool documents.
        error_texts: patterns for the beginning of texts that are errors.
    """
    if error is None and isinstance(result, str) and any(re.match(one, result) for one in (_EXCEPTION, *error_texts)):
        error = result
    if error is None and isinstance(result, dict):
        reported = (result[name] for name in ("error", "isError") if result.get(name) and name not in promised)
        error = next(map(str, reported), None)
    if error is not None:
        return "raised", error
    return "failed" if isinstance(result, dict) and result.get("success") is False else "completed", None


def read_error_texts(patterns: object, place: str) -> tuple[str, ...]:
    """Patterns for the beginning of texts that are errors. Raises InputError naming one that cannot be read."""
    found: Sequence[str] = [patterns] if isinstance(patterns, str) else cast("Sequence[str]", patterns or ())
    try:
        return tuple(re.compile(one).pattern for one in found)
    except (re.error, TypeError) as problem:
        raise InputError(f"{place}: error_texts: expected regular expressions: {problem}") from problem
