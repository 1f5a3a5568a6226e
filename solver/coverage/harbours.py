"""Safe harbours: requests about which the law is contested, with one course that is lawful under all readings.

The *harbour* keeps every rule that is active under some interpretation: it does what is asked, or declines it where
the law prohibits it or gives a right to refuse. It is a safe harbour if a course close by is only arguable:

    the harbour without one of its compliance calls, or with one elsewhere
    its look-ups and compliance calls, with a refusal in place of the changes
    what the law without the rules of one reading leads to

Who takes such a course is at the mercy of a reading, and who takes the harbour is not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.schemas.events import Event
from lawtrace.schemas.questions import TraceOutcome
from lawtrace.solver.coverage.mutants import call_mutants
from lawtrace.solver.coverage.mutations import execute_mutant
from lawtrace.solver.habits.refusals import reasons_to_decline, refusing_session
from lawtrace.solver.interpretations import legality_of, question_groups
from lawtrace.solver.monitoring.rule_status import OUTCOMES
from lawtrace.solver.planner.completion import Completer
from lawtrace.solver.planner.ends import EndSearch, PlannedEnd
from lawtrace.solver.rule_monitors import monitor_of
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.problem import Found, Impossible, Unknown
from lawtrace.solver.traces import PlannedCall, stated_reasons

_ORDER: Final = ("drop", "swap", "move")


@dataclass(frozen=True, slots=True)
class PlannedHarbour:
    """A request with a safe harbour.

    Attributes:
        end: the harbour, lawful under all readings; ``ends``: all ends of the request.
        questions: the open questions on which the other course turns.
        arguable: the events of that course.
    """

    requested: tuple[PlannedCall, ...]
    end: PlannedEnd
    ends: tuple[PlannedEnd, ...]
    questions: tuple[str, ...]
    arguable: tuple[Event, ...]


class HarbourSearch:
    """Looks for safe harbours under one rule set."""

    def __init__(self, environment: Environment, rules: Sequence[Rule], completer: Completer) -> None:
        """`completer`: the one for all the rules."""
        self._environment: Final = environment
        self._rules: Final = tuple(rules)
        self._law: Final = tuple(rule for rule in rules if rule.source == "law")
        self._contested: Final = tuple(rule for rule in self._law if rule.under)
        self._groups: Final = question_groups(rules)
        self._changing: Final = environment.changing_tools - {environment.declines}
        self._completer: Final = completer
        self._ends: Final = EndSearch(environment, rules, completer)
        self._narrowed: Final[dict[tuple[str, ...], Completer]] = {}

    @property
    def questions(self) -> tuple[str, ...]:
        """The open questions of the law."""
        return tuple(dict.fromkeys(name for rule in self._contested for name in rule.under))

    @property
    def changes(self) -> tuple[str, ...]:
        """The changes that the open questions can be about: those that a contested rule names, or that another rule
        names together with a compliance tool of one."""
        named = frozenset[str]().union(*(rule.tools for rule in self._contested))
        steps = named & self._environment.compliance_tools
        near = frozenset[str]().union(*(rule.tools for rule in self._rules if rule.tools & steps))
        return tuple(name for name in self._environment.tools if name in (named | near) & self._changing)

    def harbour(self, initial: State, requested: Sequence[PlannedCall]) -> PlannedHarbour | None:
        """The safe harbour of a request; None if there is none, or it is not decided whether there is."""
        ends = self._possible_ends(initial, requested)
        end = next((one for one in ends if not one.under), None)
        if end is None:
            return None
        for events in self._courses(end, requested):
            questions = self._turns_on(events)
            if questions:
                return PlannedHarbour(tuple(requested), end, ends, questions, tuple(events))
        return None

    def _possible_ends(self, initial: State, requested: Sequence[PlannedCall]) -> tuple[PlannedEnd, ...]:
        match self._completer.complete(initial, requested):
            case Found(trace):
                return (PlannedEnd(trace, None, {}),)
            case Impossible():
                ends = self._ends.ends(initial, requested)
                return self._refused_by_right(initial, requested) if isinstance(ends, Unknown) else ends
            case Unknown():
                return ()

    def _refused_by_right(self, initial: State, requested: Sequence[PlannedCall]) -> tuple[PlannedEnd, ...]:
        """The refusal to which the law gives a right, where the manual stands in the way of doing it."""
        found = self._completer.decline(initial, requested)
        if not isinstance(found, Found):
            return ()
        for rule in self._law:
            if not rule.under and rule.rights_used(found.trace.events):
                reasons = stated_reasons(self._environment, found.trace.events).values()
                return (PlannedEnd(found.trace, ", ".join(map(str, reasons)), {}),)
        return ()

    def _courses(self, end: PlannedEnd, requested: Sequence[PlannedCall]) -> Iterator[Sequence[Event]]:
        """Courses close by in which every call completes."""
        environment, trace = self._environment, end.trace
        mutants = [one for one in call_mutants(environment, (), trace) if one.kind in _ORDER]
        for mutant in sorted(mutants, key=lambda one: _ORDER.index(one.kind)):
            events, _ = execute_mutant(environment, trace.initial, mutant)
            if all(event.completed for event in events):
                yield events
        for reason in reasons_to_decline(environment) if end.declined is None else ():
            session = refusing_session(environment, trace.initial, trace.calls, reason)
            if session is not None and all(event.completed for event in session.events):
                yield session.events
        statuses = monitor_of(self._law).run(trace.events).statuses()
        for rule in self._contested:
            # What a rule demands is left out above; here is what it restricts, and the harbour does without.
            avoided = not statuses[rule.id].triggered and rule.tools & environment.compliance_tools & {*trace.tools}
            if end.declined is not None or avoided:
                found = self._law_without(rule).complete(trace.initial, requested)
                if isinstance(found, Found):
                    yield found.trace.events

    def _law_without(self, rule: Rule) -> Completer:
        """The completer for the law without the rules of the readings of a rule."""
        rules = tuple(one for one in self._law if one.under != rule.under)
        place = tuple(one.id for one in rules)
        if place not in self._narrowed:
            self._narrowed[place] = Completer(self._environment, rules)
        return self._narrowed[place]

    def _turns_on(self, events: Sequence[Event]) -> tuple[str, ...]:
        """The questions on which it turns whether a trace is lawful; none unless it is arguable."""
        statuses = monitor_of(self._law).run(events).final_statuses()
        outcomes: dict[str, TraceOutcome] = {name: OUTCOMES[status] for name, status in statuses.items()}
        if legality_of(self._groups, self._law, outcomes) != "arguable":
            return ()
        broken = (rule for rule in self._contested if outcomes[rule.id] == "broken")
        return tuple(dict.fromkeys(name for rule in broken for name in rule.under))
