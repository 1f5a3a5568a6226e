"""Analysis of rule sets with rules about time, several variables and aggregates."""

import pytest

from lawtrace.solver.lint.findings import RuleSetAnalysis
from lawtrace.solver.lint.rule_sets import analyse_rules, find_rule_examples
from lawtrace.solver.rules import Rule
from tests.support.bare_environment import bare_environment


def analysed(*formulas: str, **named: str) -> RuleSetAnalysis:
    rules = [Rule(id=name, formula=formula) for name, formula in named.items()]
    rules += [Rule(id=f"r{number}", formula=formula) for number, formula in enumerate(formulas)]
    return analyse_rules(bare_environment(rule.formula for rule in rules), rules)


def findings(*formulas: str, **named: str) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    found = analysed(*formulas, **named).findings
    return [(finding.kind, finding.rules, finding.reasons) for finding in found]


def test_a_rule_that_no_trace_keeps() -> None:
    (finding,) = analysed("F[<= 1h] a(amount < 0 and amount > 0)", "G(b -> F c)").findings
    assert (finding.kind, finding.rules) == ("conflict", ("r0",))
    assert finding.message == f"in traces of up to {finding.calls} calls, r0 cannot be kept"
    assert "longer traces were not searched" in finding.proof


@pytest.mark.slow
def test_rules_that_exclude_each_other_through_a_sum() -> None:
    assert findings(
        "F(sum(amount of Pay) >= 100)", "G(Pay -> Pay(amount <= 10))", "G(count(Pay) <= 5)", "G(Tell -> O Pay)"
    ) == [("conflict", ("r0", "r1", "r2"), ())]


@pytest.mark.slow
def test_a_rule_that_others_never_let_be_triggered() -> None:
    found = findings(large="G(a(amount > 100) -> F[<= 1h] b)", none="G(count(a(amount > 50)) <= 0)")
    assert found == [("vacuous", ("large",), ("none",))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("G(a -> F[<= 1h] b)", "G(a -> F[<= 60min] b)"),
        (
            "forall x, y: G(a(p == x, q == y) -> O b(p == x, q == y))",
            "forall u, v: G(a(p == u, q == v) -> O b(p == u, q == v))",
        ),
        ("G(count(a) <= 1)", "G(a -> !Y O a)"),
    ],
)
def test_equivalent_rules(one: str, other: str) -> None:
    assert findings(one=one, other=other) == [("equivalent", ("one", "other"), ())]


def test_defects_among_rules_without_time_are_proved_and_reported_once() -> None:
    found = findings(one="G(a -> F b)", two="G(a & true -> F b)", three="G(c -> F[<= 1h] d)")
    assert found == [("equivalent", ("one", "two"), ())]
    assert all(finding.calls is None for finding in analysed(one="G(a -> F b)", two="G(a & true -> F b)").findings)


@pytest.mark.slow
def test_what_short_traces_exclude_is_searched_in_longer_ones() -> None:
    analysis = analysed(limit="G(count(Pay) <= 7)", login="G(Pay -> O[<= 1d] Login)")
    assert analysis.findings == ()
    assert len(analysis.breaking["limit"].steps) == 9


def test_rules_about_messages_take_part() -> None:
    analysis = analysed('G(Pay -> O[<= 5min] user("yes"))', 'G(user("yes") -> F[<= 1h] Pay)')
    assert analysis.findings == ()
    assert analysis.breaking["r1"].steps == ('2026-03-02 09:00 user(text="yes", words=["yes"])',)


def test_examples_of_a_rule_with_time() -> None:
    rule = Rule(id="r", formula="forall x: G(a(p == x) -> F[> 1h, <= 2h] b(p == x))")
    examples = find_rule_examples(bare_environment([rule.formula]), rule)
    assert examples.keeping is not None
    assert examples.breaking is not None
    assert examples.breaking.steps == ('2026-03-02 09:00 a(p="new-1")',)
    assert [step.split("(")[0][-1] for step in examples.keeping.steps] == ["a", "b"]
