"""``lawtrace legal review`` and ``legal evaluate``: people rate questions, in the browser or in the terminal."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Json
from lawtrace.environments.legal.case import Case, Question
from lawtrace.environments.legal.dataset import load_dataset
from lawtrace.runs.cli.output import make_table, print_json, print_note, print_result
from lawtrace.runs.cli.review import AsJson, Host, Port, Status, serve_review_site
from lawtrace.runs.legal.ratings import (
    CRITERIA,
    CRITERION_DESCRIPTIONS,
    RatingRow,
    draw_sample,
    latest_ratings,
    rater_scores,
    rating_agreement,
    source_paragraphs,
)
from lawtrace.runs.report.text import percent, show_interval, visible
from lawtrace.runs.web.review.append_log import AppendLog, utc_timestamp

if TYPE_CHECKING:
    from lawtrace.runs.web.review.site import ReviewSite  # needs the extra `view`

Cases = Annotated[Path, typer.Option(help="Cases with questions.")]
Count = Annotated[int, typer.Option(min=1, help="How many questions are drawn.")]
Seed = Annotated[int, typer.Option(help="The same seed draws the same questions for every rater.")]
Out = Annotated[Path, typer.Option(help="The ratings of all raters (JSON lines), only ever appended to.")]


def review_command(
    cases: Cases,
    raters: Annotated[int, typer.Option(min=1, help="How many people rate.")] = 3,
    named: Annotated[list[str] | None, typer.Option("--rater", help="One of those who may rate. Repeatable.")] = None,
    count: Count = 30,
    seed: Seed = 1,
    out: Out = Path("ratings.jsonl"),
    status: Status = False,
    host: Host = "127.0.0.1",
    port: Port = 8719,
    as_json: AsJson = False,
) -> None:
    """Rate a sample of questions in the browser: faithful, clear, expert? Source and question side by side."""
    log = AppendLog(out, RatingRow)
    if not status:
        sample = draw_sample(load_dataset(cases).cases, count, seed)
        if not sample:
            raise InputError(f"{cases}: holds no question to be rated; `lawtrace legal questions` writes some")
        who = tuple(dict.fromkeys(named)) if named else raters
        serve_review_site(lambda: _pages(sample, who, log), host=host, port=port, as_json=as_json)
    _tables(latest_ratings(log.rows), as_json=as_json)


def _pages(
    sample: Sequence[tuple[Case, Question]], raters: int | tuple[str, ...], log: AppendLog[RatingRow]
) -> "ReviewSite":
    from lawtrace.runs.legal.rating_pages import RatingPages

    return RatingPages(sample, raters, log)


def evaluate_command(
    cases: Cases,
    rater: Annotated[str | None, typer.Option(help="Who rates now. Without one: only the table of all raters.")] = None,
    count: Count = 30,
    seed: Seed = 1,
    out: Out = Path("ratings.jsonl"),
    as_json: AsJson = False,
) -> None:
    """Rate the same sample in the terminal; go on where you stopped."""
    log = AppendLog(out, RatingRow)
    if rater is not None:
        sample = draw_sample(load_dataset(cases).cases, count, seed)
        done = {row.question for row in log.rows if row.rater == rater}
        for number, (case, question) in enumerate(sample, 1):
            if question.id in done:
                continue
            print_note(f"\n{number} of {len(sample)}")
            _present(case, question)
            log.append(_ask(rater, question))
    _tables(latest_ratings(log.rows), as_json=as_json)


def _present(case: Case, question: Question) -> None:
    sources = source_paragraphs(case, question)
    for paragraph in sources:
        print_note(f"  source, paragraph {paragraph.ref}: {visible(paragraph.text)}")
    if not sources:
        print_note("  source: not released with this case; judge faithfulness by what you know of the decision")
    print_note(f"  question: {visible(question.text)}")
    for choice, option in question.options.items():
        print_note(f"  {'->' if choice == question.answer else '  '} {choice}: {visible(option)}")


def _ask(rater: str, question: Question) -> RatingRow:
    marks = {name: typer.confirm(f"{name} ({CRITERION_DESCRIPTIONS[name]})", err=True) for name in CRITERIA}
    return RatingRow(
        rater=rater,
        question=question.id,
        faithfulness=marks["faithfulness"],
        clarity=marks["clarity"],
        expertise=marks["expertise"],
        at=utc_timestamp(),
    )


def _tables(rows: list[RatingRow], *, as_json: bool) -> None:
    lines, agreed = rater_scores(rows), rating_agreement(rows)
    if as_json:
        raters: dict[str, Json] = {line.rater: {"rated": line.rated, **line.shares} for line in lines}
        shown: dict[str, Json] = {
            line.criterion: {
                "questions": line.questions,
                "unanimous": line.unanimous,
                "kappa": line.kappa,
                "fleiss_kappa": line.fleiss,
            }
            for line in agreed
        }
        print_json({"raters": raters, "agreement": shown})
        return
    table = make_table("rater", "rated", *CRITERIA, title="Share found good, with its 95 % interval")
    for line in lines:
        cells = (f"{percent(line.shares[name])} ({show_interval(line.intervals[name])})" for name in CRITERIA)
        table.add_row(visible(line.rater), str(line.rated), *cells)
    print_result(table)
    for line in agreed:
        cohen, fleiss = ("–" if kappa is None else f"{kappa:.2f}" for kappa in (line.kappa, line.fleiss))
        agreed_on = f"all agree on {percent(line.unanimous)} of {line.questions}"
        print_result(f"{line.criterion}: {agreed_on}; mean Cohen's kappa {cohen}, Fleiss' kappa {fleiss}")
