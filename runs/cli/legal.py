"""``lawtrace legal``: the bench of legal agents on real decisions."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from environments.casebook.book import CaseBook, load_casebook
from environments.casebook.case import AGENTS
from environments.events import Json
from runs.cli.output import make_table, say, show, show_json
from runs.legal.baselines import Baseline, measure_baselines

__all__ = ["app"]

app = typer.Typer(help="The legal bench: decisions, questions about them, agents that answer.", no_args_is_help=True)


@app.command("check")
def check_command(
    cases: Annotated[Path, typer.Option(help="Cases: a folder or file of ours, or the published dataset.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """What a case book holds, what in it cannot be used, and what can be answered without a model."""
    book = load_casebook(cases)
    questions = [question for case in book.cases for question in case.questions]
    baselines = measure_baselines(questions)
    if as_json:
        show_json(_summary(book, baselines))
    else:
        show(_counts(book))
        if baselines:
            show(_baselines(baselines))
        for case, agent in book.missing:
            say(f"{case}: has nothing of {agent}; contexts of it alone are empty there")
        for problem in book.problems:
            say(f"left out: {problem}")
    raise typer.Exit(1 if book.problems else 0)


def _summary(book: CaseBook, baselines: tuple[Baseline, ...]) -> dict[str, Json]:
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
        "problems": [str(problem) for problem in book.problems],
        "missing": [[case, agent] for case, agent in book.missing],
    }


def _counts(book: CaseBook) -> Table:
    table = make_table("case", *AGENTS, "questions", "yes/no", "A-D", "decision", "Yes", title="Case book")
    table.columns[0].min_width = 24
    for case in book.cases:
        chunks = Counter(chunk.agent for chunk in case.chunks)
        kinds = Counter(question.kind for question in case.questions)
        table.add_row(
            case.id,
            *(str(chunks[agent]) for agent in AGENTS),
            str(len(case.questions)),
            str(kinds["yes_no"]),
            str(kinds["four_options"]),
            str(sum(question.decision for question in case.questions)),
            str(sum(question.answer == "Yes" for question in case.questions)),
        )
    return table


def _baselines(baselines: tuple[Baseline, ...]) -> Table:
    questions = baselines[0].questions
    table = make_table("without a model", "accuracy %", "right", title=f"Baselines over these {questions} questions")
    for baseline in baselines:
        table.add_row(baseline.name, f"{100 * baseline.accuracy:.2f}", f"{baseline.correct:g}")
    return table
