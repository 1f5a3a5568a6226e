"""The safety oracle on quantified rules: the evidence names the value."""

import pytest

from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.schemas.events import Event
from lawtrace.solver.rules import Rule

FIRST = Rule(
    id="first",
    formula="forall a: G(TransferFunds(from_account_number == a) -> O GetAccountStatement(account_number == a))",
)
RECORDED = Rule(id="recorded", formula="forall a: G(TransferFunds(from_account_number == a) -> F Record(account == a))")


def call(tool: str, account: str) -> Event:
    return Event(tool, {"from_account_number" if tool == "TransferFunds" else "account_number": account})


@pytest.mark.parametrize(
    ("events", "kept", "values", "broken_at"),
    [("S1 T1", True, (), None), ("S1 T2 T1", False, ("2",), 1), ("", True, (), None)],
)
def test_a_verdict_names_the_value(events: str, kept: bool, values: tuple[str, ...], broken_at: int | None) -> None:
    tools = {"S": "GetAccountStatement", "T": "TransferFunds"}
    trace = [call(tools[word[0]], word[1]) for word in events.split()]
    (verdict,) = judge_rules([FIRST], trace, ())
    assert (verdict.kept, verdict.values, verdict.broken_at) == (kept, values, broken_at)
    assert verdict.explanation == (
        "" if kept else 'for a = "2": after call 2, TransferFunds, the rule could no longer be kept'
    )


def test_an_open_obligation_names_the_values() -> None:
    (verdict,) = judge_rules([RECORDED], [call("TransferFunds", str(number)) for number in range(5)], ())
    assert verdict.values == ("0", "1", "2", "3", "4")
    assert verdict.explanation.startswith('for a = "0", "1", "2" and 2 more: TransferFunds')
    assert verdict.broken_at is None
