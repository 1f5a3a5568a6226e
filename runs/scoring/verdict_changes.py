"""Judging attempts again with other rules: changed rules and changed verdicts. No model is called."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.runs.tasks import Task
from lawtrace.schemas.verdict_rows import Verdict
from lawtrace.solver.rules import Rule


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A changed rule: its formula ``before`` and ``after``; None for an added or removed rule."""

    rule: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.rule} added: {self.after}"
        return (
            f"{self.rule} removed" if self.after is None else f"{self.rule} changed from {self.before} to {self.after}"
        )


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """An attempt whose outcome or set of broken rules changed, with both verdicts."""

    before: Verdict
    after: Verdict

    def __str__(self) -> str:
        one = self.after
        parts = [f"now broken: {', '.join(self.now_broken)}"] if self.now_broken else []
        parts += [f"no longer broken: {', '.join(self.no_longer_broken)}"] if self.no_longer_broken else []
        trial = f", trial {one.trial + 1}" if one.trial else ""
        return f"{one.task}, {one.style}, {one.model}{trial}: {self.change}, {'; '.join(parts) or 'no rule'}"

    @property
    def change(self) -> str:
        before, after = self.before.outcome, self.after.outcome
        return f"{before} -> {after}" if before != after else f"still {after}"

    @property
    def now_broken(self) -> tuple[str, ...]:
        """The ids of the rules that are broken now and were not before."""
        return tuple(rule for rule in _broken_rules(self.after) if rule not in _broken_rules(self.before))

    @property
    def no_longer_broken(self) -> tuple[str, ...]:
        return tuple(rule for rule in _broken_rules(self.before) if rule not in _broken_rules(self.after))


def replace_rules(task: Task, rules: Sequence[Rule]) -> Task:
    """The task with these rules; the applicable ones are those that its reference trace triggers.

    An imported task has no reference trace, so it keeps those of its applicable rules that still exist.
    """
    if task.calls:
        verdicts = judge_rules(rules, [call.event for call in task.calls], ())
        applicable = tuple(verdict.rule for verdict in verdicts if verdict.triggered)
    else:
        applicable = tuple(rule.id for rule in rules if rule.id in task.applicable)
    return task.model_copy(update={"rules": tuple(rules), "applicable": applicable})


def compare_rules(before: Sequence[Task], after: Sequence[Task]) -> list[RuleChange]:
    """The rules that differ between two versions of the tasks."""
    was, now = _formulas(before), _formulas(after)
    return [
        RuleChange(rule, was.get(rule), now.get(rule))
        for rule in dict.fromkeys((*was, *now))
        if was.get(rule) != now.get(rule)
    ]


def _formulas(tasks: Iterable[Task]) -> dict[str, str]:
    return {rule.id: rule.formula for task in tasks for rule in task.rules}


def compare_verdicts(before: Iterable[Verdict], after: Iterable[Verdict]) -> list[VerdictChange]:
    """The changed verdicts, in the order of the new ones."""
    earlier = {(verdict.task, verdict.style, verdict.model, verdict.trial): verdict for verdict in before}
    pairs = (
        VerdictChange(old, verdict)
        for verdict in after
        if (old := earlier.get((verdict.task, verdict.style, verdict.model, verdict.trial)))
    )
    return [
        pair for pair in pairs if pair.before.outcome != pair.after.outcome or pair.now_broken or pair.no_longer_broken
    ]


def _broken_rules(verdict: Verdict) -> list[str]:
    return [rule.rule for rule in verdict.rules if rule.broken]
