"""The errors that lawtrace raises, by cause.

    LawtraceError
    ├── InputError           the input: a file, a formula, a recipe, a name               (exit code 2)
    │   └── FormulaError     a formula: the place, and what was expected there
    ├── SearchError          no trace satisfies the constraints                           (exit code 3)
    └── OperationalError     the machine or an endpoint: no jail, no answer, disk full    (exit code 3)

Every message names the thing, the place and the remedy. Failures of a program or a model under
test are not among these errors: they are data (an execution status, a recorded failure, an `invalid` verdict).
"""

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Problem:
    """A part of the input that could not be used: its place and its fault."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


def describe_validation_error(error: ValidationError) -> str:
    """The first validation error: the field, if it concerns one, and the reason."""
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    why = first["msg"].removeprefix("Value error, ")
    return f"{field}: {why}" if field else why
