"""Contrast pairs from requests to reports, in a large environment."""

import json
from pathlib import Path
from typing import Any

import pytest

from lawtrace.environments.runtime.session import Session
from lawtrace.runs.integrations.released_tasks import TaskSet
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.schemas.choices import BEHAVIOURS
from tests.support.shell import Shell

RECIPE = """
environment = "payments"

[rules]

[tasks]
count = 2
spare = 0
"""


@pytest.mark.slow
def test_contrast_pairs_are_built_judged_and_reported(lawtrace: Shell, tmp_path: Path) -> None:
    (tmp_path / "pairs.toml").write_text(RECIPE, encoding="utf-8")
    done = lawtrace.json("run", "pairs.toml", "--out", "run")
    assert done["tasks"] == 2
    for style in ("goal", "workflow"):
        assert done["pairs"][f"baseline:reference/{style}"] == {"right": 1, "pairs": 1}
        for policy in ("literal", "noop", "refuse"):
            assert done["pairs"][f"baseline:{policy}/{style}"] == {"right": 0, "pairs": 1}
    rows = [
        json.loads(line) for line in (tmp_path / "run" / "tasks.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    ]
    sides: dict[str, list[dict[str, Any]]] = {row["contrast"]["pair"]: [] for row in rows}
    for row in rows:
        sides[row["contrast"]["pair"]].append(row)
    for first, second in sides.values():
        assert first["instructions"]["goal"] == second["instructions"]["goal"]
        assert first["contrast"]["value"] == second["contrast"]["other"] != first["contrast"]["other"]
        assert first["program"] != second["program"] or first["target_state"] != second["target_state"]
    tasks, domain = read_tasks(tmp_path / "run" / "tasks.jsonl", None)
    attempts = {"mode": "dialogue", "dialogue": {"behaviours": BEHAVIOURS}}
    users = TaskSet.of(tasks, domain, {"seed": 1, "attempts": attempts}, "the test")
    for one, other in zip(tasks[::2], tasks[1::2], strict=True):
        assert one.contrast is not None
        assert other.contrast is not None
        assert one.contrast.pair == other.contrast.pair
        for style in one.styles:
            scripts = [
                users.scripted_user(task, style, Session(domain.environment, task.initial(domain.environment)))
                for task in (one, other)
            ]
            for message in (None, "Which account?", "Whom?", "How much?", "Done."):
                said = [script.reply(message) if message else script.open() for script in scripts]
                assert said[0] == said[1]
    findings = json.loads((tmp_path / "run" / "findings.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    strength = findings["strength"]
    assert strength["mutants"]["drop"] == strength["killed"]["drop"] > 0
    report = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Contrast pairs by fact" in report
    checked = lawtrace.json("tasks", "check", "run/tasks.jsonl", "--out", "quality.jsonl")
    assert {name: answers.get("failed", 0) for name, answers in checked["checks"].items()} == dict.fromkeys(
        checked["checks"], 0
    )
