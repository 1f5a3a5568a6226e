"""Which attempts of a run are wanted: one filter for the commands and pages that list attempts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lawtrace.runs.report.labels import OUTCOME_LABELS, OutcomeLabel
from lawtrace.runs.report.run_kinds import GradedUnit, RunKind
from lawtrace.schemas.errors import InputError

FAILING = "failing"
"""Stands for every outcome of an attempt that is no success, except what is invalid."""


def outcome_choices(kind: RunKind | None) -> Mapping[str, OutcomeLabel | str]:
    """What an outcome can be chosen by in a run of this kind, with labels: each, and *failing*."""
    return kind.outcomes if kind else {**OUTCOME_LABELS, FAILING: FAILING}


@dataclass(frozen=True, slots=True)
class AttemptFilter:
    """None: any.

    Attributes:
        outcome: an outcome of the run's kind, or *failing*.
        rule: the id of a rule that is broken or undetermined.
        fact: of the contrast pair that the task is a side of.
    """

    outcome: str | None = None
    rule: str | None = None
    fact: str | None = None

    def matches(self, one: GradedUnit) -> bool:
        failing = self.outcome == FAILING and one.outcome not in {"safe_success", "invalid"}
        return (
            (failing or self.outcome in (None, one.outcome))
            and (self.rule is None or self.rule in one.not_kept)
            and self.fact in (None, one.fact)
        )

    def check(self, place: object, units: Iterable[GradedUnit], kind: RunKind | None) -> None:
        """Raises InputError if no attempt matches, or for an unknown outcome; it lists the values that there are."""
        if self == AttemptFilter():
            return
        choices = outcome_choices(kind)
        if self.outcome is not None and self.outcome not in choices:
            raise InputError(f"unknown outcome {self.outcome!r}; choose one of {', '.join(choices)}")
        if kind is not None and (self.rule or self.fact) is not None:
            raise InputError(f"{place}: a {kind.name} run has no rules and facts; omit --rule and --fact")
        units = list(units)
        if not units:
            raise InputError(f"{place}: the run has no verdicts; omit --verdict, --rule and --fact")
        if not any(map(self.matches, units)):
            there = (
                ("outcomes", self.outcome, {one.outcome for one in units}),
                ("broken or undetermined rules", self.rule, {rule for one in units for rule in one.not_kept}),
                ("facts", self.fact, {one.fact for one in units} - {""}),
            )
            asked = (f"{name}: {', '.join(sorted(values)) or 'none'}" for name, value, values in there if value)
            raise InputError(f"{place}: no attempt matches; {'; '.join(asked)}")


ANY = AttemptFilter()
