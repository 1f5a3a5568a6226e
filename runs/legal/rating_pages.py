"""The pages for rating questions of the legal benchmark, yes or no on each criterion (M 4.3, Table 1)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lawtrace.environments.legal.case import Case, Question
from lawtrace.runs.legal.legal_report import TEMPLATES
from lawtrace.runs.legal.ratings import (
    CRITERIA,
    CRITERION_DESCRIPTIONS,
    RatingRow,
    latest_ratings,
    rater_scores,
    rating_agreement,
    source_paragraphs,
)
from lawtrace.runs.web.append_log import AppendLog, utc_timestamp
from lawtrace.runs.web.forms import FormSite
from lawtrace.schemas.errors import InputError


class RatingPages(FormSite[RatingRow]):
    """The rating pages for a sample of questions. ``raters``: their names, or a number of raters with any names."""

    list_template = "questions"
    item_template = "question"

    def __init__(
        self,
        sample: Sequence[tuple[Case, Question]],
        raters: int | tuple[str, ...],
        log: AppendLog[RatingRow],
        clock: Callable[[], str] = utc_timestamp,
    ) -> None:
        self._sample = {question.id: (case, question) for case, question in sample}
        self._needed = raters if isinstance(raters, int) else len(raters)
        names = () if isinstance(raters, int) else raters
        super().__init__(
            "Questions of the legal benchmark", "question", [*self._sample], log, clock, names, (TEMPLATES,)
        )

    def list_values(self) -> Mapping[str, Any]:
        rows = self._rows()
        return {
            "questions": [
                (question, [row.rater for row in rows if row.question == name])
                for name, (_, question) in self._sample.items()
            ],
            "needed": self._needed,
            "raters": rater_scores(rows),
            "agreed": rating_agreement(rows),
            "criteria": CRITERIA,
        }

    def item_values(self, item: str, reviewer: str | None) -> Mapping[str, Any]:
        case, question = self._sample[item]
        mine = [row for row in self._log.rows if row.rater == reviewer]
        last = mine[-1].question if mine and mine[-1].question in self._sample else None
        return {
            "case": case,
            "question": question,
            "sources": source_paragraphs(case, question),
            "criteria": CRITERION_DESCRIPTIONS,
            "said": next((row for row in reversed(mine) if row.question == item), None),
            "last": last if last != item else None,
        }

    def read_form(self, item: str, reviewer: str, form: Mapping[str, str]) -> RatingRow:
        marks = {name: form.get(name) for name in CRITERIA}
        missing = [name for name, mark in marks.items() if mark not in {"yes", "no"}]
        if missing:
            raise InputError(f"answer yes or no for {', '.join(missing)}")
        return RatingRow(
            rater=reviewer,
            question=item,
            faithfulness=marks["faithfulness"] == "yes",
            clarity=marks["clarity"] == "yes",
            expertise=marks["expertise"] == "yes",
            comment=form.get("comment", "").strip()[:20_000],
            at=self._clock(),
        )

    def _rows(self) -> list[RatingRow]:
        return [row for row in latest_ratings(self._log.rows) if row.question in self._sample]

    def pending_for(self, reviewer: str) -> Sequence[str]:
        rows = self._rows()
        done = {row.question for row in rows if row.rater == reviewer}
        raters = {row.rater for row in rows}
        if reviewer not in raters and len(raters) >= self._needed:
            return []
        return [name for name in self._sample if name not in done]
