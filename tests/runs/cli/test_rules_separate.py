"""`lawtrace rules separate` and `lawtrace rules mutants` on the command line: output and exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest

from lawtrace.environments.spec.state import decode_state
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.rules import load_rules
from tests.support.shell import Shell

LATE, SOON = "G(PayBill -> F RecordAuditEvent)", "G(PayBill -> F[<= 10min] RecordAuditEvent)"


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "500")


def last_object(out: str) -> dict[str, Any]:
    return json.loads(out.splitlines()[-1])


def test_a_separating_trace_is_told_with_its_end_and_the_reasons(lawtrace: Shell) -> None:
    code, out, _ = lawtrace("rules", "separate", LATE, SOON)
    assert code == 1
    assert out.startswith("Separated: the first rule set is kept in this session, the second broken.")
    assert "the agent called PayBill (Pays a bill to a payee from one of the user's accounts) with " in out
    assert "Nothing more happened until the session ended, " in out
    assert "The first keeps it." in out
    assert "call 4 is RecordAuditEvent: too late" in out


def test_a_context_is_kept(lawtrace: Shell, tmp_path: Path) -> None:
    """An id names a curated rule."""
    (tmp_path / "others.jsonl").write_text('{"id": "look", "formula": "G(PayBill -> O CheckAuthorization)"}\n')
    code, out, _ = lawtrace("rules", "separate", "record-bill", SOON, "--context", "others.jsonl", "--json")
    result = last_object(out)
    assert (code, result["verdict"], result["first"], result["second"]) == (1, "separated", "kept", "broken")
    tools = [event["tool"] for event in result["events"]]
    assert tools.index("CheckAuthorization") < tools.index("PayBill")
    assert decode_state(result["initial"], load_domain("banking").environment.entities)


def test_equal_rule_sets_exit_with_code_0(lawtrace: Shell, tmp_path: Path) -> None:
    rows = [{"id": rule.id, "formula": rule.formula} for rule in load_rules(load_domain("banking").rules_file)]
    (tmp_path / "same.jsonl").write_text("\n".join(map(json.dumps, reversed(rows))), encoding="utf-8")
    (tmp_path / "rules.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    code, out, _ = lawtrace("rules", "separate", "rules.jsonl", "same.jsonl")
    assert code == 0
    assert out.startswith("Equal: both judge every trace alike.")


def test_a_formula_that_names_no_tool_is_a_usage_error(lawtrace: Shell) -> None:
    code, _, err = lawtrace("rules", "separate", "G !Pay", LATE)
    assert code == 2
    assert "Pay" in err


def test_mutants_are_listed_with_their_verdicts(lawtrace: Shell) -> None:
    code, out, _ = lawtrace("rules", "mutants", "--limit", "3", "--seed", "2", "--json")
    result = last_object(out)
    assert (code, result["mutants"], len(result["listed"])) == (0, 29, 3)
    assert all({"id", "kind", "change", "formula", "verdict"} <= row.keys() for row in result["listed"])
    _, table, _ = lawtrace("rules", "mutants", "--limit", "3", "--seed", "2")
    assert table.rstrip().splitlines()[-1].startswith("3 of 29 mutants: ")
