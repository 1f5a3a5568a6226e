"""Rules with time in audits: deadlines, three values, times that are missing."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lawtrace.runs.audit.judging import TranscriptAuditor
from lawtrace.runs.audit.sources.reading import read_transcripts
from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.schemas.audit_rows import AuditRow
from lawtrace.schemas.events import Event
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.rules import Rule

DEADLINE = Rule(id="audit", formula="G(CheckAuthorization -> F[<= 1h] RecordAuditEvent)")
FRESH = Rule(id="fresh", formula="G(GetAccountStatement -> O[<= 5min] CheckAuthorization)")
BOUND = Rule(
    id="bound",
    formula=(
        "forall a, p: G(PayBill(amount == a, payee_id == p) -> !(O[> 0s, <= 1d] PayBill(amount == a, payee_id == p)))"
    ),
)


def audited(tmp_path: Path, rule: Rule, *calls: tuple[object, str], complete: bool = False) -> AuditRow:
    path = tmp_path / "calls.jsonl"
    rows = [
        {"conversation": "c", "tool": tool, "arguments": {}, "result": {"success": True}}
        | ({} if time is None else {"time": time})
        for time, tool in calls
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (conversation,) = read_transcripts(path)
    return TranscriptAuditor(load_domain("banking").environment, [rule], complete=complete).audit(conversation)


def test_a_deadline_that_passes_breaks_its_rule(tmp_path: Path) -> None:
    row = audited(tmp_path, DEADLINE, (0, "CheckAuthorization"), (3601, "CheckAuthorization"))
    assert row.outcome == "unlawful"
    (verdict,) = row.rules
    assert verdict.broken_at == 1
    assert verdict.explanation == (
        "call 1 is CheckAuthorization; no RecordAuditEvent from 0 s to 3600 s (certain at call 2, CheckAuthorization)"
    )


def test_an_open_deadline_is_undetermined_at_the_end_of_a_record(tmp_path: Path) -> None:
    row = audited(tmp_path, DEADLINE, ("2025-03-01T10:00:00", "CheckAuthorization"))
    assert row.outcome == "undetermined"
    assert row.rules[0].undetermined == (
        "the record ends before it is decided: call 1 is CheckAuthorization; "
        "RecordAuditEvent is due by 2025-03-01 11:00:00"
    )
    assert not row.rules[0].kept
    whole = audited(tmp_path, DEADLINE, ("2025-03-01T10:00:00", "CheckAuthorization"), complete=True)
    assert whole.outcome == "unlawful"


def test_a_rule_about_time_is_undetermined_without_times(tmp_path: Path) -> None:
    row = audited(tmp_path, FRESH, (None, "CheckAuthorization"), (None, "GetAccountStatement"), complete=True)
    assert row.outcome == "undetermined"
    assert row.rules[0].undetermined == "the rule is about time, and an event has none"


@pytest.mark.parametrize(
    "formula",
    [
        "G !PayBill(date(payment_date) < now)",
        "forall p: G(PayBill(payee_id == p, payment_date < now) -> O SearchPayee)",
        "forall a, p: G(PayBill(amount == a, payee_id == p, payment_date < now) -> O SearchPayee)",
    ],
)
def test_a_condition_on_the_present_is_undetermined_without_times(formula: str) -> None:
    rule = Rule(id="past", formula=formula)
    paid = Event("PayBill", {"amount": 10, "payee_id": "P-1", "payment_date": "2026-01-01"})
    assert judge_rules([rule], [paid], ())[0].undetermined == "the rule is about time, and an event has none"
    assert judge_rules([rule], [replace(paid, time=1772442000)], ())[0].broken
    assert judge_rules([rule], [replace(paid, time=1735689600)], ())[0].kept


def test_the_same_payment_twice_a_day_names_amount_and_payee() -> None:
    paid = {"amount": 10.5, "payee_id": "P-1"}
    events = [
        Event("PayBill", paid, time=0),
        Event("PayBill", {**paid, "amount": 11}, time=5),
        Event("PayBill", paid, time=9),
    ]
    (verdict,) = judge_rules([BOUND], events, ())
    assert (verdict.broken_at, verdict.values) == (2, (10.5, "P-1"))
    assert verdict.explanation == 'for a = 10.5, p = "P-1": the rule is not kept at call 3'
