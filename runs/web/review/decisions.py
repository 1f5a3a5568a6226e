"""Review of rules and tasks: the decisions of reviewers, what is accepted, and how far reviewers agree."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from pydantic import Field

from lawtrace.agents.roles.rule_answers import SessionVerdict
from lawtrace.runs.scoring.agreement import fleiss_kappa, mean_cohen_kappa
from lawtrace.runs.scoring.metrics import Interval, wilson_interval
from lawtrace.schemas.models import StrictModel

Decision = Literal["accept", "reject", "edit"]
ReviewStatus = Literal["pending", "accepted", "rejected"]


class OpinionRow(StrictModel):
    """One decision of one reviewer on one item. The last one of a reviewer counts.

    Attributes:
        digest: SHA-256 of the judged words; a decision on other words is ignored.
        decision: on a session its verdict; see `GivenJudgment`, which is what is written.
        text: of an edit, the new words.
        at: time of the decision, ISO 8601 in UTC.
    """

    schema_version: Literal["lawtrace.opinion/1"] = "lawtrace.opinion/1"
    reviewer: str = Field(min_length=1, max_length=80)
    item: str = Field(min_length=1)
    digest: str
    decision: Decision | SessionVerdict
    text: str = Field(default="", max_length=20_000)
    comment: str = Field(default="", max_length=20_000)
    at: str = ""


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """An item under review.

    Attributes:
        group: the group that passes or fails as a whole.
        words: the judged text: a formula or an instruction.
        edited_by: the reviewer who wrote these words; None for the original.
    """

    id: str
    group: str
    words: str
    edited_by: str | None = None

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.words.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ReviewSummary:
    """The result of a review. Counts and rate are over groups: rules, or pairs of instructions.

    Attributes:
        compared: decided items that were not edited; the agreement is over these.
        unanimous: the share of them with only one kind of decision.
        cohen_kappa: the mean of Cohen's kappa over pairs of reviewers; None where undefined, as `fleiss_kappa`.
        reviewers: how many items each has judged.
        stale: decisions on other words or unknown items.
    """

    accepted: int
    rejected: int
    pending: int
    acceptance_rate: float | None
    interval: Interval | None
    compared: int
    unanimous: float | None
    cohen_kappa: float | None
    fleiss_kappa: float | None
    reviewers: Mapping[str, int]
    stale: int


class ReviewState:
    """The state of a review, rebuilt from all rows.

    An item is accepted if the needed number of reviewers have judged it and all of them accept it. An edit replaces
    the words of an item and accepts the new ones; all other reviewers judge again.
    """

    def __init__(self, items: Sequence[ReviewItem], rows: Sequence[OpinionRow], needed: int = 1) -> None:
        self.needed = needed
        self.votes: dict[str, dict[str, OpinionRow]] = {item.id: {} for item in items}
        self._items = {item.id: item for item in items}
        self._stale = 0
        for row in rows:
            item = self._items.get(row.item)
            if item is None or item.digest != row.digest:
                self._stale += 1
            elif row.decision == "edit":
                self._items[item.id] = replace(item, words=row.text, edited_by=row.reviewer)
                self.votes[item.id] = {row.reviewer: row}
            else:
                self.votes[item.id][row.reviewer] = row

    @property
    def items(self) -> list[ReviewItem]:
        """The items with their present words."""
        return list(self._items.values())

    def status(self, item: ReviewItem) -> ReviewStatus:
        votes = self.votes[item.id].values()
        if len(votes) < self.needed:
            return "pending"
        return "rejected" if any(row.decision == "reject" for row in votes) else "accepted"

    def groups(self) -> Mapping[str, ReviewStatus]:
        """Group -> whether it passes: accepted if all its items are, rejected if one is."""
        statuses: dict[str, set[ReviewStatus]] = {}
        for item in self.items:
            statuses.setdefault(item.group, set()).add(self.status(item))
        return {
            group: "rejected" if "rejected" in of else "accepted" if of == {"accepted"} else "pending"
            for group, of in statuses.items()
        }

    def accepted(self) -> list[ReviewItem]:
        """The items of the groups that pass."""
        groups = self.groups()
        return [item for item in self.items if groups[item.group] == "accepted"]

    def pending_for(self, reviewer: str) -> list[ReviewItem]:
        """The items of open groups that this reviewer has yet to judge, in order."""
        groups = self.groups()
        return [
            item
            for item in self.items
            if groups[item.group] == "pending"
            and self.status(item) == "pending"
            and reviewer not in self.votes[item.id]
        ]

    def summary(self) -> ReviewSummary:
        counts = Counter(self.groups().values())
        decided = counts["accepted"] + counts["rejected"]
        compared = [item for item in self.items if self.status(item) != "pending" and item.edited_by is None]
        labels = [{name: row.decision for name, row in self.votes[item.id].items()} for item in compared]
        names = sorted({name for of in labels for name in of})
        return ReviewSummary(
            accepted=counts["accepted"],
            rejected=counts["rejected"],
            pending=counts["pending"],
            acceptance_rate=counts["accepted"] / decided if decided else None,
            interval=wilson_interval(counts["accepted"], decided),
            compared=len(compared),
            unanimous=fmean(len(set(of.values())) == 1 for of in labels) if labels else None,
            cohen_kappa=mean_cohen_kappa([[of.get(name) for of in labels] for name in names]),
            fleiss_kappa=fleiss_kappa([list(of.values())[: self.needed] for of in labels]),
            reviewers=dict(Counter(name for votes in self.votes.values() for name in votes)),
            stale=self._stale,
        )
