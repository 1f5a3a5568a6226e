"""Coverage of the reference traces of a run, with the ceilings of both trace modes (P Table 2)."""

from collections.abc import Sequence
from dataclasses import dataclass

from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.tasks import Task, task_mode
from lawtrace.schemas.findings import Coverage, ModelBaseline
from lawtrace.schemas.recipe import Recipe
from lawtrace.schemas.trace_options import TRACE_MODES, ToolPair, TraceMode
from lawtrace.solver.coverage.measures import measure_coverage
from lawtrace.solver.planner.product import Product
from lawtrace.solver.planner.trace_spec import TraceSpec
from lawtrace.solver.rules import Rule


@dataclass(frozen=True, slots=True)
class CoverageLine:
    """A line of the coverage table (P Table 2): the coverage of a set of traces and the ceiling of its trace mode.

    Attributes:
        model_written: coverage of the model-written baseline; None if not measured. ``compliant_only``: of its
            compliant programs alone.
        possible_pairs: the feasible pairs, which make the ceiling.
    """

    scenario: str
    mode: str
    length: int
    search: Coverage
    possible_pairs: frozenset[ToolPair]
    model_written: Coverage | None = None
    compliant_only: Coverage | None = None

    @property
    def missing_pairs(self) -> tuple[ToolPair, ...]:
        """The feasible pairs that no trace covers."""
        return tuple(sorted(self.possible_pairs - self.search.pairs))


def coverage_lines(
    environment: Environment,
    rules: Sequence[Rule],
    tasks: Sequence[Task],
    recipe: Recipe,
    baseline: ModelBaseline | None = None,
) -> tuple[CoverageLine, ...]:
    """The coverage of the reference traces and the ceilings of both trace modes (P Table 2); none for contrast pairs.

    Traces of the mode *tasks* are legal, so they also count towards the ceiling of *coverage*, but not the other way
    round.
    """
    made_for = task_mode(recipe.tasks, environment)
    if made_for == "contrasts":
        return ()
    modes = TRACE_MODES if made_for == "tasks" else (made_for,)
    traces = [[call.event for call in task.calls] for task in tasks]
    return tuple(
        CoverageLine(
            environment.title,
            mode,
            recipe.tasks.length,
            measure_coverage(environment, traces),
            _possible_pairs(environment, rules, mode, recipe.tasks.length),
            None if baseline is None else baseline.coverage,
            None if baseline is None else baseline.compliant_coverage,
        )
        for mode in modes
    )


def _possible_pairs(
    environment: Environment, rules: Sequence[Rule], mode: TraceMode, length: int
) -> frozenset[ToolPair]:
    asked = TraceSpec(environment, tuple(rules), mode)
    return frozenset(Product(environment, asked.automata(length)).feasible_pairs(length))
