"""``lawtrace legal review``: people rate questions in the browser."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lawtrace.environments.legal.case import Case, Question
from lawtrace.environments.legal.dataset import load_dataset
from lawtrace.runs.cli.options import JsonOption, ReviewHostOption, ReviewPortOption, ReviewStatusOption
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.cli.view import serve_site
from lawtrace.runs.legal.cli.options import CasesOption
from lawtrace.runs.legal.ratings import CRITERIA, RatingRow, draw_sample, latest_ratings, rater_scores, rating_agreement
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.report.text import percent, show_interval
from lawtrace.runs.web.append_log import AppendLog
from lawtrace.schemas.errors import InputError

if TYPE_CHECKING:
    from lawtrace.runs.web.site import Site  # needs the extra `view`


def review_questions(
    cases: CasesOption,
    raters: Annotated[int, typer.Option(min=1, help="Number of raters.")] = 3,
    named: Annotated[
        list[str] | None, typer.Option("--rater", metavar="<str>", help="Name of a rater. Repeatable.")
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Number of questions in the sample.")] = 30,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 1,
    out: Annotated[Path, typer.Option(help="The ratings of all raters (JSON lines, append-only).")] = Path(
        "ratings.jsonl"
    ),
    status: ReviewStatusOption = False,
    host: ReviewHostOption = "127.0.0.1",
    port: ReviewPortOption = 8719,
    as_json: JsonOption = False,
) -> CommandResult:
    """Rate a sample of questions in the browser."""
    log = AppendLog(out, RatingRow)
    if not status:
        sample = draw_sample(load_dataset(cases).cases, count, seed)
        if not sample:
            raise InputError(f"{cases}: has no questions; `lawtrace legal questions` writes some")
        who = tuple(dict.fromkeys(named)) if named else raters
        serve_site(lambda: _pages(sample, who, log), "Review", host=host, port=port, as_json=as_json)
    return _result(latest_ratings(log.rows))


def _pages(sample: Sequence[tuple[Case, Question]], raters: int | tuple[str, ...], log: AppendLog[RatingRow]) -> "Site":
    from lawtrace.runs.legal.rating_pages import RatingPages

    return RatingPages(sample, raters, log)


def _result(rows: list[RatingRow]) -> CommandResult:
    lines, agreed = rater_scores(rows), rating_agreement(rows)
    agreement = {
        line.criterion: {
            "questions": line.questions,
            "unanimous": line.unanimous,
            "kappa": line.kappa,
            "fleiss_kappa": line.fleiss,
        }
        for line in agreed
    }
    shown = [
        (
            line.rater,
            line.rated,
            *(f"{percent(line.shares[name])} ({show_interval(line.intervals[name])})" for name in CRITERIA),
        )
        for line in lines
    ]
    table = make_table(("rater", "rated", *CRITERIA), shown, title="Share rated good, with its 95 % interval")
    sentences: list[str] = []
    for line in agreed:
        cohen, fleiss = ("–" if kappa is None else f"{kappa:.2f}" for kappa in (line.kappa, line.fleiss))
        agreed_on = f"unanimous on {percent(line.unanimous)} of {line.questions}"
        sentences.append(f"{line.criterion}: {agreed_on}; mean Cohen's kappa {cohen}, Fleiss' kappa {fleiss}")
    raters = {line.rater: {"rated": line.rated, **line.shares} for line in lines}
    return CommandResult({"raters": raters, "agreement": agreement}, (table, *sentences))
