"""Audits in formats of others: rows, SARIF and OSCAL, and what the command fails on."""

import csv
import json
from pathlib import Path

import pytest

from tests.support.audited_payments import RULES, conversation, write_log, write_rules
from tests.support.shell import Shell


@pytest.fixture
def words(tmp_path: Path) -> tuple[str | Path, ...]:
    log = write_log(
        tmp_path / "log.jsonl",
        conversation("good", "CheckAuthorization", "PayBill", "RecordAuditEvent", reward=1),
        conversation("=1+1", "PayBill", "RecordAuditEvent", reward=1),
        conversation("open", "CheckAuthorization", "PayBill", reward=0),
        conversation("other", "CheckAuthorization", reward=0),
    )
    rules = write_rules(tmp_path / "rules.toml", RULES.partition('[[rules]]\nid = "same-account"')[0])
    return ("audit", log, "--rules", rules, "--out", tmp_path / "audit.jsonl", "--force")


def test_rows_and_tables(lawtrace: Shell, tmp_path: Path, words: tuple[str | Path, ...]) -> None:
    code, out, _ = lawtrace(*words, "--format", "csv", "--json")
    assert code == 1
    result = json.loads(out.splitlines()[-1])
    assert result["rules"] == {
        "checked": {"kept": 2, "broken": 1, "undetermined": 0, "never_triggered": 1, "triggering_events": 3},
        "recorded": {"kept": 2, "broken": 0, "undetermined": 1, "never_triggered": 1, "triggering_events": 3},
    }
    with (tmp_path / "audit.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["conversation"], row["rule"], row["verdict"]) for row in rows][:3] == [
        ("good", "checked", "kept"),
        ("good", "recorded", "kept"),
        ("'=1+1", "checked", "broken"),
    ]
    assert (rows[2]["call"], rows[2]["message"], rows[2]["reward"]) == ("1", "1", "1")
    # An open duty is about the call that demands it.
    assert [(row["call"], row["triggering_events"]) for row in rows if row["verdict"] == "undetermined"] == [("2", "1")]


def test_sarif_has_a_result_for_each_finding(lawtrace: Shell, tmp_path: Path, words: tuple[str | Path, ...]) -> None:
    lawtrace(*words, "--format", "sarif")
    log = json.loads((tmp_path / "audit.sarif").read_text(encoding="utf-8"))
    (run,) = log["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["checked", "recorded"]
    broken, unknown = run["results"]
    assert (broken["ruleId"], broken["kind"], broken["level"]) == ("checked", "fail", "error")
    assert (unknown["ruleId"], unknown["kind"], unknown["level"]) == ("recorded", "open", "none")
    place = broken["locations"][0]
    assert place["physicalLocation"]["region"] == {"startLine": 5}
    assert place["logicalLocations"][0]["fullyQualifiedName"] == "conversation =1+1, message 1"
    lawtrace(*words, "--format", "sarif")
    again = json.loads((tmp_path / "audit.sarif").read_text(encoding="utf-8"))
    assert again == log


def test_oscal_has_a_finding_for_each_rule(lawtrace: Shell, tmp_path: Path, words: tuple[str | Path, ...]) -> None:
    lawtrace(*words, "--format", "oscal")
    document = json.loads((tmp_path / "audit.oscal.json").read_text(encoding="utf-8"))["assessment-results"]
    (result,) = document["results"]
    states = {found["title"]: found["target"]["status"]["state"] for found in result["findings"]}
    assert states == {"checked": "not-satisfied", "recorded": "satisfied"}
    known = {observation["uuid"] for observation in result["observations"]}
    related = [one for found in result["findings"] for one in found.get("related-observations", [])]
    assert {one["observation-uuid"] for one in related} == known
    assert len(known) == 2


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ((), 1),
        (("broken",), 1),
        (("broken:checked",), 1),
        (("broken:recorded",), 0),
        (("undetermined:checked", "invalid"), 0),
        (("broken:recorded", "undetermined"), 1),
        (("broken:chekced",), 2),
        (("wrong",), 2),
    ],
)
def test_the_command_fails_on_what_is_named(
    lawtrace: Shell, words: tuple[str | Path, ...], given: tuple[str, ...], code: int
) -> None:
    options = [word for text in given for word in ("--fail-on", text)]
    got, _, err = lawtrace(*words, *options)
    assert got == code, err
    if given == ("broken:chekced",):
        assert "there is no rule 'chekced'; did you mean 'checked'?" in err
