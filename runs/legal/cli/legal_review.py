"""``lawtrace legal review``: people rate questions in the browser."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lawtrace.environments.legal.case import Case, Question
from lawtrace.environments.legal.dataset import load_dataset
from lawtrace.runs.cli.output import make_table, print_json, print_result
from lawtrace.runs.cli.view import serve_site
from lawtrace.runs.legal.ratings import (
    CRITERIA,
    RatingRow,
    draw_sample,
    latest_ratings,
    rater_scores,
    rating_agreement,
)
from lawtrace.runs.report.text import percent, show_interval, visible
from lawtrace.runs.web.review.append_log import AppendLog
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json

if TYPE_CHECKING:
    from lawtrace.runs.web.site import Site  # needs the extra `view`


def review_questions(
    *,
    cases: Path,
    raters: int,
    named: list[str] | None,
    count: int,
    seed: int,
    out: Path,
    status: bool,
    host: str,
    port: int,
    as_json: bool,
) -> None:
    """Serve a sample of questions for rating, and print the ratings."""
    log = AppendLog(out, RatingRow)
    if not status:
        sample = draw_sample(load_dataset(cases).cases, count, seed)
        if not sample:
            raise InputError(f"{cases}: has no questions; `lawtrace legal questions` writes some")
        who = tuple(dict.fromkeys(named)) if named else raters
        serve_site(lambda: _pages(sample, who, log), "Review", host=host, port=port, as_json=as_json)
    _tables(latest_ratings(log.rows), as_json=as_json)


def _pages(sample: Sequence[tuple[Case, Question]], raters: int | tuple[str, ...], log: AppendLog[RatingRow]) -> "Site":
    from lawtrace.runs.legal.rating_pages import RatingPages

    return RatingPages(sample, raters, log)


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
    table = make_table("rater", "rated", *CRITERIA, title="Share rated good, with its 95 % interval")
    for line in lines:
        cells = (f"{percent(line.shares[name])} ({show_interval(line.intervals[name])})" for name in CRITERIA)
        table.add_row(visible(line.rater), str(line.rated), *cells)
    print_result(table)
    for line in agreed:
        cohen, fleiss = ("–" if kappa is None else f"{kappa:.2f}" for kappa in (line.kappa, line.fleiss))
        agreed_on = f"unanimous on {percent(line.unanimous)} of {line.questions}"
        print_result(f"{line.criterion}: {agreed_on}; mean Cohen's kappa {cohen}, Fleiss' kappa {fleiss}")
