"""The pages of a review of rules or tasks: the next item, taking opinions on it, and what came of all."""

from collections.abc import Callable
from typing import get_args

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from lawtrace.environments.errors import InputError
from lawtrace.runs.web.review.agreement import summarize_review
from lawtrace.runs.web.review.append_log import AppendLog, utc_timestamp
from lawtrace.runs.web.review.site import ReviewSite, read_form, reviewer_of
from lawtrace.runs.web.review.voting import Decision, OpinionRow, ReviewItem, ReviewProtocol, ReviewState, ReviewSubject

_DECISIONS: tuple[Decision, ...] = get_args(Decision)


class VotingPages(ReviewSite):
    """The pages over one file under review. ``clock`` says when an opinion was given."""

    def __init__(
        self,
        subject: ReviewSubject,
        protocol: ReviewProtocol,
        book: AppendLog[OpinionRow],
        clock: Callable[[], str] = utc_timestamp,
    ) -> None:
        super().__init__(subject.title, subject.noun, () if isinstance(protocol.reviewers, int) else protocol.reviewers)
        self._subject = subject
        self._protocol = protocol
        self._book = book
        self._clock = clock
        self._items = tuple(subject.items())
        self._ballot = ReviewState(protocol, self._items, book.rows)

    @property
    def ballot(self) -> ReviewState:
        return self._ballot

    def routes(self) -> list[Route]:
        return [
            *super().routes(),
            Route("/next", self._go_on),
            Route("/items", self._overview),
            Route("/items/{item:path}", self._item, methods=["GET"]),
            Route("/items/{item:path}", self._judge, methods=["POST"]),
        ]

    async def _go_on(self, request: Request) -> Response:
        order = [item.id for item in self._ballot.items]
        return self.to_next(request, order, lambda name: [item.id for item in self._ballot.waiting_for(name)])

    async def _overview(self, request: Request) -> Response:
        reviewer = reviewer_of(request)
        waiting = {item.id for item in self._ballot.waiting_for(reviewer)} if reviewer else set[str]()
        return self.show(
            request,
            "items",
            items=[(item, self._ballot.standings[item.id]) for item in self._ballot.items],
            pending=waiting,
            summary=summarize_review(self._ballot),
            protocol=self._protocol,
        )

    async def _item(self, request: Request) -> Response:
        return self._show(request, self._find(request))

    async def _judge(self, request: Request) -> Response:
        """Take an opinion; the item is shown again if an edit cannot stand."""
        item, reviewer = self._find(request), reviewer_of(request)
        if reviewer is None:
            return RedirectResponse("/", 303)
        form = await read_form(request)
        decision = form.get("decision", "")
        if decision not in _DECISIONS:
            raise InputError(f"the decision must be one of {', '.join(_DECISIONS)}")
        said = self._ballot.changeable(item, reviewer)
        waits = item.id in {one.id for one in self._ballot.waiting_for(reviewer)}
        if form.get("digest") != item.digest or not (waits or said):
            raise InputError(f"{item.id} does not wait for an opinion of {reviewer}; go on with the next")
        text = form.get("text", "").replace("\r\n", "\n").strip() if decision == "edit" else ""
        if decision == "edit":
            trouble = "that is what stands there already" if text == item.words else self._subject.objection(item, text)
            if trouble:
                return self._show(request, item, trouble=trouble, text=text, comment=form.get("comment", ""))
        row = OpinionRow(
            reviewer=reviewer,
            item=item.id,
            digest=item.digest,
            round=said.round if said else self._ballot.standings[item.id].round,
            decision=decision,
            text=text,
            comment=form.get("comment", "").strip()[:20_000],
            at=self._clock(),
        )
        self._book.append(row)
        self._ballot = ReviewState(self._protocol, self._items, self._book.rows)
        return RedirectResponse("/next", 303)

    def _find(self, request: Request) -> ReviewItem:
        wanted = request.path_params["item"]
        for item in self._ballot.items:
            if item.id == wanted:
                return item
        raise HTTPException(404, "there is no such item")

    def _show(
        self,
        request: Request,
        item: ReviewItem,
        *,
        trouble: str = "",
        text: str | None = None,
        comment: str | None = None,
    ) -> Response:
        reviewer = reviewer_of(request)
        waiting = [one.id for one in self._ballot.waiting_for(reviewer)] if reviewer else []
        said = self._ballot.changeable(item, reviewer) if reviewer else None
        last = self._ballot.last_of(reviewer) if reviewer else None
        return self.show(
            request,
            "item",
            item=item,
            sheet=self._subject.sheet(item),
            sheet_template=self._subject.template,
            standing=self._ballot.standings[item.id],
            earlier=self._ballot.earlier(item),
            said=said,
            last=last.id if last and last.id != item.id else None,
            may_judge=said is not None or item.id in waiting,
            left=len(waiting),
            protocol=self._protocol,
            trouble=trouble,
            text=item.words if text is None else text,
            comment=comment if comment is not None else said.comment if said else "",
        )
