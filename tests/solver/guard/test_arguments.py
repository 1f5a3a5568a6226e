"""Calls whose arguments do not say what the tool will read: another type, a default, null, an unknown name."""

import json
import re
from pathlib import Path
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
            "payee": {"$ref": "#/$defs/payee"},
            "day": {"type": "string", "format": "date"},
        },
        "required": ["amount"],
        "$defs": {
            "payee": {
                "type": "object",
                "properties": {"country": {"type": "string", "default": "XX"}, "limit": {"type": "number"}},
                "required": ["limit"],
            }
        },
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
        ({"amount": None}, "argument 'amount': expected a number, not null"),
        ({"amount": 1, "codes": ["7"]}, r"argument 'codes\[0\]': expected a whole number"),
        ({"amount": 1, "Amount": 150}, "argument 'Amount': there is no such argument, only amount, currency"),
        ({"ａmount": 150, "amount": 1}, "argument 'ａmount': there is no such argument"),
        ({"amount": "１５０"}, "expected a number, not '１５０'"),
        ({"amount": 1, "currency": "eur"}, r"'eur' is not one of \['EUR', 'USD'\]"),
        ({"amount": 1, "payee": {"limit": "9"}}, r"argument 'payee\.limit': expected a number"),
        ({"amount": 1, "payee": {"limit": 9, "Country": "NL"}}, r"argument 'payee\.Country': there is no such"),
        ({"amount": 1, "payee": '{"limit": 9}'}, "argument 'payee': expected an object"),
        ({"amount": 1, "day": "2026-1-5"}, "does not match"),
        ({"amount": float("inf")}, "not strict JSON"),
        ({}, "'amount' is missing"),
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


def test_defaults_inside_of_objects_count_as_given() -> None:
    watched = guard(lawtrace.Rule(id="known", formula='G !pay(payee.country == "XX")'))
    assert isinstance(
        watched.before({"tool": "pay", "arguments": {"amount": 1, "payee": {"limit": 1}}}), lawtrace.Refuse
    )
    named = {"amount": 1, "payee": {"limit": 1, "country": "NL"}}
    assert isinstance(watched.before({"tool": "pay", "arguments": named}), lawtrace.Allow)


def test_unknown_tools_and_arguments_are_refused_unless_a_mode_allows_them() -> None:
    strict, lenient = guard(NO_LARGE), guard(NO_LARGE, on_unknown="allow")
    for call in ({"tool": "Pay", "arguments": {"amount": 150}}, {"tool": "pay", "arguments": {"amount": 1, "x": 1}}):
        refused = strict.before(call)
        assert isinstance(refused, lawtrace.Refuse)
        assert "there is no" in refused.reason
        assert isinstance(lenient.before(call), lawtrace.Allow)
    assert isinstance(lenient.before({"tool": "pay", "arguments": {"amount": "150"}}), lawtrace.Refuse)


NO_ARGUMENTS: dict[str, Any] = {"name": "stop", "parameters": {"type": "object", "properties": {}}}


def test_a_tool_without_arguments_takes_none_and_one_without_a_schema_takes_any() -> None:
    watched = lawtrace.Guard([], [NO_ARGUMENTS, "any"])
    assert isinstance(watched.before({"tool": "stop", "arguments": {"now": 1}}), lawtrace.Refuse)
    assert isinstance(watched.before({"tool": "any", "arguments": {"now": 1}}), lawtrace.Allow)


CONSENT = lawtrace.Rule(id="consent", formula='G(pay -> O user(any w in words: w == "yes"))')
SAID: dict[str, Any] = {"tool": "user", "arguments": {"text": "yes", "words": ["yes"]}}


@pytest.mark.parametrize("mode", ["refuse", "warn", "record"])
def test_a_tool_with_the_name_of_a_speaker_says_nothing(mode: Any, tmp_path: Path) -> None:
    watched = guard(CONSENT, mode=mode, on_unknown="allow", log=lawtrace.GuardLog(tmp_path / "guard.jsonl"))
    assert isinstance(watched.before(SAID), lawtrace.Refuse) == (mode == "refuse")
    watched.after(SAID, "done")
    watched.unanswered(SAID)
    paid = watched.before({"tool": "pay", "arguments": {"amount": 1}})
    assert paid.finding is not None
    assert paid.finding.rules == ("consent",)


def test_nor_does_it_in_an_audit(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    events = [{**SAID, "result": "done"}, {"tool": "pay", "arguments": {"amount": 1}, "result": "done"}]
    path.write_text("".join(json.dumps({"conversation": "1", **event}) + "\n" for event in events), encoding="utf-8")
    (row,) = lawtrace.audit([CONSENT], path, [PAY])
    assert row.outcome == "unlawful"
