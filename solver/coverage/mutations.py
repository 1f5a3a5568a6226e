"""Mutation testing of a rule set: change compliant traces, one change at a time, and count which changes rules detect.

The simulator executes each mutant (`lawtrace.solver.coverage.mutants`), and the rules judge it. A mutant that keeps
every rule is a survivor, reported with the reason.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.schemas.events import Event
from lawtrace.schemas.findings import MUTATION_KINDS, Detection, MutationKind, MutationScore, SurvivalReason, Survivor
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.coverage.mutants import Mutant, call_mutants
from lawtrace.solver.coverage.timed_mutants import timed_mutants
from lawtrace.solver.coverage.value_mutants import value_mutants
from lawtrace.solver.logic.terms import FieldPath
from lawtrace.solver.monitoring.rule_status import FinalStatus
from lawtrace.solver.predicates import fields_read
from lawtrace.solver.rule_monitors import monitor_of
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import Trace

_DETECTED: Final = frozenset[FinalStatus]({"broken", "left_open"})


def mutants_of(environment: Environment, rules: Sequence[Rule], trace: Trace) -> Iterator[Mutant]:
    """All mutants of a trace."""
    yield from call_mutants(environment, rules, trace)
    yield from timed_mutants(environment, rules, trace)
    yield from value_mutants(environment, rules, trace)


def _endings(rules: Sequence[Rule], events: Sequence[Event], end: int) -> dict[str, FinalStatus]:
    """What a trace that ends then does to each rule."""
    statuses = monitor_of(rules).run(events).statuses(end)
    return {rule: status.ending for rule, status in statuses.items()}


def broken_rules(rules: Sequence[Rule], events: Sequence[Event], end: int) -> list[str]:
    """The rules that a trace that ends then breaks, or leaves without what they demand."""
    return [rule for rule, ending in _endings(rules, events, end).items() if ending in _DETECTED]


def measure_mutation_score(
    environment: Environment,
    rules: Sequence[Rule],
    traces: Sequence[tuple[str, Trace]],
    on_trace: Callable[[], None] = lambda: None,
) -> MutationScore:
    """Mutate every trace (given with a name) and count what the rules detect."""
    mutants: dict[MutationKind, int] = dict.fromkeys(MUTATION_KINDS, 0)
    detections: list[Detection] = []
    survivors: list[Survivor] = []
    for name, trace in traces:
        for mutant in mutants_of(environment, rules, trace):
            mutants[mutant.kind] += 1
            events, end = execute_mutant(environment, trace.initial, mutant)
            endings = _endings(rules, events, end)
            detecting = tuple(rule for rule, ending in endings.items() if ending in _DETECTED)
            if detecting:
                detections.append(Detection(name, mutant.kind, mutant.change, detecting))
            else:
                why = _survival_reason(rules, trace.events, events, endings)
                survivors.append(Survivor(name, mutant.kind, mutant.change, why))
        on_trace()
    killed = Counter(detection.kind for detection in detections)
    kills = Counter(rule for detection in detections for rule in detection.rules)
    return MutationScore(
        mutants,
        {kind: killed[kind] for kind in MUTATION_KINDS},
        {rule.id: kills[rule.id] for rule in rules},
        tuple(detections),
        tuple(survivors),
    )


def session_of(environment: Environment, initial: State, mutant: Mutant) -> Session:
    """The session of the calls of a mutant."""
    session = Session(environment, initial)
    for number, (tool, arguments) in enumerate(mutant.calls):
        session.advance_time(mutant.pauses.get(number, 0))
        session.call(tool, arguments)
    return session


def execute_mutant(environment: Environment, initial: State, mutant: Mutant) -> tuple[list[Event], int]:
    """The events of a mutant, and the end of its session."""
    session = session_of(environment, initial, mutant)
    return [
        replace(event, result=mutant.answers[number]) if number in mutant.answers else event
        for number, event in enumerate(session.events)
    ], session.end


def _survival_reason(
    rules: Sequence[Rule], before: Sequence[Event], after: Sequence[Event], endings: Mapping[str, FinalStatus]
) -> SurvivalReason:
    if [*before] == [*after]:
        return "nothing changed"
    if not all(event.completed for event in after):
        return "the call was refused"
    if "not_due" in endings.values():
        return "the deadline is after the end of the session"
    if all(_observed(rule, before) == _observed(rule, after) for rule in rules):
        return "no rule looks at it"
    return "the rules allow it"


def _observed(rule: Rule, events: Sequence[Event]) -> list[object]:
    """What a rule reads of a trace."""
    if isinstance(rule.compiled, Automaton):
        return _observed_letters(rule.compiled, events)
    fields: dict[str, set[FieldPath]] = {tool: set() for tool in rule.tools}
    for tool, place in fields_read(rule.parsed):
        fields[tool].add(place)
    readings = list[object]()
    for event in events:
        if event.tool in fields:
            values = [(place, place.value(event)) for place in sorted(fields[event.tool], key=str)]
            readings.append((event.tool, event.completed, values, event.time if rule.compiled.timed else None))
        elif rule.counts_steps:
            readings.append(None)
    return readings


def _observed_letters(automaton: Automaton, events: Sequence[Event]) -> list[object]:
    """The letters that can move the rule, for each value of its variable if it has one."""
    idle = all(automaton.step(state, 0) == state for state in range(len(automaton.table)))
    values = dict.fromkeys(value for event in events for value in automaton.alphabet.occurring_values(event))
    readings: list[object] = []
    for value in (None, *values):
        letters = [automaton.alphabet.event_letter(event, value) for event in events]
        readings.append((value, [letter for letter in letters if letter or not idle]))
    return readings
