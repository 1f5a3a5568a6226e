"""What rules still demand where some tools are not offered."""

import pytest

from lawtrace.environments.catalogue import load_setting
from lawtrace.environments.errors import InputError
from lawtrace.environments.folder import Setting
from lawtrace.solver.offered import check_offer, rules_over
from lawtrace.solver.rules import Rule, check_rules, load_rules

BANKING = load_setting("banking")
TELEHEALTH = load_setting("telehealth")


def over(formula: str, *tools: str) -> list[str]:
    rules = rules_over([Rule(id="r", formula=formula)], tools)
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
def test_calls_that_cannot_happen_are_taken_out(formula: str, left: list[str]) -> None:
    assert over(formula, "Send", "Move", "Audit", "Check") == left


@pytest.mark.parametrize("tool", sorted(BANKING.environment.tools.keys() - BANKING.environment.compliance_tools))
def test_the_rules_that_are_left_speak_of_offered_tools_alone(tool: str) -> None:
    offered = BANKING.offering([tool])
    check_rules(rules_over(load_rules(BANKING.rules_file), offered.environment.tools), offered.environment)


@pytest.mark.parametrize("setting", [BANKING, TELEHEALTH], ids=["banking", "telehealth"])
def test_all_tools_leave_the_rules_as_they_are(setting: Setting) -> None:
    rules = tuple(load_rules(setting.rules_file))
    assert rules_over(rules, setting.environment.tools) == rules


def test_an_offer_names_tools_that_there_are() -> None:
    check_offer(BANKING.environment, ["PayBill"])
    with pytest.raises(InputError, match="no 'PayBil'"):
        check_offer(BANKING.environment, ["PayBil"])
    with pytest.raises(InputError, match="name business tools"):
        check_offer(BANKING.environment, ["CheckAuthorization"])
