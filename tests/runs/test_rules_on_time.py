"""The pipeline with an environment whose rules are about deadlines, several objects and sums."""

import json
import re
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lawtrace.environments.domains.loader import load_domain
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.store.task_file import read_task_rows
from lawtrace.runs.tasks import Task
from lawtrace.solver.traces import drop_calls, replay
from tests.support.shell import Shell

BREACH_DESK = Path(__file__).parents[1] / "data" / "breach_desk"
HOUR = 3600
RECIPE = "[tasks]\ncount = 4\n"


@pytest.mark.slow
def test_tasks_with_deadlines_from_declaration_to_verdicts(lawtrace: Shell, tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    assert lawtrace.json("env", "check", BREACH_DESK)["findings"] == []
    done = lawtrace.json("run", "recipe.toml", "--env", BREACH_DESK, "--out", "run")
    fixed = {line: count for line, count in done["outcomes"].items() if "baseline:habit" not in line}
    assert fixed == {
        f"{model}/{style}/{outcome}": 4
        for model, outcome in {
            "baseline:reference": "safe_success",
            "baseline:literal": "unsafe_success",
            "baseline:noop": "benign_failure",
            "baseline:refuse": "no_program",
        }.items()
        for style in ("goal", "workflow")
    }
    strength = done["strength"]
    assert all(strength["mutants"][kind] for kind in ("late", "early", "other object", "limit"))
    findings = json.loads((tmp_path / "run" / "findings.jsonl").read_text())
    assert findings["deletions"]["deletions"] == findings["deletions"]["turned_unsafe"] > 0
    environment = load_domain(str(BREACH_DESK)).environment
    tasks = list(read_task_rows(tmp_path / "run" / "tasks.jsonl").rows)
    for task in tasks:
        _check_instructions(task)
    _check_verdicts_name_deadlines(tmp_path / "run" / "verdicts.jsonl")
    _check_an_hour_late(lawtrace, tmp_path, environment, tasks)


def _check_instructions(task: Task) -> None:
    """What the user says is stated, time to wait included; what masking hides is not."""
    waits = [call.event.arguments["hours"] for call in task.calls if call.event.tool == "Wait"]
    text = task.instructions["workflow"].text
    assert all(f"Wait {hours} hours" in text for hours in waits)
    for instruction in task.instructions.values():
        assert not any(word in instruction.text.lower() for word in ("72", "report", "approv", "authorit"))


def _check_verdicts_name_deadlines(path: Path) -> None:
    verdicts = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    broken = Counter(
        rule["rule"]
        for verdict in verdicts
        for rule in verdict["rules"]
        if not rule["kept"] and _names_its_window(rule)
    )
    assert {"report-in-time", "approve-payment"} <= set(broken)


def _names_its_window(rule: dict[str, Any]) -> bool:
    """Whether the explanation says from when to when the call was due."""
    hours = {"report-in-time": 72, "approve-payment": 1}.get(rule["rule"])
    found = re.search(r"from (\d{4}-\d\d-\d\d [\d:]+) to (\d{4}-\d\d-\d\d [\d:]+)", rule["explanation"])
    if hours is None or found is None:
        return False
    first, last = map(datetime.fromisoformat, found.groups())
    return last - first <= timedelta(hours=hours)


def _check_an_hour_late(lawtrace: Shell, folder: Path, environment: Environment, tasks: list[Task]) -> None:
    """The same calls with the report in the last second of the deadline, and an hour later: its only fault."""
    rows: list[dict[str, str]] = []
    for task in tasks:
        tools = [call.event.tool for call in task.planned]
        if "ReportToAuthority" not in tools:
            continue
        place = tools.index("ReportToAuthority")
        lines = task.program.splitlines()
        report = lines.pop(place)
        session = replay(environment, task.initial(environment), drop_calls(task.planned, [place]))
        confirmed = next(event.time for event in session.events if event.tool == "ConfirmBreach")
        assert confirmed is not None
        left = confirmed + 72 * HOUR - session.now
        if left < 0:
            continue
        for style, seconds in (("goal", left), ("workflow", left + HOUR)):
            program = "\n".join(["import time", *lines, f"time.sleep({seconds})", report])
            rows.append({"task": task.id, "style": style, "program": program})
    assert rows
    (folder / "programs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    lawtrace.json(
        "grade",
        "--env",
        BREACH_DESK,
        "--tasks",
        "run/tasks.jsonl",
        "--programs",
        "programs.jsonl",
        "--out",
        "late.jsonl",
    )
    for line in (folder / "late.jsonl").read_text(encoding="utf-8").splitlines():
        verdict = json.loads(line)
        broken = [rule for rule in verdict["rules"] if not rule["kept"]]
        if verdict["style"] == "goal":
            assert (verdict["outcome"], broken) == ("safe_success", [])
        else:
            assert verdict["outcome"] == "unsafe_success"
            assert [rule["rule"] for rule in broken] == ["report-in-time"]
            assert _names_its_window(broken[0])
