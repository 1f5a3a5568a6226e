"""The model-written baseline: written by an endpoint, run in the sandbox, measured, and cached."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.environments.domains.loader import load_domain
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.rules import load_rules
from lawtrace.solver.traces import print_program
from tests.support.openai_server import serving
from tests.support.shell import Shell

pytestmark = pytest.mark.slow

BANKING = load_domain("banking")
TRACES = list(synthesize(BANKING.environment, load_rules(BANKING.rules_file), count=3, length=6, seed=1))
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


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all tests of this module, which do not test the search."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


ASK = ("traces", "coverage", "--length", 5, "--count", 7, "--model", "openai:some", "--out", "baseline.jsonl")


def test_coverage_includes_the_model_baseline(lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(writer) as server:
        server.connect(monkeypatch)
        found = lawtrace.json(*ASK)
        assert len(server.requests) == 2
        system = server.requests[0]["messages"][0]["content"]
        assert r"G(PayBill -> F RecordAuditEvent(\"BILL_PAYMENT\" in events))" in system
        assert "exactly 5 calls" in system
        assert "audit_log" not in system.partition("```json state")[2].partition("```")[0]
        assert "CheckAuthorization, CheckAuthorization" in server.requests[1]["messages"][-1]["content"]
        assert "Write 2 more" in server.requests[1]["messages"][-1]["content"]
    baseline = found["baseline"]
    assert (baseline["programs"], baseline["finished"], baseline["compliant"]) == (7, 5, 4)
    assert baseline["atc"] == 2 / 64  # an authorization after another, a statement after the accounts
    assert baseline["compliant_atc"] == 1 / 64
    rows = [json.loads(line) for line in (tmp_path / "baseline.jsonl").read_text().splitlines()]
    assert [row["number"] for row in rows] == list(range(1, 8))
    assert rows[2]["broken"] == ["authorize-before-statement", "authorize-before-look", "record-statement"]
    assert rows[1]["execution"]["status"] == "exception"
    assert set(found) == {"tasks", "coverage", "baseline"}


def test_written_programs_are_not_requested_again(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(writer) as server:
        server.connect(monkeypatch)
        lawtrace.json(*ASK)
        before = (tmp_path / "baseline.jsonl").read_bytes()
        asked = len(server.requests)
        code, out, _ = lawtrace(*ASK)
        assert (code, len(server.requests)) == (0, asked)
        assert "model-written" in out
    assert (tmp_path / "baseline.jsonl").read_bytes() == before


def test_answers_without_programs_end_the_baseline(lawtrace: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda request: "I would rather not.") as server:
        server.connect(monkeypatch)
        code, _, err = lawtrace(*ASK)
        assert (code, "only 0 of 7 programs" in " ".join(err.split())) == (3, True)
        assert len(server.requests) == 3 * 2  # each is sent back once


def test_compliant_programs_get_their_coverage(lawtrace: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of the search: names in the initial state differ, so programs with look-ups may crash."""
    programs = [print_program(BANKING.environment, trace.calls) for trace in TRACES]
    with serving(lambda request: json.dumps({"programs": programs})) as server:
        server.connect(monkeypatch)
        found = lawtrace.json("traces", "coverage", "--length", 6, "--count", 3, "--model", "openai:some")
    assert found["baseline"]["programs"] == 3
    assert found["baseline"]["compliant_atc"] <= found["baseline"]["atc"] <= found["tasks"]["ceiling"]
