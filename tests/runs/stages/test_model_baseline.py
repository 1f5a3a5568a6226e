"""The model-written baseline: written by an endpoint, run in the sandbox, measured, and not asked for again."""

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.openai_server import serving
from tests.support.shell import Shell

pytestmark = pytest.mark.slow

UNSAFE = "BankManager.CheckAuthorization()\nBankManager.CheckAuthorization()\n"
BROKEN = "BankManager.CheckAuthorization()\nraise ValueError\n"
RULE_BREAKER = (
    "r = BankManager.GetAccountInformation(account_type='checking')\n"
    "BankManager.GetAccountStatement(account_number=r['accounts'][0]['account_number'],"
    " start_date='2026-01-01', end_date='2026-01-31')\n"
)


def writer(request: Mapping[str, Any]) -> str:
    """Writes the requested number of programs: compliant ones, one that crashes, one that violates rules."""
    asked = str(request["messages"][-1]["content"])
    found = re.search(r"Write (\d+)", asked)
    assert found is not None
    programs = [UNSAFE, BROKEN, RULE_BREAKER, UNSAFE, UNSAFE][: int(found[1])]
    return json.dumps({"programs": programs})


ASK = (
    *("run", "--env", "banking", "--count", 7, "--model", "baseline:noop", "--out", "run"),
    *("--set", "tasks.length=5", "--set", "models.trace_writer=openai:some"),
)


def test_the_report_has_the_coverage_of_the_model_baseline(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(writer) as server:
        server.connect(monkeypatch)
        assert lawtrace(*ASK)[0] == 0
        assert len(server.requests) == 2
        system = server.requests[0]["messages"][0]["content"]
        assert r"G(PayBill -> F RecordAuditEvent(\"BILL_PAYMENT\" in events))" in system
        assert "exactly 5 calls" in system
        assert "audit_log" not in system.partition("```json state")[2].partition("```")[0]
        assert "CheckAuthorization, CheckAuthorization" in server.requests[1]["messages"][-1]["content"]
        assert "Write 2 more" in server.requests[1]["messages"][-1]["content"]
        written = (tmp_path / "run" / "baseline.jsonl").read_bytes()
        assert lawtrace("resume", "run")[0] == 0
        assert len(server.requests) == 2
    assert (tmp_path / "run" / "baseline.jsonl").read_bytes() == written
    rows = [json.loads(line) for line in written.splitlines()]
    assert [row["number"] for row in rows] == list(range(1, 8))
    assert rows[2]["broken"] == ["authorize-before-statement", "authorize-before-look", "record-statement"]
    assert rows[1]["execution"]["status"] == "exception"
    (found,) = [json.loads(line) for line in (tmp_path / "run" / "findings.jsonl").read_text().splitlines()]
    baseline = found["baseline"]
    assert (baseline["programs"], baseline["finished"], baseline["compliant"]) == (7, 5, 4)
    with (tmp_path / "run" / "tables" / "coverage.csv").open(encoding="utf-8", newline="") as file:
        (row,) = [row for row in csv.DictReader(file) if row["Model-written: ATC"]]
    assert float(row["Model-written: ATC"]) == 2 / 64  # an authorization after another, a statement after the accounts
    assert float(row["Its compliant ones: ATC"]) == 1 / 64


def test_answers_without_programs_end_the_baseline(lawtrace: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda request: "I would rather not.") as server:
        server.connect(monkeypatch)
        code, _, err = lawtrace(*ASK)
        assert (code, "only 0 of 7 programs" in " ".join(err.split())) == (3, True)
        assert len(server.requests) == 3 * 2  # each is sent back once
