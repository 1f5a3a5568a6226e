"""``lawtrace legal run``, and resuming and reporting legal runs."""

import asyncio
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
from lawtrace.runs.legal.legal_files import LEGAL_OUTCOMES
from lawtrace.runs.legal.legal_plan import LegalPlan, plan_legal_calls
from lawtrace.runs.legal.legal_recipe import LegalRecipe, check_prompts, load_legal_recipe, recorded_recipe
from lawtrace.runs.legal.legal_report import LegalContent, load_legal_content, make_legal_report
from lawtrace.runs.legal.legal_runner import load_cases_with_questions, load_recorded_dataset, run_legal
from lawtrace.runs.legal.report_tables import accuracy_table, task_table
from lawtrace.runs.recipe_checks import check_access, check_prices
from lawtrace.runs.recipe_file import read_prompt_files
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.run_kinds import ShownReport, find_run_kind
from lawtrace.runs.report.tables import filled
from lawtrace.runs.report.terminal_tables import calls_table, report_table
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
    return start_legal(resolved, dataset, reuse=reuse, dry_run=dry_run, out=out)


def start_legal(
    recipe: LegalRecipe, dataset: LegalDataset, *, reuse: Path | None, dry_run: bool, out: Path | None
) -> CommandResult:
    """Run the recipe on the cases, or print its plan. Its log has no path of the cases:
    the run has a copy of them."""
    prompts = read_prompt_files(recipe.prompts, Path())  # those of --set
    resolved = recipe.model_copy(update={"cases": None, "prompts": prompts})
    check_prompts(prompts)
    if "offline" in resolved.models and prompts_of(prompts)["meta_llm"].verbatim:
        raise InputError("models: 'offline' cannot read the published prompt file; name a model")
    plan = plan_legal_calls(resolved, dataset.cases)
    check_prices(resolved, [line.model for line in plan.calls])
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
    return load_recipe_cases(recipe, name)


def load_recipe_cases(recipe: LegalRecipe, name: str) -> LegalDataset:
    """The cases that a recipe names. Raises InputError with the way to give them; ``name``: of the recipe."""
    if recipe.cases is None:
        raise InputError(f'{name}: no cases; set cases = "FOLDER" in it, or add --set cases=FOLDER')
    if not recipe.cases.exists():
        raise InputError(
            f"{name}: cases: there is no {recipe.cases}; put a dataset there (docs/legal/README.md), or add --set "
            "cases=FOLDER"
        )
    return load_cases_with_questions(recipe.cases)


def _plan_result(plan: LegalPlan) -> CommandResult:
    grid = f"{plan.cells:,} cells with {plan.questions:,} questions on {plan.cases:,} cases each."
    expected = "Expected: no reply is unusable; less where cells share a prompt, or a team stays below its limits."
    table = calls_table(plan, f"{grid} {expected} At most: every call is made twice.")
    return CommandResult(plan.model_dump(mode="json"), [table])


def resume_legal(directory: Path, *, budget: list[str] | None) -> CommandResult:
    """Continue an interrupted run; ``budget`` overrides the recipe's."""
    folder = RunFolder(directory)
    with EventLogFile.resume(directory) as event_log:
        recipe = with_budget(recorded_recipe(event_log.recipe), budget)
        dataset = load_recorded_dataset(directory, "start a new one")
        plan = plan_legal_calls(recipe, dataset.cases)
        check_prices(recipe, [line.model for line in plan.calls])
        check_access(plan, directory.name)
        return _execute(recipe, dataset, folder, event_log)


def _execute(
    recipe: LegalRecipe, dataset: LegalDataset, folder: RunFolder, event_log: EventLogFile, *, reuse: Path | None = None
) -> CommandResult:
    progress = ProgressBars()
    with resumable(folder.path):
        running = run_legal(recipe, folder, event_log=event_log, dataset=dataset, progress=progress, reuse=reuse)
        answers = asyncio.run(running)
    return _result(folder.path, len(answers))


def report_legal(directory: Path) -> ShownReport:
    """Write the report of a finished run."""
    return _write_report(load_legal_content(directory), directory)


def _write_report(content: LegalContent, directory: Path) -> ShownReport:
    path = RunFolder(directory).report
    export_report(make_legal_report(content), path)
    best = content.tables.best
    accuracy = f"{100 * best.accuracy:.2f} % of {best.questions} questions"
    shown = (
        report_table(accuracy_table(content.tables)),
        *map(report_table, filled(task_table(content.tasks))),
        f"Best baseline without a model: {best.name}, {accuracy}.",
        Note(f"Report: {path}\nTables: {path.parent / TABLES}\nMessages: lawtrace messages {directory}"),
    )
    return ShownReport(path, shown)


def _result(directory: Path, answers: int) -> CommandResult:
    content = load_legal_content(directory)
    report = _write_report(content, directory)
    cells = [
        {
            "model": line.cell.model,
            "context": line.cell.context,
            "retriever": line.cell.retriever,
            "depth": line.cell.depth,
            "accuracy": line.score.accuracy,
            "interval": [line.interval.low, line.interval.high] if line.interval else None,
            "outcomes": {outcome: line.score.count(outcome) for outcome in LEGAL_OUTCOMES},
        }
        for table in content.tables.models
        for line in table.cells
    ]
    tasks = [
        {"task": one.task, "metric": one.metric, "score": one.value, "of": one.of, **asdict(one.cell)}
        for one in content.tasks
    ]
    json = {"run": str(directory), "report": str(report.path), "answers": answers, "cells": cells, "tasks": tasks}
    return CommandResult(json, report.shown)
