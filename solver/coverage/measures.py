"""Coverage of a set of traces: adjacent-tool coverage and safety-critical coverage (P 5.2, Eq. 1, Table 2)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.events import Event
from lawtrace.schemas.findings import Coverage
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.coverage.timed_mutants import time_of, window_uses
from lawtrace.solver.coverage.value_mutants import tracked_fields, values_of
from lawtrace.solver.planner.product import Product
from lawtrace.solver.planner.trace_spec import adjacent_pairs
from lawtrace.solver.rule_monitors import monitor_of
from lawtrace.solver.rules import Rule


def measure_coverage(environment: Environment, traces: Iterable[Sequence[Event]]) -> Coverage:
    """The coverage of the completed calls of some traces."""
    pairs: set[tuple[str, str]] = set()
    occurring: set[str] = set()
    count = 0
    for events in traces:
        tools = tuple(event.tool for event in events if event.completed)
        pairs |= adjacent_pairs(tools)
        occurring.update(tools)
        count += 1
    return Coverage(
        count,
        frozenset(pairs),
        len(environment.tools) ** 2,
        frozenset(occurring) & environment.critical_tools,
        environment.critical_tools,
    )


AutomatonTransition = tuple[int, int]
"""A state and a letter."""


@dataclass(frozen=True, slots=True)
class RuleCoverage:
    """The coverage of one rule by a set of traces.

    Attributes:
        transitions: the transitions between states from which the rule can still be kept; None for a rule on time,
            several objects or sums, which has no automaton.
        possible: those that some compliant trace of the mode and length may take in the planner's abstraction; no
            trace takes more. None for a quantified rule, whose values are only abstracted together.
        covered: those that the traces take.
        missing: descriptions of possible transitions that no trace takes.
        exercised: for a rule without an automaton, how many distances lie before, inside and after each of its windows,
            and how many values each of its variables has.
        triggered: the number of traces that trigger the rule.
    """

    rule: str
    transitions: int | None
    possible: int | None
    covered: int
    missing: tuple[str, ...]
    triggered: int
    exercised: tuple[str, ...] = ()


def measure_rules(
    rules: Sequence[Rule], product: Product, length: int, traces: Sequence[Sequence[Event]]
) -> tuple[RuleCoverage, ...]:
    """The coverage of each rule. The sequences of ``product`` with that length define what is possible."""
    triggered = _trigger_counts(rules, traces)
    return tuple(_measure_rule(rule, product, length, traces, triggered[rule.id]) for rule in rules)


def _measure_rule(
    rule: Rule, product: Product, length: int, traces: Sequence[Sequence[Event]], triggered: int
) -> RuleCoverage:
    automaton = rule.compiled
    if not isinstance(automaton, Automaton):
        return RuleCoverage(rule.id, None, None, 0, (), triggered, _exercised(rule, traces))
    live = {
        (state, letter)
        for state in range(len(automaton.table))
        if automaton.can_accept(state)
        for letter in automaton.letters
        if automaton.can_accept(automaton.step(state, letter))
    }
    taken = {transition for trace in traces for transition in _transitions_on(automaton, trace)}
    possible = None if automaton.is_quantified else product.automaton_transitions(automaton, length)
    missing = tuple(_transition_text(automaton, transition) for transition in sorted((possible or set()) - taken))
    return RuleCoverage(
        rule.id, len(live), None if possible is None else len(possible | taken), len(taken), missing, triggered
    )


def _exercised(rule: Rule, traces: Sequence[Sequence[Event]]) -> tuple[str, ...]:
    """What the traces show of the windows and the variables of a rule."""
    found: list[str] = []
    for use in dict.fromkeys(window_uses(rule.parsed)):
        counts = {"before": 0, "inside": 0, "after": 0}
        for trace in traces:
            for earlier, later in use.pairs(trace):
                start, now = time_of(trace[earlier]), time_of(trace[later])
                opened, closed = use.window.opened(start, now), use.window.closed(start, now)
                counts["inside" if opened and not closed else "after" if closed else "before"] += 1
        found.append(f"{use.window}: {', '.join(f'{count} {where}' for where, count in counts.items() if count)}")
    for name, places in tracked_fields(rule.parsed).items():
        values = values_of(places, [event for trace in traces for event in trace])
        found.append(f"{name}: {len(values)} values")
    return tuple(found)


def _transitions_on(automaton: Automaton, trace: Sequence[Event]) -> Iterable[AutomatonTransition]:
    """The transitions on a trace; for a quantified rule those of each of its values."""
    values = dict.fromkeys(value for event in trace for value in automaton.alphabet.occurring_values(event))
    for value in (None, *values):
        state = automaton.initial
        for event in trace:
            letter = automaton.alphabet.event_letter(event, value)
            yield state, letter
            state = automaton.step(state, letter)


def _transition_text(automaton: Automaton, transition: AutomatonTransition) -> str:
    state, letter = transition
    return f"state {state}, {automaton.alphabet.text(letter) if letter else 'any other call'}"


def _trigger_counts(rules: Sequence[Rule], traces: Iterable[Sequence[Event]]) -> dict[str, int]:
    counts = {rule.id: 0 for rule in rules}
    for trace in traces:
        for rule, status in monitor_of(rules).run(trace).statuses().items():
            counts[rule] += status.triggered
    return counts
