"""What an audit found, counted as its rows come."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from lawtrace.runs.audit.annotations import Annotations, annotation_rates, count_annotations
from lawtrace.runs.audit.labels import DEFAULT_CHOICE, LabelChoice, count_labels, label_rates
from lawtrace.runs.audit.rates import RateTable
from lawtrace.runs.audit.tally import Examples, Tally
from lawtrace.runs.audit.versions import RuleChange, VersionComparison, count_versions
from lawtrace.schemas.audit_rows import AuditRow
from lawtrace.schemas.events import SPEAKERS, Json


class RuleCounts(NamedTuple):
    """In how many conversations a rule is kept, broken, undetermined, or never triggered.

    ``triggering_events``: how many calls or messages trigger it. ``at_reference``: in how many of the conversations it
    is broken at a call that the task demands.
    """

    kept: int
    broken: int
    undetermined: int
    never_triggered: int
    triggering_events: int
    at_reference: int

    @property
    def judged(self) -> int:
        return self.kept + self.broken + self.undetermined

    def as_json(self) -> dict[str, Json]:
        return {name: number for name, number in self._asdict().items() if number or name != "at_reference"}


class AuditSummary:
    """The counts of an audit, read from its tally.

    Attributes:
        rules: their ids.
        tally: what is counted so far.
    """

    def __init__(
        self,
        rules: Sequence[str],
        changes: Mapping[str, RuleChange] | None = None,
        label: LabelChoice = DEFAULT_CHOICE,
        annotations: Annotations | None = None,
    ) -> None:
        """``changes``: to the rules that these are compared with, if any. ``label``: that rules are compared with, and
        ``annotations`` of people."""
        self.rules: Final = tuple(rules)
        self.tally: Final = Tally()
        self._changes: Final = changes
        self._label: Final = label
        self._annotations: Final = annotations

    def add(self, row: AuditRow) -> None:
        """Count the verdict on one record."""
        tally = self.tally
        subject = f"{row.conversation} ({row.place})"
        tally.add("outcome", row.outcome)
        said = 0 if row.log else sum(event.tool in SPEAKERS for event in row.events)
        tally.add("messages", times=said)
        tally.add("calls", times=row.log.events if row.log else len(row.events) - said)
        if row.reason:
            manual = "against instructions" if row.broken else "undetermined"
            tally.add_example(manual if row.outcome == "lawful" else row.outcome, text=f"{subject}: {row.reason}")
        for note in row.notes:
            tally.add_example("notes", text=f"{subject}: {note}")
        for verdict in row.rules:
            tally.add("rule", verdict.rule, verdict.name)
            tally.add("rule", verdict.rule, "triggers", times=verdict.triggers)
            tally.add("rule", verdict.rule, "at reference", times=verdict.rule in row.at_reference)
        if self._changes is not None:
            count_versions(tally, row)
        count_labels(tally, row, self._label)
        if self._annotations is not None:
            count_annotations(tally, row, self._annotations)

    @property
    def outcomes(self) -> dict[str, int]:
        return {outcome: number for (outcome,), number in self.tally.below("outcome")}

    @property
    def conversations(self) -> int:
        return sum(self.outcomes.values())

    @property
    def calls(self) -> int:
        return self.tally.count("calls")

    def of(self, rule: str) -> RuleCounts:
        kinds = ("kept", "broken", "undetermined", "never triggered", "triggers", "at reference")
        return RuleCounts(*(self.tally.count("rule", rule, kind) for kind in kinds))

    def examples(self, kind: str) -> Examples:
        """Why conversations are not lawful, or against instructions, or the notes on them, by kind."""
        return self.tally.examples(kind)

    @property
    def at_reference(self) -> bool:
        """Whether a rule is broken at a call that a task demands."""
        return any(self.of(rule).at_reference for rule in self.rules)

    @property
    def triggered(self) -> bool:
        """Whether an event of any conversation is about a rule."""
        return any(self.of(rule).judged for rule in self.rules)

    @property
    def versions(self) -> VersionComparison | None:
        """The comparison with an older version of the rules; None without one."""
        return None if self._changes is None else VersionComparison(self._changes, self.tally)

    @property
    def rates(self) -> list[RateTable]:
        """Precision and recall of the rules against a label, and against annotations, where there are any."""
        label = label_rates(self.tally, self._label)
        judged = self.conversations - self.outcomes.get("invalid", 0)
        given = self._annotations
        people = None if given is None else annotation_rates(self.tally, given, self.rules, judged)
        return [table for table in (label, people) if table is not None]

    def as_json(self) -> dict[str, Json]:
        return {
            "conversations": self.conversations,
            "calls": self.calls,
            "messages": self.tally.count("messages"),
            "outcomes": {**self.outcomes},
            "rules": {rule: self.of(rule).as_json() for rule in self.rules},
            **{table.title.split()[0].lower(): table.as_json() for table in self.rates},
            **({"against": self.versions.as_json()} if self.versions else {}),
        }
