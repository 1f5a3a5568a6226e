"""The errors that lawtrace raises, split by who is to blame.

    LawtraceError
    ├── InputError        what the user gave: a file, a formula, a recipe, a name      (exit code 2)
    │   └── FormulaError  a formula: where it stops making sense, and what was expected
    ├── SearchError       no trace can satisfy what was asked                          (exit code 3)
    └── CannotCarryOut    the machine or an endpoint: no jail, no answer, disk full     (exit code 3)

Every message names the thing, the place and the remedy. What goes wrong inside a program or a model under test is
not an error of ours: it is data (an execution status, a recorded failure, an `invalid` verdict).
"""

from dataclasses import dataclass

from pydantic import ValidationError


class LawtraceError(Exception):
    """Base of all errors that lawtrace raises on purpose. The message is one sentence fit for a terminal."""

    exit_code = 3


class InputError(LawtraceError):
    """What the user gave cannot be used; the message says where and what to do."""

    exit_code = 2


class FormulaError(InputError):
    """A formula does not parse, or speaks of a tool or argument that the environment does not declare."""


class SearchError(LawtraceError):
    """No trace satisfies what was asked for (rules, goals, length); the message says what stands in the way."""


class OperationalError(LawtraceError):
    """The machine or an endpoint does not allow what was asked."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be used: where it is, and what is wrong with it."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


def describe_validation_error(error: ValidationError) -> str:
    """The first thing that is wrong with what was validated: the field, if it is about one, and why."""
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    why = first["msg"].removeprefix("Value error, ")
    return f"{field}: {why}" if field else why
