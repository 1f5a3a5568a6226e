"""The verdicts of a report by scenario, model and style."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.tables import Cell, Target, number
from lawtrace.runs.scoring.metrics import OutcomeCounts, count_outcomes, group_by, group_verdicts
from lawtrace.schemas.choices import Style
from lawtrace.schemas.verdict_rows import Outcome, Verdict

ALL_ENVIRONMENTS = "All environments"


@dataclass(frozen=True, slots=True)
class OutcomeLine:
    """The verdicts on one model in one scenario and style.

    Attributes:
        scenario: its title; ``density``: its number of critical tools (P 5.3), None if unknown.
        model: the model as shown; ``contender``: as the verdicts name it.
        variant: the name of the variant in an ablation.
        pooled: over several scenarios; the attempts are then in no single list.
    """

    scenario: str
    model: str
    contender: str
    style: Style
    verdicts: tuple[Verdict, ...]
    tally: OutcomeCounts
    density: int | None = None
    variant: str | None = None
    pooled: bool = False

    def count(self, outcome: Outcome) -> Cell:
        """The attempts with this outcome, with a link to their list."""
        of = self.tally.count(outcome)
        filters = {"model": self.contender, "style": self.style, "outcome": outcome, "variant": self.variant}
        return number(of, link=None if self.pooled or not of else Target("attempts", filters))


def outcome_lines(content: ReportContent) -> list[OutcomeLine]:
    """A line for each scenario, model and style. Raises InputError for a verdict on an unknown task."""
    groups = group_verdicts(content.verdicts, {task.id: task.environment for task in content.tasks})
    return [
        OutcomeLine(
            content.scenario_title(group.environment),
            group.model,
            group.model,
            group.style,
            members,
            count_outcomes(members, content.planned(group.environment, group.style)),
            content.critical_tools.get(group.environment),
        )
        for group, members in groups.items()
    ]


def pool_lines(lines: Sequence[OutcomeLine]) -> list[OutcomeLine]:
    """The lines of each model and style over all scenarios; none for one scenario."""
    judged = [line for line in lines if line.verdicts]
    if len(scenarios(judged)) < 2:
        return []
    by_model = group_by(judged, lambda line: (line.model, line.style)).values()
    return [replace(_join(members), scenario=ALL_ENVIRONMENTS, density=None, pooled=True) for members in by_model]


def join_styles(lines: Iterable[OutcomeLine]) -> list[OutcomeLine]:
    """A line for each scenario and model, with the verdicts of both styles."""
    return [_join(of) for of in group_by(lines, lambda line: (line.scenario, line.model)).values()]


def _join(lines: Sequence[OutcomeLine]) -> OutcomeLine:
    verdicts = tuple(verdict for line in lines for verdict in line.verdicts)
    tally = count_outcomes(verdicts, sum(line.tally.planned for line in lines))
    return replace(lines[0], verdicts=verdicts, tally=tally)


def scenarios(lines: Iterable[OutcomeLine]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line.scenario for line in lines))
