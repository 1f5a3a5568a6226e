"""The sandbox is chosen on the command line or in a recipe."""

from pathlib import Path

import pytest

from lawtrace.runs.recipe_file import load_recipe
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.runs.store.task_file import write_tasks
from lawtrace.schemas.attempt_rows import Answer
from lawtrace.schemas.errors import InputError
from tests.support.bank_task import make_task
from tests.support.shell import Shell


def test_programs_that_hit_a_limit_are_counted_and_judged(lawtrace: Shell, tmp_path: Path) -> None:
    task = make_task()
    sources = [task.program, "print('x' * 10**6)", "import os; os._exit(0)", "x = 'x' * 10**10", "1 / 0"]
    rows = [Answer(task=task.id, style="goal", program=it, trial=n) for n, it in enumerate(sources)]
    write_tasks(tmp_path / "tasks.jsonl", [task])
    write_rows(tmp_path / "programs.jsonl", rows)
    graded = lawtrace.json("grade", "--tasks", "tasks.jsonl", "--programs", "programs.jsonl")
    assert graded["cut_short"] == {"killed": 1, "memory_limit": 1, "output_limit": 1}
    assert graded["outcomes"]["benign_failure"] == 4
    code, _, err = lawtrace("grade", "--tasks", "tasks.jsonl", "--programs", "programs.jsonl", "--force")
    assert code == 0
    assert "1 killed, 1 memory limit, 1 output limit" in err


def test_a_recipe_names_its_sandbox(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('sandbox = "docker:python:3.12-slim"\n', encoding="utf-8")
    assert load_recipe(recipe).sandbox == "docker:python:3.12-slim"
    recipe.write_text('sandbox = "dockr"\n', encoding="utf-8")
    with pytest.raises(InputError, match="unknown sandbox 'dockr'"):
        load_recipe(recipe)


def test_an_unknown_sandbox_is_an_input_error(lawtrace: Shell, tmp_path: Path) -> None:
    write_tasks(tmp_path / "tasks.jsonl", [make_task()])
    code, _, err = lawtrace("attempt", "--tasks", "tasks.jsonl", "--model", "baseline:noop", "--sandbox", "none")
    assert code == 2
    assert "unknown sandbox 'none'" in err


def test_doctor_checks_each_sandbox(lawtrace: Shell) -> None:
    found = lawtrace.json("doctor")
    assert found["sandboxes"]["bwrap"] is True
    assert set(found["sandboxes"]) == {"bwrap", "docker"}
