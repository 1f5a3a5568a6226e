"""The model-written baseline: written by a real endpoint, run in the jail, measured, and never asked for twice."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.environments.domains.loader import load_domain
from lawtrace.runs.recipe import RoleModelOptions
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.rules import load_rules
from lawtrace.solver.traces import print_program
from tests.support.openai_server import OpenAIServer, Status, serving
from tests.support.shell import Shell

pytestmark = pytest.mark.slow

SETTING = load_domain("banking")
TRACES = list(synthesize(SETTING.environment, load_rules(SETTING.rules_file), count=3, length=6, seed=1))
UNSAFE = "BankManager.CheckAuthorization()\nBankManager.CheckAuthorization()\n"
BROKEN = "BankManager.CheckAuthorization()\nraise ValueError\n"
RULE_BREAKER = (
    "r = BankManager.GetAccountInformation(account_type='checking')\n"
    "BankManager.GetAccountStatement(account_number=r['accounts'][0]['account_number'],"
    " start_date='2026-01-01', end_date='2026-01-31')\n"
)


def writer(request: Mapping[str, Any]) -> str:
    """Writes as many programs as it is asked for: harmless ones, one that dies, one that breaks rules."""
    asked = str(request["messages"][-1]["content"])
    found = re.search(r"Write (\d+)", asked)
    assert found is not None
    programs = [UNSAFE, BROKEN, RULE_BREAKER, UNSAFE, UNSAFE][: int(found[1])]
    return json.dumps({"programs": programs})


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all tests here: what the search finds is not what they are about."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


def at(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)


ASK = ("traces", "coverage", "--length", 5, "--count", 7, "--model", "openai:some", "--out", "baseline.jsonl")


def test_a_baseline_stands_beside_the_search(lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(writer) as server:
        at(server, monkeypatch)
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
    assert rows[2]["broken"] == ["authorize-before-statement", "record-statement"]
    assert rows[1]["execution"]["status"] == "exception"
    assert set(found) == {"tasks", "coverage", "baseline"}


def test_what_was_written_is_not_asked_for_again(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(writer) as server:
        at(server, monkeypatch)
        lawtrace.json(*ASK)
        before = (tmp_path / "baseline.jsonl").read_bytes()
        asked = len(server.requests)
        code, out, _ = lawtrace(*ASK)
        assert (code, len(server.requests)) == (0, asked)
        assert "model-written" in out
    assert (tmp_path / "baseline.jsonl").read_bytes() == before


def test_an_endpoint_that_goes_away_leaves_what_there_is(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(writer) as server:
        at(server, monkeypatch)

        def breaking(request: Mapping[str, Any]) -> str:
            server.then(Status(401))  # the next request
            return writer(request)

        monkeypatch.setattr(server, "_answer", breaking)
        code, _, err = lawtrace(*ASK)
        assert (code, "only 5 of 7 programs were written" in " ".join(err.split())) == (3, True)
        assert len((tmp_path / "baseline.jsonl").read_text().splitlines()) == 5
        asked = len(server.requests)
        monkeypatch.setattr(server, "_answer", writer)
        assert lawtrace.json(*ASK)["baseline"]["programs"] == 7
        assert len(server.requests) == asked + 1


def test_answers_without_programs_end_it(lawtrace: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda request: "I would rather not.") as server:
        at(server, monkeypatch)
        code, _, err = lawtrace(*ASK)
        assert (code, "only 0 of 7 programs" in " ".join(err.split())) == (3, True)
        assert len(server.requests) == 3 * 2  # each is sent back once


def test_a_compliant_writer_gets_what_it_covers(lawtrace: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of the search, from the same initial state: the names in it differ, so those that look up may die."""
    programs = [print_program(SETTING.environment, trace.calls) for trace in TRACES]
    with serving(lambda request: json.dumps({"programs": programs})) as server:
        at(server, monkeypatch)
        found = lawtrace.json("traces", "coverage", "--length", 6, "--count", 3, "--model", "openai:some")
    assert found["baseline"]["programs"] == 3
    assert found["baseline"]["compliant_atc"] <= found["baseline"]["atc"] <= found["tasks"]["ceiling"]


@pytest.mark.parametrize("model", ["offline", "baseline:literal", "baseline:reference"])
def test_without_a_model_there_is_no_baseline(lawtrace: Shell, model: str) -> None:
    code, _, err = lawtrace("traces", "coverage", "--length", 5, "--model", model)
    assert (code, "absent without one" in " ".join(err.split())) == (2, True)
    with pytest.raises(ValueError, match="what a model does"):
        RoleModelOptions(trace_writer=model)
    assert "baseline" not in lawtrace.json("traces", "coverage", "--length", 5, "--count", 2)


def test_a_run_has_the_column_where_a_model_writes(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recipe names the model; the report shows what it covers beside the search."""
    (tmp_path / "recipe.toml").write_text(
        '[tasks]\ncount = 2\nspare = 1\n[attempts]\nbaselines = false\nmodels = ["baseline:noop"]\n'
        '[models]\ntrace_writer = "openai:some"\n'
    )
    with serving(writer) as server:
        at(server, monkeypatch)
        lawtrace.json("run", "recipe.toml", "--out", "run")
        assert len(server.requests) == 1
    assert len((tmp_path / "run" / "baseline.jsonl").read_text().splitlines()) == 2
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "The model-written baseline is by openai:some: of 2 programs 1 ran to their end" in page
    assert "not measured" not in page
