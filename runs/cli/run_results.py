"""The result of a run: its tables, its JSON form and the exit code."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType

from lawtrace.runs.cli.output import best_habits, invalid_notes
from lawtrace.runs.cli.thresholds import find_shortfalls, missing_tasks, verdicts_of_run
from lawtrace.runs.report.ablation_tables import ablation_tables
from lawtrace.runs.report.build_tables import usage_table
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.content import unfinished_notice
from lawtrace.runs.report.outcome_lines import outcome_lines
from lawtrace.runs.report.outcome_tables import docket_table, pair_score_table, user_score_table
from lawtrace.runs.report.tables import filled
from lawtrace.runs.report.terminal_tables import outcome_table, report_table
from lawtrace.runs.scoring.metrics import pair_scores, user_scores
from lawtrace.runs.web.export import TABLES, WrittenReport
from lawtrace.schemas.events import Json
from lawtrace.schemas.findings import MutationScore, habit_sentences

if TYPE_CHECKING:  # `lawtrace report` needs neither
    from lawtrace.runs.full_run import FinishedRun
    from lawtrace.runs.runner import RunResult


def report_shown(report: WrittenReport, folder: Path) -> Iterator[RenderableType]:
    """The tables of a report; the outcomes come last, so that they are what stays on the screen."""
    if any(line.asked or line.failures for line in report.usage):  # replayed answers cost nothing
        yield report_table(usage_table(report.usage))
    if (content := report.content) is not None:
        findings = content.findings
        planned = content.planned_in_all or sum(line.tally.planned for line in outcome_lines(content))
        if (strength := findings.strength) is not None:
            yield f"{strength.killed['drop']} of {strength.mutants['drop']} dropped compliance steps break a rule."
        if findings.extraction is not None:
            yield findings.extraction.sentence
        yield from habit_sentences(findings.habits)
        yield from invalid_notes((row.task, row.reason) for row in content.verdicts if row.outcome == "invalid")
        reasons = [row.reason for row in content.verdicts if row.outcome == "invalid"]
        if any(reason.startswith(("endpoint", "deadline")) for reason in reasons):
            yield Note(f"`lawtrace resume {folder}` repeats the calls without an answer.")
        yield from map(
            report_table,
            filled(*(table(content.verdicts) for table in (pair_score_table, docket_table, user_score_table))),
        )
        yield outcome_table(content.verdicts, planned=planned, unusable=len(content.problems))
    if report.ablation is not None:
        yield from map(report_table, ablation_tables(report.ablation))
    yield from unfinished_notice(folder, report.content, report.ablation)
    yield Note(f"Report: {report.path}\nTables: {report.path.parent / TABLES}")


def run_result_of(run: "FinishedRun", fail_under: float | None) -> CommandResult:
    """The results of a run; exit code 1 for shortfalls."""
    shortfalls = find_shortfalls(verdicts_of_run(run.folder), fail_under)
    summary: dict[str, Json] = {"run": str(run.folder.path), "report": str(run.report.path)}
    variants: list[Json] = []
    for one in run.variants:
        missing, name = missing_tasks(one.result) if one.result else [], one.row.name
        shortfalls += [f"{name}: {sentence}" if name else sentence for sentence in missing]
        results = _summary(one.result) if one.result else {}
        if name:
            variants.append({**one.row.model_dump(mode="json"), **results})
            summary["variants"] = variants
        else:
            summary = results
    ending = {"usage": [asdict(line) for line in run.report.usage], "shortfalls": shortfalls}
    messages = Note(f"Messages: lawtrace messages {run.folder.path}")
    shown = chain(report_shown(run.report, run.folder.path), (messages,))
    return CommandResult({**summary, **ending}, shown, notes=shortfalls, exit_code=1 if shortfalls else 0)


def _summary(result: "RunResult") -> dict[str, Json]:
    counts = Counter(f"{row.contender}/{row.style}/{row.outcome}" for row in result.verdicts)
    return {
        "run": str(result.folder.path),
        "report": str(result.folder.report),
        "tasks": len(result.tasks),
        "attempts": len(result.attempts),
        "outcomes": {**counts},
        "habits": best_habits(result.findings.habits),
        "pairs": {
            f"{group.model}/{group.style}": {"right": of.both, "pairs": of.pairs}
            for group, of in pair_scores(result.verdicts).items()
        },
        "users": {
            f"{model}/{kind}": {"safe_success": tally.count("safe_success"), "judged": tally.judged}
            for model, kinds in user_scores(result.verdicts).items()
            for kind, tally in kinds.items()
        },
        "strength": _strength(result.findings.strength),
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
