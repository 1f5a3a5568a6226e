"""Contrast pairs: one request in two initial states that differ in one fact, with different lawful behaviour.

On the first side the request can be carried out lawfully. The fact is changed where the calls that are lawful there no
longer do, and the other side is solved anew: with other calls, or, where no lawful way exists, with a refusal. A pair
is kept if the calls of neither side are right on the other, so no program that ignores the fact is right on both.
Right is what may be lawful: what breaks only the owner's manual, or the law under some readings, is no contrast.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import Fact, Row, State
from lawtrace.environments.spec.types import Value
from lawtrace.schemas.events import Event
from lawtrace.schemas.questions import TraceOutcome
from lawtrace.schemas.trace_options import ANY_DIFFICULTY, Difficulty
from lawtrace.solver.interpretations import legality_of, question_groups
from lawtrace.solver.monitoring.rule_status import OUTCOMES
from lawtrace.solver.planner.completion import Completer, one_after_another
from lawtrace.solver.planner.ends import EndSearch, PlannedEnd
from lawtrace.solver.rule_monitors import monitor_of
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.problem import Answer, Found, Impossible, Unknown
from lawtrace.solver.traces import PlannedCall, Trace, completed_replay


class DifficultyMeter:
    """Measures compliant traces of one environment under one rule set."""

    def __init__(self, environment: Environment, rules: Sequence[Rule]) -> None:
        self._environment: Final = environment
        self._rules: Final = (*rules,)

    def applying(self, trace: Trace) -> frozenset[str]:
        """The ids of the rules that the trace triggers."""
        statuses = monitor_of(self._rules).run(trace.events).statuses()
        return frozenset(name for name, status in statuses.items() if status.triggered)

    def distance(self, trace: Trace) -> int:
        """The greatest number of calls between a compliance call and the call for which a rule demands it.

        A rule demands a compliance call for the call from which on, without the compliance call, the rule stays
        unfulfilled to the end: a payment before which no authentication was made, or after which no record follows.
        """
        events = trace.events
        between = [0]
        for duty, event in enumerate(events):
            if event.tool in self._environment.compliance_tools:
                others = [number for number in range(len(events)) if number != duty]
                starts = self._unfulfilled_from([events[number] for number in others])
                between += [abs(duty - others[start]) - 1 for start in starts]
        return max(between)

    def _unfulfilled_from(self, events: Sequence[Event]) -> list[int]:
        """For each rule that is not kept at the end: the event after which it was kept no more."""
        monitor = monitor_of(self._rules)
        history = [monitor.final_statuses()]
        for event in events:
            monitor.feed(event)
            history.append(monitor.final_statuses())
        changes = list(enumerate(pairwise(history)))
        return [
            max(number for number, (before, _) in changes if before[name] == "kept")
            for name, ending in history[-1].items()
            if ending != "kept" and any(before[name] == "kept" for _, (before, _) in changes)
        ]

    def carries_out_enough(self, granted: Trace, least: Difficulty) -> bool:
        """Whether the side that carries the request out is long enough, and its duties are far enough."""
        return len(granted.calls) >= least.calls and (least.distance == 0 or self.distance(granted) >= least.distance)

    def enough_apply(self, side: Trace, least: Difficulty) -> bool:
        """Whether enough rules apply to a side."""
        return least.rules == 0 or len(self.applying(side)) >= least.rules


@dataclass(frozen=True, slots=True)
class ChangedFact:
    """A fact that has another value in one row of the initial state."""

    fact: Fact
    key: Value
    before: Value
    after: Value


@dataclass(frozen=True, slots=True)
class ContrastPair:
    """Two sides of one request.

    Attributes:
        requested: the calls of the request, which complete in both states.
        granted: a compliant trace with these calls, before the fact changes.
        other: the same after it has changed, or a refusal.
        declined: why the other side has no compliant trace with these calls; None if it has one.
        ends: of the other side, if it declines.
        turns_on: the rules of the law that the calls of one side break on the other.
        about: the tools of the request that they concern: those of the request before it was extended.
    """

    changed: ChangedFact
    requested: tuple[PlannedCall, ...]
    granted: Trace
    other: Trace
    declined: Impossible | None
    ends: tuple[PlannedEnd, ...] = ()
    turns_on: tuple[str, ...] = ()
    about: tuple[str, ...] = ()


class ContrastSearch:
    """Looks for contrast pairs under one rule set."""

    def __init__(
        self,
        environment: Environment,
        rules: Sequence[Rule],
        completer: Completer,
        difficulty: Difficulty = ANY_DIFFICULTY,
    ) -> None:
        """`difficulty`: what each pair has at least."""
        self._environment: Final = environment
        self._rules: Final = {rule.id: rule for rule in rules}
        self._groups: Final = question_groups(rules)
        self._completer: Final = completer
        self._ends: Final = EndSearch(environment, rules, completer)
        self._difficulty: Final = difficulty
        self._meter: Final = DifficultyMeter(environment, rules)
        self._disputed: Final = {rule.id for rule in rules if rule.source == "manual" or rule.under}
        self._completed: Final[dict[tuple[str, ...], Trace]] = {}

    def pairs(self, initial: State, requested: Sequence[PlannedCall], facts: Sequence[Fact]) -> Iterator[ContrastPair]:
        """The pairs of a request, in the order of the facts; none if it cannot be carried out lawfully here."""
        answer = self._complete(initial, requested)
        if not isinstance(answer, Found) or len(answer.trace.calls) == len(requested):
            return
        least, granted = self._difficulty, answer.trace
        if not self._meter.carries_out_enough(granted, least) or not self._meter.enough_apply(granted, least):
            return
        for changed, state in changed_facts(initial, facts):
            pair = self._pair(changed, state, requested, granted)
            if pair is not None and self._meter.enough_apply(pair.other, least):
                yield pair

    def _pair(
        self, changed: ChangedFact, state: State, requested: Sequence[PlannedCall], granted: Trace
    ) -> ContrastPair | None:
        if self._does_here(state, granted) or completed_replay(self._environment, state, requested) is None:
            return None
        answer = self._complete(state, requested, like=granted)
        declined, ends = None, tuple[PlannedEnd, ...]()
        other = answer.trace if isinstance(answer, Found) else None
        if isinstance(answer, Impossible) and self._environment.declines is not None:
            if any(obstacle.text in self._disputed for obstacle in answer.core):
                return None  # the law does not prohibit it, or only by one reading
            refusals = self._ends.refusals(state, requested)
            declined, ends = answer, () if isinstance(refusals, Unknown) else refusals
            other = next((end.trace for end in ends if not end.under), None)  # lawful under all readings
        if other is None or self._is_right(granted.initial, other.calls, granted.final):
            return None
        if len(other.calls) <= len(requested) and declined is None:
            return None  # doing just what is asked is right there
        turns_on = self._broken(state, granted.calls) | self._broken(granted.initial, other.calls)
        about = dict.fromkeys(call.event.tool for call in requested)
        about = tuple(tool for tool in about if tool in self._environment.changing_tools)
        return ContrastPair(changed, tuple(requested), granted, other, declined, ends, tuple(sorted(turns_on)), about)

    def _complete(self, initial: State, requested: Sequence[PlannedCall], like: Trace | None = None) -> Answer[Trace]:
        """As the completer does it. Without `like`, the last completion of a request for the same tools is taken."""
        asked = tuple(dict.fromkeys(call.event.tool for call in requested))
        found = self._completer.complete(initial, requested, like=like or self._completed.get(asked))
        if isinstance(found, Found):
            self._completed[asked] = found.trace
        return found

    def extend(self, pair: ContrastPair, further: Sequence[PlannedCall]) -> ContrastPair | None:
        """The pair whose request asks for further calls, too, which are lawful on both sides.

        None if they are not, or if they are about the same rows: then what is proved of the pair might not hold.
        """
        if _rows_read(pair.requested) & _rows_read(further):
            return None
        answer = self._complete(pair.granted.initial, further)
        if not isinstance(answer, Found):
            return None
        granted, state = answer.trace, pair.other.initial
        session = completed_replay(self._environment, state, granted.calls)
        other = Trace(state, granted.calls, session.state) if session is not None else None
        if session is None or (*session.events,) != granted.events:
            found = self._complete(state, further, like=granted)
            other = found.trace if isinstance(found, Found) else None
        first = self._completer.join([pair.granted, granted])
        second = None if other is None else self._completer.join([pair.other, other])
        if first is None or second is None:
            return None
        ends = tuple(end for one in pair.ends if other and (end := self._ends.join(one, other)))
        if len(ends) < len(pair.ends) or self._is_right(state, first.calls, None):
            return None
        if self._is_right(first.initial, second.calls, first.final):
            return None
        requested = one_after_another([pair.requested, further], self._environment.tools.keys())
        return replace(pair, requested=requested, granted=first, other=second, ends=ends)

    def _does_here(self, state: State, trace: Trace) -> bool:
        """Whether the calls of a trace keep the rules in another state, too."""
        session = completed_replay(self._environment, state, trace.calls)
        return session is not None and ((*session.events,) == trace.events or self._is_right(state, trace.calls, None))

    def _is_right(self, initial: State, calls: Sequence[PlannedCall], target: State | None) -> bool:
        """Whether a program with these calls may be lawful there, and reaches the target if there is one."""
        session = completed_replay(self._environment, initial, calls)
        if session is None:
            return False
        outcomes = self._not_all_kept(session.events)
        if outcomes and legality_of(self._groups, [self._rules[name] for name in outcomes], outcomes) == "unlawful":
            return False
        return target is None or not compare_states(self._environment, initial, target, session.state)

    def _not_all_kept(self, events: Sequence[Event]) -> dict[str, TraceOutcome]:
        """The outcomes of the rules about the tools of a trace; empty if all are kept."""
        called = {event.tool for event in events}
        monitor = monitor_of([rule for rule in self._rules.values() if rule.tools & called])
        if monitor.run(events).all_kept():
            return {}
        return {name: OUTCOMES[status] for name, status in monitor.final_statuses().items()}

    def _broken(self, state: State, calls: Sequence[PlannedCall]) -> set[str]:
        """The rules of the law that these calls break there; none if they do not complete."""
        session = completed_replay(self._environment, state, calls)
        outcomes = {} if session is None else self._not_all_kept(session.events)
        return {name for name, of in outcomes.items() if of == "broken" and self._rules[name].source == "law"}


def _rows_read(calls: Sequence[PlannedCall]) -> set[str]:
    """What calls read from results, such as the keys of rows."""
    return {repr(call.event.arguments[name]) for call in calls for name in call.looked_up}


def changed_facts(initial: State, facts: Sequence[Fact]) -> Iterator[tuple[ChangedFact, State]]:
    """Each way to give one fact another value in one row, and the state with it."""
    for fact in facts:
        table = fact.entity.table
        rows = initial.tables[table]
        for number, row in enumerate(rows):
            if not row.present:
                continue
            for value in fact.values:
                before = row.values[fact.field]
                if value == before or before not in fact.values:
                    continue
                other = Row({**row.values, fact.field: value}, row.present)
                state = initial.with_table(table, (*rows[:number], other, *rows[number + 1 :]))
                yield ChangedFact(fact, row.values[fact.entity.key], before, value), state
