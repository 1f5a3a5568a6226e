"""Mutants of time, objects and sums: late, early, other object, one unit over a limit."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.clock import Clock
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.terms import argument
from lawtrace.environments.spec.tools import Fails
from lawtrace.schemas.findings import MutationKind, MutationScore
from lawtrace.solver.coverage.changes import judge_changes, undetected_changes
from lawtrace.solver.coverage.mutations import measure_mutation_score
from lawtrace.solver.coverage.timed_mutants import window_uses
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import PlannedCall, Trace
from tests.support.payment_desk import PAYMENT_DESK

NEW_KINDS: tuple[MutationKind, ...] = ("late", "early", "other object", "limit")
Call = tuple[str, Mapping[str, Any]]
WAIT_A_DAY = ("Wait", {"minutes": 1440})


def pay(amount: float, payee: str = "P-0") -> Call:
    return "Pay", {"amount": amount, "payee_id": payee}


def authenticate(amount: float, payee: str = "P-0") -> Call:
    return "Authenticate", {"amount": amount, "payee_id": payee}


def score(formula: str, *calls: Call, environment: Environment = PAYMENT_DESK) -> MutationScore:
    """The score of a rule on one trace, which must keep it."""
    trace = trace_of(*calls, environment=environment)
    found = measure_mutation_score(environment, [Rule(id="it", formula=formula)], [("it", trace)])
    assert sum(found.mutants.values()) == len(found.detections) + len(found.survivors)
    return found


def trace_of(*calls: Call, environment: Environment = PAYMENT_DESK) -> Trace:
    initial = PAYMENT_DESK.populate(Random(2))
    assert not any(row.values["blocked"] for row in initial.rows("payees"))
    session = Session(environment, initial)
    events = [session.call(tool, arguments).event for tool, arguments in calls]
    assert all(event.completed for event in events), events
    return Trace(initial, tuple(PlannedCall(event, {}) for event in events), session.state)


def undetected(*formulas: str, environment: Environment = PAYMENT_DESK) -> list[str]:
    """The undetected changes of a payment that was authenticated, and reported two days before the end."""
    rules = [Rule(id=formula, formula=formula) for formula in formulas]
    trace = trace_of(authenticate(5), pay(5), ("Report", {}), WAIT_A_DAY, WAIT_A_DAY, environment=environment)
    return [*undetected_changes(environment, rules, trace)]


def noticed(found: MutationScore, kind: MutationKind) -> list[str]:
    return [one.change for one in found.detections if one.kind == kind]


def explained(found: MutationScore, kind: MutationKind) -> dict[str, str]:
    return {one.change: one.reason for one in found.survivors if one.kind == kind}


def test_a_duty_one_second_after_its_deadline_is_noticed() -> None:
    found = score("G(Pay -> F[<= 1d] Report)", pay(5), ("Report", {}))
    assert noticed(found, "late") == ["Report (call 2) 86401 s after Pay (call 1), where a rule says [<= 1d]"]
    assert not found.mutants["early"]


def test_a_duty_one_second_before_its_lower_bound_is_noticed() -> None:
    found = score("G(Pay -> F[>= 1d, <= 2d] Report)", pay(5), ("Wait", {"minutes": 1500}), ("Report", {}))
    assert [change.split()[3] for change in noticed(found, "early")] == ["86399"]
    assert [change.split()[3] for change in noticed(found, "late")] == [str(2 * 86400 + 1)]


def test_without_a_call_that_waits_an_early_call_is_moved() -> None:
    """Reports last a minute: the second payment is made before the second report, and 3 s are waited for."""
    found = score("G(Pay -> !O[> 0s, < 65s] Pay)", pay(5), ("Report", {}), ("Report", {}), pay(5))
    (change,) = noticed(found, "early")
    assert change.startswith("Pay (call 4) 64 s after Pay (call 1)")


def test_a_prohibition_that_expires_is_broken_at_its_last_second() -> None:
    found = score("G(Pay -> !O[<= 1d] Note)", ("Note", {"kind": "call"}), WAIT_A_DAY, pay(5))
    assert noticed(found, "early") == ["Pay (call 3) 86400 s after Note (call 1), where a rule says [<= 1d]"]


def test_a_late_call_that_another_one_makes_lawful_is_explained() -> None:
    rule = "G(Pay -> O[<= 5min] Authenticate)"
    found = score(rule, authenticate(5), ("Report", {}), authenticate(5), pay(5))
    ((change, reason),) = explained(found, "late").items()
    assert change == "Pay (call 4) 301 s after Authenticate (call 1), where a rule says [<= 5min]"
    assert reason == "the rules allow it"
    assert len(noticed(found, "late")) == 1


def test_a_deadline_after_the_end_of_the_session_is_a_reason() -> None:
    short = replace(PAYMENT_DESK, clock=Clock(length=3600))
    found = score("G(OpenSession -> F[<= 1d] Report)", ("OpenSession", {}), ("Report", {}), environment=short)
    reasons = {one.kind: one.reason for one in found.survivors}
    assert reasons["drop"] == "the deadline is after the end of the session"
    assert noticed(found, "late")


def test_another_object_on_either_side_is_noticed() -> None:
    rule = "forall a, p: G(Pay(amount == a, payee_id == p) -> O[<= 5min] Authenticate(amount == a, payee_id == p))"
    found = score(rule, authenticate(5), pay(5), ("FindPayee", {"name": "Ash"}), authenticate(6, "P-1"), pay(6, "P-1"))
    assert found.mutants["other object"] == 4 * 2 * 2  # calls, fields, one value that occurs and one that does not
    assert not explained(found, "other object")
    assert "Pay (call 2) with payee_id = 'P-1'" in noticed(found, "other object")
    assert "Authenticate (call 1) with payee_id = 'P-2'" in noticed(found, "other object")
    assert "Pay (call 2) with amount = 6" in noticed(found, "other object")
    assert "Pay (call 2) with amount = 5.01" in noticed(found, "other object")


def test_an_amount_over_a_daily_limit_is_noticed_at_the_cent() -> None:
    rule = "G(Pay -> sum(amount of Pay [<= 1d]) <= 250)"
    found = score(rule, pay(100), pay(50), WAIT_A_DAY, pay(120))
    assert set(noticed(found, "limit")) == {
        "Pay (call 1) with amount = 200.01",
        "Pay (call 2) with amount = 150.01",
        "Pay (call 4) with amount = 250.01",  # the first ones are more than a day ago
    }
    assert not explained(found, "limit")
    # Moved into the day of all three, the last payment makes 270; into that of the second one, 170.
    assert noticed(found, "early") == ["Pay (call 4) 86400 s after Pay (call 1), where a rule says [<= 1d]"]
    assert list(explained(found, "early").values()) == ["the rules allow it"]


def test_an_amount_that_the_tool_refuses_is_explained() -> None:
    found = score("G(Pay -> sum(amount of Pay) <= 5000)", pay(100))
    assert explained(found, "limit") == {"Pay (call 1) with amount = 5000.01": "the call was refused"}


def test_one_call_over_a_number_is_noticed() -> None:
    found = score("G(Pay -> count(Pay [<= 1d]) <= 3)", pay(5), pay(6))
    assert set(noticed(found, "limit")) == {"Pay (call 1), 2 calls more", "Pay (call 2), 2 calls more"}
    found = score("G(Pay -> count(distinct payee_id of Pay) <= 1)", pay(5))
    assert noticed(found, "limit") == ["Pay (call 1), 1 calls more with other values of payee_id"]


def test_one_call_less_than_a_number_is_noticed() -> None:
    found = score("G(Pay -> count(Authenticate) >= 2)", authenticate(1), authenticate(2), pay(3))
    assert {"1 calls of Authenticate up to call 1 dropped", "1 calls of Authenticate up to call 2 dropped"} == set(
        noticed(found, "limit")
    )


@pytest.mark.parametrize(
    "formula",
    [
        "forall a: G(Pay(amount == a) -> WX G !Pay(amount < a))",
        "forall a, b: G(Pay(amount == a) & O Pay(amount == b) -> b <= a)",
    ],
)
def test_an_order_between_two_calls_is_passed_by_a_cent(formula: str) -> None:
    found = score(formula, pay(5), pay(7))
    assert {"Pay (call 1) with amount = 7.01", "Pay (call 2) with amount = 4.99"} <= set(noticed(found, "limit"))


@pytest.mark.parametrize(
    ("formula", "uses"),
    [
        ("G(Pay -> F[<= 1d] Report)", ["Pay|Report"]),
        ("G(Pay -> O[<= 5min] Authenticate)", ["Authenticate|Pay"]),
        ("F[<= 1d] Report", ["start|Report"]),
        ("G(O[<= 1d] Report)", ["Report|every"]),
        ("G(Pay -> sum(amount of Pay [<= 1d]) <= 3)", ["Pay|Pay"]),
        ("G(Pay -> F[<= 1d] (Report & F[<= 1h] Note))", ["Pay|Report", "Report|Note"]),
        ("G(Pay -> F Report)", []),
    ],
)
def test_a_window_is_between_the_tools_of_its_two_steps(formula: str, uses: list[str]) -> None:
    def text(tools: frozenset[str] | None) -> str:
        return "start" if tools is None else ",".join(sorted(tools)) or "every"

    assert [f"{text(use.earlier)}|{text(use.later)}" for use in window_uses(parse(formula))] == uses


DUE, BOUND = "G(Pay -> F[<= 1d] Report)", "forall p: G(Pay(payee_id == p) -> O[<= 5min] Authenticate(payee_id == p))"


def test_a_late_call_and_another_object_that_break_a_rule_are_no_undetected_changes() -> None:
    assert undetected(DUE, BOUND) == []


def test_a_late_call_that_no_rule_notices_is_an_undetected_change() -> None:
    """The second part of the rule makes its deadline void: a call of any time keeps it."""
    change = "Report (call 3) 86401 s after Pay (call 2), where a rule says [<= 1d]"
    assert undetected("G(Pay -> F[<= 1d] Report | F Report)", BOUND) == [change]
    # Without the call the void rule is kept as well, so the call is not due by any deadline.
    assert undetected("G(Pay -> F[<= 1d] Report | O Authenticate)", BOUND) == []


def test_another_object_that_no_rule_notices_is_an_undetected_change() -> None:
    """The rule compares the payee, and is content with an authentication for any other."""
    loose = "forall p: G(Pay(payee_id == p) -> O Authenticate(payee_id == p) | O Authenticate)"
    assert undetected(DUE, loose) == ["Authenticate (call 1) with payee_id = 'P-1'"]
    assert undetected(DUE, loose, BOUND) == []


def test_another_object_that_a_tool_refuses_is_not_an_undetected_change() -> None:
    loose = "forall p: G(Pay(payee_id == p) -> O Authenticate(payee_id == p) | O Authenticate)"
    only_first = Fails("Another payee.", argument("payee_id") != "P-0")
    authenticating = replace(PAYMENT_DESK.tools["Authenticate"], fails=(only_first,))
    refusing = replace(PAYMENT_DESK, tools={**PAYMENT_DESK.tools, authenticating.name: authenticating})
    assert undetected(loose) != []
    assert undetected(loose, environment=refusing) == []


def test_each_change_says_what_catches_it_or_why_nothing_has_to() -> None:
    """Paid before the report that is due in a day; the goal is the payment of five."""
    rules = [Rule(id=formula, formula=formula) for formula in (DUE, BOUND)]
    trace = trace_of(authenticate(5), pay(5), ("Report", {}), WAIT_A_DAY, WAIT_A_DAY)
    tools = PAYMENT_DESK.tools
    found = {one.change: one.answer for one in judge_changes(PAYMENT_DESK, rules, trace, tools)}
    assert found["Report (call 3) 86401 s after Pay (call 2), where a rule says [<= 1d]"] == "rule"
    assert found["Report (call 3) dropped"] == "rule"
    free = {one.answer for one in judge_changes(PAYMENT_DESK, rules[:1], trace, tools) if one.kind != "other object"}
    assert free == {"rule", "missed"}  # no rule needs the authentication
    nowhere = {one.answer for one in judge_changes(PAYMENT_DESK, rules[:1], trace, tools, lambda _: False)}
    assert nowhere == {"rule", "goal"}
