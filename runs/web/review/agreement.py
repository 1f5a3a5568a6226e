"""Agreement of reviewers, and the result of a review."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from lawtrace.runs.scoring.agreement import fleiss_kappa, mean_cohen_kappa
from lawtrace.runs.scoring.metrics import Interval, wilson_interval
from lawtrace.runs.web.review.voting import ReviewState


@dataclass(frozen=True, slots=True)
class RoundAgreement:
    """Agreement in one round: items with all opinions, the share judged unanimously, and the kappas.

    Decisions count as accept or not accept. ``cohen`` is the mean over pairs of reviewers; None where undefined (one
    reviewer, or all labels are the same).
    """

    round: int
    items: int
    unanimous: float | None
    cohen: float | None
    fleiss: float | None


@dataclass(frozen=True, slots=True)
class ReviewSummary:
    """The result of a review. Rates are over decided groups: rules, or pairs of instructions."""

    accepted: int
    rejected: int
    pending: int
    interval: Interval | None
    rounds: tuple[RoundAgreement, ...]
    reviewers: tuple[str, ...]
    stale: int

    @property
    def rate(self) -> float | None:
        settled = self.accepted + self.rejected
        return self.accepted / settled if settled else None


def summarize_review(state: ReviewState) -> ReviewSummary:
    counts = Counter(state.groups.values())
    settled = counts["accepted"] + counts["rejected"]
    rounds = [_line(state, number) for number in range(1, state.protocol.rounds + 1)]
    names = dict.fromkeys(name for item_state in state.states.values() for votes in item_state.votes for name in votes)
    return ReviewSummary(
        accepted=counts["accepted"],
        rejected=counts["rejected"],
        pending=counts["pending"],
        interval=wilson_interval(counts["accepted"], settled) if settled else None,
        rounds=tuple(line for line in rounds if line.items),
        reviewers=tuple(names),
        stale=state.stale,
    )


def _line(state: ReviewState, number: int) -> RoundAgreement:
    decisions = state.decisions(number)
    labels = {item: {name: _label(said) for name, said in of.items()} for item, of in decisions.items()}
    ratings = [sorted(of.values()) for of in labels.values()]
    agreed = [len(set(of)) == 1 for of in ratings]
    return RoundAgreement(
        round=number,
        items=len(labels),
        unanimous=fmean(agreed) if agreed else None,
        cohen=_mean_cohen(labels),
        fleiss=fleiss_kappa(ratings),
    )


def _mean_cohen(labels: Mapping[str, Mapping[str, str]]) -> float | None:
    names = sorted({name for of in labels.values() for name in of})
    return mean_cohen_kappa([[of.get(name) for of in labels.values()] for name in names])


def _label(decision: str) -> str:
    return "accept" if decision == "accept" else "not"
