"""What an audit found, counted as its rows come."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lawtrace.environments.events import SPEAKERS, Json
from lawtrace.runs.ingest.backtest import Backtest
from lawtrace.runs.ingest.examples import Examples
from lawtrace.runs.ingest.label_rates import LabelChoice, LabelRates
from lawtrace.runs.ingest.marks import MarkRates, Marks
from lawtrace.runs.ingest.rates import RateTable
from lawtrace.runs.ingest.rule_changes import RuleChange
from lawtrace.runs.ingest.transcript_audit import AuditRow
from lawtrace.runs.schemas.verdict_rows import RuleVerdict

MAX_REWARDS = 6
"""With more values, rewards are not a table's columns."""


@dataclass(slots=True)
class RuleCounts:
    """In how many conversations a rule is kept, broken, undetermined, or never triggered.

    ``triggers``: how many events (calls or messages) trigger it. ``at_reference``: in how many of the conversations it
    is broken at a call that the task demands.
    """

    kept: int = 0
    broken: int = 0
    undetermined: int = 0
    never: int = 0
    triggers: int = 0
    at_reference: int = 0

    def add(self, verdict: RuleVerdict, *, at_reference: bool = False) -> None:
        """Count the verdict in one conversation."""
        self.at_reference += at_reference
        self.broken += verdict.broken
        self.undetermined += bool(verdict.undetermined)
        self.kept += verdict.kept and verdict.triggered
        self.never += verdict.kept and not verdict.triggered
        self.triggers += verdict.triggers

    @property
    def judged(self) -> int:
        return self.kept + self.broken + self.undetermined

    def merge(self, other: "RuleCounts") -> None:
        """Add other counts of the rule."""
        self.kept += other.kept
        self.broken += other.broken
        self.undetermined += other.undetermined
        self.never += other.never
        self.triggers += other.triggers
        self.at_reference += other.at_reference

    def as_json(self) -> dict[str, Json]:
        """The counts by name."""
        return {
            "kept": self.kept,
            "broken": self.broken,
            "undetermined": self.undetermined,
            "never_triggered": self.never,
            "triggering_events": self.triggers,
            **({"at_reference": self.at_reference} if self.at_reference else {}),
        }


class AuditSummary:
    """The counts of an audit.

    Attributes:
        outcomes: conversations by outcome.
        rules: the counts of each rule.
        by_reward: the counts of each rule by the reward that the source gives, as text.
        findings: why conversations are broken, undetermined or invalid, by outcome.
        notes: what is odd in conversations.
        backtest: the comparison with an older version of the rules; None without one.
        labels: the comparison with a label of the source.
        marks: the comparison with marks of people; None without any.
    """

    def __init__(
        self,
        rules: Iterable[str],
        changes: Mapping[str, RuleChange] | None = None,
        label: LabelChoice | None = None,
        marks: Marks | None = None,
    ) -> None:
        """``rules``: their ids. ``changes``: to the rules that these are compared with, if any."""
        self.outcomes: Counter[str] = Counter()
        self.rules = {rule: RuleCounts() for rule in rules}
        self.by_reward: dict[str, dict[str, RuleCounts]] = {}
        self.findings: dict[str, Examples] = {name: Examples() for name in ("broken", "undetermined", "invalid")}
        self.notes = Examples()
        self.backtest = None if changes is None else Backtest(changes)
        self.labels = LabelRates(label or LabelChoice())
        self.marks = None if marks is None else MarkRates(marks)
        self.calls = 0
        self.messages = 0

    @property
    def conversations(self) -> int:
        return self.outcomes.total()

    @property
    def at_reference(self) -> bool:
        """Whether a rule is broken at a call that a task demands."""
        return any(counts.at_reference for counts in self.rules.values())

    @property
    def triggered(self) -> bool:
        """Whether an event of any conversation is about a rule."""
        return any(counts.judged for counts in self.rules.values())

    def add(self, row: AuditRow) -> None:
        """Count the verdict on one conversation."""
        subject = f"{row.conversation} ({row.place})"
        self.outcomes[row.outcome] += 1
        said = sum(event.tool in SPEAKERS for event in row.events)
        self.messages += said
        self.calls += len(row.events) - said
        if row.outcome != "kept":
            self.findings[row.outcome].add(f"{subject}: {row.reason}")
        for note in row.notes:
            self.notes.add(f"{subject}: {note}")
        tables = [self.rules]
        reward = row.labels.get("reward")
        if isinstance(reward, bool | int | float):
            name = f"{float(reward):g}"
            tables.append(self.by_reward.setdefault(name, {rule: RuleCounts() for rule in self.rules}))
        for verdict in row.rules:
            for table in tables:
                table[verdict.rule].add(verdict, at_reference=verdict.rule in row.at_reference)
        if self.backtest is not None:
            self.backtest.add(row)
        self.labels.add(row)
        if self.marks is not None:
            self.marks.add(row)

    def merge(self, other: "AuditSummary") -> None:
        """Add the counts of conversations that come after."""
        self.outcomes += other.outcomes
        self.calls += other.calls
        self.messages += other.messages
        self.notes.merge(other.notes)
        for outcome, found in other.findings.items():
            self.findings[outcome].merge(found)
        for reward, table in other.by_reward.items():
            self.by_reward.setdefault(reward, {rule: RuleCounts() for rule in self.rules})
            for rule, counts in table.items():
                self.by_reward[reward][rule].merge(counts)
        for rule, counts in other.rules.items():
            self.rules[rule].merge(counts)
        if self.backtest is not None and other.backtest is not None:
            self.backtest.merge(other.backtest)
        self.labels.merge(other.labels)
        if self.marks is not None and other.marks is not None:
            self.marks.merge(other.marks)

    def rate_tables(self) -> list[RateTable]:
        """Precision and recall of the rules against a label, and against marks of people, where there are any."""
        tables = (self.labels.table(), None if self.marks is None else self.marks.table())
        return [table for table in tables if table is not None]

    def as_json(self) -> dict[str, Json]:
        """The summary as one object."""
        rules: dict[str, Json] = {rule: counts.as_json() for rule, counts in self.rules.items()}
        rewards: dict[str, Json] = {
            reward: {rule: counts.as_json() for rule, counts in table.items()}
            for reward, table in sorted(self.by_reward.items())
        }
        return {
            "conversations": self.conversations,
            "calls": self.calls,
            "messages": self.messages,
            "outcomes": {**self.outcomes},
            "rules": rules,
            **({"by_reward": rewards} if rewards else {}),
            **{table.title.split()[0].lower(): table.as_json() for table in self.rate_tables()},
            **({"against": self.backtest.as_json()} if self.backtest else {}),
        }
