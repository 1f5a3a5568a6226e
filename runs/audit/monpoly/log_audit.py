"""Audit of logs with timestamps: judges the time points of a log by rules, as they are read.

A log is an incomplete trace. A rule is broken if a violation is certain, undetermined if the future decides whether
there is one (an open deadline), and kept otherwise: no violation up to the end of the log. If a log is said to be
complete, its end decides what is open.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from lawtrace.runs.audit.judging import invalid_row, reason_of
from lawtrace.runs.audit.monpoly.logs import LogStep, MonpolyLog
from lawtrace.runs.audit.monpoly.mfotl_signature import LogSignature
from lawtrace.runs.audit.transcripts import Transcript
from lawtrace.schemas.audit_rows import AuditRow, LogCounts, OlderVerdict
from lawtrace.schemas.errors import FormulaError, InputError
from lawtrace.schemas.events import Event, name_events
from lawtrace.schemas.verdict_rows import RuleVerdict
from lawtrace.schemas.violations import ExplainedViolation, format_time
from lawtrace.solver.interpretations import judge_legality, question_groups
from lawtrace.solver.logic.syntax import Atom, atoms_of
from lawtrace.solver.logic.type_check import check_formula
from lawtrace.solver.logic.violations import ignores_other_calls
from lawtrace.solver.monitoring.evidence import Step, could_match, explain
from lawtrace.solver.monitoring.first_order import FirstOrderMonitor, FirstOrderRule
from lawtrace.solver.monitoring.rule_status import Violation
from lawtrace.solver.rules import Rule

LISTED_VIOLATIONS: Final = 10
"""How many violations a row lists."""
MAX_STEPS: Final = 100_000
"""How many time points are kept to explain one violation."""

ReadLog = Callable[[], Iterable[LogStep]]


class LogAuditor:
    """Judges one log after the other by the same rules."""

    def __init__(
        self,
        signature: LogSignature,
        rules: Sequence[Rule],
        *,
        time_unit: int = 1,
        complete: bool = False,
        against: Sequence[Rule] | None = None,
    ) -> None:
        """``time_unit``: of the logs' timestamps, in seconds. ``complete``: the logs are whole. ``against``: an older
        version of the rules. Raises FormulaError as `prepare_rules` does."""
        self._signature: Final = signature
        self._time_unit: Final = time_unit
        self._complete: Final = complete
        self._compares: Final = against is not None
        self._new: Final = len(rules)
        self._groups: Final = question_groups(rules), question_groups(against or ())
        self._rules: Final = prepare_rules([*rules, *(against or ())], signature)

    def audit(self, log: MonpolyLog) -> AuditRow:
        """Judge one log. Raises InputError if it cannot be read and is the only one; else it is invalid then."""
        read = partial(log.steps, self._signature, time_unit=self._time_unit)
        try:
            return self.judge(log.place, log.id, read)
        except InputError as error:
            if log.alone:
                raise
            reason = str(error).removeprefix(f"{log.place}: ")
            return invalid_row(Transcript(log.place, log.id, ()), reason)

    def judge(self, place: str, name: str, read: ReadLog) -> AuditRow:
        """Judge the time points of a log. ``read`` gives them; it is called again for the evidence of violations."""
        monitors = [FirstOrderMonitor(prepared) for _, prepared in self._rules]
        feeds = [monitor.feed_step for monitor in monitors]
        time_points = events = 0
        for step in read():
            time_points += 1
            events += len(step.events)
            for feed in feeds:
                feed(step.time, step.events)
        pairs = zip(self._rules, monitors, strict=True)
        ends = [_End(rule, prepared, monitor, complete=self._complete) for (rule, prepared), monitor in pairs]
        recordings = [recording for end in ends for recording in end.recordings]
        _record(recordings, read)
        for recording in recordings:
            recording.explain(complete=self._complete)
        found = {at: event for recording in recordings for at, event in recording.evidence()}
        places = sorted(found)
        first = {step: index for index, (step, _) in reversed([*enumerate(places)])}
        verdicts = tuple(self._verdict(end, first) for end in ends)
        verdicts, older = verdicts[: self._new], verdicts[self._new :]
        outcome, readings = judge_legality(self._groups[0], verdicts)
        return AuditRow(
            place=place,
            conversation=name,
            labels={},
            outcome=outcome,
            reason=reason_of(verdicts),
            rules=verdicts,
            events=tuple(replace(found[at], message=str(at[0])) for at in places),
            notes=(),
            readings=readings,
            against=OlderVerdict(outcome=judge_legality(self._groups[1], older)[0], rules=older)
            if self._compares
            else None,
            log=LogCounts(
                time_points=time_points,
                events=events,
                violations={end.rule.id: end.count for end in ends[: self._new]},
                open={end.rule.id: end.open for end in ends[: self._new]},
            ),
        )

    def _verdict(self, end: "_End", first_events: dict[int, int]) -> RuleVerdict:
        explained = [one.explained for one in end.recordings if one.explained is not None]
        shown = explained[0] if explained else None
        sentence = "" if shown is None else self._sentence(shown, end.count or end.open)
        return RuleVerdict(
            rule=end.rule.id,
            formula=end.rule.formula,
            provisions=end.rule.provisions,
            template=end.rule.template,
            source=end.rule.source,
            under=end.rule.under,
            kept=not end.count and not end.open,
            undetermined=f"the log ends before it is decided: {sentence}" if end.open and not end.count else "",
            triggered=end.triggered > 0,
            applicable=False,
            broken_at=None,
            states=(),
            values=() if shown is None else tuple(shown.values.values()),
            explanation=sentence if end.count else "",
            violations=tuple(explained),
            at=None if shown is None else first_events.get(shown.step),
            call=None if shown is None else f"t{shown.step}",
            triggers=end.triggered,
        ).stated()

    def _sentence(self, found: ExplainedViolation, total: int) -> str:
        """A violation, or what is open, in words, and how many more there are."""
        stamp = "" if found.time is None else f"@{found.time // self._time_unit} ({format_time(found.time)}): "
        more = f"; {total - 1} more" if total > 1 else ""
        return f"{stamp}{found.sentence(lambda steps: name_events([f't{step}' for step in steps]))}{more}"


class _End:
    """A rule at the end of a log: how many violations there are, how much the future decides, and the first of them."""

    def __init__(self, rule: Rule, prepared: FirstOrderRule, monitor: FirstOrderMonitor, *, complete: bool) -> None:
        self.rule: Final = rule
        self.triggered: Final = monitor.triggered
        violations, undecided = monitor.violations, monitor.undecided
        self.count, self.open = monitor.violation_count, monitor.undecided_count
        if complete:
            violations, undecided = [*violations, *monitor.violated_at_end()], []
            self.count, self.open = self.count + monitor.owed_count(), 0
        listed = sorted(violations or undecided, key=lambda found: found.position)
        self.recordings: Final = [_Recording(prepared, found) for found in listed[:LISTED_VIOLATIONS]]


def prepare_rules(rules: Iterable[Rule], signature: LogSignature) -> list[tuple[Rule, FirstOrderRule]]:
    """The rules, ready for evaluation. Raises FormulaError naming the rule: an unknown predicate or argument, or no
    order of evaluation finds the values of its variables."""
    prepared: list[tuple[Rule, FirstOrderRule]] = []
    for rule in rules:
        try:
            check_formula(rule.parsed, signature.tools, rule.formula)
            prepared.append((rule, FirstOrderRule(rule.parsed)))
        except FormulaError as error:
            message = str(error)
            raise FormulaError(message if rule.id in message else f"rule {rule.id!r}: {message}") from error
    return prepared


class _Recording:
    """The time points of a log that can matter to one violation."""

    def __init__(self, rule: FirstOrderRule, violation: Violation) -> None:
        self.rule = rule
        self.violation = violation
        instances = list(rule.instances(violation.position, dict(violation.values)))
        self.atoms = atoms_of(instances)
        self.whole = not all(map(ignores_other_calls, instances))
        self.steps: list[Step] = []
        self.places: list[Sequence[int]] = []
        self.explained: ExplainedViolation | None = None

    @property
    def last(self) -> float:
        """The time point after which nothing matters."""
        return float("inf") if self.violation.certain is None else self.violation.certain

    def add(self, position: int, time: int, events: dict[int, Event]) -> None:
        """Keep the events of a time point, given by their places in it."""
        if position <= self.last and len(self.steps) <= MAX_STEPS:
            self.steps.append(Step(position, time, tuple(events.values())))
            self.places.append([*events])

    def explain(self, *, complete: bool) -> None:
        found = self.violation
        if len(self.steps) <= MAX_STEPS:
            self.explained = explain(self.rule, found, self.steps, complete=complete)
            return
        time = next((step.time for step in self.steps if step.position == found.position), None)
        self.explained = ExplainedViolation(found.position, time, dict(found.values), found.certain, ())

    def evidence(self) -> Iterator[tuple[tuple[int, int], Event]]:
        """The events at the time points that the explanation names, by time point and place in it."""
        found = self.explained
        assert found is not None
        named = {found.step, found.certain, *(step for piece in found.evidence for step in piece.steps)}
        for step, places in zip(self.steps, self.places, strict=True):
            if step.position in named:
                yield from zip(((step.position, place) for place in places), step.events, strict=True)


def _record(recordings: Sequence[_Recording], read: ReadLog) -> None:
    """Read the log once more, for the time points that matter to violations."""
    if not recordings:
        return
    wanted: dict[str, list[tuple[Atom, _Recording]]] = {}
    for recording in recordings:
        for atom in recording.atoms:
            wanted.setdefault(atom.tool, []).append((atom, recording))
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
            for atom, recording in wanted.get(event.tool, ()):
                if could_match(atom, event):
                    found.setdefault(recording, {})[number] = event
        for recording, events in found.items():
            recording.add(position, step.time, events)
