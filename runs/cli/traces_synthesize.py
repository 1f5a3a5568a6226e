"""``lawtrace traces``: synthesize compliant traces and measure coverage."""

from pathlib import Path

from lawtrace.environments.errors import InputError
from lawtrace.runs.cli.output import print_outcome
from lawtrace.runs.cli.recipe_flags import RecipeFlags
from lawtrace.runs.cli.recipe_overrides import stage_recipe
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.report.text import counted
from lawtrace.runs.runner import Session
from lawtrace.runs.schemas.task_rows import TraceRow
from lawtrace.runs.stages.files import TRACES
from lawtrace.runs.stages.resolve import load_recipe_environment
from lawtrace.solver.coverage.measures import measure_coverage


def synthesize_traces(flags: RecipeFlags, *, on: str | None, out: Path, as_json: bool) -> None:
    """Synthesize compliant traces, and write them."""
    if on is not None:
        raise InputError(
            "--on: a synthesis cannot be divided, since each trace is chosen by what those before it cover; leave it "
            "out, or give each job a seed of its own"
        )
    recipe = stage_recipe(flags)
    if flags.recipe is None or "tasks.count" in flags.values:
        recipe = recipe.model_copy(update={"tasks": recipe.tasks.model_copy(update={"spare": 0})})

    async def work(session: Session) -> list[TraceRow]:
        return (await session.runner(recipe).make(TRACES))[TRACES]

    extracts = recipe.rules.source == "extracted"
    rows = run_stages(recipe, out, "traces synthesize", work, force=flags.force, sandbox=False, models=extracts)
    TRACES.write(out, rows)
    environment = load_recipe_environment(recipe).environment
    mode = recipe.tasks.mode_in(environment)
    length = "" if mode == "contrasts" else f" of {counted(recipe.tasks.length, 'call')}"
    coverage = measure_coverage(environment, ([call.event for call in row.calls] for row in rows))
    print_outcome(
        {"traces": len(rows), "atc": coverage.atc, "critical": coverage.critical_share},
        f"{counted(len(rows), 'trace')}{length}, "
        f"trace mode {mode}: ATC {coverage.atc:.1%} "
        f"({len(coverage.pairs)} of {coverage.all_pairs} pairs), S.C. coverage {coverage.critical_share:.0%}.",
        as_json=as_json,
        out=out,
    )
