"""Rules are merged by proof, and a merged rule keeps every provision."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.schemas.errors import InputError
from lawtrace.solver.automata.operations import product
from lawtrace.solver.declarations.loader import Domain, load_domain
from lawtrace.solver.rule_transforms import check_tool_subset, implies, merge_rules, restrict_rules
from lawtrace.solver.rules import Rule, check_rules, load_rules

FORMULAS = (
    "!((!Check) U Pay)",
    "Check R !Pay",
    "!((!Check) U (Pay | Move))",
    "G(Pay -> F Log)",
    "G((Pay | Move) -> F Log)",
    "G(!Pay)",
    "G(Pay -> F (Log | Tell))",
    "forall p: G(Pay(p == payee) -> F Log)",
)


def rules(formulas: list[str]) -> list[Rule]:
    return [Rule(id=f"r{n}", formula=formula, provisions=(f"Article {n}",)) for n, formula in enumerate(formulas)]


def test_equivalent_and_implied_rules_are_merged_with_all_provisions() -> None:
    kept = merge_rules(rules(["!((!Check) U Pay)", "Check R !Pay", "!((!Check) U (Pay | Move))", "G(Pay -> F Log)"]))
    assert [(rule.id, rule.provisions) for rule in kept] == [
        ("r2", ("Article 2", "Article 0", "Article 1")),
        ("r3", ("Article 3",)),
    ]


def test_quantified_rules_are_merged_only_if_written_the_same() -> None:
    one, other = FORMULAS[-1], "forall q: G(Pay(q == payee) -> F Log)"
    assert [rule.id for rule in merge_rules(rules([one, one, other]))] == ["r0", "r2"]


def test_a_rule_with_a_deadline_implies_the_one_without() -> None:
    """Its skeleton does. Two deadlines, and rules on several objects, are merged only if written the same."""
    deadline, longer = "G(Pay -> F[<= 72h] Log)", "G(Pay -> F[<= 96h] Log)"
    kept = merge_rules(rules(["G(Pay -> F Log)", deadline, longer, deadline]))
    assert [(rule.id, rule.provisions) for rule in kept] == [
        ("r1", ("Article 1", "Article 0", "Article 3")),
        ("r2", ("Article 2",)),
    ]


def test_restricting_a_rule_with_a_deadline_leaves_out_what_is_always_kept() -> None:
    given_rules = rules(
        ["G((Pay | Move) -> F[<= 72h] Log)", "forall p: G(Pay(payee == p) -> O[<= 5min] Check(payee == p))"]
    )
    assert [rule.formula for rule in restrict_rules(given_rules, {"Move", "Log", "Check"})] == [
        "G(Move -> F[<= 72h] Log)"
    ]


@given(st.lists(st.sampled_from(FORMULAS[:-1]), min_size=1, max_size=5))
def test_merged_rules_imply_all_rules_and_keep_all_provisions(formulas: list[str]) -> None:
    given_rules = rules(formulas)
    kept = merge_rules(given_rules)
    assert {citation for rule in kept for citation in rule.provisions} == {r.provisions[0] for r in given_rules}
    assert all(any(implies(into, rule) for into in kept) for rule in given_rules)
    for rule in kept:
        for other in kept:
            if rule is not other:
                broken = product(rule.automaton, other.automaton, lambda left, right: left and not right)
                assert not broken.is_empty


BANKING = load_domain("banking")
TELEHEALTH = load_domain("telehealth")


def over(formula: str, *tools: str) -> list[str]:
    rules = restrict_rules([Rule(id="r", formula=formula)], tools)
    assert all(rule.parsed == Rule(id="r", formula=rule.formula).parsed for rule in rules)
    return [rule.formula for rule in rules]


@pytest.mark.parametrize(
    ("formula", "left"),
    [
        ("G(Pay -> F Audit)", []),
        ("!((!Check) U Pay)", []),
        ("G((Pay | Send) -> F Audit)", ["G(Send -> F Audit)"]),
        ("G((Pay | Send | Move) -> F Audit)", ["G(Send | Move -> F Audit)"]),
        ("G(Send -> F Pay)", ["G(Send -> F false)"]),
        ("G(Send -> F Audit)", ["G(Send -> F Audit)"]),
        ("forall x: G(Send(x == to) -> F Pay(x == to))", ["forall x: G(Send(x == to) -> F false)"]),
        ("forall x: G(Pay(x == to) -> F Pay(x == to))", []),
        ("G(Send -> O Pay)", ["G(Send -> O false)"]),
    ],
)
def test_impossible_calls_are_removed(formula: str, left: list[str]) -> None:
    assert over(formula, "Send", "Move", "Audit", "Check") == left


@pytest.mark.parametrize("tool", sorted(BANKING.environment.tools.keys() - BANKING.environment.compliance_tools))
def test_restricted_rules_name_only_available_tools(tool: str) -> None:
    offered = BANKING.restricted_to([tool])
    check_rules(restrict_rules(load_rules(BANKING.rules_file), offered.environment.tools), offered.environment)


@pytest.mark.parametrize("domain", [BANKING, TELEHEALTH], ids=["banking", "telehealth"])
def test_restriction_to_all_tools_changes_nothing(domain: Domain) -> None:
    rules = tuple(load_rules(domain.rules_file))
    assert restrict_rules(rules, domain.environment.tools) == rules


def test_a_tool_subset_with_unknown_tools_is_refused() -> None:
    check_tool_subset(BANKING.environment, ["PayBill"])
    with pytest.raises(InputError, match="no 'PayBil'"):
        check_tool_subset(BANKING.environment, ["PayBil"])
    with pytest.raises(InputError, match="name ordinary tools"):
        check_tool_subset(BANKING.environment, ["CheckAuthorization"])
