"""The errors that lawtrace raises, by cause.

    LawtraceError
    ├── InputError           the input: a file, a formula, a recipe, a name               (exit code 2)
    │   └── FormulaError     a formula: the place, and what was expected there
    ├── SearchError          no trace satisfies the constraints                           (exit code 3)
    └── OperationalError     the machine or an endpoint: no sandbox, no answer, disk full    (exit code 3)

Every message names the thing, the place and the remedy. Failures of a program or a model under
test are not among these errors: they are data (an execution status, a recorded failure, an `invalid` verdict).
"""

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # takes half as long as all else that a command line is read with
    from pydantic import ValidationError


class LawtraceError(Exception):
    """Base class of all errors that lawtrace raises. The message is one sentence for a terminal."""

    exit_code = 3


class InputError(LawtraceError):
    """The input cannot be used. The message says where and what to do."""

    exit_code = 2


class FormulaError(InputError):
    """A formula does not parse, or names a tool or argument that the environment does not declare."""


class SearchError(LawtraceError):
    """No trace satisfies the constraints (rules, goals, length). The message says which ones conflict."""


class OperationalError(LawtraceError):
    """The machine or an endpoint does not allow the operation."""


class NotRecorded(OperationalError):
    """A recording has no answer to a request."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A part of the input that could not be used: its place and its fault."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


@contextmanager
def input_errors(path: object, *errors: type[Exception]) -> Generator[None]:
    """Raises InputError if the file cannot be read. ``errors``: others that say so, of its format."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error
    except (OSError, *errors) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise InputError(f"{path}: cannot be read: {why or error}") from error


def near_names(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest known ones, or else all."""
    names = sorted(known)
    if near := get_close_matches(name, names, 3):
        return f"; did you mean {' or '.join(map(repr, near))}?"
    return f"; known are {', '.join(names)}" if names else ""


_FAULTS: Mapping[str, str] = {
    "missing": "is missing",
    "extra_forbidden": "is not a known key",
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "must be a whole number, not {input!r}"),
    **dict.fromkeys(("float_parsing", "float_type"), "must be a number, not {input!r}"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "must be true or false, not {input!r}"),
    "string_type": "must be a text, not {input!r}",
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), "must be a list, not {input!r}"),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type"), "must be a table of keys"),
    "literal_error": "must be {expected}, not {input!r}",
    "string_pattern_mismatch": "{input!r} does not fit the pattern {pattern}",
    "string_too_short": "must have {min_length} or more characters",
    "too_short": "must have {min_length} or more items",
    "too_long": "must have {max_length} or fewer items",
    "greater_than": "must be more than {gt}, not {input!r}",
    "greater_than_equal": "must be at least {ge}, not {input!r}",
    "less_than": "must be less than {lt}, not {input!r}",
    "less_than_equal": "must be at most {le}, not {input!r}",
}
"""Kind of a validation error -> what readers are told. Other kinds keep their own message."""


def describe_validation_error(error: "ValidationError") -> str:
    """The first validation error: the field, if it concerns one, and the reason."""
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    known = {"input": _shortened(first["input"]), **first.get("ctx", {})}
    if field.endswith("schema_version") and first["type"] == "literal_error":
        return "it is {input!r}, and {expected} is read here: another lawtrace wrote it, or it is another file".format(
            **known
        )
    told = _FAULTS.get(first["type"])
    why = told.format(**known) if told else first["msg"].removeprefix("Value error, ")
    return f"{field}: {why}" if field else why


def _shortened(value: object) -> object:
    """A value that fits into a sentence."""
    return value if len(repr(value)) <= 60 else f"{type(value).__name__} of {len(repr(value))} characters"
