"""Statistics of a report: pass^k, the inference gap by style, density and provision, and pairs of models."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from lawtrace.environments.choices import STYLES, Style
from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.schemas.verdict_rows import Verdict
from lawtrace.runs.scoring.metrics import OutcomeCounts, RuleCounts, count_breaks_of_any, count_outcomes
from lawtrace.runs.scoring.statistics import (
    PairedComparison,
    compare_paired,
    holm_adjusted,
    max_common_trials,
    pass_at_k,
    pass_hat_k,
)

MOST_PAIRS = 60
"""Maximum number of pairs shown, by smallest p-value; the adjustment of p-values counts all pairs."""


@dataclass(frozen=True, slots=True)
class TrialLine:
    """Pass@k and pass^k of one model in one environment, for k from 1 to the number of trials all tasks have."""

    scenario: str
    model: str
    tally: OutcomeCounts
    at_least_one: tuple[float | None, ...]
    all_of_them: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class GapLine:
    """Goal against workflow for one model in one environment; ``density`` is its number of critical tools."""

    scenario: str
    density: int
    model: str
    goal: OutcomeCounts
    workflow: OutcomeCounts


@dataclass(frozen=True, slots=True)
class ProvisionLine:
    """Counts of the rules that cite this provision, taken together, for each model and style."""

    scenario: str
    provision: str
    rules: tuple[str, ...]
    tallies: Mapping[tuple[str, Style], RuleCounts]


@dataclass(frozen=True, slots=True)
class PairLine:
    """Paired comparison of two models over the same attempts."""

    scenario: str
    first: str
    second: str
    compared: PairedComparison
    adjusted_p: float


@dataclass(frozen=True, slots=True)
class Breakdowns:
    """All statistics. ``pairs`` has at most `MOST_PAIRS` entries; ``all_pairs`` is the number of pairs compared."""

    trials: tuple[TrialLine, ...]
    gaps: tuple[GapLine, ...]
    provisions: tuple[ProvisionLine, ...]
    pairs: tuple[PairLine, ...]
    all_pairs: int


def break_down(content: ReportContent) -> Breakdowns:
    """Compute the statistics of one report."""
    environments = {task.id: task.scenario for task in content.tasks}
    grouped = defaultdict[tuple[str, str], list[Verdict]](list)
    for verdict in content.verdicts:
        grouped[environments[verdict.task], verdict.contender].append(verdict)
    pairs = compare_models(grouped)
    return Breakdowns(
        tuple(_trial_lines(grouped, content)),
        tuple(_gap_lines(grouped, content)),
        tuple(_provision_lines(grouped)),
        tuple(most_significant(pairs)),
        len(pairs),
    )


Grouped = Mapping[tuple[str, str], Sequence[Verdict]]
"""Scenario and model -> their verdicts."""


def _trial_lines(grouped: Grouped, content: ReportContent) -> Iterable[TrialLine]:
    for (scenario, model), verdicts in grouped.items():
        most = max_common_trials(verdicts)
        if most > 1:
            numbers = range(1, most + 1)
            yield TrialLine(
                scenario,
                model,
                count_outcomes(verdicts, sum(content.planned(scenario, style) for style in _styles(verdicts))),
                tuple(pass_at_k(verdicts, k) for k in numbers),
                tuple(pass_hat_k(verdicts, k) for k in numbers),
            )


def _styles(verdicts: Iterable[Verdict]) -> set[Style]:
    return {verdict.style for verdict in verdicts}


def _in_style(verdicts: Iterable[Verdict], style: Style) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.style == style]


def _gap_lines(grouped: Grouped, content: ReportContent) -> Iterable[GapLine]:
    densities = content.critical_tools
    for (scenario, model), verdicts in grouped.items():
        goal, workflow = (
            count_outcomes(
                _in_style(verdicts, style),
                content.planned(scenario, style) if style in _styles(verdicts) else 0,
            )
            for style in STYLES
        )
        yield GapLine(scenario, densities.get(scenario, 0), model, goal, workflow)


def _provision_lines(grouped: Grouped) -> Iterable[ProvisionLine]:
    resting = defaultdict[tuple[str, str], dict[str, None]](dict)
    for (scenario, _), verdicts in grouped.items():
        for verdict in verdicts:
            for rule in verdict.rules:
                for provision in rule.provisions:
                    resting[scenario, provision][rule.rule] = None
    for (scenario, provision), rules in resting.items():
        tallies: dict[tuple[str, Style], RuleCounts] = {
            (model, style): count_breaks_of_any(_in_style(verdicts, style), rules)
            for (place, model), verdicts in grouped.items()
            if place == scenario
            for style in STYLES
        }
        yield ProvisionLine(scenario, provision, tuple(rules), tallies)


def compare_models(grouped: Grouped) -> list[PairLine]:
    """Every two models of one scenario, on the attempts that both were judged on; p-values adjusted over all lines."""
    found = [
        (scenario, first, second, compared)
        for (scenario, first), (place, second) in combinations(grouped, 2)
        if scenario == place and (compared := compare_paired(grouped[scenario, first], grouped[scenario, second]))
    ]
    adjusted = holm_adjusted([compared.p_value for *_, compared in found])
    return [PairLine(*one, p_value) for one, p_value in zip(found, adjusted, strict=True)]


def most_significant(lines: Sequence[PairLine]) -> Sequence[PairLine]:
    """All pairs in order; if there are more than `MOST_PAIRS`, those with the smallest p-values."""
    if len(lines) <= MOST_PAIRS:
        return lines
    return sorted(lines, key=lambda line: line.compared.p_value)[:MOST_PAIRS]
