"""What Z3 excludes in all traces of a few calls, no random trace does."""

from dataclasses import replace
from random import Random

import pytest

from lawtrace.environments.spec.clock import DEFAULT_START
from lawtrace.environments.spec.types import INTEGER
from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.syntax import Not
from lawtrace.solver.monitoring.first_order import FirstOrderRule
from lawtrace.solver.smt.free_traces import FreeTraces
from tests.solver.smt.test_rule_encoding import environment_with
from tests.support.bare_environment import bare_environment
from tests.support.equations import Step, holds
from tests.support.random_formulas import RandomFormulas

CALLS = 3
VALUES = [*range(-3, 12)]


def random_trace(source: RandomFormulas, random: Random) -> list[Step]:
    steps: list[Step] = []
    time = DEFAULT_START
    for step in source.trace():
        for event in step.events[:1]:
            time += random.choice((0, 0, 1, 2, 5))
            arguments = {**event.arguments, "p": random.randrange(3)}
            outcome = "completed" if event.completed else "failed"
            steps.append(Step(time, (replace(event, arguments=arguments, outcome=outcome, time=time),)))
    return steps[:CALLS]


def wrong_exclusions(seed: int) -> list[str]:
    """Two random rules: the random traces that keep both although Z3 excludes them."""
    first, second = RandomFormulas(3 * seed), RandomFormulas(3 * seed + 1)
    try:
        rules = [FirstOrderRule(first.formula()), FirstOrderRule(Not(second.formula()))]
    except FormulaError:
        return []
    calls = FreeTraces(environment_with(INTEGER), rules).excluded(CALLS)
    random = Random(seed)
    tried = [random_trace(first, random)[: max(calls, 0)] for _ in range(60 if calls >= 0 else 0)]
    return [f"seed {seed}: {trace}" for trace in tried if all(holds(rule.formula, trace, VALUES) for rule in rules)]


def test_exclusions_agree_with_the_equations() -> None:
    assert [wrong for seed in range(4) for wrong in wrong_exclusions(seed)] == []


@pytest.mark.slow
def test_many_exclusions_agree_with_the_equations() -> None:
    assert [wrong for seed in range(100, 200) for wrong in wrong_exclusions(seed)] == []


def test_shorter_traces_are_excluded() -> None:
    rule = FirstOrderRule(parse("!G(count(A [<= 1h]) <= 2)"))
    assert FreeTraces(environment_with(INTEGER), [rule]).excluded(5) == 2


@pytest.mark.parametrize(
    ("condition", "excluded"),
    [
        ('p < "2024-05-15"', False),
        ('not p startswith "certificate"', False),
        ('lower(p) == "abc" and p != "abc"', False),
        ("len(p) > 100", False),
        ("number(p) == 12.5", False),
        ("years(p, now) == 35", False),
        ('p == "a" and p == "b"', True),
    ],
)
def test_no_trace_is_ruled_out_for_a_text_that_nothing_names(condition: str, excluded: bool) -> None:
    body = f"!(forall x, y: G(B(q == x, r == y) & O A(q == x, {condition}) -> O A(q == x, r == y)))"
    assert (FreeTraces(bare_environment([body]), [FirstOrderRule(parse(body))]).excluded(3) == 3) is excluded
