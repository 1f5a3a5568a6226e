"""Backtests: two versions of a rule set over the same conversations."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.audit.audit import audit as open_audit
from lawtrace.runs.audit.exports import FinishedAudit, Provenance
from lawtrace.runs.audit.findings import AuditFindings
from lawtrace.runs.audit.versions import compare_rules
from lawtrace.solver.rules import Rule, load_rules
from tests.support.audited_payments import conversation, write_log, write_rules
from tests.support.shell import Shell

OLD = """
[[rules]]
id = "checked"
formula = '!((!CheckAuthorization) U PayBill)'

[[rules]]
id = "recorded"
formula = 'G(PayBill -> O RecordAuditEvent)'

[[rules]]
id = "dropped"
formula = 'G !RecordAuditEvent'
"""
NEW = """
[[rules]]
id = "checked"
formula = '!(!CheckAuthorization U PayBill)'

[[rules]]
id = "recorded"
formula = 'G(PayBill -> X F RecordAuditEvent) & !((F PayBill) & F(RecordAuditEvent & X F RecordAuditEvent))'

[[rules]]
id = "once"
formula = 'G(PayBill -> X G !PayBill)'
"""


@pytest.fixture
def words(tmp_path: Path) -> tuple[str | Path, ...]:
    log = write_log(
        tmp_path / "log.jsonl",
        conversation("fine", "RecordAuditEvent", "CheckAuthorization"),
        conversation("late", "CheckAuthorization", "PayBill", "RecordAuditEvent"),
        conversation("twice", "RecordAuditEvent", "PayBill", "PayBill", "RecordAuditEvent"),
    )
    old, new = write_rules(tmp_path / "old.toml", OLD), write_rules(tmp_path / "new.toml", NEW)
    out = tmp_path / "a.jsonl"
    return ("audit", log, "--rules", new, "--against", old, "--complete", "--out", out, "--force")


def test_rules_are_compared_by_id_and_formula() -> None:
    old = [Rule(id=name, formula=formula) for name, formula in (("a", "G !A"), ("b", "G !B"), ("c", "F C"))]
    new = [Rule(id=name, formula=formula) for name, formula in (("d", "F D"), ("b", "G (!B)"), ("a", "G !B"))]
    assert compare_rules(old, new) == {"d": "added", "b": "same", "a": "reworded", "c": "removed"}


def test_what_both_versions_flag(lawtrace: Shell, words: tuple[str | Path, ...]) -> None:
    code, out, _ = lawtrace(*words, "--json")
    assert code == 1
    found: dict[str, Any] = json.loads(out.splitlines()[-1])["against"]
    assert found["conversations"] == {"both": 1, "only_old": 2, "only_new": 0}
    changes = {name: rule["change"] for name, rule in found["rules"].items()}
    assert changes == {"checked": "same", "recorded": "reworded", "once": "added", "dropped": "removed"}
    counts = {name: (rule["both"], rule["only_old"], rule["only_new"]) for name, rule in found["rules"].items()}
    assert counts == {"checked": (1, 0, 0), "recorded": (0, 1, 1), "once": (0, 0, 1), "dropped": (0, 3, 0)}
    assert found["findings"] == {"both": 1, "only_old": 4, "only_new": 2}
    assert found["rules"]["recorded"]["changed"] == {"broken -> kept": 1, "kept -> broken": 1}
    (example,) = found["rules"]["recorded"]["examples"]["only_old"]
    assert example.startswith("late (")
    assert "(call 2, message 2): call 2 is PayBill" in example


def test_the_command_prints_the_rules_that_differ(lawtrace: Shell, words: tuple[str | Path, ...]) -> None:
    _, out, err = lawtrace(*words)
    text = " ".join(out.split())
    assert "Findings (a rule broken in a conversation): 1 by both versions, 4 only by" in text
    assert "1 rule without a difference" in text
    assert "only new: once: twice (" in err


def test_the_page_shows_what_only_the_older_version_flags(
    lawtrace: Shell, words: tuple[str | Path, ...], tmp_path: Path
) -> None:
    lawtrace(*words, "--format", "html")
    old, new = load_rules(tmp_path / "old.toml"), load_rules(tmp_path / "new.toml")
    nothing = Provenance(datetime.now(UTC), ())
    audit = FinishedAudit(tmp_path / "a.jsonl", open_audit(new, [], "banking", against=old), nothing)
    found = AuditFindings(new, None, old).add_all(audit.rows_with_findings())
    assert [one.row.conversation for one in found.conversations] == ["fine", "late", "twice"]
    (late,) = [one for one in found.conversations if one.row.conversation == "late"]
    assert {(one.rule, one.older, one.difference) for one in late.findings} == {
        ("recorded", True, "only old"),
        ("dropped", True, "only old"),
    }
    assert found.of(late.findings[0]).rule.formula == "G(PayBill -> O RecordAuditEvent)"
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "(older version only)" in page
    assert "(new version only)" in page
    assert "<del><code>G(PayBill -&gt; O RecordAuditEvent)" in page
