"""What can be said of rule sets with quantified rules in them, and how they are judged."""

from itertools import product as every

from environments.banking import ENVIRONMENT
from environments.events import Event
from solver.analysis import analyse
from solver.ltlf import holds_on
from solver.rules import Rule, check_rules

STATEMENT_FIRST = "forall a: G(TransferFunds(from_account_number == a) -> O GetAccountStatement(account_number == a))"
RULES = {
    "first": STATEMENT_FIRST,
    "same": "forall b: !((!GetAccountStatement(account_number == b)) U TransferFunds(from_account_number == b))",
    "weaker": "forall a: G(TransferFunds(from_account_number == a) -> O GetAccountStatement)",
    "never": "forall a: G !TransferFunds(from_account_number == a)",
}


def rules(*names: str) -> list[Rule]:
    chosen = [Rule(id=name, formula=RULES.get(name, name)) for name in names]
    check_rules(chosen, ENVIRONMENT)
    return chosen


def findings(*names: str) -> set[tuple[str, tuple[str, ...]]]:
    return {(finding.kind, finding.rules) for finding in analyse(ENVIRONMENT, rules(*names)).findings}


def test_a_rule_set_in_order() -> None:
    assert findings("first") == set()


def test_equivalent_under_another_name_for_the_variable() -> None:
    assert findings("first", "same") == {("equivalent", ("first", "same"))}


def test_what_one_value_implies() -> None:
    assert findings("first", "weaker") == {("redundant", ("weaker",))}


def test_forbidden_for_every_value_is_forbidden() -> None:
    assert findings("first", "never") == {("redundant", ("first",))}


def test_a_value_that_does_not_occur_is_promised_nothing() -> None:
    """The first rule says nothing of accounts without a statement, so it does not imply the second."""
    owes = "forall a: F GetAccountStatement(account_number == a)"
    more = f"{owes} & (SearchTransactions(account_number == a) | !SearchTransactions(account_number == a))"
    assert ("equivalent", (owes, more)) not in findings(owes, more)


def call(tool: str, account: str) -> Event:
    return Event(tool, {"from_account_number" if tool == "TransferFunds" else "account_number": account})


def test_no_claim_is_refuted_by_a_short_trace() -> None:
    """Whatever the analysis calls redundant or equivalent is, on every trace of up to four calls over two accounts."""
    formulas = {rule.id: rule.parsed for rule in rules(*RULES)}
    steps = [call(tool, account) for tool in ("TransferFunds", "GetAccountStatement") for account in "12"]
    analysis = analyse(ENVIRONMENT, rules(*RULES))
    claims = [finding for finding in analysis.findings if finding.kind in ("redundant", "equivalent")]
    assert claims
    for trace in (trace for length in range(5) for trace in every(steps, repeat=length)):
        kept = {name for name, formula in formulas.items() if holds_on(formula, trace)}
        for finding in claims:
            if finding.kind == "redundant":
                assert not kept >= set(finding.reasons) or kept >= set(finding.rules)
            else:
                assert len(kept & set(finding.rules)) in (0, len(finding.rules))
