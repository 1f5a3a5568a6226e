"""What the stages of a run found beside their rows: one line in a file of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict

from lawtrace.agents.conversations.provenance import ExtractionFunnel
from lawtrace.solver.coverage.measures import Coverage
from lawtrace.solver.coverage.mutations import MutationScore


@dataclass(frozen=True, slots=True)
class TaskFunnel:
    """How the tasks came about: traces tried, pairs accepted, and why the others were dropped (reason -> count).

    ``rounds`` counts the accepted instructions, two a pair, by the number of rounds their conversation took.
    """

    traces: int
    accepted: int
    rounds: Mapping[int, int] = field(default_factory=dict[int, int])
    dropped: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class DeletionCheck:
    """Oracle strength: single compliance calls deleted from reference programs, and how many verdicts turned unsafe."""

    deletions: int
    turned_unsafe: int
    survivors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtractionScore:
    """Extracted rules against the gold rules (`lawtrace.environments.domains.loader.Domain.gold_file`), whose number is
    ``curated``: equivalent automata found."""

    extracted: int
    curated: int
    found: int
    restated: bool
    missed: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()
    steps: ExtractionFunnel | None = None
    """How many provisions and rules were left after each step; None where nobody counted."""

    @property
    def precision(self) -> float | None:
        return self.found / self.extracted if self.extracted else None

    @property
    def recall(self) -> float | None:
        return self.found / self.curated if self.curated else None


@dataclass(frozen=True, slots=True)
class ModelBaseline:
    """What a model's programs cover (P Table 2), which were to keep the rules of the search.

    Attributes:
        programs: how many it wrote.
        finished: how many of them ran to their end.
        compliant: how many of these kept every rule.
        coverage: of all of them, whatever they broke.
        compliant_coverage: of the compliant ones alone.
    """

    model: str
    programs: int
    finished: int
    compliant: int
    coverage: Coverage
    compliant_coverage: Coverage


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TaskFunnelRow(_Row):
    """The funnel as the stage that builds the tasks writes it."""

    schema_version: Literal["lawtrace.task_funnel/1"] = "lawtrace.task_funnel/1"
    funnel: TaskFunnel


class OracleStrengthRow(_Row):
    """How many deletions and changes of traces the verdicts notice."""

    schema_version: Literal["lawtrace.oracle_strength/1"] = "lawtrace.oracle_strength/1"
    deletions: DeletionCheck
    strength: MutationScore


class Findings(_Row):
    """How the tasks came about, how strong the oracle is, how good the extraction was. None: not measured."""

    schema_version: Literal["lawtrace.findings/1"] = "lawtrace.findings/1"
    funnel: TaskFunnel | None = None
    deletions: DeletionCheck | None = None
    strength: MutationScore | None = None
    baseline: ModelBaseline | None = None
    extraction: ExtractionScore | None = None
