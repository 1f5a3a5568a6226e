"""``lawtrace legal evaluate``: people rate questions, in the terminal."""

from pathlib import Path
from typing import Annotated

import typer

from environments.casebook.book import load_casebook
from environments.casebook.case import Case, Question
from environments.events import Json
from runs.cli.output import make_table, say, show, show_json
from runs.files import read_rows, write_rows
from runs.legal.ratings import (
    CRITERIA,
    CRITERION_WORDS,
    RatingRow,
    agreement,
    draw_sample,
    rater_lines,
)
from runs.report.texts import percent, show_interval

__all__ = ["evaluate"]


def evaluate(
    cases: Annotated[Path, typer.Option(help="Cases with questions.")],
    rater: Annotated[str | None, typer.Option(help="Who rates now. Without one: only the table of all raters.")] = None,
    count: Annotated[int, typer.Option(min=1, help="How many questions are drawn.")] = 30,
    seed: Annotated[int, typer.Option(help="The same seed draws the same questions for every rater.")] = 1,
    out: Annotated[Path, typer.Option(help="The ratings of all raters (JSON lines).")] = Path("ratings.jsonl"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Rate a sample of questions yes or no on faithfulness, clarity and expertise; go on where you stopped."""
    rows = read_rows(out, RatingRow) if out.exists() else []
    if rater is not None:
        sample = draw_sample(load_casebook(cases).cases, count, seed)
        done = {row.question for row in rows if row.rater == rater}
        for number, (case, question) in enumerate(sample, 1):
            if question.id in done:
                continue
            say(f"\n{number} of {len(sample)}")
            _present(case, question)
            rows.append(_ask(rater, question))
            write_rows(out, rows)
    _tables(rows, as_json=as_json)


def _present(case: Case, question: Question) -> None:
    sources = [p for p in (case.document.paragraphs() if case.document else ()) if p.ref in question.paragraphs]
    for paragraph in sources:
        say(f"  source, paragraph {paragraph.ref}: {paragraph.text}")
    if not sources:
        say("  source: not released with this case; judge faithfulness by what you know of the decision")
    say(f"  question: {question.text}")
    for choice, option in question.options.items():
        say(f"  {'->' if choice == question.answer else '  '} {choice}: {option}")


def _ask(rater: str, question: Question) -> RatingRow:
    marks = {name: typer.confirm(f"{name} ({CRITERION_WORDS[name]})", err=True) for name in CRITERIA}
    return RatingRow(
        rater=rater,
        question=question.id,
        faithfulness=marks["faithfulness"],
        clarity=marks["clarity"],
        expertise=marks["expertise"],
    )


def _tables(rows: list[RatingRow], *, as_json: bool) -> None:
    lines, agreed = rater_lines(rows), agreement(rows)
    if as_json:
        raters: dict[str, Json] = {line.rater: {"rated": line.rated, **line.shares} for line in lines}
        shown: dict[str, Json] = {
            line.criterion: {"questions": line.questions, "unanimous": line.unanimous, "kappa": line.kappa}
            for line in agreed
        }
        show_json({"raters": raters, "agreement": shown})
        return
    table = make_table("rater", "rated", *CRITERIA, title="Share found good, with its 95 % interval")
    for line in lines:
        cells = (f"{percent(line.shares[name])} ({show_interval(line.intervals[name])})" for name in CRITERIA)
        table.add_row(line.rater, str(line.rated), *cells)
    show(table)
    for line in agreed:
        kappa = "–" if line.kappa is None else f"{line.kappa:.2f}"
        show(f"{line.criterion}: all agree on {percent(line.unanimous)} of {line.questions}; mean kappa {kappa}")
