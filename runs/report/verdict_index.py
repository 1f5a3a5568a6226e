"""Index of what was judged in a run."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pydantic_core import from_json

from lawtrace.runs.report.attempt_filter import AttemptFilter, outcome_choices
from lawtrace.runs.report.labels import OUTCOME_LABELS, OutcomeLabel
from lawtrace.runs.report.run_kinds import GradedUnit, run_kind_of
from lawtrace.runs.scoring.metrics import group_by
from lawtrace.runs.store.event_log_queries import ConversationKey
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.store.variant_rows import read_variants
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.verdict_rows import RuleVerdict, Verdict


@dataclass(frozen=True, slots=True)
class Cause:
    """Why an attempt failed: the id of a message, and the rule it broke (None if no rule was broken)."""

    message: str
    rule: RuleVerdict | None


class VerdictIndex:
    """The verdicts of one run of any kind, from its current files; empty before they are written.

    Attributes:
        kind: None for a run of the core.
        outcomes: all of its kind, with their labels.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._path = folder.path
        self.kind = run_kind_of(folder.path)
        self.outcomes: Mapping[str, OutcomeLabel] = self.kind.outcomes if self.kind else {**OUTCOME_LABELS}
        self._folders = stage_folders(folder)
        units = self.kind.graded_units(folder.path) if self.kind else self._judged()
        self.verdicts: Sequence[GradedUnit] = [replace(unit, number=number) for number, unit in enumerate(units)]
        self._by_conversation = {one.conversation: one for one in reversed(self.verdicts)}

    def _judged(self) -> Iterator[GradedUnit]:
        for one, variant in self._folders:
            for row in read_rows(one.verdicts, Verdict, empty=True) if one.verdicts.exists() else ():
                yield graded_verdict(row, variant or "")

    def of_conversation(self, conversation: ConversationKey) -> GradedUnit | None:
        """The verdict on the answer given in that conversation."""
        return self._by_conversation.get(conversation.id)

    def select(
        self,
        *,
        outcome: str | None = None,
        rule: str | None = None,
        fact: str | None = None,
        model: str | None = None,
        **values: str | None,
    ) -> list[GradedUnit]:
        """Verdicts that match the filter and all given values.

        ``values``: ``task``, ``unit`` and ``variant`` of the graded unit; ``model``: a model or a contender.

        Raises InputError for an unknown outcome.
        """
        if outcome is not None and outcome not in self.choices:
            AttemptFilter(outcome).check(self._path, self.verdicts, self.kind)
        wanted = AttemptFilter(outcome, rule, fact)
        return [
            one
            for one in self.verdicts
            if wanted.matches(one)
            and model in (None, one.model, one.contender)
            and all(value in (None, getattr(one, name)) for name, value in values.items())
        ]

    @property
    def choices(self) -> Mapping[str, OutcomeLabel | str]:
        """What an outcome can be chosen by, with labels."""
        return outcome_choices(self.kind)

    def conversations(self, wanted: AttemptFilter) -> list[str]:
        """The ids of those of the attempts that match. Raises InputError without any."""
        wanted.check(self._path, self.verdicts, self.kind)
        return [one.conversation for one in filter(wanted.matches, self.verdicts)]

    @property
    def rules(self) -> list[str]:
        """The ids of the rules that are broken or undetermined in some verdict."""
        return sorted({rule for one in self.verdicts for rule in one.not_kept})

    @property
    def facts(self) -> list[str]:
        """The facts of contrast pairs."""
        return sorted({one.fact for one in self.verdicts} - {""})

    def counts(self) -> Mapping[str, Counter[str]]:
        """Model -> the number of verdicts by outcome."""
        groups = group_by(self.verdicts, lambda one: one.model)
        return {model: Counter(one.outcome for one in of) for model, of in groups.items()}

    def attempt(self, verdict: Verdict) -> Attempt | None:
        """The attempt of a verdict, read from its file; None if no file has it."""
        found = self._attempts.get(verdict.answer)
        if found is None:
            return None
        path, start = found
        with path.open("rb") as file:
            file.seek(start)
            return Attempt.model_validate_json(file.readline())

    @cached_property
    def _attempts(self) -> dict[str, tuple[Path, int]]:
        """Answer -> the file with its attempt, and where in it. Attempts of a large run do not fit into memory."""
        places: dict[str, tuple[Path, int]] = {}
        for path in (one.attempts for one, _ in self._folders if one.attempts.exists()):
            start = 0
            with path.open("rb") as file:
                for line in file:
                    if line.strip():
                        places[from_json(line)["answer"]["id"]] = path, start
                    start += len(line)
        return places

    def causes(self, verdict: Verdict) -> list[Cause]:
        """The messages that broke rules; the model's last message if it failed without breaking a rule."""
        causes = [Cause(rule.message, rule) for rule in verdict.rules if rule.message is not None]
        attempt = self.attempt(verdict) if not causes and verdict.outcome != "safe_success" else None
        if attempt is not None and attempt.answer.message is not None:
            causes.append(Cause(attempt.answer.message, None))
        return causes


def graded_verdict(verdict: Verdict, variant: str = "") -> GradedUnit:
    """A verdict as a graded unit. ``variant``: of an ablation."""
    return GradedUnit(
        verdict.task,
        verdict.style,
        verdict.point or verdict.task,
        verdict.model,
        verdict.outcome,
        verdict.reason,
        verdict.answer,
        verdict.trial,
        variant,
        verdict,
    )


def stage_folders(folder: RunFolder) -> list[tuple[RunFolder, str | None]]:
    """The folders with stage files: the run folder, or in an ablation the folder and name of each variant."""
    if not folder.variants.exists():
        return [(folder, None)]
    rows = (row for row in read_variants(folder) if row.ended is None)
    return [(folder.variant(row.number), row.name or None) for row in rows]
