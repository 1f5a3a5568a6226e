"""Audits of many transcripts: the same rows in one process and in several; summaries add up."""

import asyncio
import json
import pickle
import shutil
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from lawtrace.environments.tool_schemas.reading import read_tool_schemas
from lawtrace.runs.ingest import audit_run
from lawtrace.runs.ingest.audit_run import AuditJob, JudgedBatch, SentAudit, judge_batches
from lawtrace.runs.ingest.audit_summary import AuditSummary
from lawtrace.runs.ingest.examples import MAX_EXAMPLES
from lawtrace.runs.ingest.transcripts import Transcript, TranscriptCall, TranscriptMessage

AIRLINE = Path(__file__).parents[3] / "docs" / "audits" / "airline"
PAY = {
    "from_account_number": "111-1111-1111",
    "payee_id": "P-000001",
    "service_account_number": "1",
    "payment_date": "2025-12-11",
    "amount": 10.5,
}


def transcripts(count: int) -> list[Transcript]:
    """Every third pays without a check of the authorization before it."""
    check = TranscriptCall("CheckAuthorization", {}, True, {"authorized": True}, number=2)
    pay = TranscriptCall("PayBill", PAY, True, {"success": True}, number=3)
    ask = TranscriptMessage("user", "Pay the bill.", number=1)
    return [
        Transcript("log", str(n), (ask, pay) if n % 3 == 0 else (ask, check, pay), labels={"reward": n % 2})
        for n in range(count)
    ]


def job(tmp_path: Path) -> AuditJob:
    rules = tmp_path / "rules.toml"
    rules.write_text("[[rules]]\nid = 'checked'\nformula = '!((!CheckAuthorization) U PayBill)'\n", encoding="utf-8")
    return AuditJob("banking", rules, complete=True)


@pytest.mark.slow
def test_several_processes_give_the_rows_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_run, "BATCH", 7)
    rows = transcripts(50)
    one = [*judge_batches(job(tmp_path), rows, size=0)]
    several = [*judge_batches(job(tmp_path), rows, size=10**9)]
    assert [line for batch in one for line in batch.lines] == [line for batch in several for line in batch.lines]
    assert [json.loads(line)["conversation"] for batch in one for line in batch.lines] == [*map(str, range(50))]


@pytest.mark.parametrize("by", ["folder", "schemas"])
def test_an_audit_sends_the_files_that_it_judges_by(by: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(AIRLINE, tmp_path / "airline"))
    schemas = tuple(read_tool_schemas([str(folder / "tools.json")]))
    one = AuditJob(schemas if by == "schemas" else str(folder), folder / "rules.toml", complete=True)
    (whole,) = judge_batches(one, transcripts(6), size=0)
    pickled = pickle.dumps(SentAudit.of(one))
    shutil.rmtree(folder)  # as on another machine
    with ExitStack() as stack:
        judge = pickle.loads(pickled).open(None, stack)
        batch: JudgedBatch = asyncio.run(judge(transcripts(6)))
    assert batch.lines == whole.lines


def test_summaries_of_parts_add_up(tmp_path: Path) -> None:
    auditor = job(tmp_path).auditor()
    whole, merged = AuditSummary(auditor.rules), AuditSummary(auditor.rules)
    for start in range(0, 40, 8):
        part = AuditSummary(auditor.rules)
        for transcript in transcripts(40)[start : start + 8]:
            row = auditor.audit(transcript)
            part.add(row)
            whole.add(row)
        merged.merge(part)
    assert merged.as_json() == whole.as_json()
    assert whole.outcomes["broken"] == 14
    assert whole.by_reward["0"]["checked"].broken + whole.by_reward["1"]["checked"].broken == 14
    assert merged.findings["broken"] == whole.findings["broken"]
    assert (len(whole.findings["broken"].first), whole.findings["broken"].count) == (MAX_EXAMPLES, 14)


def test_a_finding_at_a_call_that_the_task_demands_is_counted_as_such(tmp_path: Path) -> None:
    auditor = job(tmp_path).auditor()
    summary = AuditSummary(auditor.rules)
    broken = transcripts(1)[0]
    demanded = replace(broken, reference=(("PayBill", PAY),))
    otherwise = replace(broken, reference=(("PayBill", {**PAY, "amount": 11}), ("CheckAuthorization", {})))
    rows = [auditor.audit(one) for one in (broken, demanded, otherwise)]
    for row in rows:
        summary.add(row)
    assert [row.at_reference for row in rows] == [(), ("checked",), ()]
    assert "the task demands this call" in rows[1].reason
    assert (summary.rules["checked"].broken, summary.rules["checked"].at_reference) == (3, 1)
