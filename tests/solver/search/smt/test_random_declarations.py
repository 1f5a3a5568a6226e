"""The translation check on random declarations."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.environments.runtime.documentation import document
from lawtrace.environments.runtime.simulation import simulate_call
from lawtrace.environments.spec.tools import Tool
from lawtrace.schemas.events import CallOutcome
from lawtrace.solver.search.smt.symbolic_logic import SymbolicLogic
from tests.solver.search.smt.test_translation import AnyAsAll, ChoiceSwapped, IndexOffByOne, NegationLostWhereOpen
from tests.support.random_declarations import random_environment
from tests.support.translation_check import SHARES, Openness, disagreements, draw_case, sequence_disagreements

SEEDS = st.integers(0, 2**32)


def differs(seed: int, openness: Openness, logic: SymbolicLogic | None = None) -> list[str]:
    environment, random = random_environment(seed), Random(seed)
    case = draw_case(environment, environment.tools["Do"], random)
    return disagreements(environment, case, openness, random, logic=logic)


@pytest.mark.slow
@settings(max_examples=60)
@given(SEEDS, st.sampled_from(list(SHARES)))
def test_simulator_and_encoding_agree_on_random_declarations(seed: int, openness: Openness) -> None:
    assert differs(seed, openness) == []


@pytest.mark.parametrize(("seed", "openness"), [(2164, "mixed"), (454, "symbolic"), (469, "mixed")])
def test_rows_for_a_list_with_repetitions_of_which_some_are_open(seed: int, openness: Openness) -> None:
    assert differs(seed, openness) == []


@pytest.mark.slow
@settings(max_examples=15)
@given(SEEDS)
def test_models_of_any_declaration_run_as_planned(seed: int) -> None:
    environment, random = random_environment(seed), Random(seed)
    do = environment.tools["Do"]
    wanted: list[tuple[Tool, CallOutcome]] = [(do, "completed"), (do, "failed")]
    found, _ = sequence_disagreements(environment, environment.populate(random), wanted, random)
    assert found == []


def test_random_declarations_reveal_planted_bugs() -> None:
    """Bugs planted in the logic are detected with a few dozen declarations."""
    for bug in (AnyAsAll, ChoiceSwapped, IndexOffByOne, NegationLostWhereOpen):
        assert any(differs(seed, openness, bug()) for seed in range(40) for openness in SHARES), bug.__name__


@settings(max_examples=20)
@given(SEEDS)
def test_any_declaration_can_be_documented_and_called(seed: int) -> None:
    environment = random_environment(seed)
    assert document(environment)["tools"]
    state = environment.populate(Random(seed))
    event, _ = simulate_call(environment, state, "Do", {"text": "a", "number": 1, "flag": True, "list": ["b"]}, 0)
    assert event.outcome in {"completed", "failed", "raised"}
