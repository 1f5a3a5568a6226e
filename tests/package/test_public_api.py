"""The public API: complete exports, typed boundaries, and clear errors."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lawtrace


def test_every_public_name_can_be_imported() -> None:
    assert list(lawtrace.__all__) == sorted(lawtrace.__all__, key=lambda name: (name.islower(), name))
    assert all(getattr(lawtrace, name) is not None for name in lawtrace.__all__)
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        _ = lawtrace.missing  # pyright: ignore[reportAttributeAccessIssue]


def test_importing_the_package_loads_no_dependency() -> None:
    code = "import sys, lawtrace; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {name.partition(".")[0] for name in loaded} & {"pydantic", "z3", "autogen_core", "openai", "typer"}


def test_an_obligation_open_at_the_end_is_violated() -> None:
    rule = lawtrace.Rule(id="record", formula="G(PayBill -> F RecordAuditEvent)", provisions=("Article 95(1)",))
    paid = {"tool": "PayBill", "arguments": {"amount": 5}}
    verdict = lawtrace.judge([rule], [paid])
    assert not verdict.kept
    assert verdict.broken[0].provisions == ("Article 95(1)",)
    assert lawtrace.judge([rule], [paid, lawtrace.Event("RecordAuditEvent", {})]).kept
    assert lawtrace.judge([rule], [{**paid, "outcome": "failed"}]).kept


def test_an_invalid_event_is_reported() -> None:
    rule = lawtrace.Rule(id="record", formula="G !PayBill")
    with pytest.raises(lawtrace.InputError, match=r"event 1: .*arguments"):
        lawtrace.judge([rule], [{"tool": "A", "arguments": {}}, {"tool": "B"}])


def test_rules_are_checked_against_the_tools(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text('[[rules]]\nid = "a"\nformula = "G !PayBil"\n', encoding="utf-8")
    assert len(lawtrace.load_rules(file)) == 1
    with pytest.raises(lawtrace.InputError, match=r"rule 'a'.*PayBil.*PayBill"):
        lawtrace.load_rules(file, lawtrace.load_environment("banking"))


def test_a_folder_without_a_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(lawtrace.InputError, match="holds no run"):
        lawtrace.load_run(tmp_path)


def test_an_audit_reads_what_it_is_asked_for_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows come one by one, whatever stands later in the log; tools may be names, and what is missing is named."""
    log, rule = tmp_path / "log.jsonl", lawtrace.Rule(id="check", formula="!((!CheckAuthorization) U PayBill)")
    paid = '{"conversation": "%d", "tool": "PayBill", "result": 1}\n'
    log.write_text("".join(paid % number for number in range(3)), encoding="utf-8")
    audit = lawtrace.audit([rule], log, ["PayBill", "CheckAuthorization"])
    rows = iter(audit)
    assert isinstance(first := next(rows), lawtrace.AuditRow)
    assert (first.conversation, first.outcome, first.broken[0].call) == ("0", "unlawful", "1")
    assert (len([*rows]), audit.summary().outcomes) == (2, {"unlawful": 3})
    frame: Any = audit.to_pandas()
    assert [*frame["rule"]] == ["check"] * 3
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(lawtrace.InputError, match=r"lawtrace\[bench\]"):
        audit.to_pandas()
    with pytest.raises(lawtrace.InputError, match=r"PayBil`.*PayBill"):
        lawtrace.audit([lawtrace.Rule(id="a", formula="G !PayBil")], log, lawtrace.load_environment("banking"))
    with pytest.raises(lawtrace.InputError, match="No such file"):
        lawtrace.audit([rule], tmp_path / "none", ["PayBill"])
