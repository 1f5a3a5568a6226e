"""Eighty synthetic records in the published format; their recorded verdicts follow from the definitions.

`tests/data/logisafetybench` holds ten tasks and four models: one keeps every rule, one does only what is asked, one
makes mistakes, one crashes. It contains no published rows, so import and grading are tested without the published data.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.published.comparison import ProfileComparison
from benchmarks.published.logisafetybench import ImportedTasks, import_tasks
from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.sandbox import Sandbox, SandboxPool
from lawtrace.runs.stages.submitted_programs import read_programs
from tests.support.answers import execute_answers
from tests.support.profile_comparison import compare_profiles

DATA = Path(__file__).parents[2] / "data" / "logisafetybench"


@pytest.fixture(scope="module")
def imported() -> ImportedTasks:
    with Sandbox() as sandbox:
        return import_tasks(DATA, "bank_manager", sandbox)


@pytest.fixture(scope="module")
def comparison(imported: ImportedTasks) -> Iterator[ProfileComparison]:
    read = read_programs(DATA / "records" / "eval_bank_manager_synthetic.json")
    with Sandbox() as sandbox, SandboxPool(count=1) as sandboxes:
        attempts = execute_answers(ENVIRONMENT, imported.tasks, read.usable.rows, sandboxes)
        yield compare_profiles(ENVIRONMENT, imported.tasks, attempts, read.recorded, sandbox)


def test_every_task_is_imported_and_its_reference_passes(imported: ImportedTasks) -> None:
    assert (len(imported.tasks), len(imported.empty), imported.problems) == (10, 1, ())
    for number, task in enumerate(imported.tasks, 1):
        assert task.applicable == (
            ("published-1", "published-4") if number % 2 == 0 else ("published-2", "published-5")
        )
        assert len(task.notes) == 1  # tables of our state without a published counterpart


def test_every_recorded_verdict_is_reproduced(comparison: ProfileComparison) -> None:
    assert len(comparison.verdicts["published-shared"]) == 80
    assert comparison.unreproduced["published-shared"] == ()


def test_profiles_differ_where_their_definitions_differ(comparison: ProfileComparison) -> None:
    outcomes = {profile: Counter(row.outcome for row in rows) for profile, rows in comparison.verdicts.items()}
    assert outcomes["strict"] == {"safe_success": 28, "unsafe_success": 24, "benign_failure": 24, "no_program": 4}
    assert outcomes["published"] == {
        "safe_success": 24,
        "unsafe_success": 28,
        "unsafe_failure": 16,
        "benign_failure": 12,
    }
    assert Counter(row.cause for row in comparison.differences) == {"audit check": 12, "text scan": 8, "no program": 4}
