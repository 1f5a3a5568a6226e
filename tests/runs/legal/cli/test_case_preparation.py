"""From a document to answers on the command line: ingest, correct, write twin questions, run."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lawtrace.runs.cli.app import app
from lawtrace.schemas.errors import InputError

SHARED = Path(__file__).parents[5] / "shared" / "data" / "decisions"

NOTICE = """1. The Office fines Bottle Works.
Legal framework
2. Article 32 states that data shall be safe.
Background
3. Bottle Works kept customer records on a laptop.
The contravention
4. The Office finds that Bottle Works infringed Article 32.
5. Bottle Works failed to lock the laptop.
The amount of the penalty
6. It is £5,000.
"""
SUBJECT = "a lock on the laptop"
RECIPE = 'retrievers = ["bm25"]\ndepths = [1, 2]\n'


def fact(name: str, paragraph: str, quote: str, *, holds: bool = True) -> dict[str, Any]:
    return {
        "topic": "security-measure",
        "subject": SUBJECT,
        "fact": name,
        "holds": holds,
        "paragraph": paragraph,
        "quote": quote,
        "words": f"It was so with {name}.",
    }


FACTS = [
    fact("personal_data", "3", "kept customer records"),
    fact("risk", "3", "records on a laptop"),
    fact("in_place", "5", "failed to lock the laptop", holds=False),
    fact("mitigated", "6", "It is", holds=False),
]


def write_facts(folder: Path, facts: list[dict[str, Any]]) -> Path:
    row = {"case": "notice", "party": "Bottle Works", "facts": facts}
    (folder / "given.facts").write_text(json.dumps(row) + "\n", encoding="utf-8")
    return folder / "given.facts"


def call(*words: str | Path, code: int = 0) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["legal", *map(str, words), "--json"], catch_exceptions=False)
    assert result.exit_code == code, result.output
    found: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return found


def through(document: Path, folder: Path) -> dict[str, Any]:
    recipe = folder / "legal.toml"
    recipe.write_text(RECIPE, encoding="utf-8")
    call("ingest", document, "--out", folder / "case.jsonl")
    facts = write_facts(folder, FACTS)
    call("twins", folder / "case.jsonl", "--facts", facts, "--out", folder / "cases" / "twins.jsonl")
    return call("run", "--cases", folder / "cases", "--recipe", recipe, "--out", folder / "run")


@pytest.mark.slow
def test_a_notice_becomes_a_case_for_the_grid(tmp_path: Path) -> None:
    document = tmp_path / "notice.txt"
    document.write_text(NOTICE, encoding="utf-8")
    ran = through(document, tmp_path)
    assert len(ran["cells"]) == 8 * 2
    assert Path(ran["report"]).exists()
    assert {cell["interval"] for cell in ran["cells"]} == {None}  # one case cannot tell
    shown = CliRunner().invoke(app, ["report", str(tmp_path / "run")])
    assert "Below each: its 95 % interval" in " ".join(shown.output.split())
    assert max(map(len, shown.stdout.splitlines()[:-3])) <= 80
    checked = call("check", "--cases", tmp_path / "cases")
    assert checked["parts"]["Infringements"][:2] == [2, 2]
    assert checked["questions"] >= 1


def test_the_table_is_not_truncated(tmp_path: Path) -> None:
    row = {"content": "1. A fact.", "type": "background", "source": "a-case-with-a-name-that-is-longer-than-a-line" * 3}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n{}\n", encoding="utf-8")
    shown = CliRunner().invoke(app, ["legal", "check", "--cases", str(tmp_path)])
    assert shown.exit_code == 1
    assert "line 2: content: is missing" in shown.output
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert "…" not in shown.stdout


def test_a_corrected_mapping_is_used(tmp_path: Path) -> None:
    document = tmp_path / "notice.txt"
    document.write_text(NOTICE, encoding="utf-8")
    first = call("ingest", document, "--out", tmp_path / "first.jsonl")
    mapping = Path(first["mapping"])
    corrected = mapping.read_text(encoding="utf-8").replace('part = "rules"', 'part = "facts"')
    mapping.write_text(corrected, encoding="utf-8")
    second = call("ingest", document, "--parts", mapping, "--out", tmp_path / "second.jsonl", code=1)
    assert second["faults"] == ["no paragraph is in the part rules"]
    assert (first["chunks"]["LR"], second["chunks"]["LR"]) == (1, 0)
    assert second["parts"]["facts"] == 2


def test_a_decision_that_was_not_parsed_is_told_with_exit_code_1(tmp_path: Path) -> None:
    document = tmp_path / "notice.txt"
    document.write_text("Background\n1. A laptop was lost.\n2. It was found again.\n", encoding="utf-8")
    found = call("ingest", document, "--out", tmp_path / "case.jsonl", code=1)
    assert "no paragraph is in the part findings" in found["faults"]
    mapping = Path(found["mapping"])
    kept = call("ingest", document, "--parts", mapping, "--out", tmp_path / "again.jsonl", code=1)
    assert kept["faults"] == found["faults"]
    mapping.write_text(mapping.read_text(encoding="utf-8").replace('    # "', '    "'), encoding="utf-8")
    accepted = call("ingest", document, "--parts", mapping, "--out", tmp_path / "third.jsonl")
    assert accepted["faults"] == []


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "faults"), [("tempcover_mpn", []), ("southend_council_reprimand", ["no paragraph is in the part rules"])]
)
def test_published_decisions_become_cases(name: str, faults: list[str], tmp_path: Path) -> None:
    if not SHARED.exists():
        pytest.skip("needs the decisions in ../shared/data/decisions")
    found = call("ingest", SHARED / f"{name}.txt", "--out", tmp_path / "case.jsonl", code=int(bool(faults)))
    assert found["faults"] == faults
    assert found["chunks"]["F"] > 0 == found["chunks"]["AR"]
    assert "no model is named for application, so its agent has no passages" in found["warnings"]
    assert found["parts"]["findings"] > 0 < found["parts"]["decision"]


@pytest.mark.parametrize("words", ["ingest decision.txt", "twins cases.jsonl"])
def test_a_file_is_not_replaced(tmp_path: Path, words: str) -> None:
    kept = tmp_path / "precious.jsonl"
    kept.write_text("precious", encoding="utf-8")
    with pytest.raises(InputError, match="exists; give another --out, or --force to replace it"):
        CliRunner().invoke(app, ["legal", *words.split(), "--out", str(kept)], catch_exceptions=False)
    assert kept.read_text(encoding="utf-8") == "precious"
