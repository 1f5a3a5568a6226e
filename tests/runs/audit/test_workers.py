"""Audits of many records: the same rows in one process and in several; counts add up."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lawtrace.runs.audit import workers
from lawtrace.runs.audit.tally import MAX_EXAMPLES
from lawtrace.runs.audit.transcripts import Transcript
from lawtrace.runs.audit.workers import AuditJob, judge_batches
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.rules import Rule
from tests.support.audited_payments import CHECKED, PAID, PAY, said

AIRLINE = Path(__file__).parents[3] / "docs" / "audits" / "airline"
JOB = AuditJob("banking", (Rule(id="checked", formula="!((!CheckAuthorization) U PayBill)"),), complete=True)


def transcripts(count: int) -> list[Transcript]:
    """Every third pays without a check of the authorization before it."""
    ask = said("Pay the bill.")
    return [
        Transcript("log", str(n), (ask, PAID) if n % 3 == 0 else (ask, CHECKED, PAID), labels={"reward": n % 2})
        for n in range(count)
    ]


@pytest.mark.slow
def test_several_processes_give_the_rows_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for an environment that is loaded here already, and rules that are compiled."""
    monkeypatch.setattr(workers, "BATCH", 7)
    rows = transcripts(50)
    one = [line for batch in judge_batches(JOB, rows, size=0) for line in batch.lines]
    job = replace(JOB, tools=load_domain("banking"))
    assert job.rules[0].compiled
    assert one == [line for batch in judge_batches(job, rows, size=10**9) for line in batch.lines]
    assert [json.loads(line)["conversation"] for line in one] == [*map(str, range(50))]


def test_counts_of_parts_add_up() -> None:
    judge, whole, merged = JOB.auditor(), JOB.summary(), JOB.summary()
    for start in range(0, 40, 8):
        part = JOB.summary()
        for transcript in transcripts(40)[start : start + 8]:
            row = judge(transcript)
            part.add(row)
            whole.add(row)
        merged.tally.merge(part.tally)
    assert merged.as_json() == whole.as_json()
    assert whole.outcomes["unlawful"] == 14
    assert whole.of("checked").broken == 14
    assert merged.examples("unlawful") == whole.examples("unlawful")
    assert (len(whole.examples("unlawful").first), whole.examples("unlawful").count) == (MAX_EXAMPLES, 14)


def test_a_finding_at_a_call_that_the_task_demands_is_counted_as_such() -> None:
    judge, summary = JOB.auditor(), JOB.summary()
    broken = transcripts(1)[0]
    demanded = replace(broken, reference=(("PayBill", PAY),))
    otherwise = replace(broken, reference=(("PayBill", {**PAY, "amount": 11}), ("CheckAuthorization", {})))
    rows = [judge(one) for one in (broken, demanded, otherwise)]
    for row in rows:
        summary.add(row)
    assert [row.at_reference for row in rows] == [(), ("checked",), ()]
    assert "the task demands this call" in rows[1].reason
    assert (summary.of("checked").broken, summary.of("checked").at_reference) == (3, 1)
