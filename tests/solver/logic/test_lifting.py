"""Conditions on other steps that compare with variables of this one."""

import pytest

from lawtrace.schemas.events import Event, Json
from lawtrace.solver.logic.lifting import safe_form
from lawtrace.solver.logic.normal_form import normal_form
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.safety import UnsafeFormulaError, check_safety
from lawtrace.solver.logic.terms import Time
from lawtrace.solver.monitoring.first_order import FirstOrderMonitor, FirstOrderRule
from tests.support.equations import holds
from tests.support.random_formulas import RandomFormulas


@pytest.mark.parametrize(
    "text",
    [
        "forall x, y: G(A(q == x, p == y) -> O B(q == x, p > y) | F B(q == x, p > y))",
        "forall x, t: G(A(q == x) & now == t -> O[> 0s] B(q == x, t - now <= 3))",
        "forall x, t: G(A(q == x) & now == t -> !B(q == x, t - now < 3, p == 1) S C)",
        "forall x, y: G(A(q == x, p == y) -> Y (B(q == x, p != y) | !C & position > y))",
        "forall x, y: G(A(q == 1 and p == x and q == y or l contains 1 and q == x and p == y) -> O B(q == x or q < y))",
        "forall x, y: G(A(q == x, p == y) -> !B(p == y) S[>= 1s] C(q == x))",
        "forall x: G(A(q == x) -> O B(any e in l: e * 2 == x))",
        "forall x: G(A(p == x) -> O B(p contains x) | O(B & last(q of A) < x))",
        "forall x, y: G(A(q == x, p == y) -> O(C & !B(q == x) & !Y O B(p != y)))",
        "forall x: G(A(q == x) -> Y !B(q == x) | H(B(q == x) -> C))",
        "forall x: G(A(q == x) -> X F (B & O (exists y: B(p == y, q >= x))))",
        "forall x: G(A(q == x) -> !Y (count(B(q == x)) < 2 | C & last(p of B(q == x)) > 1))",
        "forall x, y: G(A(q == x, p == y) -> Y (sum(p of B(q == x) since B(q == x, p > 1)) >= count(C(q == y))))",
        "forall x: G(A(q == x) -> O (count(B(q == x) [<= 5s]) == 1 & C) | !O (!max(p of B(q == x)) > 1 & C))",
        "forall x, y: G(A(q == x) & F B(q == x, p == y) -> F[<= 5s] C(q == y) | O C(q == y))",
        "forall x, y: G(A(q == x) & !Y A & F B(q == x, p == y) -> F[<= 5s] C(q == y) | !F (B(q == x) & !B(p == y)))",
        "forall x, y: G(A(q == x) & (O B(p == y) | F[<= 9s] B(p == y)) -> O C(q == y) | F C(q == y) & !O B(q == y))",
    ],
)
def test_what_another_step_binds_may_be_compared(text: str) -> None:
    rule = FirstOrderRule(parse(text))
    with pytest.raises(UnsafeFormulaError):
        check_safety(normal_form(rule.formula))
    verdicts = set[bool]()
    for seed in range(2, 150, 3):  # times are no small numbers
        trace = RandomFormulas(seed).trace()
        monitor = FirstOrderMonitor(rule)
        for step in trace:
            monitor.feed_step(step.time, step.events)
        values = [*range(8), True, "a", "Ab", *{Time(step.time) for step in trace}]
        verdicts.add(kept := holds(rule.formula, trace, values))
        assert monitor.verdict_at_end() is kept, trace
    assert verdicts == {True, False}


def test_a_rule_that_is_safe_as_it_is_written_stays() -> None:
    formula = parse("forall x, y: G(A(q == x, p == y) -> O B(q == x) & F B(q == x, now > y or p == y))")
    assert safe_form(formula) == normal_form(formula)


def test_parts_of_one_element_are_found_together() -> None:
    row: Json = {"id": "a", "name": "n", "more": {"iban": "i"}}
    rule = FirstOrderRule(
        parse("forall a, b: G(A(p == a, q == b) -> O B(any r in l: r.id == a and (r.name == b or r.more.iban == b)))")
    )

    def kept(*rows: Json, asked: tuple[str, str]) -> bool:
        monitor = FirstOrderMonitor(rule)
        monitor.feed_step(1, (Event("B", {"l": list(rows)}),))
        monitor.feed_step(2, (Event("A", {"p": asked[0], "q": asked[1]}),))
        return monitor.verdict_at_end() is True

    assert kept(row, asked=("a", "n"))
    assert kept({"id": "c"}, row, asked=("a", "i"))
    assert not kept(row, {"id": "b", "name": "m"}, asked=("a", "m"))
    assert not kept({"id": "b", "name": "n"}, asked=("a", "n"))


@pytest.mark.parametrize(
    "body", ["O B(len(l) > x)", "O (count(B(q > x)) > 1 & C)", "O B(not p == x)", "O B(any r in l: r.n > x)"]
)
def test_what_a_variable_cannot_stand_for_is_refused(body: str) -> None:
    with pytest.raises(UnsafeFormulaError, match="does not say which values `x` has"):
        safe_form(parse(f"forall x: G(A(q == x) -> {body})"))
