"""The pages for rating questions of the legal benchmark, yes or no on each criterion (M 4.3, Table 1)."""

from collections.abc import Callable, Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

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
from lawtrace.runs.web.review.append_log import AppendLog, utc_timestamp
from lawtrace.runs.web.review.site import ReviewSite, read_form, reviewer_of
from lawtrace.schemas.errors import InputError


class RatingPages(ReviewSite):
    """The rating pages for a sample of questions. ``raters``: their names, or a number of raters with any names."""

    def __init__(
        self,
        sample: Sequence[tuple[Case, Question]],
        raters: int | tuple[str, ...],
        log: AppendLog[RatingRow],
        clock: Callable[[], str] = utc_timestamp,
    ) -> None:
        reviewers = () if isinstance(raters, int) else raters
        super().__init__("Questions of the legal benchmark", "question", reviewers, TEMPLATES)
        self._sample = {question.id: (case, question) for case, question in sample}
        self._needed = raters if isinstance(raters, int) else len(raters)
        self._log = log
        self._clock = clock

    def routes(self) -> list[Route]:
        return [
            *super().routes(),
            Route("/next", self._go_on),
            Route("/items", self._overview),
            Route("/items/{item:path}", self._question, methods=["GET"]),
            Route("/items/{item:path}", self._rate, methods=["POST"]),
        ]

    async def _go_on(self, request: Request) -> Response:
        return self.to_next(request, [*self._sample], self._pending_for)

    async def _overview(self, request: Request) -> Response:
        rater, rows = reviewer_of(request), self._rows()
        return self.show(
            request,
            "questions",
            questions=[(question, [row.rater for row in rows if row.question == name])
                       for name, (_, question) in self._sample.items()],
            needed=self._needed,
            pending=self._pending_for(rater) if rater else [],
            raters=rater_scores(rows),
            agreed=rating_agreement(rows),
            criteria=CRITERIA,
        )  # fmt: skip

    async def _question(self, request: Request) -> Response:
        case, question = self._find(request)
        rater = reviewer_of(request)
        waiting = self._pending_for(rater) if rater else []
        mine = [row for row in self._log.rows if row.rater == rater]
        last = mine[-1].question if mine and mine[-1].question in self._sample else None
        return self.show(
            request,
            "question",
            case=case,
            question=question,
            sources=source_paragraphs(case, question),
            criteria=CRITERION_DESCRIPTIONS,
            said=next((row for row in reversed(mine) if row.question == question.id), None),
            last=last if last != question.id else None,
            left=len(waiting),
        )

    async def _rate(self, request: Request) -> Response:
        (_, question), rater = self._find(request), reviewer_of(request)
        if rater is None:
            return RedirectResponse("/", 303)
        form = await read_form(request)
        marks = {name: form.get(name) for name in CRITERIA}
        missing = [name for name, mark in marks.items() if mark not in {"yes", "no"}]
        if missing:
            raise InputError(f"answer yes or no for {', '.join(missing)}")
        self._log.append(
            RatingRow(
                rater=rater,
                question=question.id,
                faithfulness=marks["faithfulness"] == "yes",
                clarity=marks["clarity"] == "yes",
                expertise=marks["expertise"] == "yes",
                comment=form.get("comment", "").strip()[:20_000],
                at=self._clock(),
            )
        )
        return RedirectResponse("/next", 303)

    def _rows(self) -> list[RatingRow]:
        return [row for row in latest_ratings(self._log.rows) if row.question in self._sample]

    def _pending_for(self, rater: str) -> list[str]:
        rows = self._rows()
        done = {row.question for row in rows if row.rater == rater}
        raters = {row.rater for row in rows}
        if rater not in raters and len(raters) >= self._needed:
            return []
        return [name for name in self._sample if name not in done]

    def _find(self, request: Request) -> tuple[Case, Question]:
        found = self._sample.get(request.path_params["item"])
        if found is None:
            raise HTTPException(404, "there is no such question in the sample")
        return found
