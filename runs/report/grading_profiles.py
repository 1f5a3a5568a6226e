"""Report section that compares grading profiles: figures, differences and causes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lawtrace.environments.choices import GradingProfile
from lawtrace.runs.published.difference_causes import PROFILE_CAUSES, RECORD_CAUSES, DifferenceRow
from lawtrace.runs.published.profile_comparison import RECORD_PROFILE, ProfileComparison
from lawtrace.runs.recipe import BASELINES
from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.run_tables import outcome_matrix
from lawtrace.runs.report.summary import failure_tables, outcome_figures, outcome_lines
from lawtrace.runs.report.tables import Figure, Table
from lawtrace.runs.schemas.verdict_rows import Outcome, Verdict

MEANINGS: Mapping[GradingProfile, str] = {
    "strict": "ours: the calls that really happened, the documented tools, the state that our simulator keeps",
    "published": "the published definitions, with the audit check made for every attempt",
    "published-shared": "the published definitions, with the expected audit log used up by the goal attempt of a pair",
}


@dataclass(frozen=True, slots=True)
class ProfileBlock:
    """One profile, or the published records, with P Figures 2 and 3."""

    name: str
    meaning: str
    outcomes: tuple[Figure, ...]
    failures: tuple[Figure, ...]


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
        matrix: how often each pair of (strict, published) outcomes occurs.
        recorded: number of recorded verdicts.
        unreproduced: the recorded verdicts that each published profile does not reproduce, by cause.
    """

    blocks: tuple[ProfileBlock, ...]
    matrix: Table
    differences: tuple[CauseLine, ...]
    attempts: int
    recorded: int
    unreproduced: Mapping[GradingProfile, tuple[CauseLine, ...]]

    @property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(figure for block in self.blocks for figure in (*block.outcomes, *block.failures))

    @property
    def tables(self) -> tuple[Table, ...]:
        return (self.matrix, *(figure.table for block in self.blocks for figure in block.failures))

    def reproduced(self, profile: GradingProfile) -> int:
        return self.recorded - sum(len(line.rows) for line in self.unreproduced[profile])


def view_profiles(content: ReportContent, comparison: ProfileComparison) -> ProfileView:
    """Compute the tables, figures and causes of the section."""
    recorded = tuple(record.as_verdict() for record in comparison.recorded)
    blocks = [_block("recorded", "as the published record files hold them", content, recorded)]
    blocks += [
        _block(profile, MEANINGS[profile], content, verdicts)
        for profile, verdicts in sorted(comparison.verdicts.items(), key=lambda item: item[0] != RECORD_PROFILE)
    ]
    pairs = Counter[tuple[Outcome, Outcome]](
        (ours.outcome, theirs.outcome)
        for ours, theirs in zip(comparison.verdicts["strict"], comparison.verdicts["published"], strict=True)
    )
    return ProfileView(
        tuple(block for block in blocks if block.outcomes),
        outcome_matrix([(ours, theirs, count) for (ours, theirs), count in pairs.most_common()]),
        tuple(_by_cause(comparison.differences, PROFILE_CAUSES.items())),
        len(comparison.attempts),
        len(comparison.recorded),
        {profile: tuple(_by_cause(rows, RECORD_CAUSES.items())) for profile, rows in comparison.unreproduced.items()},
    )


def _block(name: str, meaning: str, content: ReportContent, verdicts: Sequence[Verdict]) -> ProfileBlock:
    lines = outcome_lines(replace(content, verdicts=tuple(verdicts), coverage=()))
    return ProfileBlock(
        name, meaning, outcome_figures(lines, f"outcomes-{name}"), failure_tables(lines, f"failures-{name}")
    )


def _by_cause(rows: Sequence[DifferenceRow], causes: Iterable[tuple[str, str]]) -> Iterable[CauseLine]:
    for cause, explanation in causes:
        found = tuple(row for row in rows if row.cause == cause)
        if found:
            yield CauseLine(cause, explanation, found)
