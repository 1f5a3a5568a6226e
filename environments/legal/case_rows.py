"""Cases from the rows of files: rows that cannot be used are reported, and the others kept."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from lawtrace.environments.legal.case import Case, Chunk, Question
from lawtrace.schemas.errors import Problem, describe_validation_error

PlacedRow = tuple[str, Mapping[str, Any]]
"""A row with its place for messages."""


@dataclass(slots=True)
class GrowingCase:
    """A case under construction. ``seen``: its rows so far by kind, bad ones too, so that correcting one renames
    nothing."""

    chunks: list[Chunk] = field(default_factory=list[Chunk])
    questions: list[Question] = field(default_factory=list[Question])
    seen: Counter[str] = field(default_factory=Counter[str])


def build_cases(
    rows: Iterable[PlacedRow], add: Callable[[Mapping[str, Any], Mapping[str, GrowingCase]], None]
) -> tuple[tuple[Case, ...], tuple[Problem, ...]]:
    """The cases in the order in which they appear, and the rows that could not be used.

    ``add`` puts a row into its case, which is made on first use. It raises ValueError for a row that cannot be used.
    """
    growing: dict[str, GrowingCase] = defaultdict(GrowingCase)
    problems: list[Problem] = []
    for place, raw in rows:
        try:
            add(raw, growing)
        except ValueError as error:
            why = describe_validation_error(error) if isinstance(error, ValidationError) else str(error)
            problems.append(Problem(place, why))
    cases = (Case(id=name, chunks=tuple(of.chunks), questions=tuple(of.questions)) for name, of in growing.items())
    return tuple(cases), tuple(problems)
