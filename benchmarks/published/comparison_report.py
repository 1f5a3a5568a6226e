"""The report of a comparison of grading profiles: that of a run, with a section of figures, differences and causes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.published.comparison import RECORD_PROFILE, ProfileComparison, read_comparison
from benchmarks.published.difference_causes import PROFILE_CAUSES, RECORD_CAUSES, DifferenceRow
from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.labels import OUTCOME_LABELS
from lawtrace.runs.report.outcome_lines import outcome_lines
from lawtrace.runs.report.outcome_tables import failure_figures, outcome_figures
from lawtrace.runs.report.sections import RunReport, Section, make_run_report
from lawtrace.runs.report.tables import Figure, Table, make_table
from lawtrace.schemas.choices import GradingProfile
from lawtrace.schemas.recipe import BASELINES
from lawtrace.schemas.verdict_rows import Outcome, Verdict

TEMPLATES = Path(__file__).parent / "templates"

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


def load_report(folder: Path, env: str | None = None) -> tuple[ReportContent, RunReport]:
    """The content and the report of a comparison; ``env``: the folder of its environment, if it is not built in.

    Raises InputError with file and line.
    """
    comparison = read_comparison(folder, env)
    content = comparison_content(comparison)
    return content, make_report(content, comparison)


def comparison_content(comparison: ProfileComparison) -> ReportContent:
    """The content of imported tasks with the verdicts of the strict profile."""
    environment = comparison.environment
    sources = sorted({task.source for task in comparison.tasks})
    return ReportContent(
        title=f"lawtrace: {', '.join(sources)}, {environment.title}",
        settings={"environment": environment.name, "attempts": str(len(comparison.attempts))},
        scenarios={environment.name: environment.title},
        critical_tools={environment.name: len(environment.critical_tools)},
        tasks=comparison.tasks,
        attempts=comparison.attempts,
        verdicts=comparison.verdicts["strict"],
        trials=1 + max(attempt.answer.trial for attempt in comparison.attempts),
        problems=comparison.problems,
        notices=("Verdicts, outcomes and tasks are those of the strict profile unless stated otherwise.",),
    )


def make_report(content: ReportContent, comparison: ProfileComparison) -> RunReport:
    """The report with the section of the profiles after the comparisons."""
    profiles, report = view_profiles(content, comparison), make_run_report(content)
    section = Section(
        "profiles",
        "Grading profiles",
        "profiles.html.jinja",
        {"profiles": profiles},
        figures=profiles.figures,
        tables=profiles.tables,
    )
    at = 1 + [one.id for one in report.sections].index("comparisons")
    sections = (*report.sections[:at], section, *report.sections[at:])
    return replace(report, sections=sections, template_folders=(TEMPLATES,))


def view_profiles(content: ReportContent, comparison: ProfileComparison) -> ProfileView:
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
        _outcome_matrix(pairs),
        tuple(_by_cause(comparison.differences, PROFILE_CAUSES.items())),
        len(comparison.attempts),
        len(comparison.recorded),
        {profile: tuple(_by_cause(rows, RECORD_CAUSES.items())) for profile, rows in comparison.unreproduced.items()},
    )


def _block(name: str, meaning: str, content: ReportContent, verdicts: Sequence[Verdict]) -> ProfileBlock:
    lines = outcome_lines(replace(content, verdicts=tuple(verdicts), coverage=()))
    return ProfileBlock(
        name, meaning, outcome_figures(lines, f"outcomes-{name}"), failure_figures(lines, f"failures-{name}")
    )


def _by_cause(rows: Sequence[DifferenceRow], causes: Iterable[tuple[str, str]]) -> Iterable[CauseLine]:
    for cause, explanation in causes:
        found = tuple(row for row in rows if row.cause == cause)
        if found:
            yield CauseLine(cause, explanation, found)


def _outcome_matrix(pairs: Counter[tuple[Outcome, Outcome]]) -> Table:
    """How often each pair of outcomes under two profiles occurs."""
    return make_table(
        "profiles",
        "Outcomes, strict against published",
        (
            {"strict": OUTCOME_LABELS[ours].label, "published": OUTCOME_LABELS[theirs].label, "#attempts": count}
            for (ours, theirs), count in pairs.most_common()
        ),
        "how often each pair of outcomes occurs.",
    )
