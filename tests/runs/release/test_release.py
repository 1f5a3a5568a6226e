"""A release: the same bytes from the same seed, whole or found not to be, and gradable when it has grown old."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from environments.catalogue import BUILT_IN, load_setting
from environments.errors import InputError
from environments.jail import Jails
from runs.grading.judge import judge
from runs.release.writing import check_release, read_manifest
from runs.stages.attempt import run_programs
from runs.stages.rows import ProgramRow
from runs.tasks import read_tasks
from tests.support.shell import Shell

OLD = Path(__file__).parents[2] / "data" / "release-0.1.0" / "banking.jsonl"


def release(lawtrace: Shell, out: Path, *more: object) -> dict[str, Any]:
    return lawtrace.json("tasks", "release", "--env", "banking", "--count", 2, "--out", out, *more)


def test_a_release_is_the_same_bytes_again_and_says_when_it_is_not(lawtrace: Shell, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert release(lawtrace, first)["tasks"] == 4
    release(lawtrace, second)
    assert {file.name: file.read_bytes() for file in first.iterdir()} == {
        file.name: file.read_bytes() for file in second.iterdir()
    }
    assert check_release(first) == []
    (first / "banking.jsonl").write_text("{}")
    (first / "banking.parquet").unlink()
    assert [trouble.split(": ", 1)[1][:7] for trouble in check_release(first)] == ["not the", "missing"]
    code, _, err = lawtrace("tasks", "release", "--env", "banking", "--count", 2, "--out", second, "--version", "2.0.0")
    assert (code, "holds version 1.0.0" in err) == (2, True)
    assert read_manifest(second).environments["banking"].pairs == 2


def test_the_table_holds_each_task_and_its_json_can_be_read(lawtrace: Shell, tmp_path: Path) -> None:
    out = tmp_path / "release"
    release(lawtrace, out)
    parquet: Any = import_module("pyarrow.parquet")
    rows = parquet.read_table(out / "banking.parquet").to_pylist()
    pairs, _ = read_tasks(out / "banking.jsonl")
    assert [row["id"] for row in rows] == [f"{task.id}/{style}" for task in pairs for style in task.styles]
    assert json.loads(rows[0]["target_state"]) == pairs[0].target_state
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "data_files: banking.parquet" in card


def test_every_world_has_its_part_and_passes_the_gate(lawtrace: Shell, tmp_path: Path) -> None:
    out = tmp_path / "release"
    made = lawtrace.json("tasks", "release", "--count", 1, "--out", out)
    assert made["pairs"] == dict.fromkeys(BUILT_IN, 1)
    for name in BUILT_IN:
        checked = lawtrace.json("tasks", "check", out / f"{name}.jsonl", "--out", tmp_path / "quality.jsonl")
        assert all(answers == {"passed": 1} for answers in checked["checks"].values())
        assert f"data_files: {name}.parquet" in (out / "README.md").read_text(encoding="utf-8")


def test_hugging_face_reads_the_tables(lawtrace: Shell, tmp_path: Path) -> None:
    datasets: Any = pytest.importorskip("datasets", reason="the package datasets is not installed")
    out = tmp_path / "release"
    release(lawtrace, out)
    loaded = datasets.load_dataset(str(out), "banking", cache_dir=str(tmp_path / "cache"))["train"]
    assert loaded.num_rows == 4
    assert json.loads(loaded[0]["rules"])


def test_what_fails_the_gate_is_not_released(lawtrace: Shell, tmp_path: Path) -> None:
    code, _, err = lawtrace("tasks", "release", "--env", "banking", "--version", "one", "--out", tmp_path / "x")
    assert code == 2
    assert "version" in err
    with pytest.raises(InputError, match="not the manifest of a release"):
        read_manifest(tmp_path)


def test_an_older_release_is_still_gradable() -> None:
    environment = load_setting("banking").environment
    tasks, _ = read_tasks(OLD)
    programs = [ProgramRow(task=task.id, style=style, program=task.program) for task in tasks for style in task.styles]
    with Jails() as jails:
        attempts = run_programs(environment, tasks, programs, jails)
    by_id = {task.id: task for task in tasks}
    assert [judge(environment, by_id[row.task], row).outcome for row in attempts] == ["safe_success"] * 4
