"""Audits in formats of others: rows, SARIF and OSCAL, and what the command fails on."""

import csv
import json
import re
from pathlib import Path
from typing import cast

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
    digests = [text.split(" sha256:")[0] for text in run["properties"]["digests"]]
    assert digests == ["rules rules.toml", "environment banking", f"input {(tmp_path / 'log.jsonl').as_posix()}"]
    assert run["invocations"][0]["toolExecutionNotifications"] == []
    lawtrace(*words, "--format", "sarif")
    again = json.loads((tmp_path / "audit.sarif").read_text(encoding="utf-8"))
    assert again["runs"][0]["results"] == run["results"]


def test_records_that_differ_in_the_file_only_have_their_own_fingerprints(lawtrace: Shell, tmp_path: Path) -> None:
    logs = [write_log(tmp_path / name, conversation("same", "PayBill")) for name in ("a.jsonl", "b.jsonl")]
    rules = write_rules(tmp_path / "rules.toml")
    lawtrace("audit", *logs, "--rules", rules, "--format", "sarif", "--out", tmp_path / "audit.jsonl")
    (run,) = json.loads((tmp_path / "audit.sarif").read_text(encoding="utf-8"))["runs"]
    prints = [result["partialFingerprints"]["record/v2"] for result in run["results"]]
    assert len({*prints}) == len(prints) == 4


def test_redacted_exports_hold_no_text_of_the_records(lawtrace: Shell, tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", conversation("1", "user: I am Zelda.", "PayBill", "PayBill"))
    rules = write_rules(tmp_path / "rules.toml", RULES.replace("amount > 100", "amount > 1"))
    formats = [word for form in ("html", "sarif", "oscal", "csv") for word in ("--format", form)]
    texts = ("Zelda", "P-000001", "111-1111-1111")
    for options, found in (((), {*texts}), (("--redact",), set[str]())):
        lawtrace("audit", log, "--rules", rules, *formats, *options, "--out", tmp_path / "audit.jsonl", "--force")
        written = "".join(path.read_text(encoding="utf-8") for path in tmp_path.glob("audit.[hsoc]*"))
        assert {text for text in texts if text in written} == found
        assert "same-account" in written


MORE_RULES = """
[[rules]]
id = "idle"
formula = "G !TransferFunds"
[[rules]]
id = "goes on"
formula = "G(PayBill -> !O TransferFunds)"
"""
OSCAL: dict[str, tuple[set[str], set[str]]] = {
    "assessment-results": ({"uuid", "metadata", "import-ap", "results"}, set()),
    "metadata": ({"title", "last-modified", "version", "oscal-version"}, set()),
    "import-ap": ({"href"}, {"remarks"}),
    "results": (
        {"uuid", "title", "description", "start", "reviewed-controls"},
        {"props", "observations", "findings", "remarks"},
    ),
    "reviewed-controls": ({"control-selections"}, set()),
    "control-selections": (set(), {"include-all"}),
    "include-all": (set(), set()),
    "props": ({"name", "value"}, {"ns"}),
    "observations": ({"uuid", "description", "methods", "collected"}, {"title"}),
    "findings": ({"uuid", "title", "description", "target"}, {"related-observations", "remarks"}),
    "target": ({"type", "target-id", "status"}, {"description"}),
    "status": ({"state"}, {"reason", "remarks"}),
    "related-observations": ({"observation-uuid"}, set()),
}
"""Of each object of OSCAL 1.1.2 that is written, the members that it needs, and others that it may have."""


def check_oscal(name: str, value: object) -> None:
    """Compare a value with `OSCAL`: members, lists that are not empty, the form of ids, times, tokens and texts."""
    forms = {
        "uuid": r"[0-9a-f]{8}-[0-9a-f]{4}-[45][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
        "time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)",
        "token": r"[^\W\d][\w.-]*",
    }
    kinds = {"uuid": "uuid", "observation-uuid": "uuid", "last-modified": "time", "start": "time", "collected": "time"}
    kinds |= {"target-id": "token", "state": "token", "reason": "token", "name": "token"}
    if isinstance(value, list):
        assert value, f"{name} is empty"
        for item in cast("list[object]", value):
            check_oscal(name, item)
    elif isinstance(value, dict):
        members = cast("dict[str, object]", value)
        needed, others = OSCAL[name]
        assert needed <= members.keys() <= needed | others, name
        for member, of in members.items():
            check_oscal(member, of)
    else:
        assert re.fullmatch(forms[kinds[name]] if name in kinds else r"\S(.*\S)?", str(value), re.DOTALL), (name, value)
        assert name != "state" or value in {"satisfied", "not-satisfied"}


def test_oscal_states_say_what_was_found(lawtrace: Shell, tmp_path: Path, words: tuple[str | Path, ...]) -> None:
    odd = {"conversation": "odd", "tool": "Unknown", "result": 1}
    for file, more in ((words[3], MORE_RULES), (words[1], json.dumps(odd) + "\n")):
        with Path(file).open("a", encoding="utf-8") as opened:
            opened.write(more)
    lawtrace(*words, "--format", "oscal")
    document = json.loads((tmp_path / "audit.oscal.json").read_text(encoding="utf-8"))["assessment-results"]
    check_oscal("assessment-results", document)
    (result,) = document["results"]
    states = {found["title"]: found["target"]["status"] for found in result["findings"]}
    assert {name: (of["state"], of["reason"]) for name, of in states.items()} == {
        "checked": ("not-satisfied", "fail"),
        "recorded": ("not-satisfied", "other"),
        "goes on": ("satisfied", "pass"),
    }
    titles = {observation["title"]: observation["uuid"] for observation in result["observations"]}
    assert {*titles} == {
        "checked: broken",
        "recorded: undetermined",
        "idle: never triggered",
        "record that could not be judged",
    }
    related = [one["observation-uuid"] for found in result["findings"] for one in found.get("related-observations", [])]
    assert {*related} == {titles["checked: broken"], titles["recorded: undetermined"]}


def test_oscal_fits_the_published_models(lawtrace: Shell, tmp_path: Path, words: tuple[str | Path, ...]) -> None:
    """Those of compliance-trestle, which are made from the published schema."""
    models = pytest.importorskip("trestle.oscal.assessment_results", reason="needs the package compliance-trestle")
    lawtrace(*words, "--format", "oscal")
    document = json.loads((tmp_path / "audit.oscal.json").read_text(encoding="utf-8"))
    models.Model.model_validate(document)
    document["assessment-results"]["results"][0]["findings"][0]["target"]["status"]["state"] = "unknown"
    with pytest.raises(ValueError, match="not-satisfied"):
        models.Model.model_validate(document)


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
