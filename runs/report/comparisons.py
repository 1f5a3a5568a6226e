"""The statistics of a report: several trials, the inference gap by style, density and provision, models in pairs."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from runs.grading.verdict import VerdictRow
from runs.metrics import Tally, count_outcomes
from runs.report.content import ReportContent
from runs.statistics import PairedComparison, adjust_for_many, compare_paired, most_trials, pass_at_k, pass_hat_k

__all__ = ["Comparisons", "GapLine", "PairLine", "ProvisionLine", "TrialLine", "compare_within"]

MOST_PAIRS = 60
"""Beyond this many pairs of models the table says nothing any more; `lawtrace compare` takes two at a time."""


@dataclass(frozen=True, slots=True)
class TrialLine:
    """Pass@k and pass^k of one model in one environment, for k = 1 up to the trials that every task has."""

    scenario: str
    model: str
    at_least_one: tuple[float | None, ...]
    all_of_them: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class GapLine:
    """Goal against workflow for one model in one environment; ``density`` is its number of critical tools."""

    scenario: str
    density: int
    model: str
    goal: Tally
    workflow: Tally


@dataclass(frozen=True, slots=True)
class ProvisionLine:
    """On how many judged attempts of each model some rule that rests on this provision was broken."""

    scenario: str
    provision: str
    rules: tuple[str, ...]
    broken: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class PairLine:
    """Two models of the report over the same attempts."""

    scenario: str
    first: str
    second: str
    compared: PairedComparison
    adjusted_p: float


@dataclass(frozen=True, slots=True)
class Comparisons:
    trials: tuple[TrialLine, ...]
    gaps: tuple[GapLine, ...]
    provisions: tuple[ProvisionLine, ...]
    pairs: tuple[PairLine, ...]


def compare_within(content: ReportContent) -> Comparisons:
    """Everything that can be said by comparing within one report."""
    environments = {task.id: task.scenario for task in content.tasks}
    grouped = defaultdict[tuple[str, str], list[VerdictRow]](list)
    for verdict in content.verdicts:
        grouped[environments[verdict.task], verdict.model].append(verdict)
    return Comparisons(
        tuple(_trial_lines(grouped)),
        tuple(_gap_lines(grouped, content)),
        tuple(_provision_lines(grouped)),
        tuple(_pair_lines(grouped)),
    )


Grouped = Mapping[tuple[str, str], Sequence[VerdictRow]]


def _trial_lines(grouped: Grouped) -> Iterable[TrialLine]:
    for (scenario, model), verdicts in grouped.items():
        most = most_trials(verdicts)
        if most > 1:
            numbers = range(1, most + 1)
            yield TrialLine(
                scenario,
                model,
                tuple(pass_at_k(verdicts, k) for k in numbers),
                tuple(pass_hat_k(verdicts, k) for k in numbers),
            )


def _gap_lines(grouped: Grouped, content: ReportContent) -> Iterable[GapLine]:
    densities = content.critical_tools
    for (scenario, model), verdicts in grouped.items():
        goal, workflow = (
            count_outcomes(verdict for verdict in verdicts if verdict.style == style) for style in ("goal", "workflow")
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
        broken: dict[str, tuple[int, int]] = {}
        for (place, model), verdicts in grouped.items():
            if place == scenario:
                judged = [verdict for verdict in verdicts if verdict.rules]
                hit = Counter(any(rule.rule in rules and not rule.kept for rule in verdict.rules) for verdict in judged)
                broken[model] = (hit[True], len(judged))
        yield ProvisionLine(scenario, provision, tuple(rules), broken)


def _pair_lines(grouped: Grouped) -> Iterable[PairLine]:
    found = [
        (scenario, first, second, compared)
        for (scenario, first), (place, second) in combinations(grouped, 2)
        if scenario == place and (compared := compare_paired(grouped[scenario, first], grouped[scenario, second]))
    ]
    if len(found) > MOST_PAIRS:
        return
    adjusted = adjust_for_many([compared.p_value for *_, compared in found])
    for (scenario, first, second, compared), p_value in zip(found, adjusted, strict=True):
        yield PairLine(scenario, first, second, compared, p_value)
