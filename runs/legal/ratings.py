"""Human evaluation of questions (M 4.3, Table 1): a random sample, and ratings on three criteria."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, get_args

from pydantic import Field

from lawtrace.environments.documents.decision import Paragraph
from lawtrace.environments.legal.case import Case, Question
from lawtrace.runs.scoring.agreement import fleiss_kappa, mean_cohen_kappa
from lawtrace.runs.scoring.metrics import Interval, wilson_interval
from lawtrace.schemas.models import StrictModel

Criterion = Literal["faithfulness", "clarity", "expertise"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)

CRITERION_DESCRIPTIONS: dict[Criterion, str] = {
    "faithfulness": "question and answer agree with the source",
    "clarity": "the question is unambiguous and can be understood without the source",
    "expertise": "a legal expert would ask this question and give this answer",
}


class RatingRow(StrictModel):
    """One rater's rating of one question. The last of several counts.

    ``at``: the time of the rating, as ISO 8601 in UTC.
    """

    schema_version: Literal["lawtrace.legal_rating/1"] = "lawtrace.legal_rating/1"
    rater: str = Field(min_length=1)
    question: str
    faithfulness: bool
    clarity: bool
    expertise: bool
    comment: str = Field(default="", max_length=20_000)
    at: str = ""

    def says(self, criterion: Criterion) -> bool:
        return bool(getattr(self, criterion))


@dataclass(frozen=True, slots=True)
class RaterScores:
    """The share of questions that a rater found good, with its interval, for each criterion."""

    rater: str
    rated: int
    shares: dict[Criterion, float]
    intervals: dict[Criterion, Interval | None]


@dataclass(frozen=True, slots=True)
class RatingAgreement:
    """Agreement of raters on the questions that all of them rated: the unanimous share, the mean Cohen's kappa of their
    pairs, and Fleiss' kappa. A kappa is None if undefined: raters who always say the same agree by chance alone."""

    criterion: Criterion
    questions: int
    unanimous: float
    kappa: float | None
    fleiss: float | None


def draw_sample(cases: Sequence[Case], count: int, seed: int) -> list[tuple[Case, Question]]:
    """A random sample of ``count`` questions, each equally likely. The same seed gives the same sample."""
    everything = [(case, question) for case in cases for question in case.questions]
    return random.Random(seed).sample(everything, min(count, len(everything)))


def source_paragraphs(case: Case, question: Question) -> list[Paragraph]:
    """The paragraphs that the question is based on; empty if the case has no document."""
    return [p for p in (case.document.paragraphs() if case.document else ()) if p.ref in question.paragraphs]


def latest_ratings(rows: Iterable[RatingRow]) -> list[RatingRow]:
    """The last rating of each rater for each question, in the order of first ratings."""
    return list({(row.rater, row.question): row for row in rows}.values())


def rater_scores(rows: Sequence[RatingRow]) -> list[RaterScores]:
    """A line for each rater, in the order in which they appear."""
    lines: list[RaterScores] = []
    for rater in dict.fromkeys(row.rater for row in rows):
        own = [row for row in rows if row.rater == rater]
        good: dict[Criterion, int] = {criterion: sum(row.says(criterion) for row in own) for criterion in CRITERIA}
        shares: dict[Criterion, float] = {criterion: good[criterion] / len(own) for criterion in CRITERIA}
        intervals: dict[Criterion, Interval | None] = {
            criterion: wilson_interval(good[criterion], len(own)) for criterion in CRITERIA
        }
        lines.append(RaterScores(rater, len(own), shares, intervals))
    return lines


def rating_agreement(rows: Sequence[RatingRow]) -> list[RatingAgreement]:
    """A line for each criterion, over the questions that every rater rated; empty with fewer than two raters."""
    raters = list(dict.fromkeys(row.rater for row in rows))
    said = {(row.rater, row.question): row for row in rows}
    shared = [q for q in dict.fromkeys(row.question for row in rows) if all((rater, q) in said for rater in raters)]
    if len(raters) < 2 or not shared:
        return []
    lines: list[RatingAgreement] = []
    for criterion in CRITERIA:
        marks = [[str(said[rater, question].says(criterion)) for question in shared] for rater in raters]
        ratings = [list(labels) for labels in zip(*marks, strict=True)]
        unanimous = fmean(len(set(labels)) == 1 for labels in ratings)
        lines.append(RatingAgreement(criterion, len(shared), unanimous, mean_cohen_kappa(marks), fleiss_kappa(ratings)))
    return lines
