"""Statistics of a run: pass^k, the inference gap by style, density and provision, and pairs of models."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from lawtrace.runs.scoring.metrics import OutcomeCounts, RuleCounts, count_outcomes, count_rule_breaks
from lawtrace.runs.scoring.statistics import (
    PairedComparison,
    compare_paired,
    holm_adjusted,
    max_common_trials,
    pass_at_k,
    pass_hat_k,
)
from lawtrace.schemas.choices import STYLES, Style
from lawtrace.schemas.verdict_rows import Verdict

MOST_PAIRS = 60
"""Maximum number of pairs shown, by smallest p-value; the adjustment of p-values counts all pairs."""


@dataclass(frozen=True, slots=True)
class TrialLine:
    """Pass@k and pass^k of one model in one environment; all tasks have at least k trials."""

    scenario: str
    model: str
    tally: OutcomeCounts
    k: int
    at_least_one: float | None
    all_of_them: float | None


@dataclass(frozen=True, slots=True)
class GapLine:
    """Goal against workflow for one model in one environment."""

    scenario: str
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


def break_down(
    verdicts: Iterable[Verdict], environments: Mapping[str, str], planned: Callable[[str, Style], int]
) -> Breakdowns:
    """Compute the statistics of one run.

    Args:
        environments: task id -> environment.
        planned: the planned attempts of each model in an environment and style.
    """
    grouped = defaultdict[tuple[str, str], list[Verdict]](list)
    for verdict in verdicts:
        grouped[environments[verdict.task], verdict.contender].append(verdict)
    pairs = compare_models(grouped)
    return Breakdowns(
        tuple(_trial_lines(grouped, planned)),
        tuple(_gap_lines(grouped, planned)),
        tuple(_provision_lines(grouped)),
        tuple(most_significant(pairs)),
        len(pairs),
    )


Grouped = Mapping[tuple[str, str], Sequence[Verdict]]
"""Scenario and model -> their verdicts."""


def _trial_lines(grouped: Grouped, planned: Callable[[str, Style], int]) -> Iterable[TrialLine]:
    for (scenario, model), verdicts in grouped.items():
        most = max_common_trials(verdicts)
        styles: set[Style] = {verdict.style for verdict in verdicts}
        if most > 1:
            tally = count_outcomes(verdicts, sum(planned(scenario, style) for style in styles))
            for k in range(1, most + 1):
                yield TrialLine(scenario, model, tally, k, pass_at_k(verdicts, k), pass_hat_k(verdicts, k))


def _in_style(verdicts: Iterable[Verdict], style: Style) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.style == style]


def _gap_lines(grouped: Grouped, planned: Callable[[str, Style], int]) -> Iterable[GapLine]:
    for (scenario, model), verdicts in grouped.items():
        goal, workflow = (
            count_outcomes(rows, planned(scenario, style) if rows else 0)
            for style in STYLES
            for rows in [_in_style(verdicts, style)]
        )
        yield GapLine(scenario, model, goal, workflow)


def _provision_lines(grouped: Grouped) -> Iterable[ProvisionLine]:
    resting = defaultdict[tuple[str, str], dict[str, None]](dict)
    tallies = defaultdict[tuple[str, str], dict[tuple[str, Style], RuleCounts]](dict)
    for (scenario, model), verdicts in grouped.items():
        for rule in (rule for verdict in verdicts for rule in verdict.rules):
            for provision in rule.provisions:
                resting[scenario, provision][rule.rule] = None
        for style in STYLES:
            for provision, counts in count_rule_breaks(
                _in_style(verdicts, style), lambda rule: set(rule.provisions)
            ).items():
                tallies[scenario, provision][model, style] = counts
    for place, rules in resting.items():
        yield ProvisionLine(*place, tuple(rules), tallies[place])


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
