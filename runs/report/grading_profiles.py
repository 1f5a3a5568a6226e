"""Report section that compares grading profiles: figures, differences and causes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lawtrace.runs.published.difference_causes import PROFILE_CAUSES, RECORD_CAUSES, DifferenceRow
from lawtrace.runs.published.profile_comparison import RECORD_PROFILE, ProfileComparison
from lawtrace.runs.recipe import BASELINES
from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.summary import Summary, summarize
from lawtrace.runs.schemas.verdict_rows import GradingProfile, Outcome, Verdict

MEANINGS: Mapping[GradingProfile, str] = {
    "strict": "ours: the calls that really happened, the documented tools, the state that our simulator keeps",
    "published": "the published definitions, with the audit check made for every attempt",
    "published-shared": "the published definitions, with the expected audit log used up by the goal attempt of a pair",
}


@dataclass(frozen=True, slots=True)
class ProfileBlock:
    """One profile, or the published records, with tables and figures."""

    name: str
    meaning: str
    summary: Summary


@dataclass(frozen=True, slots=True)
class CauseLine:
    """The differences with one cause."""

    cause: str
    explanation: str
    rows: tuple[DifferenceRow, ...]

    @property
    def of_baselines(self) -> int:
        """The number of rows of baseline models, which the published evaluation did not judge."""
        return sum(row.model in BASELINES for row in self.rows)


@dataclass(frozen=True, slots=True)
class ProfileView:
    """The values of the section.

    Attributes:
        matrix: count of each pair of (strict, published) outcomes.
        recorded: number of recorded verdicts.
        unreproduced: the recorded verdicts that each published profile does not reproduce, by cause.
    """

    blocks: tuple[ProfileBlock, ...]
    matrix: tuple[tuple[Outcome, Outcome, int], ...]
    differences: tuple[CauseLine, ...]
    attempts: int
    recorded: int
    unreproduced: Mapping[GradingProfile, tuple[CauseLine, ...]]

    def reproduced(self, profile: GradingProfile) -> int:
        return self.recorded - sum(len(line.rows) for line in self.unreproduced[profile])


def view_profiles(content: ReportContent, comparison: ProfileComparison) -> ProfileView:
    """Compute the tables, figures and causes of the section."""
    recorded = tuple(record.as_verdict() for record in comparison.recorded)
    blocks = [ProfileBlock("recorded", "as the published record files hold them", _summary(content, recorded))]
    blocks += [
        ProfileBlock(profile, MEANINGS[profile], _summary(content, verdicts))
        for profile, verdicts in sorted(comparison.verdicts.items(), key=lambda item: item[0] != RECORD_PROFILE)
    ]
    pairs = Counter[tuple[Outcome, Outcome]](
        (ours.outcome, theirs.outcome)
        for ours, theirs in zip(comparison.verdicts["strict"], comparison.verdicts["published"], strict=True)
    )
    return ProfileView(
        tuple(block for block in blocks if block.summary.blocks),
        tuple((ours, theirs, count) for (ours, theirs), count in pairs.most_common()),
        tuple(_by_cause(comparison.differences, PROFILE_CAUSES.items())),
        len(comparison.attempts),
        len(comparison.recorded),
        {profile: tuple(_by_cause(rows, RECORD_CAUSES.items())) for profile, rows in comparison.unreproduced.items()},
    )


def _summary(content: ReportContent, verdicts: Sequence[Verdict]) -> Summary:
    return summarize(replace(content, verdicts=tuple(verdicts), coverage=()))


def _by_cause(rows: Sequence[DifferenceRow], causes: Iterable[tuple[str, str]]) -> Iterable[CauseLine]:
    for cause, explanation in causes:
        found = tuple(row for row in rows if row.cause == cause)
        if found:
            yield CauseLine(cause, explanation, found)
