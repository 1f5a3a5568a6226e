"""The search on every environment there is, with its own rules: no start fails, every feasible pair is shown."""

from random import Random

import pytest

from environments.catalogue import BUILT_IN, load_setting
from solver.demands import Asked
from solver.interest import Interest
from solver.product import Product
from solver.profiles import Profile, profile_formulas
from solver.rules import load_rules
from solver.synthesis import synthesize, try_to_fill
from solver.walks import draw_walk
from tests.support.checks import check_trace

LENGTH = 8


@pytest.mark.parametrize("profile", ["tasks", "coverage"])
@pytest.mark.parametrize("where", BUILT_IN)
def test_every_start_ends_in_a_trace_and_together_they_show_every_pair(where: str, profile: Profile) -> None:
    setting = load_setting(where)
    rules = load_rules(setting.rules_file)
    environment = setting.environment
    feasible = Product(environment, Asked(environment, rules, profile).automata(LENGTH)).adjacent_pairs(LENGTH)
    shown: set[tuple[str, str]] = set()
    for trace in synthesize(environment, rules, count=60, length=LENGTH, seed=3, profile=profile):
        check_trace(environment, trace, rules, profile_formulas(environment, profile), LENGTH)
        shown.update(zip(trace.tools, trace.tools[1:], strict=False))
    assert shown <= feasible
    assert len(feasible - shown) <= len(feasible) // 50


@pytest.mark.parametrize("where", BUILT_IN)
def test_whatever_the_facts_allow_the_world_allows(where: str) -> None:
    """Without any rule: random walks of the facts alone are carried by some initial state."""
    environment = load_setting(where).environment
    product = Product(environment, ())
    assert product.interest.identity == Interest(()).identity
    carried = [
        try_to_fill(product, draw_walk(product, LENGTH, Random(seed), set()), Random(seed)) is not None
        for seed in range(40)
    ]
    assert sum(carried) >= 38
