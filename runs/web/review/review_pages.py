"""The pages of a review of rules or tasks: the list of items, and each item with the form for a decision."""

from collections.abc import Callable
from typing import get_args

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from lawtrace.runs.web.review.append_log import AppendLog, utc_timestamp
from lawtrace.runs.web.review.decisions import Decision, OpinionRow, ReviewItem, ReviewState, ReviewSubject
from lawtrace.runs.web.review.site import ReviewSite, read_form, reviewer_of
from lawtrace.schemas.errors import InputError

_DECISIONS: tuple[Decision, ...] = get_args(Decision)


class ReviewPages(ReviewSite):
    """The review pages of one file. ``clock`` returns the time of a decision."""

    def __init__(
        self,
        subject: ReviewSubject,
        log: AppendLog[OpinionRow],
        needed: int = 1,
        clock: Callable[[], str] = utc_timestamp,
    ) -> None:
        super().__init__(subject.title, subject.noun)
        self._subject = subject
        self._needed = needed
        self._log = log
        self._clock = clock
        self._items = tuple(subject.items())

    @property
    def state(self) -> ReviewState:
        return ReviewState(self._items, self._log.rows, self._needed)

    def routes(self) -> list[Route]:
        return [
            *super().routes(),
            Route("/next", self._next),
            Route("/items", self._overview),
            Route("/items/{item:path}", self._item, methods=["GET"]),
            Route("/items/{item:path}", self._take_decision, methods=["POST"]),
        ]

    async def _next(self, request: Request) -> Response:
        state = self.state
        order = [item.id for item in state.items]
        return self.to_next(request, order, lambda name: [item.id for item in state.pending_for(name)])

    async def _overview(self, request: Request) -> Response:
        state, reviewer = self.state, reviewer_of(request)
        return self.show(
            request,
            "review/items",
            items=[(item, state.status(item), len(state.votes[item.id])) for item in state.items],
            pending={item.id for item in state.pending_for(reviewer)} if reviewer else set[str](),
            summary=state.summary(),
            needed=self._needed,
        )

    async def _item(self, request: Request) -> Response:
        state = self.state
        return self._show(request, state, self._find(request, state))

    async def _take_decision(self, request: Request) -> Response:
        """Store a decision. The item is shown again if code rejects an edit."""
        state, reviewer = self.state, reviewer_of(request)
        item = self._find(request, state)
        if reviewer is None:
            return RedirectResponse("/", 303)
        form = await read_form(request)
        decision = form.get("decision", "")
        if decision not in _DECISIONS:
            raise InputError(f"the decision must be one of {', '.join(_DECISIONS)}")
        if form.get("digest") != item.digest:
            raise InputError(f"the text of {item.id} has changed since the page was shown; open it again")
        text = form.get("text", "").replace("\r\n", "\n").strip() if decision == "edit" else ""
        if decision == "edit":
            error = "the text is unchanged" if text == item.words else self._subject.check_edit(item, text)
            if error:
                return self._show(request, state, item, error=error, text=text, comment=form.get("comment", ""))
        row = OpinionRow(
            reviewer=reviewer,
            item=item.id,
            digest=item.digest,
            decision=decision,
            text=text,
            comment=form.get("comment", "").strip()[:20_000],
            at=self._clock(),
        )
        self._log.append(row)
        return RedirectResponse("/next", 303)

    def _find(self, request: Request, state: ReviewState) -> ReviewItem:
        wanted = request.path_params["item"]
        for item in state.items:
            if item.id == wanted:
                return item
        raise HTTPException(404, "there is no such item")

    def _show(
        self,
        request: Request,
        state: ReviewState,
        item: ReviewItem,
        *,
        error: str = "",
        text: str | None = None,
        comment: str | None = None,
    ) -> Response:
        reviewer, votes, status = reviewer_of(request), state.votes[item.id], state.status(item)
        given = votes.get(reviewer or "")
        return self.show(
            request,
            "review/item",
            item=item,
            item_status=status,
            context=self._subject.context(item),
            context_template=self._subject.template,
            # The decisions of others stay hidden until the item is decided.
            votes=list(votes.values()) if status != "pending" else [],
            given=given,
            left=len(state.pending_for(reviewer)) if reviewer else 0,
            error=error,
            text=item.words if text is None else text,
            comment=comment if comment is not None else given.comment if given else "",
        )
