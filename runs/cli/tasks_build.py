"""``lawtrace tasks build``: traces to tasks."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from lawtrace.environments.errors import InputError
from lawtrace.runs.cli.options import (
    BudgetOption,
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
    SandboxOption,
    SeedOption,
    trace_constraints,
    with_budget,
)
from lawtrace.runs.cli.output import print_json, print_note, print_result, silence_libraries
from lawtrace.runs.cli.stage_runs import run_stages, stage_recipe
from lawtrace.runs.runner import Session
from lawtrace.runs.schemas.task_rows import FAMILIES, Family, TraceRow
from lawtrace.runs.stages.pipeline import TASK_FUNNEL, TASKS, TRACES
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.store.stage_store import Products
from lawtrace.solver.planner.trace_spec import TraceProfile


def build_command(
    traces: Annotated[Path | None, typer.Option(help="Trace file (JSON lines); default: synthesize traces.")] = None,
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
    family: Annotated[
        Literal["ordinary", "denied", "both"] | None,
        typer.Option(help="Build ordinary tasks, denied sessions, or both."),
    ] = None,
    sandbox: SandboxOption = None,
    budget: BudgetOption = None,
    out: OutOption = Path("tasks.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Build tasks from traces, with checked instructions.

    Instructions are written in both styles and checked by code and by the reviewing roles.

    Exit code 1 if fewer tasks than requested were accepted.
    """
    silence_libraries()
    constraints = trace_constraints(require, forbid, pairs, compliance, distance)
    if traces is not None and any(value is not None for value in constraints.values()):
        raise InputError("--traces cannot be combined with --require, --forbid, --pair, --compliance or --distance")
    values = {
        "rules.file": rules,
        "rules.source": "curated" if rules else None,
        "tasks.count": count,
        "tasks.length": length,
        "tasks.profile": profile,
        "tasks.families": _families(family),
        "seed": seed,
        "sandbox": sandbox,
        **constraints,
    }
    options = with_budget(stage_recipe(recipe, env, values), budget)
    given = None if traces is None else read_rows(traces, TraceRow)

    async def work(session: Session) -> Products:
        runner = session.runner(options)
        if given is not None:
            runner.give(TRACES, given)
        return await runner.make(TASKS, incomplete=True)

    products = run_stages(options, out, "tasks build", work)
    tasks, (funnel,) = products[TASKS], products[TASK_FUNNEL]
    TASKS.write(out, tasks)
    if given is None:
        TRACES.write(out.with_suffix(".traces.jsonl"), products[TRACES])
    tried, dropped = funnel.funnel.traces, funnel.funnel.dropped
    if as_json:
        print_json({"tasks": len(tasks), "traces": tried, "dropped": {**dropped}, "out": str(out)})
    else:
        reasons = "".join(f"\n  dropped {number}: {reason}" for reason, number in sorted(dropped.items()))
        print_result(f"{len(tasks)} paired tasks from {tried} traces.{reasons}")
        print_note(f"Written: {out}")
    raise typer.Exit(0 if len(tasks) == options.tasks.count * len(options.tasks.families) else 1)


def _families(family: Literal["ordinary", "denied", "both"] | None) -> tuple[Family, ...] | None:
    match family:
        case None:
            return None
        case "both":
            return FAMILIES
        case _:
            return (family,)
