"""The sandbox on the command line."""

from pathlib import Path

from lawtrace.runs.store.stage_files import write_rows
from lawtrace.runs.store.task_file import write_tasks
from lawtrace.schemas.attempt_rows import Answer
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
