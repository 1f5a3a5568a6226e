"""Task files: rules once in the header, several rule sets, and errors that name file and line."""

import json
from pathlib import Path

import pytest

from lawtrace.runs.store.task_file import TaskFile, digest_rules, read_task_rows, read_tasks, write_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.errors import InputError
from tests.support.bank_task import make_task

FILE = TaskFile("tasks.jsonl")


def two_tasks() -> list[Task]:
    """Two tasks that differ in their rules."""
    task = make_task()
    return [task, task.model_copy(update={"id": "other", "rules": task.rules[1:]})]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A task file with two rule sets."""
    assert write_tasks(tmp_path / "tasks.jsonl", two_tasks()) == 2
    return tmp_path / "tasks.jsonl"


def complaint(path: Path, *lines: str) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    with pytest.raises(InputError) as raised:
        FILE.read(path)
    return str(raised.value)


def test_tasks_with_several_rule_sets_are_read_as_written(path: Path) -> None:
    tasks = two_tasks()
    assert FILE.read(path) == read_tasks(path)[0] == tasks
    header, *rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert list(header["rule_sets"]) == [row["rule_set"] for row in rows] == [digest_rules(t.rules) for t in tasks]
    assert all("rules" not in row for row in rows)


def test_concatenated_files_are_one_file(path: Path, tmp_path: Path) -> None:
    third = two_tasks()[0].model_copy(update={"id": "third", "rules": ()})
    write_tasks(tmp_path / "more.jsonl", [third])
    path.write_bytes(path.read_bytes() + (tmp_path / "more.jsonl").read_bytes())
    assert FILE.read(path) == [*two_tasks(), third]


def test_a_file_without_tasks(tmp_path: Path) -> None:
    assert FILE.write(tmp_path / "tasks.jsonl", []) == 0
    assert FILE.read(tmp_path / "tasks.jsonl") == []
    with pytest.raises(InputError, match="no valid task"):
        read_tasks(tmp_path / "tasks.jsonl")


def test_errors_name_file_and_line(path: Path) -> None:
    header, first, second = path.read_text(encoding="utf-8").splitlines()
    digest = json.loads(first)["rule_set"]
    assert f"{path}, line 1: not the header of a task file" in complaint(path, first, second)
    assert f"{path}, line 1: invalid header: rule set" in complaint(path, header.replace('"G(', '"F('), first)
    assert f"{path}, line 1: invalid header" in complaint(path, header[:-9], first)
    assert f"{path}, line 3: field 'rule_set': no header" in complaint(
        path, header, first, second.replace('"rule_set":"', '"rule_set":"x')
    )
    assert f"{path}, line 2: it is 'lawtrace.task/1'" in complaint(path, header, first.replace("task/2", "task/1"))
    path.write_text(f"{header}\n{first.replace(digest, '0')}\n{second}\n", encoding="utf-8")
    read = read_task_rows(path)
    assert ([task.id for task in read.rows], len(read.problems)) == (["other"], 1)


def test_a_rule_about_an_unknown_tool_is_named_with_its_task(path: Path) -> None:
    good, other = two_tasks()
    rules = tuple(rule.model_copy(update={"formula": "G !TransferFnds"}) for rule in other.rules[:1])
    write_tasks(path, [good, other.model_copy(update={"rules": rules})])
    with pytest.raises(InputError, match=r"line 3, task 'other': .*TransferFnds"):
        read_tasks(path)
