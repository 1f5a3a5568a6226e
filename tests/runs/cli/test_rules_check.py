"""`lawtrace rules check` on the command line: output and exit codes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.shell import Shell

Check = Callable[..., tuple[int, str]]


@pytest.fixture
def check(lawtrace: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Check:
    """Runs the check on these formulas, named r0, r1, ...: exit code and standard output, wrapped lines joined."""
    monkeypatch.setenv("COLUMNS", "160")

    def run(*formulas: str, json_too: bool = False, cites: str | None = None) -> tuple[int, str]:
        law = {} if cites is None else {"regulation": "PSD2", "provisions": [cites]}
        rows = [json.dumps({"id": f"r{number}", "formula": formula, **law}) for number, formula in enumerate(formulas)]
        (tmp_path / "rules.jsonl").write_text("\n".join(rows), encoding="utf-8")
        words = [*(["--rules", "rules.jsonl"] if formulas else []), *(["--json"] if json_too else [])]
        return lawtrace("rules", "check", *words)[:2]

    return run


def last_object(out: str) -> dict[str, Any]:
    return json.loads(out.splitlines()[-1])


def test_the_curated_set_has_no_findings_and_shows_each_rules_purpose(check: Check) -> None:
    code, out = check()
    assert code == 0
    assert "No findings." in out
    assert "true-record-transfer" in out
    assert "Examples: 26 of 26 hold." in out


def test_the_curated_set_as_json(check: Check) -> None:
    code, out = check(json_too=True)
    result = last_object(out)
    assert code == 0
    assert result["rules"] == 11
    assert result["findings"] == []
    assert result["examples"] == {"run": 26, "wrong": []}
    assert len(result["breaking"]) == 11
    assert result["calling"]["SearchPayee"] == {"steps": ["SearchPayee"], "shortest": True}


def test_an_example_that_does_not_hold_is_a_finding(lawtrace: Shell, tmp_path: Path) -> None:
    text = "[[rules]]\nid = 'r'\nformula = 'G !PayBill'\n[[rules.examples]]\nkept = 'PayBill()'\n"
    (tmp_path / "rules.toml").write_text(text, encoding="utf-8")
    code, out, _ = lawtrace("rules", "check", "--rules", "rules.toml", "--json")
    wrong = {"rule": "r", "example": "example 1, kept", "message": "the rule is broken"}
    assert (code, last_object(out)["examples"]) == (1, {"run": 1, "wrong": [wrong]})


def test_findings_exit_with_code_1_and_contain_a_proof(check: Check) -> None:
    code, out = check(
        "G(PayBill -> F RecordAuditEvent)", "!F(PayBill & !F RecordAuditEvent)", "G !SearchPayee", json_too=True
    )
    assert code == 1
    findings = last_object(out)["findings"]
    assert {finding["kind"] for finding in findings} == {"equivalent", "unreachable", "vacuous"}
    assert all(finding["message"] and finding["proof"] for finding in findings)
    (unreachable, *_) = [finding for finding in findings if finding["tool"] == "PayBill"]
    assert unreachable["reasons"] == ["r2"]
    assert unreachable["scope"] == "environment"


def test_a_redundant_rule_is_a_finding(check: Check) -> None:
    code, out = check("G(PayBill | TransferFunds -> F RecordAuditEvent)", "G(PayBill -> F RecordAuditEvent)")
    assert code == 1
    assert "r1 is redundant: every trace that keeps r0 keeps it" in " ".join(out.split())


def test_brackets_of_a_condition_are_printed_verbatim(check: Check) -> None:
    _, out = check('G(PayBill(payee_id in ["red", "blue"]) -> F RecordAuditEvent)')
    assert '["red", "blue"]' in " ".join(out.split())


def test_what_no_text_states_is_a_finding(check: Check) -> None:
    formula = "G(PayBill(amount > 400) -> O CheckAuthorization(result.authorized))"
    code, out = check(formula, json_too=True, cites="Article 68(1)")
    assert code == 1
    assert [part["what"] for part in last_object(out)["ungrounded"]] == ["400"]
