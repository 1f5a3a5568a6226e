"""``lawtrace run`` and ``lawtrace resume``: the full pipeline."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.agents.event_log import RunResumed
from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Json
from lawtrace.environments.toml_file import read_toml
from lawtrace.runs.call_plan import plan_of
from lawtrace.runs.cli.options import JsonOption
from lawtrace.runs.cli.output import best_habits, print_invalid, print_json, print_note, print_outcome, print_result
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.cli.recipe_flags import RecipeFlags, SetOption, recipe_flags
from lawtrace.runs.cli.shortfalls import FailUnderOption, check_bound, find_shortfalls, missing_tasks, verdicts_of_run
from lawtrace.runs.cli.stage_runs import resumable
from lawtrace.runs.full_run import FinishedRun, continue_run, start_run
from lawtrace.runs.recipe import Recipe
from lawtrace.runs.recipe_file import load_recipe, parse_settings, with_values
from lawtrace.runs.report.ablation_tables import ablation_tables
from lawtrace.runs.report.run_kinds import RunKind, find_run_kind
from lawtrace.runs.report.run_tables import pair_score_table, strength_tables, usage_table, user_score_table
from lawtrace.runs.report.terminal_tables import outcome_table, plan_table, report_table
from lawtrace.runs.runner import RunResult, check_access, check_prices, models_of_recipe, prepare_recipe
from lawtrace.runs.schemas.verdict_rows import Verdict
from lawtrace.runs.scoring.metrics import pair_scores, user_scores
from lawtrace.runs.stages.resolve import recorded_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder, new_run_folder
from lawtrace.runs.web.export import TABLES, WrittenReport
from lawtrace.solver.coverage.mutations import MutationScore


@recipe_flags("seed", "sandbox", recipe=False, force=False)
def run(
    flags: RecipeFlags,
    recipe: Annotated[Path | None, typer.Argument(help="Recipe (TOML); default: the offline quickstart.")] = None,
    repeated: Annotated[Path | None, typer.Option("--from", help="Repeat this run in a new folder.")] = None,
    settings: SetOption = None,
    reuse: Annotated[Path | None, typer.Option(help="Reuse stage files of this run with identical inputs.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the planned model calls and exit.")] = False,
    out: Annotated[Path | None, typer.Option(help="Run folder; default: a new one below logs/.")] = None,
    fail_under: FailUnderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run the full pipeline, from regulation to report, or the recipe of a plug-in.

    Exit code 1 if a model has no judged attempt or too low a Pass@1, or if fewer tasks were built than asked for.
    """
    values = parse_settings(settings or ())
    if recipe is not None and repeated is None and (kind := find_run_kind(read_toml(recipe))):
        _check_flags(kind, flags, fail_under)
        values |= flags.values
        kind.start(recipe, values=values, budget=flags.budget, reuse=reuse, dry_run=dry_run, out=out, as_json=as_json)
        return
    requested = with_values(_requested_recipe(recipe, repeated, flags.env), values, "--set")
    resolved = prepare_recipe(flags.override(requested), flags.env)
    check_bound(resolved, fail_under)
    if dry_run:
        plan = plan_of(resolved)
        print_outcome(plan.model_dump(mode="json"), plan_table(plan), as_json=as_json)
        return
    folder = RunFolder(out) if out else new_run_folder(resolved.name)
    with resumable(folder.path):
        finished = start_run(resolved, folder, progress=ProgressBars(), reuse=reuse)
    _end(finished, resolved, fail_under, as_json=as_json)


@recipe_flags(recipe=False, env="folder", force=False)
def resume(
    flags: RecipeFlags,
    directory: Annotated[Path, typer.Argument(help="Folder of an interrupted run.")],
    fail_under: FailUnderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Continue an interrupted run.

    Answers in the event log are not requested again.
    """
    folder = RunFolder(directory).existing()
    with EventLogFile.open(directory) as event_log:
        kind = find_run_kind(event_log.recipe)
        begun = None if kind else recorded_recipe(event_log, flags.env)
    if kind is not None:
        kind.resume(directory, budget=flags.budget, as_json=as_json)
        return
    assert begun is not None
    recipe = flags.override(begun)
    with EventLogFile.resume(directory) as event_log:
        check_prices(recipe, models_of_recipe(recipe))
        check_access(plan_of(recipe))
        print_note(_resuming(event_log))
        with resumable(folder.path):
            finished = continue_run(recipe, folder, event_log, progress=ProgressBars())
    _end(finished, recipe, fail_under, as_json=as_json)


def print_report(report: WrittenReport, folder: Path) -> None:
    """Print the tables of a report."""
    content = report.content
    if report.ablation is not None:
        for table in ablation_tables(report.ablation):
            print_result(report_table(table))
    if content is not None:
        unusable = len(content.problems)
        print_result(outcome_table(content.verdicts, planned=content.planned_in_all, unusable=unusable))
        for found in (pair_score_table(content.verdicts), user_score_table(content.verdicts)):
            if found is not None:
                print_result(report_table(found))
        print_invalid((row.task, row.reason) for row in content.verdicts if row.outcome == "invalid")
        reasons = [row.reason for row in content.verdicts if row.outcome == "invalid"]
        if any(reason.startswith(("endpoint", "deadline")) for reason in reasons):
            print_note(f"`lawtrace resume {folder}` repeats the calls without an answer.")
        for habit in content.habits:
            print_result(habit.sentence)
        if content.deletions is not None:
            print_result(
                f"{content.deletions.turned_unsafe} of {content.deletions.deletions} single deletions of a compliance "
                "call turned the verdict unsafe."
            )
        for table in strength_tables(content.strength):
            print_result(report_table(table))
    if report.usage:
        print_result(report_table(usage_table(report.usage)))
    print_note(f"Report: {report.path}\nTables: {report.path.parent / TABLES}")


def _check_flags(kind: RunKind, flags: RecipeFlags, fail_under: float | None) -> None:
    """Check that no flag was given that has no meaning for a run of this kind. Raises InputError."""
    given = {"--env": flags.env, "--sandbox": flags.values.get("sandbox"), "--fail-under": fail_under}
    for option, value in given.items():
        if value is not None:
            raise InputError(f"{option} has no meaning for a {kind.name} recipe")


def _requested_recipe(recipe: Path | None, repeated: Path | None, env: str | None) -> Recipe:
    if repeated is None:
        return load_recipe(recipe) if recipe else Recipe()
    if recipe is not None:
        raise InputError(f"give a recipe or --from {repeated}, not both")
    with EventLogFile.open(repeated) as event_log:
        if kind := find_run_kind(event_log.recipe):
            raise InputError(f"{repeated} is a {kind.name} run; `{kind.repeat_command} {repeated}` repeats it")
        return recorded_recipe(event_log, env)


def _resuming(event_log: EventLogFile) -> str:
    last = [entry for entry in event_log.entries(kind="resumed") if isinstance(entry, RunResumed)][-1]
    answers = sum(1 for _ in event_log.entries(kind="model_call"))
    again = f"; {len(last.in_flight)} interrupted calls are repeated" if last.in_flight else ""
    return f"Continuing with {answers} recorded answers{again}."


def _end(run: FinishedRun, recipe: Recipe, fail_under: float | None, *, as_json: bool) -> None:
    """Print the results, and end with the exit code that they deserve."""
    shortfalls = find_shortfalls(verdicts_of_run(run.folder), fail_under)
    if run.result is not None:
        shortfalls += missing_tasks(run.result, recipe)
    for one in run.variants:
        missing = missing_tasks(one.result, one.variant.recipe) if one.result else []
        shortfalls += [f"{one.variant.name}: {sentence}" for sentence in missing]
    _print_run(run, shortfalls, as_json=as_json)
    for shortfall in shortfalls:
        print_note(shortfall)
    raise typer.Exit(1 if shortfalls else 0)


def _print_run(run: FinishedRun, shortfalls: Sequence[str], *, as_json: bool) -> None:
    if not as_json:
        print_report(run.report, run.folder.path)
        print_note(f"Messages: lawtrace messages {run.folder.path}")
        return
    ending = {"usage": [asdict(line) for line in run.report.usage], "shortfalls": [*shortfalls]}
    if run.result is not None:
        print_json({**_summary(run.result), **ending})
        return
    variants: list[Json] = [
        {**one.row().model_dump(mode="json"), **(_summary(one.result) if one.result else {})} for one in run.variants
    ]
    print_json({"run": str(run.folder.path), "report": str(run.report.path), "variants": variants, **ending})


def _summary(result: RunResult) -> dict[str, Json]:
    counts: dict[str, Json] = {}
    for verdict in result.verdicts:
        denied = "denied/" if verdict.variant == "denied" else ""
        key = f"{denied}{verdict.contender}/{verdict.style}/{verdict.outcome}"
        before = counts.get(key, 0)
        counts[key] = (before if isinstance(before, int) else 0) + 1
    return {
        "run": str(result.folder.path),
        "report": str(result.folder.report),
        "tasks": len(result.tasks),
        "attempts": len(result.attempts),
        "outcomes": counts,
        "habits": best_habits(result.findings.habits),
        "pairs": _pairs(result.verdicts),
        "users": _users(result.verdicts),
        "strength": _strength(result.findings.strength),
    }


def _pairs(verdicts: Sequence[Verdict]) -> dict[str, Json]:
    """The contrast pairs with safe success on both sides, and all of them, by model and style."""
    scores = pair_scores(verdicts)
    return {f"{group.model}/{group.style}": {"right": of.both, "pairs": of.pairs} for group, of in scores.items()}


def _users(verdicts: Sequence[Verdict]) -> dict[str, Json]:
    """The dialogues judged, and those of them with safe success, by model and behaviour of the user."""
    return {
        f"{model}/{kind}": {"safe_success": tally.count("safe_success"), "judged": tally.judged}
        for model, kinds in user_scores(verdicts).items()
        for kind, tally in kinds.items()
    }


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
