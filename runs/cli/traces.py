"""``lawtrace traces``: synthesize compliant traces and measure coverage."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.options import (
    ComplianceOption,
    CountOption,
    DistanceOption,
    EnvironmentOverride,
    ForbidOption,
    JsonOption,
    LengthOption,
    OutOption,
    PairsOption,
    RecipeOption,
    RequireOption,
    RulesOption,
    SeedOption,
    trace_constraints,
)
from lawtrace.runs.cli.output import print_json, print_note, print_result
from lawtrace.runs.cli.stage_runs import run_stages, stage_recipe
from lawtrace.runs.cli.traces_coverage import coverage_command
from lawtrace.runs.report.text import counted
from lawtrace.runs.runner import Session
from lawtrace.runs.schemas.task_rows import TraceRow
from lawtrace.runs.stages.pipeline import TRACES
from lawtrace.runs.stages.resolve import load_recipe_environment
from lawtrace.solver.coverage.measures import measure_coverage
from lawtrace.solver.planner.trace_spec import TraceProfile

app = typer.Typer(
    help="Synthesize compliant traces and measure coverage.",
    no_args_is_help=True,
    add_completion=False,
)


@app.command("synthesize")
def synthesize_command(
    recipe: RecipeOption = None,
    env: EnvironmentOverride = None,
    rules: RulesOption = None,
    count: CountOption = None,
    length: LengthOption = None,
    profile: Annotated[TraceProfile | None, typer.Option(help="Trace profile.")] = None,
    require: RequireOption = None,
    forbid: ForbidOption = None,
    pairs: PairsOption = None,
    compliance: ComplianceOption = None,
    distance: DistanceOption = None,
    seed: SeedOption = None,
    out: OutOption = Path("traces.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Synthesize compliant traces.

    Each has its initial state and only arguments that a caller can know. Without --count, as many as the recipe needs.
    """
    values = {
        "rules.file": rules,
        "rules.source": "curated" if rules else None,
        "tasks.count": count,
        "tasks.spare": 0 if count or recipe is None else None,
        "tasks.length": length,
        "tasks.profile": profile,
        "seed": seed,
        **trace_constraints(require, forbid, pairs, compliance, distance),
    }
    options = stage_recipe(recipe, env, values)

    async def work(session: Session) -> list[TraceRow]:
        return (await session.runner(options).make(TRACES))[TRACES]

    extracts = options.rules.source == "extracted"
    rows = run_stages(options, out, "traces synthesize", work, sandbox=False, models=extracts)
    TRACES.write(out, rows)
    environment = load_recipe_environment(options).environment
    coverage = measure_coverage(environment, ([call.event for call in row.calls] for row in rows))
    if as_json:
        print_json({"traces": len(rows), "out": str(out), "atc": coverage.atc, "critical": coverage.critical_share})
        return
    print_result(
        f"{counted(len(rows), 'trace')} of {counted(options.tasks.length, 'call')}, profile {options.tasks.profile}: "
        f"ATC {coverage.atc:.1%} ({len(coverage.pairs)} of {coverage.all_pairs} pairs), "
        f"S.C. coverage {coverage.critical_share:.0%}."
    )
    print_note(f"Written: {out}")


app.command("coverage")(coverage_command)
