"""The search and Z3 on random small environments with several tools, from the same initial state.

The search abstracts numbers, and Z3 reads the whole declaration. So their claims are compared: for a pair that the
search excludes, Z3 has no trace; for a pair that the search executes, Z3 has no proof of impossibility. If no amount
can run out and no rule reads an amount, the two have the same pairs.
"""

from collections.abc import Iterator
from itertools import product as all_pairs
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.samplers import Amount
from lawtrace.environments.spec.tools import FromUser
from lawtrace.solver.planner.instantiation import Walk
from lawtrace.solver.planner.product import Product
from lawtrace.solver.planner.tool_sequences import draw_tool_sequence
from lawtrace.solver.planner.trace_spec import TraceSpec
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.problem import Found, Impossible, Unknown
from lawtrace.solver.search.smt.bounded_model_checking import BoundedEncoding
from tests.support.random_environments import random_multi_tool_environment
from tests.support.trace_checks import keeps

LENGTH = 4
SEEDS = st.integers(0, 10_000)


def differences(seed: int) -> Iterator[str]:
    environment, formulas = random_multi_tool_environment(seed)
    spec = TraceSpec(environment, tuple(Rule(id=formula, formula=formula) for formula in formulas), "coverage")
    initial = environment.populate(Random(0))
    plan = Product(environment, spec.automata(LENGTH))
    planned = plan.feasible_pairs(LENGTH)
    compiled = {rule.id: rule.automaton for rule in spec.rules}
    encoding = BoundedEncoding(environment, compiled, length=LENGTH, initial=initial)
    exact = not _takes_amounts(environment) and not spec.monitored_rules
    for first, second in all_pairs(environment.tools, repeat=2):
        pair, answer = (first, second), encoding.ask_pair(first, second)
        if isinstance(answer, Unknown):
            yield f"{pair}: what Z3 found does not run"
        if isinstance(answer, Found) and pair not in planned:
            yield f"{pair} is excluded, and Z3 has {answer.trace}"
        if isinstance(answer, Impossible) and pair in planned:
            if exact:
                yield f"{pair} is planned, and Z3 excludes it: {answer.core}"
            elif (carried := _carried(spec, pair, seed)) is not None:
                yield f"{pair} is carried out by {carried}, and Z3 excludes it: {answer.core}"


def _takes_amounts(environment: Environment) -> bool:
    parameters = (parameter for tool in environment.tools.values() for parameter in tool.parameters)
    return any(isinstance(p.source, FromUser) and isinstance(p.source.sampler, Amount) for p in parameters)


def _carried(spec: TraceSpec, pair: tuple[str, str], seed: int) -> tuple[str, ...] | None:
    """The tools of a trace with the pair, executed and judged; None if a few attempts find none."""
    environment = spec.environment
    product = Product(environment, spec.automata(LENGTH))
    for number in range(4):
        random = Random(f"{seed}/{number}")
        walk = draw_tool_sequence(product, LENGTH, random, {pair})
        trace = Walk(
            product,
            walk,
            product.system.initial_search_state(environment.populate(random)),
            spec.monitored_rules,
            random,
        ).sample()
        if trace is not None and all(keeps(rule.formula, trace.events) for rule in spec.rules):
            return trace.tools
    return None


@pytest.mark.slow
@settings(max_examples=25)
@given(SEEDS)
@example(4805)  # three unused names, and the rules leave no trace but one of four new purses
def test_search_and_z3_do_not_contradict_each_other(seed: int) -> None:
    assert list(differences(seed)) == []


class _NeverMet:
    """A class without instances."""


def _little(*_: object, **__: object) -> Any:
    """A stub that always returns 0."""
    return 0


def _alike(*_: object) -> tuple[object, ...]:
    return ()


def _always(*_: object) -> bool:
    return True


def _unchanged(environment: Environment, _: object) -> Environment:
    return environment


def _as_before(_: object, __: object, before: object, ___: object) -> object:
    return before


BUGS: dict[str, tuple[str, object]] = {
    "rows are not told apart": ("lawtrace.solver.planner.abstract_state.StateAbstraction._class", _alike),
    "every known row is forgotten": (
        "lawtrace.solver.planner.abstract_state.StateAbstraction._is_refused_everywhere",
        _always,
    ),
    "it is forgotten that new names run out": ("lawtrace.solver.planner.abstract_state.UnusedValue", _NeverMet),
    "an empty purse excludes for all": (
        "lawtrace.solver.planner.transition_system._without_abstracted_refusals",
        _unchanged,
    ),
    "what is recorded is forgotten too early": (
        "lawtrace.solver.planner.product.SpecAutomaton._observed_mask",
        _little,
    ),
    "nothing ever waits to be recorded": ("lawtrace.solver.search.smt.call_encoding.pending_after", _as_before),
    "refusals are not read": ("lawtrace.solver.search.smt.call_encoding.CallEncoding._forbid_refusals", _little),
    "everything is known": ("lawtrace.solver.search.smt.call_encoding.is_known", _always),
}


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_detected(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*BUGS[bug])
    assert any(any(differences(seed)) for seed in (214, 3431, *range(300)))
