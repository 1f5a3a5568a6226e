"""What the form of formulas shows holds on traces."""

import re
from random import Random

import pytest

from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.logic.entailment import visibly_entails
from lawtrace.solver.logic.normal_form import normal_form
from lawtrace.solver.logic.parser import parse
from tests.support.equations import holds
from tests.support.random_formulas import RandomFormulas


def entails(one: str, other: str) -> bool:
    return visibly_entails(normal_form(parse(one)), normal_form(parse(other)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("G(a -> F[<= 1h] b)", "G(a -> F[<= 2h] b)"),
        ("G(a -> F[<= 1h] b)", "G(a -> F[< 3d] b)"),
        ("G(a -> F[< 1h] b)", "G(a -> F[<= 1h] b)"),
        ("G(a -> F[> 1h, <= 2h] b)", "G(a -> F[>= 1h] b)"),
        ("G(a -> O[<= 1 calendar month] b)", "G(a -> O[<= 2 calendar months] b)"),
        ("G(a -> F[<= 1h] b)", "G(a -> F b)"),
        ("G(a -> b)", "G(a -> b | c)"),
        ("G(a | d -> b & c)", "G(a -> b)"),
        ("forall x: G(a(p == x) -> F[<= 1h] b(p == x))", "forall y: G(a(p == y) -> F[<= 2h] b(p == y))"),
    ],
)
def test_wider_windows_and_fewer_parts_follow(one: str, other: str) -> None:
    assert entails(one, other)
    assert not entails(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("G(a -> F[<= 1h] b & c)", "G(a -> F[<= 1h] b) & G(a -> c) & G(a -> F[<= 1h] (b & c) | c)"),
        ("G(a -> F[<= 1h] b & (c | d))", "G !(a & !(c & F[<= 1h] b | d & F[<= 1h] b))"),
        ("G(a -> O b | b)", "G(!O b -> !a)"),
        (
            "forall x, y: G(a(p == x, q == y) -> O[<= 1h] b(p == x, q == y))",
            "forall b, a: G(!O[<= 1h] b(q == a, p == b) -> !a(p == b, q == a))",
        ),
    ],
)
def test_equal_propositions(one: str, other: str) -> None:
    assert entails(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("G(a -> F[<= 1 calendar month] b)", "G(a -> F[<= 60d] b)"),
        ("G a", "a"),
        ("G(a -> F[<= 1h] b)", "G(a -> F[<= 1h] c)"),
        (
            "forall x, y: G(a(p == x, q == y) -> O b(p == x, q == y))",
            "forall x, y: G(a(p == x, q == y) -> O b(p == y, q == x))",
        ),
    ],
)
def test_else_nothing_is_known(one: str, other: str) -> None:
    assert not entails(one, other)


def wrong(seed: int) -> list[str] | None:
    """A random formula and the same with other numbers in it: the traces that refute a claim; None without a claim."""
    source, random = RandomFormulas(seed), Random(seed)
    one = source.formula()
    changed = re.sub(r"(?<=[<>=] )\d+", lambda found: str(int(found[0]) + random.choice((0, 1))), str(one))
    try:
        other = parse(changed)
        claimed = one != other and visibly_entails(normal_form(one), normal_form(other))
    except FormulaError:
        return None
    if not claimed:
        return None
    traces = [source.trace() for _ in range(40)]
    values = [*source.values(one), *source.values(other)]
    return [f"{seed}: {one}, {other}: {t}" for t in traces if holds(one, t, values) and not holds(other, t, values)]


@pytest.mark.parametrize("count", [100, pytest.param(1500, marks=pytest.mark.slow)])
def test_no_random_trace_refutes_a_claim(count: int) -> None:
    claims = [found for seed in range(count) if (found := wrong(seed)) is not None]
    assert len(claims) > count // 100
    assert [text for found in claims for text in found] == []
