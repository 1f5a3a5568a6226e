"""``lawtrace legal``: the bench of legal agents on real decisions."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.table import Table

from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Json
from lawtrace.environments.legal.case import AGENTS
from lawtrace.environments.legal.dataset import LegalDataset, load_dataset
from lawtrace.runs.cli.options import with_budget
from lawtrace.runs.cli.output import ProgressBars, make_table, print_json, print_note, print_result, silence_libraries
from lawtrace.runs.cli.stage_runs import resumable
from lawtrace.runs.legal.case_statistics import part_lengths
from lawtrace.runs.legal.cli import case_preparation, legal_review
from lawtrace.runs.legal.legal_files import LEGAL_OUTCOMES, DatasetIssues, LegalFolder
from lawtrace.runs.legal.legal_plan import LegalPlan, plan_legal_calls
from lawtrace.runs.legal.legal_recipe import LegalRecipe, is_legal_recipe, load_legal_recipe
from lawtrace.runs.legal.legal_report import LegalContent, content_of_legal_run, make_legal_report
from lawtrace.runs.legal.legal_runner import LegalResult, load_cases_with_questions, run_legal
from lawtrace.runs.legal.legal_tables import ModelTable
from lawtrace.runs.legal.model_free_baselines import ModelFreeBaseline, measure_baselines
from lawtrace.runs.report.terminal_tables import calls_table
from lawtrace.runs.report.text import show_interval, visible
from lawtrace.runs.runner import check_access, check_prices
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import new_run_folder
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.web.export import export_report

app = typer.Typer(
    help="The legal bench: decisions, questions about them, agents that answer.",
    no_args_is_help=True,
    add_completion=False,
)


app.command("ingest")(case_preparation.ingest_command)
app.command("questions")(case_preparation.questions_command)
app.command("review")(legal_review.review_command)
app.command("evaluate")(legal_review.evaluate_command)


@app.command("check")
def check_command(
    cases: Annotated[Path, typer.Option(help="Cases: a folder or file of ours, or the published dataset.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """What a case book holds, what in it cannot be used, and what can be answered without a model."""
    book = load_dataset(cases)
    questions = [question for case in book.cases for question in case.questions]
    baselines = measure_baselines(questions)
    if as_json:
        print_json(_summary(book, baselines))
    else:
        print_result(_counts(book))
        print_result(_lengths(book))
        if baselines:
            print_result(_baselines(baselines))
        for case, agent in book.missing:
            print_note(f"{visible(case)}: has nothing of {agent}; contexts of it alone are empty there")
        for problem in book.problems:
            print_note(f"left out: {visible(str(problem))}")
    raise typer.Exit(1 if book.problems else 0)


@app.command("run")
def run_command(
    cases: Annotated[
        Path | None, typer.Option(help="Cases: a folder or file of ours, or the published dataset.")
    ] = None,
    recipe: Annotated[
        Path | None, typer.Option(help="A legal recipe (TOML). Without one: the whole grid, offline.")
    ] = None,
    repeated: Annotated[
        Path | None,
        typer.Option("--from", help="Repeat this run in a new folder: its recipe and, without --cases, its cases."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done and asked, and do nothing.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="The run's folder; by default a new one below logs/.")] = None,
    seed: Annotated[int | None, typer.Option(help="Overrides the recipe's seed.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Answer the questions of the cases in every cell of the grid: contexts x retrievers x depths x Meta-LLMs."""
    silence_libraries()
    resolved = _asked_for(recipe, repeated)
    if seed is not None:
        resolved = resolved.model_copy(update={"seed": seed})
    book = _book_of(cases, repeated)
    plan = plan_legal_calls(resolved, book.cases)
    check_prices(resolved, [line.model for line in plan.calls])
    if dry_run:
        _show_plan(plan, as_json=as_json)
        return
    check_access(plan)
    folder = LegalFolder(out or new_run_folder(resolved.name).path)
    with EventLogFile.create(folder.path, recipe=resolved.model_dump(mode="json")) as event_log, resumable(folder.path):
        result = asyncio.run(run_legal(resolved, folder, event_log=event_log, book=book, progress=ProgressBars()))
    _finish(result, as_json=as_json)


def _asked_for(recipe: Path | None, repeated: Path | None) -> LegalRecipe:
    if repeated is None:
        return load_legal_recipe(recipe) if recipe else LegalRecipe()
    if recipe is not None:
        raise InputError(f"give --recipe or --from {repeated}, not both")
    with EventLogFile.open(repeated) as event_log:
        if not is_legal_recipe(event_log.recipe):
            raise InputError(f"{repeated} is no legal run; `lawtrace run --from {repeated}` repeats it")
        return LegalRecipe.model_validate(event_log.recipe)


def _book_of(cases: Path | None, repeated: Path | None) -> LegalDataset:
    """The cases given, or those of the repeated run with what could not be used in them."""
    if cases is not None:
        return load_cases_with_questions(cases)
    if repeated is None:
        raise InputError("which cases? Give --cases CASES, or --from RUN to take those of a run")
    folder = LegalFolder(repeated)
    if not folder.cases.exists():
        raise InputError(f"{repeated}: the run stopped before it wrote its cases down; give --cases CASES, too")
    findings = read_rows(folder.findings, DatasetIssues)[0]
    return replace(load_cases_with_questions(folder.cases), problems=findings.problems)


def _show_plan(plan: LegalPlan, *, as_json: bool) -> None:
    if as_json:
        print_json(cast("dict[str, Json]", plan.model_dump(mode="json")))
        return
    expected = (
        "Expected: every answer can be used, names an option and cites a piece; every restatement is accepted."
        if plan.expected_is == "exact"
        else "Expected is a ceiling, too: how far a question is split is the model's choice; this is what the limits "
        "leave it."
    )
    grid = f"{plan.cells:,} cells, {plan.questions:,} questions about {plan.cases:,} cases in each."
    print_result(calls_table(plan, f"{grid} {expected} At most: every answer has to be asked for once more."))


def resume_legal(directory: Path, *, budget: list[str] | None, as_json: bool) -> None:
    """Go on with a legal run that was interrupted, with these budgets in place of its recipe's."""
    folder = LegalFolder(directory)
    with EventLogFile.resume(directory) as event_log:
        recipe = with_budget(LegalRecipe.model_validate(event_log.recipe), budget)
        if folder.cases.exists():
            plan = plan_legal_calls(recipe, load_cases_with_questions(folder.cases).cases)
            check_prices(recipe, [line.model for line in plan.calls])
            check_access(plan)
        with resumable(directory):
            result = asyncio.run(run_legal(recipe, folder, event_log=event_log, progress=ProgressBars()))
    _finish(result, as_json=as_json)


def report_legal(directory: Path, *, quiet: bool = False) -> Path:
    """Write the report of a finished legal run, and print its accuracy; the place of the report."""
    return _write_report(content_of_legal_run(directory), directory, quiet=quiet)


def _write_report(content: LegalContent, directory: Path, *, quiet: bool) -> Path:
    path = LegalFolder(directory).report
    export_report(make_legal_report(content), path)
    if not quiet:
        for table in content.tables.models:
            for shown in _accuracy(table):
                print_result(shown)
        print_result("1 best, 2 second best of a column; below each its 95 % interval, drawn by case.")
        best = content.tables.best
        print_result(f"Best without a model: {best.name}, {100 * best.accuracy:.2f} % of {best.questions} questions.")
        print_note(f"Report: {path}\nMessages: lawtrace messages {directory}")
    return path


def _finish(result: LegalResult, *, as_json: bool) -> None:
    content = content_of_legal_run(result.folder.path)
    report = _write_report(content, result.folder.path, quiet=as_json)
    if not as_json:
        return
    cells: list[Json] = [
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
    print_json({"run": str(result.folder.path), "report": str(report), "answers": len(result.answers), "cells": cells})


_PLACES = ("  ", " 1", " 2")


def _accuracy(table: ModelTable) -> Iterator[Table]:
    """A table for each retriever, so that it fits a terminal."""
    for retriever in dict.fromkeys(line.cell.retriever for line in table.cells):
        rows = {
            context: [line for line in lines.values() if line.cell.retriever == retriever]
            for context, lines in table.lines.items()
        }
        columns = dict.fromkeys(line.cell.column for lines in rows.values() for line in lines)
        shown = make_table("context", *columns, title=f"Accuracy %, {visible(table.model)}")
        for context, lines in rows.items():
            shown.add_row(context, *(f"{100 * line.score.accuracy:.2f}{_PLACES[line.place]}" for line in lines))
            shown.add_row("", *(show_interval(line.interval) for line in lines), style="dim")
        yield shown


def _summary(book: LegalDataset, baselines: tuple[ModelFreeBaseline, ...]) -> dict[str, Json]:
    questions = [question for case in book.cases for question in case.questions]
    chunks = Counter(chunk.agent for case in book.cases for chunk in case.chunks)
    return {
        "cases": len(book.cases),
        "chunks": {agent: chunks[agent] for agent in AGENTS},
        "questions": len(questions),
        "yes_no": sum(question.kind == "yes_no" for question in questions),
        "four_options": sum(question.kind == "four_options" for question in questions),
        "decisions": sum(question.decision for question in questions),
        "baselines": {baseline.name: baseline.accuracy for baseline in baselines},
        "parts": {line.label: [line.least, line.most, line.mean, line.cases] for line in part_lengths(book.cases)},
        "problems": [str(problem) for problem in book.problems],
        "missing": [[case, agent] for case, agent in book.missing],
    }


def _counts(book: LegalDataset) -> Table:
    table = make_table("case", *AGENTS, "yes/no", "A-D", "decision", "Yes", title="Case book")
    for case in book.cases:
        chunks = Counter(chunk.agent for chunk in case.chunks)
        kinds = Counter(question.kind for question in case.questions)
        table.add_row(
            visible(case.id),
            *(str(chunks[agent]) for agent in AGENTS),
            str(kinds["yes_no"]),
            str(kinds["four_options"]),
            str(sum(question.decision for question in case.questions)),
            str(sum(question.answer == "Yes" for question in case.questions)),
        )
    return table


def _lengths(book: LegalDataset) -> Table:
    table = make_table("part", "least", "most", "mean", "cases", title="Paragraphs in each part")
    for line in part_lengths(book.cases):
        table.add_row(line.label, str(line.least), str(line.most), f"{line.mean:.2f}", str(line.cases))
    return table


def _baselines(baselines: tuple[ModelFreeBaseline, ...]) -> Table:
    questions = baselines[0].questions
    table = make_table("without a model", "accuracy %", "right", title=f"Baselines over these {questions} questions")
    for baseline in baselines:
        table.add_row(baseline.name, f"{100 * baseline.accuracy:.2f}", f"{baseline.correct:g}")
    return table
