"""Calls whose arguments do not say what the tool will read: another type, a default, null, an unknown name."""

import re
from typing import Any

import pytest

import lawtrace

PAY: dict[str, Any] = {
    "name": "pay",
    "description": "Pays.",
    "parameters": {
        "type": "object",
        "properties": {
            "amount": {"type": "number"},
            "currency": {"type": "string", "enum": ["EUR", "USD"], "default": "EUR"},
            "express": {"type": "boolean", "default": True},
            "note": {"type": "string"},
            "codes": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["amount"],
        "additionalProperties": False,
    },
}
NO_LARGE = lawtrace.Rule(id="no-large", formula="G !pay(amount > 100)")
NO_EXPRESS = lawtrace.Rule(id="no-express", formula="G !pay(express)")


def guard(*rules: lawtrace.Rule, **options: Any) -> lawtrace.Guard:
    return lawtrace.Guard(rules, [PAY], **options)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"amount": "150"}, "argument 'amount': expected a number"),
        ({"amount": True}, "argument 'amount'"),
        ({"amount": [150]}, "argument 'amount'"),
        ({"amount": None}, "argument 'amount': null is no value of it"),
        ({"amount": 1, "codes": ["7"]}, r"argument 'codes': \[0\]"),
        ({"amount": 1, "Amount": 150}, "there is no argument 'Amount', only amount, codes"),
    ],
)
def test_arguments_that_the_schema_does_not_have_are_refused(arguments: dict[str, Any], why: str) -> None:
    decision = guard(NO_LARGE).before({"tool": "pay", "arguments": arguments})
    assert isinstance(decision, lawtrace.Refuse)
    assert re.search(why, decision.reason)


def test_they_are_refused_although_undecided_calls_are_allowed() -> None:
    decision = guard(NO_LARGE, on_undecided="allow").before({"tool": "pay", "arguments": {"amount": "150"}})
    assert isinstance(decision, lawtrace.Refuse)


def test_a_default_counts_as_given() -> None:
    watched = guard(NO_EXPRESS)
    assert isinstance(watched.before({"tool": "pay", "arguments": {"amount": 1}}), lawtrace.Refuse)
    assert isinstance(watched.before({"tool": "pay", "arguments": {"amount": 1, "express": None}}), lawtrace.Refuse)
    allowed = watched.before({"tool": "pay", "arguments": {"amount": 1, "express": False, "note": None}})
    assert isinstance(allowed, lawtrace.Allow)
    assert allowed.call == lawtrace.Call("pay", {"amount": 1, "express": False, "currency": "EUR"})


def test_the_outcome_belongs_to_the_call_with_its_defaults() -> None:
    twice = lawtrace.Rule(id="once", formula='G(pay(currency == "EUR") -> WX G !pay(currency == "EUR"))')
    watched = guard(twice)
    call = {"tool": "pay", "arguments": {"amount": 1}}
    assert isinstance(watched.before(call), lawtrace.Allow)
    watched.after(call, {"success": True})
    assert isinstance(watched.before(call), lawtrace.Refuse)


@pytest.mark.parametrize(("mode", "warning"), [("warn", "not checked: argument 'amount'"), ("record", None)])
def test_other_modes_allow_them(mode: Any, warning: str | None) -> None:
    decision = guard(NO_LARGE, mode=mode).before({"tool": "pay", "arguments": {"amount": "150"}})
    assert isinstance(decision, lawtrace.Allow)
    assert (decision.warning is None) == (warning is None)
    assert decision.finding is not None
    assert decision.finding.undecided
