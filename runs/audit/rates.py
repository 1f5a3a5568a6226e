"""Precision and recall of rules against what others say of conversations: labels of the source, marks of people."""

from collections.abc import Sequence
from dataclasses import dataclass

from lawtrace.runs.scoring.metrics import Interval, wilson_interval
from lawtrace.schemas.events import Json

ANY_RULE = "any rule"
"""Conversations in which a rule is broken."""
ALL_RULES = "all rules"
"""Findings of all rules together."""


@dataclass(frozen=True, slots=True)
class RuleRates:
    """How often a rule is right.

    Attributes:
        rule: its id, `ANY_RULE` or `ALL_RULES`.
        flagged: findings that others judge, and ``confirmed`` how many of these they call right.
        bad: conversations that should have a finding; None if that is not known of all.
    """

    rule: str
    flagged: int
    confirmed: int
    bad: int | None

    @property
    def precision(self) -> float | None:
        return self.confirmed / self.flagged if self.flagged else None

    @property
    def recall(self) -> float | None:
        return self.confirmed / self.bad if self.bad else None

    @property
    def precision_interval(self) -> Interval | None:
        return wilson_interval(self.confirmed, self.flagged)

    @property
    def recall_interval(self) -> Interval | None:
        return None if self.bad is None else wilson_interval(self.confirmed, self.bad)

    def as_json(self) -> dict[str, Json]:
        precision, recall = self.precision_interval, self.recall_interval
        return {
            "findings": self.flagged,
            "confirmed": self.confirmed,
            "bad": self.bad,
            "precision": self.precision,
            "precision_interval": precision and [precision.low, precision.high],
            "recall": self.recall,
            "recall_interval": recall and [recall.low, recall.high],
        }


@dataclass(frozen=True, slots=True)
class RateTable:
    """The rates of all rules with findings, and the sentences that say against what, and what is left out."""

    title: str
    sentences: tuple[str, ...]
    rates: Sequence[RuleRates]

    def as_json(self) -> dict[str, Json]:
        rates: dict[str, Json] = {one.rule: one.as_json() for one in self.rates}
        return {"against": " ".join(self.sentences), "rates": rates}
