"""Audit of logs with timestamps: judges the time points of a log by rules, as they are read.

A log is an incomplete trace. A rule is broken if a violation is certain, undetermined if the future decides whether
there is one (an open deadline), and kept otherwise: no violation up to the end of the log. If a log is said to be
complete, its end decides what is open.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from lawtrace.environments.errors import FormulaError
from lawtrace.runs.ingest.monpoly_logs import LogStep
from lawtrace.solver.ltlf import Scalar
from lawtrace.solver.ltlf.metric import MetricMonitor, MetricRule, Violation
from lawtrace.solver.ltlf.mfotl_signature import LogSignature
from lawtrace.solver.ltlf.type_check import check_formula
from lawtrace.solver.rules import Rule

SHOWN_VIOLATIONS = 10
"""How many violations a row lists."""


class LogViolation(BaseModel):
    """One violation, or one duty that is open at the end of a log.

    Attributes:
        time_point: index of the time point, from 0.
        time: its timestamp, in seconds.
        values: of the variables of the rule.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    time_point: int
    time: int
    values: dict[str, Scalar]


class LogAuditRow(BaseModel):
    """The verdict on one rule for one log.

    Attributes:
        outcome: see the module docstring.
        violations: how many there are: time points, with values of the variables.
        open: how many time points and values the future decides.
        triggered: how often an event occurred that the rule is about.
        first: the first violations; of an undetermined rule what is open.
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
    first: tuple[LogViolation, ...]


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
    """Judge a log. `read` gives its time points; it is called again for the timestamps of violations."""
    monitors = {rule: MetricMonitor(prepared) for rule, prepared in rules.items()}
    feeds = [monitor.feed_step for monitor in monitors.values()]
    time_points = events = 0
    for step in read():
        time_points += 1
        events += len(step.events)
        for feed in feeds:
            feed(step.time, step.events)
    ends = {rule: _end(monitor, complete=complete) for rule, monitor in monitors.items()}
    times = _times_of({found.position for end in ends.values() for found in end.listed}, read)
    rows = tuple(_row(name, rule, monitors[rule].triggered, end, times) for rule, end in ends.items())
    return LogAudit(rows, time_points, events)


def _end(monitor: MetricMonitor, *, complete: bool) -> _End:
    if not complete:
        return _End(monitor.violations, monitor.violation_count, monitor.undecided, monitor.undecided_count)
    return _End([*monitor.violations, *monitor.owed()], monitor.violation_count + monitor.owed_count())


def _times_of(positions: set[int], read: Callable[[], Iterable[LogStep]]) -> dict[int, int]:
    """The timestamps of some time points."""
    times: dict[int, int] = {}
    if not positions:
        return times
    last = max(positions)
    for position, step in enumerate(read()):
        if position in positions:
            times[position] = step.time
        if position >= last:
            break
    return times


def _row(name: str, rule: Rule, triggered: int, end: _End, times: dict[int, int]) -> LogAuditRow:
    return LogAuditRow(
        log=name,
        rule=rule.id,
        formula=rule.formula,
        provisions=rule.provisions,
        outcome="broken" if end.count else "undetermined" if end.undecided else "kept",
        violations=end.count,
        open=end.open,
        triggered=triggered,
        first=tuple(
            LogViolation(time_point=found.position, time=times[found.position], values=dict(found.values))
            for found in end.listed
            if found.position in times
        ),
    )
