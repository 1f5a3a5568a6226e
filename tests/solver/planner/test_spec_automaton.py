"""The spec automaton decides like derived values and rules one by one."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.planner.product import SpecAutomaton
from lawtrace.solver.planner.transition_system import TransitionSystem, transition_system
from lawtrace.solver.predicates import ObservedPredicates

FORMULAS = (
    'G(PayBill -> F RecordAuditEvent("BILL_PAYMENT" in events))',
    'G(TransferFunds -> F RecordAuditEvent("FUND_TRANSFER" in events))',
    '!((!PayBill) U RecordAuditEvent("BILL_PAYMENT" in events))',
    'G !RecordAuditEvent("BILL_PAYMENT" in events and not "FUND_TRANSFER" in events)',
    "!((!CheckAuthorization(result.authorized)) U TransferFunds)",
    "G(TransferFunds(amount > 400) -> O GetAccountInformation)",
    "G(RecordAuditEvent -> WX G !RecordAuditEvent)",
)
AUTOMATA = tuple(compile_formula(parse(formula)) for formula in FORMULAS)
SMART_HOME = load_domain("smart_home").environment


def decides(
    graph: TransitionSystem, predicates: ObservedPredicates, automata: Sequence[Automaton], labels: Sequence[int]
) -> bool:
    """Whether derived values allow the calls and every automaton accepts them, decided one by one."""
    derived, states = 0, [automaton.initial for automaton in automata]
    for label in labels:
        after = graph.derived.transitions[derived][label]
        if after is None:
            return False
        derived, met = after
        tool = graph.labels[label].tool
        true = {condition for number, condition in enumerate(predicates.conditions.get(tool, ())) if met >> number & 1}
        states = [
            automaton.step(
                state,
                automaton.alphabet.letter(
                    [a for a in automaton.atoms if a.tool == tool and (a.condition is None or a.condition in true)]
                ),
            )
            for automaton, state in zip(automata, states, strict=True)
        ]
    return all(state in automaton.accepting for automaton, state in zip(automata, states, strict=True))


@pytest.mark.slow
@settings(max_examples=200)
@given(data=st.data(), chosen=st.sets(st.sampled_from(range(len(AUTOMATA)))))
def test_the_spec_automaton_decides_as_its_parts_do(data: st.DataObject, chosen: set[int]) -> None:
    automata = [AUTOMATA[number] for number in sorted(chosen)]
    predicates = ObservedPredicates(automata)
    graph = transition_system(ENVIRONMENT, predicates)
    control = SpecAutomaton(graph, predicates, automata)
    labels = data.draw(st.lists(st.sampled_from(range(len(graph.labels))), max_size=9))
    state: int | None = 0
    for label in labels:
        state = None if state is None else control.transitions[state][label]
    accepted = state is not None and control.accepting[state]
    assert accepted is decides(graph, predicates, automata, labels)


def test_recorded_events_are_forgotten_after_the_last_observer() -> None:
    """The automaton does not grow with the kinds of recorded events: no event is pending, some event is, or an event
    that must be recorded is.
    """
    graph = transition_system(ENVIRONMENT, ObservedPredicates(AUTOMATA[:2]))
    assert len(graph.derived.transitions) == 8
    assert len(SpecAutomaton(graph, ObservedPredicates(AUTOMATA[:2]), AUTOMATA[:2]).transitions) == 3


@pytest.mark.parametrize("event", ["LOCK_OPERATION", pytest.param("CODE_MANAGEMENT", marks=pytest.mark.slow)])
def test_pending_events_are_not_part_of_the_abstract_state(event: str) -> None:
    rule = compile_formula(parse(f'G(UnlockDoor -> F RecordAuditEvent("{event}" in events))'))
    spec, unasked = (transition_system(SMART_HOME, ObservedPredicates(automata)) for automata in ([rule], []))
    assert len(spec.transitions) == len(unasked.transitions)
    assert len(spec.derived.transitions) > len(unasked.derived.transitions)
    assert not spec.derived.affects_state
