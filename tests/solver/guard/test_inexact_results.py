"""Calls whose results are represented by a few events only: what they break by themselves is found all the same."""

import pytest

from lawtrace.schemas.events import Json
from lawtrace.solver.guard.decisions import Allow, Call, Refuse
from lawtrace.solver.guard.guard import Guard
from lawtrace.solver.rules import Rule

CHECKED = Rule(
    id="checked", formula="forall t: G(pay(to == t) -> O check(to == t))", rationale="Payees are checked first."
)
RESULT: Json = {"type": "object", "properties": {"rate": {"type": "number"}}}
TOOLS: list[Json] = [
    {"name": "pay", "inputSchema": {}, "outputSchema": RESULT},
    *({"name": one} for one in ("check", "note")),
]
PAY = Call("pay", {"to": "A", "amount": 5})
OTHERS = {
    "computed": "G(pay(result.fee + 1 > 5) -> F note)",
    "summed": "G(sum(result.fee of pay) <= 100)",
    "elements": "G(pay(any c in result.codes: c.rank > 3) -> F note)",
    "a list": "G(pay(" + " or ".join(f'"{one}" in result.codes' for one in "abcdefg") + ") -> F note)",
    "patterns": 'G(pay(result.text contains "a" and result.text contains "b") -> F note)',
    "in order": "G(pay(result.fee > amount) -> F note)",
}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_call_that_breaks_a_rule_with_every_result_is_refused_with_provision_and_advice(kind: str) -> None:
    guard = Guard([CHECKED, Rule(id="other", formula=OTHERS[kind])], TOOLS, clock=lambda: 0, on_undecided="allow")
    decision = guard.before(PAY)
    assert isinstance(decision, Refuse)
    assert (decision.finding.rules, guard.undecided) == (("checked",), 0)
    assert decision.reason.startswith("Not carried out. Call check(to='A') first.")
    assert "Payees are checked first." in decision.reason


@pytest.mark.parametrize(
    "formula",
    [
        "G !pay(result.left >= amount)",
        "G(pay -> pay(result.y < result.x))",
        "G(pay -> pay(result.rate > 3 and result.rate < 4))",
    ],
)
def test_a_call_is_allowed_if_some_result_keeps_the_rules(formula: str) -> None:
    assert Guard([Rule(id="r", formula=formula)], TOOLS, clock=lambda: 0).before(PAY) == Allow()


def test_what_a_waiting_call_may_return_is_not_known_for_certain_either() -> None:
    rule = Rule(id="r", formula='G(note -> O pay(len(result.text) > 100 and result.text startswith "ab"))')
    guard = Guard([rule], TOOLS, clock=lambda: 0)
    assert isinstance(guard.before(PAY), Allow)
    decision = guard.before(Call("note"))
    assert isinstance(decision, Refuse)
    assert decision.finding.undecided
    assert guard.undecided == 1
