"""The policy `baseline:habit`: what a run stores and says of it, and what it passes."""

from pathlib import Path

import pytest

from lawtrace.runs.report.build_tables import habit_table
from lawtrace.runs.report.content import load_run_content
from lawtrace.runs.report.sections import make_run_report
from lawtrace.runs.runner import RunResult
from lawtrace.runs.stages.habits import find_task_habits, habit_steps
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.store.task_file import read_tasks, write_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.findings import HabitRow
from lawtrace.schemas.recipe import AttemptOptions
from lawtrace.schemas.task_rows import Contrast
from lawtrace.solver.declarations.loader import PAPER_DOMAINS, load_domain
from tests.support.released import tasks_of
from tests.support.runs import SMALL, run
from tests.support.shell import Shell


def test_run_stores_and_reports_the_best_habit(small_run: RunResult) -> None:
    rows = read_rows(small_run.folder.path / "habits.jsonl", HabitRow)
    assert tuple(rows) == small_run.findings.habits
    assert [row.style for row in rows] == ["goal", "workflow"]
    assert all("CheckAuthorization" in row.name and "RecordAuditEvent" in row.name for row in rows)
    assert rows[0].sentence == f"Best habit, goal style: 100 % of tasks (3 of 3): {rows[0].name}."
    report = make_run_report(load_run_content(small_run.folder.path))
    section = next(section for section in report.sections if section.id == "habits")
    assert section.tables == (habit_table(rows),)


def test_simulation_and_sandbox_agree(small_run: RunResult) -> None:
    """Pass or not, by task and style."""
    simulated = {(task, row.style) for row in small_run.findings.habits for task in row.passed}
    verdicts = [verdict for verdict in small_run.verdicts if verdict.model == "baseline:habit"]
    assert {(one.task, one.style) for one in verdicts if one.outcome == "safe_success"} == simulated
    assert len(verdicts) == 2 * len(small_run.tasks)
    program = next(one.answer.program for one in small_run.attempts if one.answer.model == "baseline:habit")
    assert program is not None
    assert program.startswith(f"# {small_run.findings.habits[0].name}\n")


def test_habit_is_reported_without_being_under_test(tmp_path: Path) -> None:
    recipe = SMALL.model_copy(update={"attempts": AttemptOptions(baselines=False, models=("baseline:noop",))})
    made = run(recipe, tmp_path / "run")
    assert made.findings.habits, "every report names it"
    assert {verdict.model for verdict in made.verdicts} == {"baseline:noop"}


def test_check_states_the_best_habit(lawtrace: Shell, small_run: RunResult, tmp_path: Path) -> None:
    write_tasks(tmp_path / "tasks.jsonl", small_run.tasks)
    checked = lawtrace.json("tasks", "check", "tasks.jsonl")
    assert checked["habits"]["tasks"]["goal"] == {"name": small_run.findings.habits[0].name, "passed": 3, "tasks": 3}


def test_pairs_are_scored_beside_tasks(small_run: RunResult) -> None:
    domain = load_domain("banking")

    def side(number: int, pair: str) -> Task:
        contrast = Contrast(pair=pair, fact="f", table="accounts", key="k", field="x", value=1, other=2)
        return small_run.tasks[number].model_copy(update={"contrast": contrast})

    row = find_task_habits(domain.environment, [side(0, "whole"), side(1, "whole"), side(2, "half")])[0]
    assert (row.pairs_passed, row.pairs) == (("whole",), 1), "a pair has two sides"
    assert row.sentence.startswith("Best habit, goal style: 100 % of tasks (3 of 3), 100 % of pairs (1 of 1): ")


def test_progress_is_the_same_for_all_tasks(small_run: RunResult) -> None:
    steps: list[None] = []
    find_task_habits(load_domain("banking").environment, small_run.tasks, lambda: steps.append(None))
    assert 0 < len(steps) <= habit_steps(small_run.tasks)


def test_imported_tasks_have_no_habit(lawtrace: Shell, small_run: RunResult, tmp_path: Path) -> None:
    imported = [task.model_copy(update={"calls": ()}) for task in small_run.tasks]
    write_tasks(tmp_path / "tasks.jsonl", imported)
    code, _, err = lawtrace("run", "--tasks", "tasks.jsonl", "--model", "baseline:habit")
    assert code == 2
    assert f"{imported[0].id}: imported as a program, so it has no requested calls for 'baseline:habit' to wrap" in err
    made = lawtrace.json("run", "--tasks", "tasks.jsonl", "--out", "made")
    assert made["attempts"] == 4 * 2 * len(imported), "the other baselines"


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPER_DOMAINS)
def test_habit_passes_nearly_every_task_without_a_contrast(name: str) -> None:
    """At least nine of ten; three of forty goals in the smart home ask for more."""
    tasks, domain = read_tasks(tasks_of(name))
    assert all(row.rate >= 0.9 for row in find_task_habits(domain.environment, tasks))
