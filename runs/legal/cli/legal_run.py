"""``lawtrace legal run``, and the run kind of legal runs, for the commands and pages of the core."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.environments.legal.dataset import LegalDataset
from lawtrace.prompts.loader import prompts_of
from lawtrace.runs.cli.output_files import check_folder
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.cli.recipe_flags import MODEL_CALLS, RecipeFlags, override_calls, recipe_flags, with_budget
from lawtrace.runs.cli.stage_runs import resumable
from lawtrace.runs.legal.accuracy import compare_answers
from lawtrace.runs.legal.legal_files import ANSWERS, LEGAL_OUTCOMES, AnswerRow
from lawtrace.runs.legal.legal_plan import LegalPlan, plan_legal_calls
from lawtrace.runs.legal.legal_recipe import LegalRecipe, check_prompts, load_legal_recipe, recorded_recipe
from lawtrace.runs.legal.legal_report import LegalContent, identify_legal, load_legal_content, make_legal_report
from lawtrace.runs.legal.legal_stages import load_cases_with_questions, load_recorded_dataset, run_legal
from lawtrace.runs.legal.report_tables import accuracy_table, task_table
from lawtrace.runs.recipe_checks import check_access, check_prices
from lawtrace.runs.recipe_file import check_parameter_models, read_prompt_files, with_values
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.labels import OUTCOME_LABELS, OutcomeLabel
from lawtrace.runs.report.run_kinds import GradedUnit, RunKind, ShownReport, find_run_kind
from lawtrace.runs.report.tables import filled
from lawtrace.runs.report.terminal_tables import calls_table, report_table
from lawtrace.runs.scoring.statistics import PairedComparison
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder, new_run_folder
from lawtrace.runs.web.export import TABLES, export_report
from lawtrace.schemas.errors import InputError


@recipe_flags(*MODEL_CALLS, "seed", recipe=False, env=None, force=False)
def run(
    flags: RecipeFlags,
    cases: Annotated[Path | None, typer.Option(help="Dataset: a folder or a file.")] = None,
    recipe: Annotated[Path | None, typer.Option(help="Legal recipe (TOML); default: 16 cells, offline.")] = None,
    repeated: Annotated[Path | None, typer.Option("--from", help="Repeat this run with its recipe and cases.")] = None,
    reuse: Annotated[Path | None, typer.Option(help="Reuse stage files of this run with identical inputs.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the planned model calls and exit.")] = False,
    out: Annotated[Path | None, typer.Option(help="Run folder; default: a new one below logs/.")] = None,
) -> CommandResult:
    """Answer all questions in every cell of the grid."""
    resolved = override_calls(flags, _load_recipe(recipe, repeated))
    dataset = _load_cases(cases, repeated, resolved, str(recipe))
    return _start(resolved, dataset, reuse=reuse, dry_run=dry_run, out=out)


def _start(
    recipe: LegalRecipe, dataset: LegalDataset, *, reuse: Path | None, dry_run: bool, out: Path | None
) -> CommandResult:
    """Run the recipe on the cases, or print its plan. Its log has no path of the cases: the run has a copy of them."""
    prompts = read_prompt_files(recipe.prompts, Path())  # those of --set
    resolved = recipe.model_copy(update={"cases": None, "prompts": prompts})
    check_prompts(prompts)
    if "offline" in resolved.models and prompts_of(prompts)["meta_llm"].verbatim:
        raise InputError("models: 'offline' cannot read the published prompt file; name a model")
    plan = _plan(resolved, dataset)
    if dry_run:
        return _plan_result(plan)
    check_access(plan, out.name if out else resolved.name)
    if out is not None:
        check_folder(out)
    folder = RunFolder(out) if out else new_run_folder(resolved.name)
    with EventLogFile.create(folder.path, recipe=resolved.model_dump(mode="json")) as event_log:
        return _execute(resolved, dataset, folder, event_log, reuse=reuse)


def _load_recipe(recipe: Path | None, repeated: Path | None) -> LegalRecipe:
    if repeated is None:
        return load_legal_recipe(recipe) if recipe else LegalRecipe()
    if recipe is not None:
        raise InputError(f"--recipe and --from {repeated} exclude each other")
    with EventLogFile.open(repeated) as event_log:
        if find_run_kind(event_log.recipe) is None:
            raise InputError(f"{repeated} is not a legal run; `lawtrace run --from {repeated}` repeats it")
        return recorded_recipe(event_log.recipe)


def _load_cases(cases: Path | None, repeated: Path | None, recipe: LegalRecipe, name: str) -> LegalDataset:
    """The cases given, those of the repeated run with their issues, or those that the recipe names."""
    if cases is not None:
        return load_cases_with_questions(cases)
    if repeated is not None:
        return load_recorded_dataset(repeated, "add --cases CASES")
    if recipe.cases is None:
        raise InputError("no cases: give --cases CASES, name them in the recipe, or give --from RUN to repeat a run")
    return _cases_of(recipe, name)


def _cases_of(recipe: LegalRecipe, name: str) -> LegalDataset:
    """The cases that a recipe names. Raises InputError with the way to give them; ``name``: of the recipe."""
    if recipe.cases is None:
        raise InputError(f'{name}: no cases; set cases = "FOLDER" in it, or add --set cases=FOLDER')
    if not recipe.cases.exists():
        raise InputError(
            f"{name}: cases: there is no {recipe.cases}; put a dataset there (docs/legal/README.md), or add --set "
            "cases=FOLDER"
        )
    return load_cases_with_questions(recipe.cases)


def _plan(recipe: LegalRecipe, dataset: LegalDataset) -> LegalPlan:
    """The calls that the recipe needs. Raises InputError if a model has no price and the budget needs it."""
    plan = plan_legal_calls(recipe, dataset.cases)
    check_prices(recipe, [line.model for line in plan.calls])
    return plan


def _plan_result(plan: LegalPlan) -> CommandResult:
    grid = f"{plan.cells:,} cells with {plan.questions:,} questions on {plan.cases:,} cases each."
    expected = "Expected: no reply is unusable; less where cells share a prompt, or a team stays below its limits."
    table = calls_table(plan, f"{grid} {expected} At most: every call is made twice.")
    return CommandResult(plan.model_dump(mode="json"), [table])


def _execute(
    recipe: LegalRecipe, dataset: LegalDataset, folder: RunFolder, event_log: EventLogFile, *, reuse: Path | None = None
) -> CommandResult:
    progress = ProgressBars()
    with resumable(folder.path):
        running = run_legal(recipe, folder, event_log=event_log, dataset=dataset, progress=progress, reuse=reuse)
        asyncio.run(running)
    return _result(folder.path)


def _write_report(content: LegalContent, directory: Path) -> ShownReport:
    path = RunFolder(directory).report
    export_report(make_legal_report(content), path)
    best = content.best
    accuracy = f"{100 * best.accuracy:.2f} % of {best.questions} questions"
    shown = (
        report_table(accuracy_table(content.lines)),
        *map(report_table, filled(task_table(content.tasks))),
        f"Best baseline without a model: {best.name}, {accuracy}.",
        Note(f"Report: {path}\nTables: {path.parent / TABLES}\nMessages: lawtrace messages {directory}"),
    )
    return ShownReport(path, shown)


def _result(directory: Path) -> CommandResult:
    content = load_legal_content(directory)
    report = _write_report(content, directory)
    cells = [
        {
            **asdict(line.cell),
            "accuracy": line.accuracy.value,
            "interval": (bounds := line.accuracy.interval) and [bounds.low, bounds.high],
            "outcomes": {outcome: line.counts.get(outcome, 0) for outcome in LEGAL_OUTCOMES},
        }
        for line in content.lines
    ]
    tasks = [
        {"task": one.task, "metric": one.metric, "score": one.value, "of": one.of, **asdict(one.cell)}
        for one in content.tasks
    ]
    json = {
        "run": str(directory),
        "report": str(report.path),
        "answers": len(content.answers),
        "cells": cells,
        "tasks": tasks,
    }
    return CommandResult(json, report.shown)


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
        cases = _cases_of(loaded, str(recipe))
        return _start(loaded, cases, reuse=reuse, dry_run=dry_run, out=out)

    def resume(self, folder: Path, *, budget: list[str] | None, on: str | None) -> CommandResult:
        _refuse_division(on)
        with EventLogFile.resume(folder) as event_log:
            recipe = with_budget(recorded_recipe(event_log.recipe), budget)
            dataset = load_recorded_dataset(folder, "start a new one")
            check_access(_plan(recipe, dataset), folder.name)
            return _execute(recipe, dataset, RunFolder(folder), event_log)

    def write_report(self, folder: Path) -> ShownReport:
        return _write_report(load_legal_content(folder), folder)

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
    unit = f"{row.cell.unit}, trial {row.trial + 1}" if row.trial else row.cell.unit
    conversation = row.conversation.conversation_id
    return GradedUnit(row.question, unit, row.case, row.model, row.outcome, row.reason, conversation)


LEGAL_RUNS: RunKind = LegalRuns()
