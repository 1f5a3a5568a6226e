"""What reviewers said of rules and tasks."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from lawtrace.runs.recipe import RecipePart, distinct
from lawtrace.runs.recipe_file import read_recipe

Decision = Literal["accept", "reject", "edit"]


class OpinionRow(BaseModel):
    """One opinion of one reviewer on one item in one round. Of several the last counts.

    Attributes:
        digest: of the words that were judged; an opinion on other words counts for nothing.
        text: of an edit, the words that should stand there instead; they become an item of their own.
        at: when it was given, as ISO 8601 in UTC.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["lawtrace.opinion/1"] = "lawtrace.opinion/1"
    reviewer: str = Field(min_length=1, max_length=80)
    item: str = Field(min_length=1)
    digest: str
    round: int = Field(ge=1)
    decision: Decision
    text: str = Field(default="", max_length=20_000)
    comment: str = Field(default="", max_length=20_000)
    at: str = ""


def text_digest(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()


Reviewers = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(distinct)]


class ReviewProtocol(RecipePart):
    """How a review goes. An item that a round does not accept is in no later round."""

    reviewers: Reviewers | Annotated[int, Field(ge=1, le=100)] = 1
    rounds: int = Field(default=1, ge=1, le=20)
    decision: Literal["unanimous", "majority"] = "unanimous"
    quota: int | None = Field(default=None, ge=1)

    @property
    def needed(self) -> int:
        """How many opinions a round needs."""
        return self.reviewers if isinstance(self.reviewers, int) else len(self.reviewers)

    def admits(self, reviewer: str) -> bool:
        return isinstance(self.reviewers, int) or reviewer in self.reviewers

    def accepts(self, votes: int) -> bool:
        """Whether so many votes for an item, of all that a round needs, accept it."""
        return votes == self.needed if self.decision == "unanimous" else 2 * votes > self.needed


class _File(RecipePart):
    review: ReviewProtocol = ReviewProtocol()


def load_protocol(path: Path) -> ReviewProtocol:
    """Read the recipe of a review. Raises InputError naming the file and the key."""
    return read_recipe(path, _File).review


ReviewStatus = Literal["pending", "accepted", "rejected"]


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """Something to be judged.

    Attributes:
        id: unique; of an edited version the id of what was edited, with its number (``pay-first~2``).
        member: the id without the version: versions of one member stand for each other.
        group: what passes or fails as a whole.
        words: what is judged: a formula, an instruction.
        edited_by: whose version it is; None for what was given.
    """

    id: str
    member: str
    group: str
    words: str
    edited_by: str | None = None

    @property
    def digest(self) -> str:
        return text_digest(self.words)


@dataclass(frozen=True, slots=True)
class ItemState:
    """Where an item stands.

    Attributes:
        round: the one it is in, or was settled in.
        votes: for each round that was begun, reviewer -> opinion.
    """

    status: ReviewStatus
    round: int
    votes: tuple[Mapping[str, OpinionRow], ...] = field(default=())


class ReviewState:
    """The state of a review. Made anew from the rows whenever there is a new one."""

    def __init__(self, protocol: ReviewProtocol, items: Sequence[ReviewItem], rows: Sequence[OpinionRow]) -> None:
        self.protocol = protocol
        self._said: dict[tuple[str, int], dict[str, OpinionRow]] = {}
        self._latest: dict[str, str] = {}
        self.items: list[ReviewItem] = []
        self.stale = 0
        """Opinions on items that are gone, or on other words than theirs."""
        self._gather(items, rows)

    def _gather(self, items: Sequence[ReviewItem], rows: Sequence[OpinionRow]) -> None:
        known = {item.id: item for item in items}
        versions: dict[str, int] = {}
        for row in rows:
            item = known.get(row.item)
            if item is None or item.digest != row.digest or not self.protocol.admits(row.reviewer):
                self.stale += 1
                continue
            self._said.setdefault((row.item, row.round), {})[row.reviewer] = row
            self._latest[row.reviewer] = row.item
            taken = {one.words for one in known.values() if one.member == item.member}
            if row.decision == "edit" and row.text not in taken:
                number = versions[item.member] = versions.get(item.member, 1) + 1
                name = f"{item.member}~{number}"
                known[name] = ReviewItem(name, item.member, item.group, row.text, row.reviewer)
        order = {item.group: place for place, item in reversed(list(enumerate(items)))}
        self.items = sorted(known.values(), key=lambda item: order[item.group])

    @cached_property
    def states(self) -> Mapping[str, ItemState]:
        return {item.id: self._item_state(item) for item in self.items}

    def _item_state(self, item: ReviewItem) -> ItemState:
        votes: list[Mapping[str, OpinionRow]] = []
        for number in range(1, self.protocol.rounds + 1):
            said = self._said.get((item.id, number), {})
            votes.append(said)
            if len(said) < self.protocol.needed:
                return ItemState("pending", number, tuple(votes))
            if not self.protocol.accepts(sum(row.decision == "accept" for row in said.values())):
                return ItemState("rejected", number, tuple(votes))
        return ItemState("accepted", self.protocol.rounds, tuple(votes))

    @cached_property
    def groups(self) -> Mapping[str, ReviewStatus]:
        """Group -> whether it passes: accepted if each member has an accepted version, rejected if one cannot."""
        statuses: dict[str, ReviewStatus] = {}
        for group in dict.fromkeys(item.group for item in self.items):
            members: dict[str, set[ReviewStatus]] = {}
            for item in self.items:
                if item.group == group:
                    members.setdefault(item.member, set()).add(self.states[item.id].status)
            if all("accepted" in of for of in members.values()):
                statuses[group] = "accepted"
            elif any(of == {"rejected"} for of in members.values()):
                statuses[group] = "rejected"
            else:
                statuses[group] = "pending"
        return statuses

    def accepted(self) -> list[ReviewItem]:
        """The last accepted version of each member of the groups that pass; no more groups than the quota."""
        passing = [group for group, status in self.groups.items() if status == "accepted"][: self.protocol.quota]
        best: dict[str, ReviewItem] = {}
        for item in self.items:
            if item.group in passing and self.states[item.id].status == "accepted":
                best[item.member] = item
        return list(best.values())

    def offered(self) -> set[str]:
        """The groups that are looked at now: with a quota no more than could still be needed."""
        offered: set[str] = set()
        possible = 0
        for group, status in self.groups.items():
            if self.protocol.quota is not None and possible >= self.protocol.quota:
                break
            possible += status != "rejected"
            offered.add(group)
        return offered

    def pending_for(self, reviewer: str) -> list[ReviewItem]:
        """What this reviewer has still to judge, in order."""
        offered = self.offered()
        return [item for item in self.items if item.group in offered and self._is_pending(item, reviewer)]

    def _is_pending(self, item: ReviewItem, reviewer: str) -> bool:
        item_state = self.states[item.id]
        if item_state.status != "pending" or self.groups[item.group] != "pending":
            return False
        others = (one for one in self.items if one.member == item.member and one is not item)
        settled = any(self.states[one.id].status == "accepted" for one in others)
        said = item_state.votes[-1]
        return not settled and reviewer not in said and len(said) < self.protocol.needed

    def revisable(self, item: ReviewItem, reviewer: str) -> OpinionRow | None:
        """What the reviewer said last of the item, while it can be taken back: until the round is over, since then the
        others' opinions are seen; where nobody else judges, until the next round has begun. An edit stands."""
        item_state = self.states[item.id]
        alone = self.protocol.needed == 1
        over = item_state.votes[:-1] if item_state.status == "pending" else item_state.votes
        votes = item_state.votes[-1] if item_state.status == "pending" and item_state.votes[-1] else None
        if votes is None and alone and over:
            votes = over[-1]
        row = votes.get(reviewer) if votes else None
        return row if row is not None and row.decision != "edit" else None

    def last_judged(self, reviewer: str) -> ReviewItem | None:
        """The item that the reviewer judged last, if that can still be taken back."""
        item = next((item for item in self.items if item.id == self._latest.get(reviewer)), None)
        return item if item is not None and self.revisable(item, reviewer) else None

    def past_opinions(self, item: ReviewItem) -> list[tuple[int, OpinionRow]]:
        """What was said of the item in rounds that are over, so that nobody sees the others' while they judge."""
        item_state = self.states[item.id]
        over = item_state.votes if item_state.status != "pending" else item_state.votes[:-1]
        return [(number, row) for number, votes in enumerate(over, 1) for row in votes.values()]

    def decisions(self, round_: int) -> dict[str, dict[str, Decision]]:
        """Of the items on which everybody gave an opinion in that round: item -> reviewer -> decision."""
        return {
            item.id: {name: row.decision for name, row in said.items()}
            for item in self.items
            if len(said := self._said.get((item.id, round_), {})) >= self.protocol.needed
        }


class ReviewSubject(Protocol):
    """A file under review.

    Attributes:
        noun: what its groups are called (``rule``, ``pair``).
        template: the template that shows one of its items.
    """

    noun: str
    template: str
    title: str

    def items(self) -> Sequence[ReviewItem]:
        """Everything to be judged, in order."""
        ...

    def context(self, item: ReviewItem) -> object:
        """What stands beside the item, for the template."""
        ...

    def check_edit(self, item: ReviewItem, text: str) -> str | None:
        """What code holds against the text in place of the item's words; None if it could stand there."""
        ...

    def export(self, accepted: Sequence[ReviewItem], path: Path) -> int:
        """Write what was accepted; how many rows."""
        ...
