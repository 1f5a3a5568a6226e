"""What is wrong with a part of somebody's data, where the rest can be used."""

from dataclasses import dataclass

__all__ = ["Problem"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be used: where it is, and what is wrong with it."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"
