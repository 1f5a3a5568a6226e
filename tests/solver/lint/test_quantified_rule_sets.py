"""Analysis of rule sets with quantified rules."""

from itertools import product as every

import pytest

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.schemas.events import CallOutcome, Event
from lawtrace.solver.lint.rule_sets import analyse_rules
from lawtrace.solver.rules import Rule, check_rules
from tests.support.semantics import holds_on

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
    return {(finding.kind, finding.rules) for finding in analyse_rules(ENVIRONMENT, rules(*names)).findings}


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("first",), []),
        (("first", "same"), [("equivalent", ("first", "same"))]),
        (("first", "weaker"), [("redundant", ("weaker",))]),
        (("first", "never"), [("redundant", ("first",))]),
    ],
)
def test_findings_about_quantified_rules(names: tuple[str, ...], found: list[tuple[str, tuple[str, ...]]]) -> None:
    assert findings(*names) == {*found}


def test_values_that_do_not_occur_have_no_obligation() -> None:
    """The first rule does not apply to accounts without a statement, so it does not imply the second."""
    owes = "forall a: F GetAccountStatement(account_number == a)"
    more = f"{owes} & (SearchTransactions(account_number == a) | !SearchTransactions(account_number == a))"
    assert ("equivalent", (owes, more)) not in findings(owes, more)


def call(tool: str, account: str, outcome: CallOutcome = "completed") -> Event:
    return Event(tool, {"from_account_number" if tool == "TransferFunds" else "account_number": account}, outcome)


FROM, OF, CHECK = "TransferFunds(from_account_number == a)", "GetAccountStatement(account_number == a)", "SearchPayee"
SETS = {
    "as people write them": tuple(RULES.values()),
    "no condition needs the value": ("forall a: G TransferFunds(not from_account_number == a)",),
    "a refused call makes no value occur": (
        f"forall a: G({CHECK} -> F {OF})",
        "G !GetAccountStatement",
        f"forall a: G({FROM} -> F attempted({OF}))",
        f"forall a: G({FROM} -> !F {CHECK})",
    ),
}


@pytest.mark.parametrize("formulas", SETS.values(), ids=SETS)
def test_no_claim_is_refuted_by_a_short_trace(formulas: tuple[str, ...]) -> None:
    """Every claim of the analysis holds on every trace of up to three calls over two accounts."""
    chosen = {rule.id: rule.parsed for rule in rules(*formulas)}
    steps = [call(tool, account) for tool in ("TransferFunds", "GetAccountStatement") for account in "12"]
    steps += [call(CHECK, "1"), call("GetAccountStatement", "1", "failed")]
    claims = analyse_rules(ENVIRONMENT, rules(*formulas)).findings
    for trace in (trace for length in range(4) for trace in every(steps, repeat=length)):
        kept = {name for name, formula in chosen.items() if holds_on(formula, trace)}
        for finding in claims:
            applies = kept >= set(finding.reasons)
            match finding.kind:
                case "redundant":
                    assert not applies or kept >= set(finding.rules)
                case "equivalent":
                    assert len(kept & set(finding.rules)) in (0, len(finding.rules))
                case "unreachable":
                    assert not applies or all(event.tool != finding.tool for event in trace if event.completed)
                case "conflict":
                    assert not trace or not kept >= set(finding.rules)
                case "vacuous" | "undecided" | "unseparated" | "undeclared":
                    pass
