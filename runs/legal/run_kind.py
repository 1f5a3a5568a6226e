"""The run kind of legal runs, for the commands and pages of the core."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from lawtrace.runs.cli.recipe_flags import with_budget
from lawtrace.runs.legal.accuracy import compare_answers
from lawtrace.runs.legal.cli.legal_run import load_recipe_cases, report_legal, resume_legal, start_legal
from lawtrace.runs.legal.legal_files import ANSWERS, AnswerRow
from lawtrace.runs.legal.legal_recipe import load_legal_recipe
from lawtrace.runs.legal.legal_report import identify_legal
from lawtrace.runs.recipe_file import check_parameter_models, with_values
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.report.labels import OUTCOME_LABELS, OutcomeLabel
from lawtrace.runs.report.run_kinds import GradedUnit, RunKind, ShownReport
from lawtrace.runs.scoring.statistics import PairedComparison
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import ConversationKey
from lawtrace.schemas.errors import InputError


class LegalRuns(RunKind):
    """The `RunKind` of legal runs: a graded unit is the answer to a question in a cell of the grid."""

    name = "legal"
    task_name = "question"
    unit_name = "configuration"
    intervals = "t over cases, cluster-robust"
    test = "the same distribution; of a single case exact McNemar"
    outcomes: Mapping[str, OutcomeLabel] = {
        "correct": OutcomeLabel("correct", "✓", "the right option", "#009E73", ""),
        "wrong": OutcomeLabel("wrong", "✗", "another option", "#E69F00", "///"),
        "refused": OutcomeLabel("refused", "○", "the model declined to answer", "#56B4E9", ""),
        "error": OutcomeLabel("error", "!", "the reply is not an answer", "#CC79A7", "xxx"),
        "invalid": OUTCOME_LABELS["invalid"],
    }
    graded_file = ANSWERS.name
    repeat_command = "lawtrace legal run --from"

    def start(
        self,
        recipe: Path,
        *,
        values: Mapping[str, object],
        budget: list[str] | None,
        reuse: Path | None,
        dry_run: bool,
        out: Path | None,
        on: str | None,
    ) -> CommandResult:
        written = load_legal_recipe(recipe)
        _refuse_division(on)
        loaded = with_budget(with_values(written, values, "command line"), budget)
        check_parameter_models(written, loaded)
        cases = load_recipe_cases(loaded, str(recipe))
        return start_legal(loaded, cases, reuse=reuse, dry_run=dry_run, out=out)

    def resume(self, folder: Path, *, budget: list[str] | None, on: str | None) -> CommandResult:
        _refuse_division(on)
        return resume_legal(folder, budget=budget)

    def write_report(self, folder: Path) -> ShownReport:
        return report_legal(folder)

    def identify(self, event_log: EventLogFile) -> dict[str, str]:
        return identify_legal(event_log)

    def graded_units(self, folder: Path) -> list[GradedUnit]:
        path = folder / ANSWERS.name
        return [_graded(row) for row in ANSWERS.read(path)] if path.exists() else []

    def compare(self, pairs: Sequence[tuple[GradedUnit, GradedUnit]]) -> PairedComparison:
        return compare_answers(
            (before.cluster, before.task, before.outcome == "correct", after.outcome == "correct")
            for before, after in pairs
        )


def _refuse_division(on: str | None) -> None:
    if on is not None:
        raise InputError("--on: a legal run waits for endpoints and is not divided; set conversation.concurrency")


def _graded(row: AnswerRow) -> GradedUnit:
    unit = row.cell.unit
    conversation = ConversationKey(
        stage="answers", task=row.question, unit=row.asked_in or unit, tested_model=row.model, trial=row.trial
    )
    named = f"{unit}, trial {row.trial + 1}" if row.trial else unit
    return GradedUnit(row.question, named, row.case, row.model, row.outcome, row.reason, conversation.id)


LEGAL_RUNS: RunKind = LegalRuns()
