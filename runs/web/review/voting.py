"""Review of rules and tasks: opinions, rounds and decisions."""

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
    """One opinion of one reviewer on one item in one round. The last one counts.

    Attributes:
        digest: SHA-256 of the judged words; an opinion on other words is ignored.
        text: of an edit, the new words; they become a separate item.
        at: time of the opinion, ISO 8601 in UTC.
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
    """The rules of a review. An item that is rejected in a round does not enter later rounds."""

    reviewers: Reviewers | Annotated[int, Field(ge=1, le=100)] = 1
    rounds: int = Field(default=1, ge=1, le=20)
    decision: Literal["unanimous", "majority"] = "unanimous"
    quota: int | None = Field(default=None, ge=1)

    @property
    def needed(self) -> int:
        """The number of opinions a round needs."""
        return self.reviewers if isinstance(self.reviewers, int) else len(self.reviewers)

    def admits(self, reviewer: str) -> bool:
        return isinstance(self.reviewers, int) or reviewer in self.reviewers

    def accepts(self, votes: int) -> bool:
        """Whether this number of accepting votes in a complete round accepts an item."""
        return votes == self.needed if self.decision == "unanimous" else 2 * votes > self.needed


class _File(RecipePart):
    review: ReviewProtocol = ReviewProtocol()


def load_protocol(path: Path) -> ReviewProtocol:
    """Read the recipe of a review. Raises InputError naming the file and the key."""
    return read_recipe(path, _File).review


ReviewStatus = Literal["pending", "accepted", "rejected"]


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """An item under review.

    Attributes:
        id: unique; an edited version has the id of the original and a number (``pay-first~2``).
        member: the id without the version; one accepted version of a member is enough.
        group: the group that passes or fails as a whole.
        words: the judged text: a formula or an instruction.
        edited_by: the reviewer who wrote this version; None for the original.
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
    """The status of an item.

    Attributes:
        round: the current round, or the round in which the item was decided.
        votes: for each round started, reviewer -> opinion.
    """

    status: ReviewStatus
    round: int
    votes: tuple[Mapping[str, OpinionRow], ...] = field(default=())


class ReviewState:
    """The state of a review, rebuilt from all rows after each new row."""

    def __init__(self, protocol: ReviewProtocol, items: Sequence[ReviewItem], rows: Sequence[OpinionRow]) -> None:
        self.protocol = protocol
        self._said: dict[tuple[str, int], dict[str, OpinionRow]] = {}
        self._latest: dict[str, str] = {}
        self.items: list[ReviewItem] = []
        self.stale = 0
        """Number of ignored opinions: unknown item, different words, or a reviewer not admitted."""
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
        """The groups open for review; with a quota, only as many as may still be needed."""
        offered: set[str] = set()
        possible = 0
        for group, status in self.groups.items():
            if self.protocol.quota is not None and possible >= self.protocol.quota:
                break
            possible += status != "rejected"
            offered.add(group)
        return offered

    def pending_for(self, reviewer: str) -> list[ReviewItem]:
        """The items this reviewer has yet to judge, in order."""
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
        """The reviewer's last opinion on the item, if it can still be changed; else None.

        An opinion can be changed until the round ends, because then the other opinions become visible. With a single
        reviewer it can be changed until the next round has an opinion. An edit cannot be changed.
        """
        item_state = self.states[item.id]
        alone = self.protocol.needed == 1
        over = item_state.votes[:-1] if item_state.status == "pending" else item_state.votes
        votes = item_state.votes[-1] if item_state.status == "pending" and item_state.votes[-1] else None
        if votes is None and alone and over:
            votes = over[-1]
        row = votes.get(reviewer) if votes else None
        return row if row is not None and row.decision != "edit" else None

    def last_judged(self, reviewer: str) -> ReviewItem | None:
        """The item the reviewer judged last, if that opinion can still be changed."""
        item = next((item for item in self.items if item.id == self._latest.get(reviewer)), None)
        return item if item is not None and self.revisable(item, reviewer) else None

    def past_opinions(self, item: ReviewItem) -> list[tuple[int, OpinionRow]]:
        """Opinions on the item in completed rounds. Those of the current round stay hidden from reviewers."""
        item_state = self.states[item.id]
        over = item_state.votes if item_state.status != "pending" else item_state.votes[:-1]
        return [(number, row) for number, votes in enumerate(over, 1) for row in votes.values()]

    def decisions(self, round_: int) -> dict[str, dict[str, Decision]]:
        """Item -> reviewer -> decision, for the items with all opinions in that round."""
        return {
            item.id: {name: row.decision for name, row in said.items()}
            for item in self.items
            if len(said := self._said.get((item.id, round_), {})) >= self.protocol.needed
        }


class ReviewSubject(Protocol):
    """A file under review.

    Attributes:
        noun: name of a group (``rule``, ``pair``).
        template: the template that shows one of its items.
    """

    noun: str
    template: str
    title: str

    def items(self) -> Sequence[ReviewItem]:
        """The items to judge, in order."""
        ...

    def context(self, item: ReviewItem) -> object:
        """The values shown beside the item by the template."""
        ...

    def check_edit(self, item: ReviewItem, text: str) -> str | None:
        """Why the text cannot replace the words of the item; None if it can."""
        ...

    def export(self, accepted: Sequence[ReviewItem], path: Path) -> int:
        """Write the accepted items; return the number of rows."""
        ...
