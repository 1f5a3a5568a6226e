"""The review of rules or tasks: the list of items, and each item with the form for a decision."""

from collections.abc import Callable, Mapping, Sequence
from typing import get_args

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from lawtrace.runs.web.forms import FormSite
from lawtrace.runs.web.review.append_log import AppendLog, utc_timestamp
from lawtrace.runs.web.review.decisions import Decision, OpinionRow, ReviewItem, ReviewState, ReviewSubject
from lawtrace.schemas.errors import InputError

_DECISIONS: tuple[Decision, ...] = get_args(Decision)


class ReviewPages(FormSite):
    """The review of one file. ``clock`` returns the time of a decision."""

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

    def order(self) -> Sequence[str]:
        return [item.id for item in self._items]

    def pending_for(self, reviewer: str) -> Sequence[str]:
        return [item.id for item in self.state.pending_for(reviewer)]

    def show_items(self, request: Request, reviewer: str | None) -> Response:
        state = self.state
        return self.page(
            request,
            "items",
            items=[(item, state.status(item), len(state.votes[item.id])) for item in state.items],
            pending={item.id for item in state.pending_for(reviewer)} if reviewer else set[str](),
            summary=state.summary(),
            needed=self._needed,
        )

    def show_item(self, request: Request, item: str, reviewer: str | None) -> Response:
        state = self.state
        return self._show(request, state, _find(state, item), reviewer)

    def take_form(self, request: Request, item: str, reviewer: str, form: Mapping[str, str]) -> Response | None:
        """Store a decision. The item is shown again if code rejects an edit."""
        state = self.state
        found, decision = _find(state, item), form.get("decision", "")
        if decision not in _DECISIONS:
            raise InputError(f"the decision must be one of {', '.join(_DECISIONS)}")
        if form.get("digest") != found.digest:
            raise InputError(f"the text of {found.id} has changed since the page was shown; open it again")
        text = form.get("text", "").replace("\r\n", "\n").strip() if decision == "edit" else ""
        if decision == "edit":
            error = "the text is unchanged" if text == found.words else self._subject.check_edit(found, text)
            if error:
                comment = form.get("comment", "")
                return self._show(request, state, found, reviewer, error=error, text=text, comment=comment)
        self._log.append(
            OpinionRow(
                reviewer=reviewer,
                item=found.id,
                digest=found.digest,
                decision=decision,
                text=text,
                comment=form.get("comment", "").strip()[:20_000],
                at=self._clock(),
            )
        )
        return None

    def _show(
        self,
        request: Request,
        state: ReviewState,
        item: ReviewItem,
        reviewer: str | None,
        *,
        error: str = "",
        text: str | None = None,
        comment: str | None = None,
    ) -> Response:
        votes, status = state.votes[item.id], state.status(item)
        given = votes.get(reviewer or "")
        return self.page(
            request,
            "item",
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


def _find(state: ReviewState, name: str) -> ReviewItem:
    for item in state.items:
        if item.id == name:
            return item
    raise HTTPException(404, "there is no such item")
