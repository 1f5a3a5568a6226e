"""Skeletons: every trace that satisfies a formula satisfies its skeleton."""

from itertools import pairwise

import pytest

from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.skeleton import CallTimes, has_table, skeleton
from lawtrace.solver.logic.syntax import Top
from lawtrace.solver.logic.terms import FieldPath
from tests.support.equations import Step, holds
from tests.support.random_formulas import RandomFormulas


def always_given(tool: str, place: FieldPath) -> bool:
    return True


def maybe_missing(tool: str, place: FieldPath) -> bool:
    return False


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("G(A -> F[<= 72h] B)", "G(A -> F B)"),
        ("G(A -> O[<= 5min] B)", "G(A -> O B)"),
        ("G(A -> !F[<= 1h] B)", "G(A -> !B)"),
        ("G(A -> !F[> 1h] B)", "true"),
        ("forall p: G(A(f == p) -> O B(f == p))", "G(A -> O B)"),
        ("forall p, q: G(A(f == p, g == q, h > 3) -> O[5s] B(f == p, g == q, h < 2))", "G(A(h > 3) -> O B(h < 2))"),
        ("forall p: G(A(f == p) -> WX G !A(f == p))", "true"),
        ("forall p: (!A(f == p)) W B(f == p)", "(!A) W B"),
        ("forall p: !((!B(f == p)) U A(f == p))", "B R !A"),
        ("forall p: G(A(p in f) -> O B(p in f))", "G(A(len(f) > 0) -> O B)"),
        ("G(A -> sum(f of B [<= 1d]) <= 5)", "true"),
        ("G(A -> count(B) <= 5 & C)", "G(A -> C)"),
        ("G !(A & B(years(f, now) < 16))", "true"),
        ("exists p: F(A(f == p) & O B(f == p))", "F(A & O B)"),
        ("F A & G(A -> F[<= 1s] A)", "F A & G(A -> F A)"),
    ],
)
def test_skeletons_of_kinds_of_rules(formula: str, expected: str) -> None:
    found = skeleton(parse(formula), always_given)
    assert compile_formula(found).table == compile_formula(parse(expected)).table
    assert has_table(found)


def test_a_rule_with_a_table_is_its_own_skeleton() -> None:
    formula = parse("G(A(f > 3) -> F B)")
    assert skeleton(formula, always_given) is formula


def test_a_field_that_may_be_missing_is_no_trigger() -> None:
    formula = parse("forall p: G(A(f == p) -> F B)")
    assert compile_formula(skeleton(formula, maybe_missing)) == compile_formula(parse("G(A(f == f) -> F B)"))


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("G(A -> F[>= 1d, <= 2d] B)", "G(A -> F(Wait & X F B))"),
        ("G(A -> F[>= 5s] B)", "G(A -> F((Wait | C) & X F B))"),
        ("G(A -> !Y O[< 1h] A)", "G(A -> !Y(A | Y((!Wait) S (A & !Wait))))"),
        ("G(A -> G[<= 1h] !B)", "G(A -> !((!Wait) U B))"),
        ("G(A -> !O[<= 1h] B)", "G(A -> !(B | Y((!Wait) S (B & !Wait))))"),
        ("G(A -> F[<= 1h] B)", "G(A -> F B)"),
        ("G(A -> F[> 1 calendar day] B)", "G(A -> F B)"),
    ],
)
def test_skeletons_know_how_long_calls_take(formula: str, expected: str) -> None:
    times = CallTimes((("A", 0), ("B", 0), ("C", 1), ("Wait", None)), 5)
    found = skeleton(parse(formula), always_given, times)
    assert compile_formula(found).table == compile_formula(parse(expected)).table


def test_without_a_tool_that_lets_time_pass_nothing_is_later() -> None:
    times = CallTimes((("A", 1), ("B", 1)), 5)
    found = skeleton(parse("G(A -> F[>= 1h] B)"), always_given, times)
    assert compile_formula(found) == compile_formula(parse("G !A"))


def implied_in(seed: int) -> bool | None:
    """Whether one random trace that satisfies a random formula satisfies its skeleton; None if it does not."""
    source = RandomFormulas(seed)
    formula = source.formula()
    timed = bool(seed % 2)
    trace = [Step(step.time, step.events[:1]) for step in source.trace() if step.events]
    trace = [step for step in trace if step.events[0].completed or not timed]
    if not holds(formula, trace, source.values(formula)):
        return None
    times = None
    if timed:  # each call takes the time up to the next one
        gaps: dict[str, set[int]] = {tool: {0} for tool in "ABC"}
        for step, following in pairwise(trace):
            gaps[step.events[0].tool].add(following.time - step.time)
        durations = [(tool, max(gap) if len(gap) < 3 else None) for tool, gap in gaps.items()]
        times = CallTimes(tuple(durations), len(trace))
    return holds(skeleton(formula, maybe_missing, times), trace, ())


def check(seeds: range) -> tuple[int, list[int]]:
    results = {seed: implied_in(seed) for seed in seeds}
    return sum(result is not None for result in results.values()), [s for s, r in results.items() if r is False]


def test_traces_that_keep_random_formulas_keep_their_skeletons() -> None:
    applicable, wrong = check(range(600))
    assert not wrong
    assert applicable > 200
    told = sum(not isinstance(skeleton(RandomFormulas(seed).formula(), maybe_missing), Top) for seed in range(600))
    assert told > 200


@pytest.mark.slow
def test_many_traces_that_keep_random_formulas_keep_their_skeletons() -> None:
    applicable, wrong = check(range(600, 4_000))
    assert not wrong
    assert applicable > 1_000
