"""Monitors: the status of rules along a trace."""

import pytest

from lawtrace.schemas.events import Event
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.monitoring.monitor import Monitor, TriggerFinder
from lawtrace.solver.monitoring.rule_status import RuleStatus

RULES = {
    "check": "!(!Check U (Pay | Transfer))",
    "audit": "G((Pay | Transfer) -> F Audit)",
    "adjacent": "G(Transfer -> X Notify)",
    "small": "G !Pay(amount > 100)",
    "once": "G(Audit -> O Check)",
}


def calls(*tools: str) -> list[Event]:
    """Completed calls; a question mark after the tool means refused."""
    return [Event(t.rstrip("?"), {}, "raised" if t.endswith("?") else "completed") for t in tools]


def monitor(*rules: str) -> Monitor:
    return Monitor({rule: compile_formula(parse(RULES.get(rule, rule))) for rule in rules})


def test_kept_and_triggered() -> None:
    watch = monitor(*RULES)
    watch.run(calls("Check", "Pay", "Audit"))
    assert watch.final_statuses() == dict.fromkeys(RULES, "kept")
    assert {rule for rule, status in watch.statuses().items() if status.triggered} == {"check", "audit", "once"}
    assert watch.events == 3


def test_the_first_irreparable_event() -> None:
    watch = monitor("check", "audit")
    watch.run(calls("Audit", "Pay", "Check", "Pay"))
    assert watch.first_irreparable == {"check": 1, "audit": None}
    assert watch.status("check") == RuleStatus("violated", triggered=True, first_irreparable=1, ending="broken")
    assert watch.status("audit").verdict == "open"
    assert watch.final_statuses() == {"check": "broken", "audit": "left_open"}
    watch.feed(calls("Audit")[0])
    assert watch.final_statuses() == {"check": "broken", "audit": "kept"}
    assert watch.first_irreparable["check"] == 1


def test_a_refused_call_does_not_match_a_plain_atom() -> None:
    watch = monitor("check", "!(!Check U attempted(Pay))")
    watch.run(calls("Pay?"))
    assert watch.final_statuses() == {"check": "kept", "!(!Check U attempted(Pay))": "broken"}
    assert not watch.status("check").triggered


def test_a_rule_that_counts_steps_moves_on_every_event() -> None:
    watch = monitor("adjacent")
    watch.run(calls("Transfer"))
    assert watch.verdicts() == ("open",)
    watch.run(calls("Nobody names this tool"))
    assert watch.verdicts() == ("violated",)
    assert watch.status("adjacent").first_irreparable == 1


def test_conditions_are_evaluated_on_the_event() -> None:
    watch = monitor("small", "check")
    watch.run([Event("Pay", {"amount": 100}), Event("Pay", {}), Event("Pay", {"amount": 101}, "failed")])
    assert watch.final_statuses()["small"] == "kept"
    assert not watch.status("small").triggered
    watch.feed(Event("Pay", {"amount": 101}))
    assert watch.first_irreparable == {"small": 3, "check": 0}
    assert watch.status("small").triggered


def test_a_restriction_is_triggered_by_its_action_and_not_by_its_check() -> None:
    watch = monitor("check", "Check R !Pay", "(!Pay) W Check")
    watch.run(calls("Check"))
    assert [status.triggered for status in watch.statuses().values()] == [False, False, True]
    watch.run(calls("Pay"))
    assert all(status.triggered for status in watch.statuses().values())


def test_an_unsatisfiable_rule_has_no_irreparable_event() -> None:
    watch = monitor("Pay & !Pay")
    assert watch.final_statuses() == {"Pay & !Pay": "broken"}
    watch.run(calls("Pay"))
    assert watch.first_irreparable == {"Pay & !Pay": None}


def test_before_any_event_the_empty_trace_decides() -> None:
    assert monitor("F Pay", "G Pay").final_statuses() == {"F Pay": "left_open", "G Pay": "kept"}


def test_an_empty_rule_set() -> None:
    watch = monitor()
    watch.run(calls("Pay"))
    assert watch.statuses() == {}
    assert watch.verdicts() == ()


def test_an_unknown_rule_name() -> None:
    with pytest.raises(KeyError, match="chekc"):
        monitor("check").status("chekc")


def test_twenty_thousand_events() -> None:
    watch = monitor(*RULES)
    watch.run(event for _ in range(5_000) for event in calls("Check", "Pay", "Audit", "Other"))
    assert watch.events == 20_000
    assert watch.final_statuses()["audit"] == "kept"


@pytest.mark.parametrize(
    ("formula", "occasions"),
    [
        ("G !Pay(amount > 100)", [1, 2, 4]),  # a prohibition is about every payment
        ("forall p: G(Pay(payee == p) -> O Check(payee == p))", [1, 2, 4]),
        ("G(Pay(amount > 100) -> O Check | O Ask)", [2]),
        ('G(Pay -> !O Ask) & G !Ask(text == "x")', [1, 2, 3, 4]),
        ("F Check", [0]),
    ],
)
def test_occasions_are_the_calls_that_a_violation_is_about(formula: str, occasions: list[int]) -> None:
    trace = [
        Event("Check", {"payee": "a"}),
        Event("Pay", {"amount": 50, "payee": "a"}),
        Event("Pay", {"amount": 500, "payee": "b"}),
        Event("Ask", {"text": "y"}),
        Event("Pay", {"amount": 5, "payee": "c"}),
    ]
    assert TriggerFinder(compile_formula(parse(formula))).find(trace) == occasions
