"""The review of rules or tasks: the list of items, and each item with the form for a decision."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from lawtrace.runs.web.append_log import AppendLog, utc_timestamp
from lawtrace.runs.web.forms import AskAgain, FormSite
from lawtrace.runs.web.review.decisions import Decision, OpinionRow, ReviewItem, ReviewState
from lawtrace.runs.web.review.rule_items import RuleReview
from lawtrace.runs.web.review.task_items import TaskReview
from lawtrace.schemas.errors import InputError

_DECISIONS: tuple[Decision, ...] = get_args(Decision)


class ReviewPages(FormSite[OpinionRow]):
    """The review of one file."""

    def __init__(
        self,
        subject: RuleReview | TaskReview,
        log: AppendLog[OpinionRow],
        needed: int = 1,
        clock: Callable[[], str] = utc_timestamp,
    ) -> None:
        self._items = tuple(subject.items())
        super().__init__(subject.title, subject.noun, [item.id for item in self._items], log, clock)
        self._subject = subject
        self._needed = needed

    @property
    def state(self) -> ReviewState:
        return ReviewState(self._items, self._log.rows, self._needed)

    def pending_for(self, reviewer: str) -> Sequence[str]:
        return [item.id for item in self.state.pending_for(reviewer)]

    def list_values(self) -> Mapping[str, Any]:
        state = self.state
        items = [(item, state.status(item), len(state.votes[item.id])) for item in state.items]
        return {"items": items, "summary": state.summary(), "needed": self._needed}

    def item_values(self, item: str, reviewer: str | None) -> Mapping[str, Any]:
        state, found = self.state, self._find(item)
        votes, status = state.votes[item], state.status(found)
        given = votes.get(reviewer or "")
        return {
            "item": found,
            "item_status": status,
            "context": self._subject.context(found),
            "context_template": self._subject.template,
            # The decisions of others stay hidden until the item is decided.
            "votes": list(votes.values()) if status != "pending" else [],
            "given": given,
            "error": "",
            "text": found.words,
            "comment": given.comment if given else "",
        }

    def read_form(self, item: str, reviewer: str, form: Mapping[str, str]) -> OpinionRow | AskAgain:
        """A decision. The item is shown again if code rejects an edit."""
        found, decision, comment = self._find(item), form.get("decision", ""), form.get("comment", "")
        if decision not in _DECISIONS:
            raise InputError(f"the decision must be one of {', '.join(_DECISIONS)}")
        if form.get("digest") != found.digest:
            raise InputError(f"the text of {found.id} has changed since the page was shown; open it again")
        text = form.get("text", "").replace("\r\n", "\n").strip() if decision == "edit" else ""
        if decision == "edit":
            error = "the text is unchanged" if text == found.words else self._subject.check_edit(found, text)
            if error:
                return AskAgain({"error": error, "text": text, "comment": comment})
        return OpinionRow(
            reviewer=reviewer,
            item=found.id,
            digest=found.digest,
            decision=decision,
            text=text,
            comment=comment.strip()[:20_000],
            at=self._clock(),
        )

    def _find(self, item: str) -> ReviewItem:
        return next(one for one in self.state.items if one.id == item)
