"""``lawtrace run`` and ``lawtrace resume``: the full pipeline."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, cast

import typer

from lawtrace.agents.event_log import RunResumed
from lawtrace.environments.errors import InputError, OperationalError
from lawtrace.environments.events import Json
from lawtrace.runs.call_plan import plan_of
from lawtrace.runs.cli.options import BudgetOption, EnvironmentFolderOption, with_budget
from lawtrace.runs.cli.output import (
    ProgressBars,
    print_invalid,
    print_json,
    print_note,
    print_result,
    silence_libraries,
)
from lawtrace.runs.cli.stage_runs import resumable
from lawtrace.runs.recipe import Recipe
from lawtrace.runs.recipe_file import load_recipe, with_values
from lawtrace.runs.report.ablation_tables import ablation_table, axis_table
from lawtrace.runs.report.content import load_run_content
from lawtrace.runs.report.terminal_tables import outcome_table, plan_table, strength_table, usage_table
from lawtrace.runs.run_kinds import find_run_kind
from lawtrace.runs.runner import (
    RunResult,
    check_access,
    check_inputs,
    check_prices,
    models_of_recipe,
    run_recipe,
    run_variants,
)
from lawtrace.runs.stages.resolve import recorded_recipe, resolve_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.model_usage import ModelUsage, measure_usage
from lawtrace.runs.store.run_folder import RunFolder, new_run_folder
from lawtrace.runs.web.export import write_ablation_reports, write_report
from lawtrace.solver.coverage.mutations import MutationScore


def run(
    recipe: Annotated[Path | None, typer.Argument(help="Recipe (TOML); default: the offline quickstart.")] = None,
    repeated: Annotated[Path | None, typer.Option("--from", help="Repeat this run in a new folder.")] = None,
    reuse: Annotated[Path | None, typer.Option(help="Reuse stage files of this run with identical inputs.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the planned model calls and exit.")] = False,
    out: Annotated[Path | None, typer.Option(help="Run folder; default: a new one below logs/.")] = None,
    env: Annotated[
        str | None,
        typer.Option(help="Override the recipe's environment: a built-in one or a folder."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Override the recipe's seed.")] = None,
    sandbox: Annotated[
        str | None,
        typer.Option(help="Override the sandbox of the recipe: bwrap, docker or docker:IMAGE."),
    ] = None,
    budget: BudgetOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Run the full pipeline, from regulation to report."""
    silence_libraries()
    resolved = with_budget(_requested_recipe(recipe, repeated, env), budget)
    resolved = with_values(resolved, {"seed": seed, "sandbox": sandbox}, "command line")
    resolved = resolve_recipe(resolved, env)
    check_inputs(resolved)
    if dry_run:
        _show_plan(resolved, as_json=as_json)
        return
    check_access(plan_of(resolved))
    folder = RunFolder(out) if out else new_run_folder(resolved.name)
    with EventLogFile.create(folder.path, recipe=resolved.model_dump(mode="json")) as event_log:
        _execute(resolved, folder, event_log, reuse=reuse, as_json=as_json)


def resume(
    directory: Annotated[Path, typer.Argument(help="Folder of an interrupted run.")],
    env: EnvironmentFolderOption = None,
    budget: BudgetOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Continue an interrupted run.

    Answers in the event log are not requested again.
    """
    silence_libraries()
    folder = RunFolder(directory).existing()
    with EventLogFile.open(directory) as event_log:
        kind = find_run_kind(event_log.recipe)
        begun = None if kind else recorded_recipe(event_log, env)
    if kind is not None:
        kind.resume(directory, budget=budget, as_json=as_json)
        return
    assert begun is not None
    recipe = with_budget(begun, budget)
    with EventLogFile.resume(directory) as event_log:
        check_prices(recipe, models_of_recipe(recipe))
        check_access(plan_of(recipe))
        print_note(_resuming(event_log))
        _execute(recipe, folder, event_log, as_json=as_json)


def report_ablation(directory: Path, env: str | None, *, quiet: bool) -> Path:
    """Write the reports of an ablation and of its variants, and print its tables. Returns the path of the report."""
    ablation, usage = write_ablation_reports(directory, env)
    report = RunFolder(directory).report
    if not quiet:
        print_result(ablation_table(ablation))
        if ablation.axes:
            print_result(axis_table(ablation))
        if usage:
            print_result(usage_table(usage))
        print_note(f"Report: {report}\nMessages: lawtrace messages {directory}")
    return report


def _requested_recipe(recipe: Path | None, repeated: Path | None, env: str | None) -> Recipe:
    if repeated is None:
        return load_recipe(recipe) if recipe else Recipe()
    if recipe is not None:
        raise InputError(f"give a recipe or --from {repeated}, not both")
    with EventLogFile.open(repeated) as event_log:
        if kind := find_run_kind(event_log.recipe):
            raise InputError(f"{repeated} is a {kind.name} run; `{kind.repeat_command} {repeated}` repeats it")
        return recorded_recipe(event_log, env)


def _execute(
    recipe: Recipe, folder: RunFolder, event_log: EventLogFile, *, reuse: Path | None = None, as_json: bool
) -> None:
    if not recipe.ablation:
        with resumable(folder.path):
            result = asyncio.run(run_recipe(recipe, folder, event_log=event_log, progress=ProgressBars(), reuse=reuse))
        _finish(result, recipe, as_json=as_json)
        return
    with resumable(folder.path):
        results = asyncio.run(run_variants(recipe, folder, event_log=event_log, progress=ProgressBars(), reuse=reuse))
    if all(one.result is None for one in results):
        raise OperationalError(f"no variant has verdicts; first failure: {results[0].ended}")
    report_ablation(folder.path, recipe.environment, quiet=as_json)
    if as_json:
        variants: list[Json] = [
            {
                **cast("dict[str, Json]", one.row().model_dump(mode="json")),
                **(_summary(one.result) if one.result else {}),
            }
            for one in results
        ]
        used = _usage(measure_usage(event_log, recipe.call_settings().budget.prices))
        print_json({"run": str(folder.path), "report": str(folder.report), "variants": variants, "usage": used})


def _show_plan(recipe: Recipe, *, as_json: bool) -> None:
    plan = plan_of(recipe)
    if as_json:
        print_json(cast("dict[str, Json]", plan.model_dump(mode="json")))
        return
    print_result(plan_table(plan))


def _resuming(event_log: EventLogFile) -> str:
    last = [entry for entry in event_log.entries(kind="resumed") if isinstance(entry, RunResumed)][-1]
    answers = sum(1 for _ in event_log.entries(kind="model_call"))
    again = f"; {len(last.in_flight)} interrupted calls are repeated" if last.in_flight else ""
    return f"Continuing with {answers} recorded answers{again}."


def _finish(result: RunResult, recipe: Recipe, *, as_json: bool) -> None:
    content = load_run_content(result.folder.path, recipe.environment)
    write_report(content, result.folder.report)
    if as_json:
        print_json({**_summary(result), "usage": _usage(content.usage)})
        return
    print_result(outcome_table(content.verdicts, planned=content.planned_in_all))
    print_invalid((row.task, row.reason) for row in content.verdicts if row.outcome == "invalid")
    if any(row.outcome == "invalid" and row.reason.startswith(("endpoint", "deadline")) for row in content.verdicts):
        print_note(f"`lawtrace resume {result.folder.path}` repeats the calls without an answer.")
    if result.findings.deletions is not None:
        deletions = result.findings.deletions
        print_result(
            f"{deletions.turned_unsafe} of {deletions.deletions} single deletions of a compliance call turned the "
            "verdict unsafe."
        )
    if result.findings.strength is not None:
        print_result(strength_table(result.findings.strength))
    if content.usage:
        print_result(usage_table(content.usage))
    print_note(f"Report: {result.folder.report}\nMessages: lawtrace messages {result.folder.path}")


def _summary(result: RunResult) -> dict[str, Json]:
    counts: dict[str, Json] = {}
    for verdict in result.verdicts:
        denied = "denied/" if verdict.family == "denied" else ""
        key = f"{denied}{verdict.contender}/{verdict.style}/{verdict.outcome}"
        before = counts.get(key, 0)
        counts[key] = (before if isinstance(before, int) else 0) + 1
    return {
        "run": str(result.folder.path),
        "report": str(result.folder.report),
        "tasks": len(result.tasks),
        "attempts": len(result.attempts),
        "outcomes": counts,
        "strength": _strength(result.findings.strength),
    }


def _usage(lines: Sequence[ModelUsage]) -> list[Json]:
    return [asdict(line) for line in lines]


def _strength(strength: MutationScore | None) -> Json:
    """The mutation score as JSON; the run's findings list the survivors."""
    if strength is None:
        return None
    return {
        "mutants": {**strength.mutants},
        "killed": {**strength.killed},
        "kills": {**strength.kills_by_rule},
        "survivors": {**Counter(survivor.reason for survivor in strength.survivors)},
    }
