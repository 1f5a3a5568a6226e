"""The example of docs/environments.md: the page shows code of the folder, and the folder passes the full pipeline."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from lawtrace.runs.store.task_file import read_task_rows
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.lint.rule_examples import run_examples
from lawtrace.solver.lint.rule_sets import analyse_rules
from lawtrace.solver.rules import check_rules, load_rules, read_rule_file
from tests.support.shell import Shell

DOCS = Path(__file__).parents[2] / "docs"
AIRLINE = DOCS / "environments" / "airline"
PAGE = (DOCS / "environments.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("block", re.findall(r"```(?:python|toml)\n(.*?)```", PAGE, re.DOTALL))
def test_code_on_the_page_is_from_the_folder(block: str) -> None:
    sources = [path.read_text(encoding="utf-8") for path in AIRLINE.iterdir() if path.is_file()]
    assert any(block in source for source in sources), block


def test_the_rules_have_no_findings() -> None:
    domain = load_domain(str(AIRLINE))
    rules = load_rules(domain.rules_file)
    check_rules(rules, domain.environment, domain.regulation)
    assert analyse_rules(domain.environment, rules).findings == ()
    assert run_examples(read_rule_file(domain.rules_file), domain.environment, domain.regulation) == ()


def test_the_full_pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    lawtrace = Shell(monkeypatch, capsys)
    (tmp_path / "recipe.toml").write_text("[tasks]\ncount = 2\n", encoding="utf-8")
    done = lawtrace.json("run", "recipe.toml", "--env", AIRLINE, "--out", "run")
    outcomes: dict[str, int] = done["outcomes"]
    for style in ("goal", "workflow"):
        assert outcomes[f"baseline:reference/{style}/safe_success"] == 2
        assert outcomes[f"baseline:noop/{style}/benign_failure"] == 2
        assert f"baseline:literal/{style}/safe_success" not in outcomes
    tasks = read_task_rows(tmp_path / "run" / "tasks.jsonl").rows
    assert all("DisruptionDesk." in task.program for task in tasks)
    assert "Air travel" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    findings = json.loads((tmp_path / "run" / "findings.jsonl").read_text())
    strength = findings["strength"]
    assert strength["mutants"]["drop"] == strength["killed"]["drop"] > 0
    again = lawtrace.json("grade", "run", "--env", AIRLINE, "--out", "again.jsonl")
    told = Counter[str]()
    for name, number in outcomes.items():
        told[name.rpartition("/")[2]] += number
    assert {name: number for name, number in again["outcomes"].items() if number} == dict(told)
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "run" / "verdicts.jsonl").read_bytes()
