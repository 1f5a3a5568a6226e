"""What is wrong with a part of somebody's data, where the rest can be used."""

from dataclasses import dataclass

from pydantic import ValidationError


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be used: where it is, and what is wrong with it."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


def first_problem(error: ValidationError) -> str:
    """The first thing that is wrong with what was validated: the field, if it is about one, and why."""
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    why = first["msg"].removeprefix("Value error, ")
    return f"{field}: {why}" if field else why
