"""Coverage of the reference traces of a run (P Table 2)."""

from collections.abc import Sequence
from dataclasses import dataclass

from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.tasks import Task, task_mode
from lawtrace.schemas.findings import Coverage, ModelBaseline
from lawtrace.schemas.recipe import Recipe
from lawtrace.solver.coverage.measures import measure_coverage


@dataclass(frozen=True, slots=True)
class CoverageLine:
    """A line of the coverage table (P Table 2).

    Attributes:
        model_written: coverage of the model-written baseline; None if not measured. ``compliant_only``: of its
            compliant programs alone.
    """

    scenario: str
    mode: str
    length: int
    search: Coverage
    model_written: Coverage | None = None
    compliant_only: Coverage | None = None


def coverage_lines(
    environment: Environment, tasks: Sequence[Task], recipe: Recipe, baseline: ModelBaseline | None = None
) -> tuple[CoverageLine, ...]:
    """The coverage of the reference traces (P Table 2); none for contrast pairs."""
    mode = task_mode(recipe.tasks, environment)
    if mode == "contrasts":
        return ()
    search = measure_coverage(environment, [[call.event for call in task.calls] for task in tasks])
    model_written = (None, None) if baseline is None else (baseline.coverage, baseline.compliant_coverage)
    return (CoverageLine(environment.title, mode, recipe.tasks.length, search, *model_written),)
