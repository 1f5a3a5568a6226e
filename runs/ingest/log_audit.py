"""Audit of logs with timestamps: judges the time points of a log by rules, as they are read.

A log is an incomplete trace. A rule is broken if a violation is certain, undetermined if the future decides whether
there is one (an open deadline), and kept otherwise: no violation up to the end of the log. If a log is said to be
complete, its end decides what is open.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from lawtrace.environments.errors import FormulaError
from lawtrace.environments.events import Event
from lawtrace.runs.ingest.monpoly.mfotl_signature import LogSignature
from lawtrace.runs.ingest.monpoly_logs import LogStep
from lawtrace.solver.logic.conditions import Comparison, conjuncts
from lawtrace.solver.logic.syntax import Atom, atoms_of
from lawtrace.solver.logic.terms import FieldPath, LiteralValue
from lawtrace.solver.monitoring.evidence import ExplainedViolation, Step, could_match, explain, needs_every_step
from lawtrace.solver.monitoring.metric import MetricMonitor, MetricRule, Violation
from lawtrace.solver.monitoring.type_check import check_formula
from lawtrace.solver.rules import Rule

SHOWN_VIOLATIONS = 10
"""How many violations a row lists."""
MAX_STEPS = 100_000
"""How many time points are kept to explain one violation."""


class LogAuditRow(BaseModel):
    """The verdict on one rule for one log.

    Attributes:
        outcome: see the module docstring.
        violations: how many there are: time points, with values of the variables.
        open: how many time points and values the future decides.
        triggered: how often an event occurred that the rule is about.
        first: the first violations; of an undetermined rule what is open. Their steps are time points.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["lawtrace.log_audit/1"] = "lawtrace.log_audit/1"
    log: str
    rule: str
    formula: str
    provisions: tuple[str, ...]
    outcome: Literal["kept", "broken", "undetermined"]
    violations: int
    open: int
    triggered: int
    first: tuple[ExplainedViolation, ...]


@dataclass(frozen=True, slots=True)
class LogAudit:
    """The verdicts on one log, and its size."""

    rows: tuple[LogAuditRow, ...]
    time_points: int
    events: int


@dataclass(frozen=True, slots=True)
class _End:
    """A rule at the end of a log: the recorded violations, how many there are, and what the future decides."""

    violations: Sequence[Violation]
    count: int
    undecided: Sequence[Violation] = ()
    open: int = 0

    @property
    def listed(self) -> list[Violation]:
        """What a row lists."""
        return sorted(self.violations or self.undecided, key=lambda found: found.position)[:SHOWN_VIOLATIONS]


def prepare_rules(rules: Iterable[Rule], signature: LogSignature) -> dict[Rule, MetricRule]:
    """The rules, ready for evaluation. Raises FormulaError naming the rule: an unknown predicate or argument, or no
    order of evaluation finds the values of its variables."""
    prepared: dict[Rule, MetricRule] = {}
    for rule in rules:
        try:
            check_formula(rule.parsed, signature.tools, rule.formula)
            prepared[rule] = MetricRule(rule.parsed)
        except FormulaError as error:
            message = str(error)
            raise FormulaError(message if rule.id in message else f"rule {rule.id!r}: {message}") from error
    return prepared


def audit_log(
    name: str, rules: dict[Rule, MetricRule], read: Callable[[], Iterable[LogStep]], *, complete: bool = False
) -> LogAudit:
    """Judge a log. `read` gives its time points; it is called again for the evidence of violations."""
    monitors = {rule: MetricMonitor(prepared) for rule, prepared in rules.items()}
    feeds = [monitor.feed_step for monitor in monitors.values()]
    time_points = events = 0
    for step in read():
        time_points += 1
        events += len(step.events)
        for feed in feeds:
            feed(step.time, step.events)
    ends = {rule: _end(monitor, complete=complete) for rule, monitor in monitors.items()}
    recordings = [_Recording(rules[rule], found) for rule, end in ends.items() for found in end.listed]
    _record(recordings, read)
    rows = tuple(
        _row(
            name,
            rule,
            monitors[rule].triggered,
            end,
            [one.explained(complete=complete) for one in recordings if one.rule is rules[rule]],
        )
        for rule, end in ends.items()
    )
    return LogAudit(rows, time_points, events)


def _end(monitor: MetricMonitor, *, complete: bool) -> _End:
    if not complete:
        return _End(monitor.violations, monitor.violation_count, monitor.undecided, monitor.undecided_count)
    return _End([*monitor.violations, *monitor.owed()], monitor.violation_count + monitor.owed_count())


class _Recording:
    """The time points of a log that can matter to one violation."""

    def __init__(self, rule: MetricRule, violation: Violation) -> None:
        self.rule = rule
        self.violation = violation
        instances = list(rule.instances(violation.position, dict(violation.values)))
        self.atoms = atoms_of(instances)
        self.whole = any(map(needs_every_step, instances))
        self.steps: list[Step] = []

    @property
    def last(self) -> float:
        """The time point after which nothing matters."""
        return float("inf") if self.violation.certain is None else self.violation.certain

    def add(self, position: int, time: int, events: Sequence[Event]) -> None:
        if position <= self.last and len(self.steps) <= MAX_STEPS:
            self.steps.append(Step(position, time, tuple(events)))

    def explained(self, *, complete: bool) -> ExplainedViolation:
        found = self.violation
        if len(self.steps) <= MAX_STEPS:
            return explain(self.rule, found, self.steps, complete=complete)
        time = next((step.time for step in self.steps if step.position == found.position), None)
        return ExplainedViolation(found.position, time, dict(found.values), found.certain, ())


class _Wanted:
    """Which events of a tool are recorded, by the value of one field where a condition names it."""

    def __init__(self) -> None:
        self.always: list[tuple[Atom, _Recording]] = []
        self.by_field: dict[str, dict[Hashable, list[tuple[Atom, _Recording]]]] = {}

    def add(self, atom: Atom, recording: _Recording) -> None:
        for part in conjuncts(atom.condition):
            match part:
                case Comparison(FieldPath((str(field),)), "==", LiteralValue(str(value))):
                    self.by_field.setdefault(field, {}).setdefault(value, []).append((atom, recording))
                    return
                case _:
                    pass
        self.always.append((atom, recording))

    def of(self, event: Event) -> Iterator[_Recording]:
        for field, by_value in self.by_field.items():
            value = event.arguments.get(field)
            for atom, recording in by_value.get(value, ()) if isinstance(value, str) else ():
                if atom.matches(event):
                    yield recording
        for atom, recording in self.always:
            if could_match(atom, event):
                yield recording


def _record(recordings: Sequence[_Recording], read: Callable[[], Iterable[LogStep]]) -> None:
    """Read the log once more, for the time points that matter to violations."""
    if not recordings:
        return
    wanted: dict[str, _Wanted] = {}
    for recording in recordings:
        for atom in recording.atoms:
            wanted.setdefault(atom.tool, _Wanted()).add(atom, recording)
    whole = [recording for recording in recordings if recording.whole]
    fixed: dict[int | None, list[_Recording]] = {}
    for recording in recordings:
        for position in {recording.violation.position, recording.violation.certain}:
            fixed.setdefault(position, []).append(recording)
    last = max(recording.last for recording in recordings)
    for position, step in enumerate(read()):
        if position > last:
            break
        found: dict[_Recording, dict[int, Event]] = {recording: {} for recording in (*whole, *fixed.get(position, ()))}
        for number, event in enumerate(step.events):
            if event.tool in wanted:
                for recording in wanted[event.tool].of(event):
                    found.setdefault(recording, {})[number] = event
        for recording, events in found.items():
            recording.add(position, step.time, list(events.values()))


def _row(name: str, rule: Rule, triggered: int, end: _End, first: Sequence[ExplainedViolation]) -> LogAuditRow:
    return LogAuditRow(
        log=name,
        rule=rule.id,
        formula=rule.formula,
        provisions=rule.provisions,
        outcome="broken" if end.count else "undetermined" if end.undecided else "kept",
        violations=end.count,
        open=end.open,
        triggered=triggered,
        first=tuple(first),
    )
