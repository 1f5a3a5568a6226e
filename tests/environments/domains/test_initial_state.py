"""Initial states and samplers."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.domains.banking.entities import PAYEES, SESSION, TRANSACTIONS
from lawtrace.environments.runtime.simulation import compile_tool
from lawtrace.environments.spec.samplers import Amount, DayAfter, DayBefore, Digits, FieldValue, OneOf, WordsOf
from lawtrace.environments.spec.types import WrongFormat, WrongType
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS, load_domain
from lawtrace.solver.lint.initial_states import EmptyDomainError, sample_arguments

SEEDS = st.integers(0, 2**32)


@settings(max_examples=50)
@given(SEEDS)
def test_needed_rows_can_be_looked_up_unambiguously(seed: int) -> None:
    state = ENVIRONMENT.populate(Random(seed))
    types = [row.values["account_type"] for row in state.rows("accounts")]
    names = [row.values["payee_name"] for row in state.rows("payees")]
    assert len(set(types)) == len(types) >= 3
    assert {"checking", "savings"} <= set(types)
    assert len(set(names)) == len(names) == 4
    search = compile_tool(ENVIRONMENT.tools["SearchPayee"])
    found = [
        len(search.rows_found("payees", state, {"keywords": (word,)}, 0)) for name in names for word in name.split()
    ]
    assert 1 in found
    session = next(state.rows("session")).values
    assert session["authorized"] is True
    assert all(row.values["date"] < session["today"] for row in state.rows("transactions"))


@settings(max_examples=50)
@given(st.sampled_from(BUILT_IN_DOMAINS), SEEDS)
def test_the_same_seed_gives_the_same_state(world: str, seed: int) -> None:
    populate = load_domain(world).environment.populate
    assert populate(Random(seed)) == populate(Random(seed))
    assert populate(Random(seed)) != populate(Random(seed + 1))


@pytest.mark.parametrize("world", BUILT_IN_DOMAINS)
def test_initial_states_show_every_value_of_every_fact(world: str) -> None:
    environment = load_domain(world).environment
    states = [environment.populate(Random(seed)) for seed in range(150)]
    for fact in environment.facts:
        seen = {row.values[fact.field] for state in states for row in state.rows(fact.entity.table)}
        assert {*fact.values} <= seen, fact.name


@settings(max_examples=60)
@given(st.sampled_from(BUILT_IN_DOMAINS), SEEDS)
def test_samplers_draw_values_that_parameters_accept(world: str, seed: int) -> None:
    environment, random = load_domain(world).environment, Random(seed)
    state = environment.populate(random)
    for tool in environment.tools.values():
        try:
            drawn = sample_arguments(tool, state, random)
        except EmptyDomainError as nothing:
            pytest.fail(f"{tool.name}: {nothing}")
        for name, value in drawn.items():
            kind = tool.parameter(name).type
            try:
                assert value is None or kind.decode(kind.encode(value)) == value
            except (WrongType, WrongFormat) as error:
                pytest.fail(f"{tool.name}.{name} draws {value!r}: {error}")


def test_samplers_stay_within_their_bounds() -> None:
    random, state = Random(0), ENVIRONMENT.populate(Random(0))
    today = next(state.rows("session")).values["today"]
    names = {row.values["payee_name"] for row in state.rows("payees")}
    for _ in range(100):
        assert 5 <= Amount(5, 7).draw(random, state) <= 7
        assert OneOf(("a", "b")).draw(random, state) in {"a", "b"}
        digits = Digits(4).draw(random, state)
        assert (len(digits), digits[0] != "0", digits.isdecimal()) == (4, True, True)
        assert today + 1 <= DayAfter(SESSION, "today", 1, 3).draw(random, state) <= today + 3
        assert today - 3 <= DayBefore(SESSION, "today", 0, 3).draw(random, state) <= today
        assert FieldValue(PAYEES, "payee_name").draw(random, state) in names
        words = WordsOf(PAYEES, "payee_name").draw(random, state)
        assert 1 <= len(words) <= 2
        assert any(" ".join(words) in name for name in names)
    assert FieldValue(TRANSACTIONS, "amount").draw(random, state) < 0
