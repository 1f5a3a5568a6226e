"""Prints the results of a run, and the exit code that they deserve."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lawtrace.runs.cli.output import best_habits, print_invalid, print_json, print_note, print_result
from lawtrace.runs.cli.shortfalls import find_shortfalls, missing_tasks, verdicts_of_run
from lawtrace.runs.report.ablation_tables import ablation_tables
from lawtrace.runs.report.run_tables import pair_score_table, strength_tables, usage_table, user_score_table
from lawtrace.runs.report.terminal_tables import outcome_table, report_table
from lawtrace.runs.scoring.metrics import pair_scores, user_scores
from lawtrace.runs.web.export import TABLES, WrittenReport
from lawtrace.schemas.events import Json
from lawtrace.schemas.findings import MutationScore
from lawtrace.schemas.recipe import Recipe
from lawtrace.schemas.verdict_rows import Verdict

if TYPE_CHECKING:  # `lawtrace report` needs neither
    from lawtrace.runs.full_run import FinishedRun
    from lawtrace.runs.runner import RunResult


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
        if content.extraction is not None:
            print_result(content.extraction.sentence)
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


def end_run(run: "FinishedRun", recipe: Recipe, fail_under: float | None, *, as_json: bool) -> None:
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


def _print_run(run: "FinishedRun", shortfalls: Sequence[str], *, as_json: bool) -> None:
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


def _summary(result: "RunResult") -> dict[str, Json]:
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
