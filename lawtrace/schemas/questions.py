"""Open questions about a law: points on which careful lawyers differ, their readings, and what verdicts turn on."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lawtrace.schemas.models import StrictModel

RuleSource = Literal["law", "manual"]
"""Who demands what a rule says: the legislator, or the owner of the desk in its manual."""

TraceOutcome = Literal["kept", "broken", "undetermined"]
"""What a trace does to a rule, or to all rules of one interpretation."""

Legality = Literal["lawful", "unlawful", "arguable", "undetermined"]
"""What a trace is under all interpretations; see `lawtrace.solver.interpretations`."""


Under = Mapping[str, Annotated[tuple[str, ...], Field(min_length=1)]]
"""By the id of an open question, the readings under which something holds; it holds under all readings of others."""


class Reading(StrictModel):
    """One admissible answer to an open question.

    Attributes:
        id: short and unique in its question.
        means: what the provision then says.
        basis: the words, the guidance or the case that it rests on.
        excludes: by the id of another question, the readings that cannot be held together with this one.
    """

    id: str = Field(min_length=1)
    means: str = Field(min_length=1)
    basis: str = ""
    excludes: Mapping[str, tuple[str, ...]] = Field(default={}, exclude_if=lambda value: not value)


class Question(StrictModel):
    """A point on which careful lawyers differ about a provision.

    Attributes:
        id: short and unique in its rule set.
        provisions: the citations of the provisions that it is about.
        asks: the question, in a sentence.
        readings: its admissible answers.
    """

    id: str = Field(min_length=1)
    provisions: tuple[str, ...] = Field(min_length=1)
    asks: str = Field(min_length=1)
    readings: tuple[Reading, ...] = Field(min_length=2)

    @model_validator(mode="after")
    def _has_distinct_readings(self) -> Self:
        names = [reading.id for reading in self.readings]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"has two readings {twice!r}")
        return self


class ReadingsVerdict(StrictModel):
    """What a trace does to the rules that depend on questions which are decided together.

    Attributes:
        questions: their ids.
        outcomes: for each combination of their readings that can be held, the readings in the order of the questions,
            and the outcome.
        missed: of an attempt, those of these combinations under which it reaches no end of its task, if that depends on
            them.
    """

    questions: tuple[str, ...]
    outcomes: tuple[tuple[tuple[str, ...], TraceOutcome], ...]
    missed: tuple[tuple[str, ...], ...] = Field(default=(), exclude_if=lambda value: not value)

    def readings_with(self, outcome: TraceOutcome) -> tuple[tuple[str, ...], ...]:
        """The combinations of readings with an outcome."""
        return tuple(readings for readings, found in self.outcomes if found == outcome)

    @property
    def goal(self) -> Self:
        """The same of the goal of an attempt: kept where it is reached."""
        outcomes = ((readings, "broken" if readings in self.missed else "kept") for readings, _ in self.outcomes)
        return self.model_copy(update={"outcomes": tuple(outcomes)})

    @property
    def successes(self) -> tuple[tuple[tuple[str, ...], TraceOutcome], ...]:
        """The same of the success of an attempt: broken where it misses the goal."""
        return tuple((readings, "broken" if readings in self.missed else found) for readings, found in self.outcomes)
