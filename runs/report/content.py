"""What a report is made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lawtrace.environments.problems import Problem
from lawtrace.runs.findings import BuildFunnel, DeletionCheck, ExtractionScore
from lawtrace.runs.grading.verdict import VerdictRow
from lawtrace.runs.metrics import group_verdicts
from lawtrace.runs.published.comparison import Comparison
from lawtrace.runs.record.usage import Usage
from lawtrace.runs.stages.rows import AttemptRow, TaskRow
from lawtrace.solver.coverage import Coverage
from lawtrace.solver.masking import Style
from lawtrace.solver.mutations import Strength
from lawtrace.solver.walks import Pair


@dataclass(frozen=True, slots=True)
class CoverageLine:
    """One line of the coverage table (P Table 2): a set of traces measured, and the ceiling of its profile.

    Attributes:
        model_written: the coverage of the model-written baseline, or None where nobody measured it.
        tools: all tools of the environment, for the map of adjacent pairs; empty shows those that occur.
        possible_pairs: the pairs that count towards the ceiling; None if only their number is known.
        occurrences: in how many traces each pair occurs; empty where that was not counted.
    """

    scenario: str
    profile: str
    length: int
    search: Coverage
    ceiling_pairs: int
    model_written: Coverage | None = None
    tools: tuple[str, ...] = ()
    possible_pairs: frozenset[Pair] | None = None
    occurrences: Mapping[Pair, int] = field(default_factory=dict[Pair, int])


@dataclass(frozen=True, slots=True)
class ReportContent:
    """Everything that the report of one run shows.

    Attributes:
        title: heading of the report.
        settings: name -> value, what the run was (environment, seed, models...).
        scenarios: environment name -> title, for headings (``banking`` -> ``Financial``).
        profiles: imported tasks under every grading profile; ``verdicts`` are then the strict ones.
        trials: how often each model was to try each task in each style.
        critical_tools: environment name -> how many critical tools it offers (the API density of P 5.3).
        problems: rows that could not be used, with file and line; they are invalid, and no rate has them.
        usage: what the run used of models; empty where nobody was asked.
        notices: sentences that must be seen first (for instance that models are baselines and no LLM took part).
    """

    title: str
    settings: Mapping[str, str]
    scenarios: Mapping[str, str]
    tasks: tuple[TaskRow, ...]
    attempts: tuple[AttemptRow, ...]
    verdicts: tuple[VerdictRow, ...]
    trials: int = 1
    coverage: tuple[CoverageLine, ...] = ()
    funnel: BuildFunnel | None = None
    deletions: DeletionCheck | None = None
    strength: Strength | None = None
    extraction: ExtractionScore | None = None
    profiles: Comparison | None = None
    critical_tools: Mapping[str, int] = field(default_factory=dict[str, int])
    problems: tuple[Problem, ...] = ()
    notices: tuple[str, ...] = ()
    usage: tuple[Usage, ...] = ()

    def planned(self, scenario: str, style: Style) -> int:
        """How many attempts each model was to make in that scenario and style."""
        return self.trials * sum(task.scenario == scenario and style in task.styles for task in self.tasks)

    @property
    def planned_in_all(self) -> int:
        """The same of all that have any verdict."""
        groups = group_verdicts(self.verdicts, {task.id: task.scenario for task in self.tasks})
        return sum(self.planned(group.environment, group.style) for group in groups)
