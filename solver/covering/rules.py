"""How much of each rule's automaton a set of traces walks through, and how often it is triggered."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lawtrace.environments.events import Event
from lawtrace.solver.ltlf import Automaton, Monitor
from lawtrace.solver.product import Product
from lawtrace.solver.rules import Rule

Transition = tuple[int, int]
"""A state and a letter."""


@dataclass(frozen=True, slots=True)
class RuleCoverage:
    """What a set of traces shows of one rule.

    Attributes:
        transitions: the transitions between states from which the rule can still be kept.
        possible: those of them that some compliant trace of the profile and length may take, by the facts that plans
            go by: no trace takes more. None for a quantified rule, whose values the plans follow only together.
        covered: those that the traces take.
        missing: in words, those that are possible and that no trace takes.
        triggered: how many of the traces trigger the rule.
    """

    rule: str
    transitions: int
    possible: int | None
    covered: int
    missing: tuple[str, ...]
    triggered: int


def measure_rules(
    rules: Sequence[Rule], product: Product, length: int, traces: Sequence[Sequence[Event]]
) -> tuple[RuleCoverage, ...]:
    """Measure each rule on the traces; the walks of that length of ``product`` are those that are possible at all."""
    triggered = _triggered(rules, traces)
    return tuple(_measure(rule, product, length, traces, triggered[rule.id]) for rule in rules)


def _measure(
    rule: Rule, product: Product, length: int, traces: Sequence[Sequence[Event]], triggered: int
) -> RuleCoverage:
    automaton = rule.automaton
    live = {
        (state, letter)
        for state in range(len(automaton.table))
        if automaton.live(state)
        for letter in automaton.letters
        if automaton.live(automaton.step(state, letter))
    }
    taken = {transition for trace in traces for transition in _taken(automaton, trace)}
    possible = None if automaton.quantified else product.transitions(automaton, length)
    missing = tuple(_in_words(automaton, transition) for transition in sorted((possible or set()) - taken))
    return RuleCoverage(
        rule.id, len(live), None if possible is None else len(possible | taken), len(taken), missing, triggered
    )


def _taken(automaton: Automaton, trace: Sequence[Event]) -> Iterable[Transition]:
    """The transitions on a trace; of a quantified rule those of each of its values."""
    values = dict.fromkeys(value for event in trace for value in automaton.alphabet.occurring(event))
    for value in (None, *values):
        state = automaton.initial
        for event in trace:
            letter = automaton.mask(event, value)
            yield state, letter
            state = automaton.step(state, letter)


def _in_words(automaton: Automaton, transition: Transition) -> str:
    state, letter = transition
    return f"state {state}, {automaton.alphabet.text(letter) if letter else 'any other call'}"


def _triggered(rules: Sequence[Rule], traces: Iterable[Sequence[Event]]) -> dict[str, int]:
    counts = {rule.id: 0 for rule in rules}
    for trace in traces:
        monitor = Monitor({rule.id: rule.automaton for rule in rules})
        monitor.run(trace)
        for rule, status in monitor.statuses().items():
            counts[rule] += status.triggered
    return counts
