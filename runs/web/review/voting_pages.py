"""The pages of a review of rules or tasks: the list of items, each item, and the form for an opinion."""

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
    """The review pages of one file. ``clock`` returns the time of an opinion."""

    def __init__(
        self,
        subject: ReviewSubject,
        protocol: ReviewProtocol,
        log: AppendLog[OpinionRow],
        clock: Callable[[], str] = utc_timestamp,
    ) -> None:
        super().__init__(subject.title, subject.noun, () if isinstance(protocol.reviewers, int) else protocol.reviewers)
        self._subject = subject
        self._protocol = protocol
        self._log = log
        self._clock = clock
        self._items = tuple(subject.items())
        self._state = ReviewState(protocol, self._items, log.rows)

    @property
    def state(self) -> ReviewState:
        return self._state

    def routes(self) -> list[Route]:
        return [
            *super().routes(),
            Route("/next", self._next),
            Route("/items", self._overview),
            Route("/items/{item:path}", self._item, methods=["GET"]),
            Route("/items/{item:path}", self._take_opinion, methods=["POST"]),
        ]

    async def _next(self, request: Request) -> Response:
        order = [item.id for item in self._state.items]
        return self.to_next(request, order, lambda name: [item.id for item in self._state.pending_for(name)])

    async def _overview(self, request: Request) -> Response:
        reviewer = reviewer_of(request)
        pending = {item.id for item in self._state.pending_for(reviewer)} if reviewer else set[str]()
        return self.show(
            request,
            "review/items",
            items=[(item, self._state.states[item.id]) for item in self._state.items],
            pending=pending,
            summary=summarize_review(self._state),
            protocol=self._protocol,
        )

    async def _item(self, request: Request) -> Response:
        return self._show(request, self._find(request))

    async def _take_opinion(self, request: Request) -> Response:
        """Store an opinion. The item is shown again if code rejects an edit."""
        item, reviewer = self._find(request), reviewer_of(request)
        if reviewer is None:
            return RedirectResponse("/", 303)
        form = await read_form(request)
        decision = form.get("decision", "")
        if decision not in _DECISIONS:
            raise InputError(f"the decision must be one of {', '.join(_DECISIONS)}")
        given = self._state.revisable(item, reviewer)
        pending = item.id in {one.id for one in self._state.pending_for(reviewer)}
        if form.get("digest") != item.digest or not (pending or given):
            raise InputError(f"{item.id} is not pending for {reviewer}; continue with the next item")
        text = form.get("text", "").replace("\r\n", "\n").strip() if decision == "edit" else ""
        if decision == "edit":
            error = "the text is unchanged" if text == item.words else self._subject.check_edit(item, text)
            if error:
                return self._show(request, item, error=error, text=text, comment=form.get("comment", ""))
        row = OpinionRow(
            reviewer=reviewer,
            item=item.id,
            digest=item.digest,
            round=given.round if given else self._state.states[item.id].round,
            decision=decision,
            text=text,
            comment=form.get("comment", "").strip()[:20_000],
            at=self._clock(),
        )
        self._log.append(row)
        self._state = ReviewState(self._protocol, self._items, self._log.rows)
        return RedirectResponse("/next", 303)

    def _find(self, request: Request) -> ReviewItem:
        wanted = request.path_params["item"]
        for item in self._state.items:
            if item.id == wanted:
                return item
        raise HTTPException(404, "there is no such item")

    def _show(
        self,
        request: Request,
        item: ReviewItem,
        *,
        error: str = "",
        text: str | None = None,
        comment: str | None = None,
    ) -> Response:
        reviewer = reviewer_of(request)
        pending = [one.id for one in self._state.pending_for(reviewer)] if reviewer else []
        given = self._state.revisable(item, reviewer) if reviewer else None
        last = self._state.last_judged(reviewer) if reviewer else None
        return self.show(
            request,
            "review/item",
            item=item,
            context=self._subject.context(item),
            context_template=self._subject.template,
            item_state=self._state.states[item.id],
            past_opinions=self._state.past_opinions(item),
            given=given,
            last=last.id if last and last.id != item.id else None,
            may_judge=given is not None or item.id in pending,
            left=len(pending),
            protocol=self._protocol,
            error=error,
            text=item.words if text is None else text,
            comment=comment if comment is not None else given.comment if given else "",
        )
