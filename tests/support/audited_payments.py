"""Recorded bill payments for tests of audits: conversations of plain events, messages, and rules on them."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from lawtrace.runs.audit.transcripts import RecordedAnswer, RecordedCall, RecordedMessage, Speaker
from lawtrace.schemas.events import Json

RULES: Final = """
[[rules]]
id = "checked"
formula = '!((!CheckAuthorization) U PayBill)'
regulation = "PSD2"
provisions = ["Article 97(1)(b)"]
rationale = "A payment needs a check before it."

[[rules]]
id = "recorded"
formula = 'G(PayBill -> F RecordAuditEvent)'

[[rules]]
id = "same-account"
formula = 'forall p: G(PayBill(payee_id == p) -> !O PayBill(payee_id == p, amount > 100))'
"""
PAY: Final[Mapping[str, Any]] = {
    "from_account_number": "111-1111-1111",
    "payee_id": "P-000001",
    "service_account_number": "1",
    "payment_date": "2025-12-11",
    "amount": 10.5,
}
_RESULTS: Final[Mapping[str, Any]] = {"CheckAuthorization": {"authorized": True}, "PayBill": {"success": True}}
_ARGUMENTS: Final[Mapping[str, Any]] = {"PayBill": PAY, "RecordAuditEvent": {"events": ["BILL_PAYMENT"]}}


def called(tool: str, arguments: Mapping[str, Json] | None, result: Json, error: str | None = None) -> RecordedMessage:
    """A message with a call that is answered."""
    return RecordedMessage(None, calls=[RecordedCall(tool, arguments, answer=RecordedAnswer(result, error))])


def said(text: str, speaker: Speaker = "user") -> RecordedMessage:
    return RecordedMessage(speaker, text)


CHECKED: Final = called("CheckAuthorization", {}, {"authorized": True})
PAID: Final = called("PayBill", PAY, {"success": True})
RECORDED: Final = called("RecordAuditEvent", {"events": ["BILL_PAYMENT"]}, {"log_entry_id": "L-1"})


def conversation(name: str, *steps: str, **labels: object) -> list[dict[str, Any]]:
    """A conversation: the names of tools, and what the user says (``user: ...``)."""
    rows: list[dict[str, Any]] = []
    for step in steps:
        speaker, colon, text = step.partition(": ")
        if colon:
            rows.append({"conversation": name, speaker: text})
        else:
            result = _RESULTS.get(step, {"log_entry_id": "L-1"})
            row = {"conversation": name, "tool": step, "arguments": _ARGUMENTS.get(step, {}), "result": result}
            rows.append(row)
    return [*rows, {"conversation": name, "labels": labels}] if labels else rows


def write_log(path: Path, *conversations: Iterable[Mapping[str, Any]]) -> Path:
    """Write conversations to one file."""
    rows = [row for one in conversations for row in one]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_rules(path: Path, text: str = RULES) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
