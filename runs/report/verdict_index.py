"""Indexes of what was judged in a run: of verdicts, and of the graded units of runs of other kinds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic_core import from_json

from lawtrace.runs.report.run_kinds import GradedUnit, RunKind, run_kind_of
from lawtrace.runs.store.event_log_queries import ConversationKey
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.variants import VariantRow
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.verdict_rows import RuleVerdict, Verdict


@dataclass(frozen=True, slots=True)
class IndexedVerdict:
    """A verdict of a run.

    Attributes:
        number: index among all verdicts of the run.
        variant: name of the variant, in an ablation.
    """

    number: int
    row: Verdict
    variant: str | None

    @property
    def broken(self) -> list[str]:
        """The ids of the broken rules."""
        return [rule.rule for rule in self.row.rules if rule.broken]

    @property
    def undetermined(self) -> list[str]:
        """The ids of the rules that are neither kept nor broken."""
        return [rule.rule for rule in self.row.rules if rule.undetermined]


@dataclass(frozen=True, slots=True)
class Cause:
    """Why an attempt failed: the id of a message, and the rule it broke (None if no rule was broken)."""

    message: str
    rule: RuleVerdict | None


class VerdictIndex:
    """The verdicts of one run, from its current files; empty before they are written."""

    def __init__(self, folder: RunFolder) -> None:
        self._folders = stage_folders(folder)
        rows = (
            (row, variant)
            for one, variant in self._folders
            if one.verdicts.exists()
            for row in read_rows(one.verdicts, Verdict, empty=True)
        )
        self.verdicts: Sequence[IndexedVerdict] = [
            IndexedVerdict(number, row, variant) for number, (row, variant) in enumerate(rows)
        ]
        self._by_answer = {verdict.row.answer: verdict for verdict in reversed(self.verdicts)}

    def of_conversation(self, conversation: ConversationKey) -> IndexedVerdict | None:
        """The verdict on the answer given in that conversation."""
        return self._by_answer.get(conversation.id)

    def select(
        self,
        *,
        outcome: str | None = None,
        rule: str | None = None,
        task: str | None = None,
        style: str | None = None,
        model: str | None = None,
        variant: str | None = None,
    ) -> list[IndexedVerdict]:
        """Verdicts that match all given values. ``rule``: broken or undetermined; ``model``: a model or a contender."""
        return [
            one
            for one in self.verdicts
            if (rule is None or rule in one.broken or rule in one.undetermined)
            and model in (None, one.row.model, one.row.contender)
            and outcome in (None, one.row.outcome)
            and task in (None, one.row.task)
            and style in (None, one.row.style)
            and variant in (None, one.variant)
        ]

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


class GradedIndex:
    """The graded units of one run, by conversation, outcome, task, unit and model."""

    def __init__(self, kind: RunKind, folder: Path) -> None:
        self.kind = kind
        self.units: Sequence[GradedUnit] = kind.graded_units(folder)
        self._by_conversation = {unit.conversation: unit for unit in self.units}

    def of_conversation(self, conversation: ConversationKey) -> GradedUnit | None:
        return self._by_conversation.get(conversation.id)

    def select(self, **values: str | None) -> list[GradedUnit]:
        """The units with these values of ``outcome``, ``task``, ``unit`` and ``model``. Raises InputError for an
        unknown outcome."""
        given = {name: value for name, value in values.items() if value is not None}
        outcome = given.get("outcome")
        if outcome is not None and outcome not in self.kind.outcomes:
            raise InputError(f"unknown outcome {outcome!r}; choose one of {', '.join(self.kind.outcomes)}")
        return [unit for unit in self.units if all(getattr(unit, name) == value for name, value in given.items())]

    def counts(self) -> Mapping[str, Counter[str]]:
        """Model -> the number of units by outcome."""
        counts: dict[str, Counter[str]] = {}
        for unit in self.units:
            counts.setdefault(unit.model, Counter())[unit.outcome] += 1
        return counts


def read_graded_index(folder: Path) -> GradedIndex | None:
    """The index of a run of another kind; None for a run of the core."""
    kind = run_kind_of(folder)
    return None if kind is None else GradedIndex(kind, folder)


def stage_folders(folder: RunFolder) -> list[tuple[RunFolder, str | None]]:
    """The folders with stage files: the run folder, or in an ablation the folder and name of each variant."""
    if not folder.variants.exists():
        return [(folder, None)]
    rows = read_rows(folder.variants, VariantRow, empty=True)
    return [(folder.variant(row.number), row.name or None) for row in rows if row.ended is None]
