"""A run as eval logs: Inspect reads them, scores them again alike, and an audit finds the same broken rules."""

import json
from pathlib import Path
from typing import Any, Literal

import pytest

pytest.importorskip("inspect_ai", reason="needs the extra 'inspect'")

from inspect_ai import score
from inspect_ai.log import EvalLog, read_eval_log

from lawtrace import Run, run
from lawtrace.runs.integrations.inspect.eval_logs import write_eval_logs
from lawtrace.runs.integrations.inspect.scorers import dual_oracle
from lawtrace.runs.report.verdict_index import stage_folders
from lawtrace.runs.scoring.metrics import count_outcomes
from lawtrace.runs.store.run_folder import RunFolder
from tests.support.inspect_evals import texts, verdict_of
from tests.support.shell import Shell

pytestmark = pytest.mark.integration


def _run(folder: Path, mode: Literal["program", "tools", "dialogue"], *models: str, **more: Any) -> Run:
    attempts = {"models": models, "baselines": False, "mode": mode}
    return run({"tasks": {"count": 1}, "attempts": attempts, **more}, out=folder / "run")


@pytest.fixture(scope="module")
def tools_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run in which two policies call tools."""
    return _run(tmp_path_factory.mktemp("tools"), "tools", "baseline:reference", "baseline:literal")


def _write(path: Path) -> list[Path]:
    return write_eval_logs(path, stage_folders(RunFolder(path)))


def _logs(made: Run) -> dict[str, EvalLog]:
    return {file.stem: read_eval_log(str(file)) for file in _write(made.path)}


@pytest.mark.parametrize("mode", ["tools", "program"])
def test_logs_have_the_verdicts_and_the_rates(
    mode: Literal["program", "tools"], tools_run: Run, tmp_path: Path
) -> None:
    made = tools_run if mode == "tools" else _run(tmp_path, mode, "baseline:reference", "baseline:literal")
    logs = _logs(made)
    suffix = "_tools" if mode == "tools" else ""
    assert list(logs) == [f"baseline_reference{suffix}", f"baseline_literal{suffix}"]
    found = {}
    for log in logs.values():
        assert log.status == "success"
        for sample in log.samples or ():
            verdict = verdict_of(sample)
            found[verdict.key] = [(rule.rule, rule.name, rule.message, rule.explanation) for rule in verdict.rules]
            request, *_ = texts(sample.messages, "user")
            assert str(sample.metadata["task"]) == verdict.task
            assert "Tool documentation" in texts(sample.messages, "system")[0] or mode == "program"
            assert request
    assert found == {
        row.key: [(rule.rule, rule.name, rule.message, rule.explanation) for rule in row.rules] for row in made.verdicts
    }
    literal = logs[f"baseline_literal{suffix}"]
    assert literal.eval.model == "lawtrace/literal"
    assert literal.results is not None
    rates = {name: metric.value for one in literal.results.scores for name, metric in one.metrics.items()}
    counts = count_outcomes(row for row in made.verdicts if row.model == "baseline:literal")
    assert rates["unsafe_success"] == counts.inference_gap == 1


def test_an_audit_of_a_log_finds_the_same_rules_broken(lawtrace: Shell, tools_run: Run, tmp_path: Path) -> None:
    out, expected = tmp_path / "audit.jsonl", set[tuple[str, str]]()
    for row in tools_run.verdicts:
        expected |= {(f"{row.task}-{row.style}, epoch 1", rule.rule) for rule in row.rules if rule.broken}
    lawtrace("audit", *_write(tools_run.path), "--env", "banking", "--complete", "--out", out)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == len(tools_run.verdicts)
    broken = {(row["conversation"], rule["rule"]) for row in rows for rule in row["rules"] if not rule["kept"]}
    assert broken == expected
    assert broken
    calls = [event for row in rows for event in row["events"] if event["tool"] == "CheckAuthorization"]
    assert all(event["time"] is not None for event in calls)


def test_a_log_of_a_run_is_scored_again(tools_run: Run) -> None:
    _, file = _write(tools_run.path)
    again = score(read_eval_log(str(file)), dual_oracle(str(tools_run.path / "tasks.jsonl")), display="none")
    for sample in again.samples or ():
        assert [one.answer for one in (sample.scores or {}).values()] == ["unsafe_success"] * 2


def test_variants_of_an_ablation_have_logs_of_their_own(tmp_path: Path) -> None:
    made = _run(tmp_path, "tools", "baseline:literal", ablation={"attempts.shield": ["off", "refuse"]})
    logs = _logs(made)
    assert [log.eval.task_args["shield"] for log in logs.values()] == ["off", "refuse"]
