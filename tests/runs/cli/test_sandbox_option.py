"""Which walls: chosen on the command line or in a recipe, and going without is said in red wherever it shows."""

from pathlib import Path

import pytest

from lawtrace.environments.errors import InputError
from lawtrace.runs.recipe_file import load_recipe
from lawtrace.runs.schemas.task_rows import Attempt, ProgramRow
from lawtrace.runs.store.stage_files import read_rows, write_rows
from tests.support.bank_task import make_task
from tests.support.shell import Shell


def test_without_walls_it_is_said_before_during_and_after(lawtrace: Shell, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        '[tasks]\ncount = 1\nspare = 1\n[attempts]\nbaselines = false\nmodels = ["baseline:literal"]\n',
        encoding="utf-8",
    )
    code, _, err = lawtrace("run", recipe, "--out", "run", "--sandbox", "unprotected")
    assert code == 0, err
    assert "PROGRAMS RUN UNPROTECTED" in err
    assert {row.sandbox for row in read_rows(tmp_path / "run" / "attempts.jsonl", Attempt)} == {"unprotected"}
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert '<p class="notice warning">2 of 2 programs RAN UNPROTECTED' in page
    assert "RAN UNPROTECTED" in lawtrace("messages", "run")[2]
    assert "RAN UNPROTECTED" in lawtrace("grade", "run")[2]


def test_with_walls_nothing_is_said(lawtrace: Shell, tmp_path: Path) -> None:
    task = make_task()
    write_rows(tmp_path / "tasks.jsonl", [task])
    write_rows(tmp_path / "programs.jsonl", [ProgramRow(task=task.id, style="goal", program=task.program)])
    code, _, err = lawtrace("grade", "--tasks", "tasks.jsonl", "--programs", "programs.jsonl")
    assert code == 0, err
    assert "UNPROTECTED" not in err


def test_programs_that_met_a_limit_are_counted_and_judged(lawtrace: Shell, tmp_path: Path) -> None:
    task = make_task()
    sources = [task.program, "print('x' * 10**6)", "import os; os._exit(0)", "x = 'x' * 10**10", "1 / 0"]
    rows = [ProgramRow(task=task.id, style="goal", program=it, trial=n) for n, it in enumerate(sources)]
    write_rows(tmp_path / "tasks.jsonl", [task])
    write_rows(tmp_path / "programs.jsonl", rows)
    graded = lawtrace.json("grade", "--tasks", "tasks.jsonl", "--programs", "programs.jsonl")
    assert graded["cut_short"] == {"killed": 1, "memory_limit": 1, "output_limit": 1}
    assert graded["outcomes"]["benign_failure"] == 4
    code, _, err = lawtrace("grade", "--tasks", "tasks.jsonl", "--programs", "programs.jsonl")
    assert code == 0
    assert "1 killed, 1 memory limit, 1 output limit" in err


def test_a_recipe_cannot_ask_for_no_walls(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('sandbox = "unprotected"\n', encoding="utf-8")
    with pytest.raises(InputError, match="cannot ask for 'unprotected'; say --sandbox unprotected yourself"):
        load_recipe(recipe)
    recipe.write_text('sandbox = "docker:python:3.12-slim"\n', encoding="utf-8")
    assert load_recipe(recipe).sandbox == "docker:python:3.12-slim"
    recipe.write_text('sandbox = "dockr"\n', encoding="utf-8")
    with pytest.raises(InputError, match="there is no sandbox 'dockr'"):
        load_recipe(recipe)


def test_a_sandbox_that_is_not_there_is_a_clear_error(lawtrace: Shell, tmp_path: Path) -> None:
    write_rows(tmp_path / "tasks.jsonl", [make_task()])
    code, _, err = lawtrace("attempt", "--tasks", "tasks.jsonl", "--model", "baseline:noop", "--sandbox", "none")
    assert code == 2
    assert "there is no sandbox 'none'" in err


def test_doctor_tries_each_of_them(lawtrace: Shell) -> None:
    found = lawtrace.json("doctor")
    assert found["sandboxes"]["bwrap"] is True
    assert set(found["sandboxes"]) == {"bwrap", "docker"}
