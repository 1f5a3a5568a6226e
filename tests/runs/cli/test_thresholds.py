"""Exit codes and bounds of `run`, `report` and `grade`: what was not measured or is too low is not a success."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.cli.thresholds import check_bound, find_shortfalls, missing_tasks
from lawtrace.runs.runner import RunResult
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.findings import Findings, TaskFunnel
from lawtrace.schemas.recipe import AttemptOptions, Recipe, TaskOptions
from lawtrace.schemas.verdict_rows import Verdict
from tests.support.openai_server import serving
from tests.support.shell import Shell


@pytest.fixture
def verdict(small_run: RunResult) -> Verdict:
    return next(row for row in small_run.verdicts if row.outcome == "safe_success")


def outcomes(verdict: Verdict, model: str, *of: str) -> list[Verdict]:
    changes: list[dict[str, Any]] = [
        {"model": model, "outcome": outcome, "reason": f"ended {outcome}"} for outcome in of
    ]
    return [verdict.model_copy(update=change) for change in changes]


def test_a_model_below_the_bound_is_named_with_its_share(verdict: Verdict) -> None:
    rows = outcomes(verdict, "openai:m", "safe_success", "safe_success", "unsafe_success", "invalid")
    rows += outcomes(verdict, "baseline:noop", "benign_failure")
    assert find_shortfalls({"": rows}, None) == []
    assert find_shortfalls({"": rows}, 0.66) == []
    assert find_shortfalls({"": rows}, 2 / 3) == []
    assert find_shortfalls({"": rows}, 0.7) == ["openai:m: Pass@1 is 0.6667, below 0.7"]
    assert find_shortfalls({"first": rows[:2], "second": rows}, 0.7) == [
        "second: openai:m: Pass@1 is 0.6667, below 0.7"
    ]


def test_a_model_without_a_judged_attempt_is_a_shortfall(verdict: Verdict) -> None:
    rows = outcomes(verdict, "openai:m", "invalid", "invalid") + outcomes(verdict, "openai:n", "no_program")
    (sentence,) = find_shortfalls({"": rows}, None)
    assert sentence == "openai:m: none of 2 attempts was judged; the first ended with: ended invalid"
    assert find_shortfalls({"": []}, None) == ["nothing was judged: there is no attempt"]


def test_a_bound_without_a_model_under_test_is_refused(verdict: Verdict) -> None:
    with pytest.raises(InputError, match="needs a model under test"):
        find_shortfalls({"": outcomes(verdict, "baseline:noop", "benign_failure")}, 0.5)
    with pytest.raises(InputError, match="needs a model under test"):
        check_bound(Recipe(), 0.5)
    check_bound(Recipe(), None)
    check_bound(Recipe(attempts=AttemptOptions(models=("openai:m",))), 0.5)
    check_bound(Recipe(ablation={"attempts.models": (["openai:m"], ["openai:n"])}), 0.5)


@pytest.mark.slow
def test_commands_end_with_the_exit_code_that_the_verdicts_deserve(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        'tasks.count = 1\ntasks.spare = 1\nattempts.models = ["openai:lazy"]\nattempts.baselines = false\n',
        encoding="utf-8",
    )
    with serving(lambda request: "```python\npass\n```") as server:
        server.connect(monkeypatch)
        code, _, err = lawtrace("run", recipe, "--out", "run", "--fail-under", 0.5)
    assert code == 1
    assert "openai:lazy: Pass@1 is 0.0000, below 0.5" in err
    assert lawtrace("report", "run")[0] == 0
    assert lawtrace("report", "run", "--fail-under", 0.5)[0] == 1
    assert lawtrace("grade", "run", "--fail-under", 0.5)[0] == 1
    assert lawtrace("grade", "run", "--force")[0] == 0
    code, _, err = lawtrace("run", recipe, "--out", "other", "--fail-under", 90)
    assert (code, "--fail-under" in err) == (2, True)


def test_fewer_tasks_than_asked_for_are_a_shortfall(small_run: RunResult) -> None:
    run = replace(small_run, recipe=Recipe(tasks=TaskOptions(count=len(small_run.tasks))))
    assert missing_tasks(run) == []
    funnel = TaskFunnel(5, 2, dropped={"goal: reading": 1, "nothing to do": 2})
    fewer = replace(run, tasks=run.tasks[1:], findings=Findings(funnel=funnel))
    (sentence,) = missing_tasks(fewer)
    assert sentence.startswith("2 of 3 tasks were built; dropped: 2 nothing to do, 1 goal: reading; ")
