"""The published benchmark: import and grading of its recorded programs, if the data are beside the checkout."""

from collections import Counter
from pathlib import Path

import pytest

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.errors import InputError
from lawtrace.environments.sandbox import Jail, JailPool
from lawtrace.runs.ingest.logisafetybench import import_tasks
from lawtrace.runs.ingest.programs import read_programs
from lawtrace.runs.ingest.published_domains import PUBLISHED_DOMAINS, PublishedDomainName
from lawtrace.runs.ingest.published_records import parse_recorded_program
from lawtrace.runs.scoring.judge import judge
from lawtrace.runs.stages.attempts_stage import execute_answers

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "logisafety"
needs_published = pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published data are not beside the checkout")


def test_bare_identifiers_are_quoted() -> None:
    program = "a = B.F(x=P-123456, y=123-4567-8901, z='P-123456', n=5-3)\nB.G(ids=[P-000001, P-000002])"
    repaired = PUBLISHED_DOMAINS["bank_manager"].repair(program)
    assert (
        repaired == "a = B.F(x='P-123456', y='123-4567-8901', z='P-123456', n=5-3)\nB.G(ids=['P-000001', 'P-000002'])"
    )


def test_missing_file_is_named(tmp_path: Path) -> None:
    with Jail() as jail, pytest.raises(InputError, match=r"psd2_rules\.json"):
        import_tasks(tmp_path, "bank_manager", jail)


@pytest.mark.parametrize(
    ("row", "amiss"),
    [
        (3, "not an object"),
        ({"trace_id": "t", "prompt_type": "goal", "model_used": "m"}, "there is no 'evaluation'"),
        ({"trace_id": "t", "prompt_type": "wild", "model_used": "m", "evaluation": {"status": "PASS"}}, "style"),
    ],
)
def test_invalid_record_row_is_explained(row: object, amiss: str) -> None:
    with pytest.raises(ValueError, match=f"not a row of a published record: {amiss}"):
        parse_recorded_program(row)


@pytest.mark.shared
@needs_published
def test_every_published_bank_task_is_imported_and_its_reference_passes() -> None:
    with Jail() as jail:
        imported = import_tasks(PUBLISHED, "bank_manager", jail)
    assert len(imported.tasks) == 40
    assert [line.split(", ", 1)[1] for line in imported.empty] == ["row 41: empty, as published"]
    assert imported.problems == ()
    assert {len(task.notes) for task in imported.tasks} == {1}  # tables of our state without a published counterpart
    assert all(len(task.rules) == 7 and task.applicable for task in imported.tasks)


@pytest.mark.slow
@pytest.mark.shared
@needs_published
def test_every_recorded_bank_program_ends_in_a_verdict() -> None:
    with Jail() as jail, JailPool() as jails:
        tasks = import_tasks(PUBLISHED, "bank_manager", jail).tasks
        outcomes: Counter[str] = Counter()
        records = sorted((PUBLISHED / "records").glob("eval_bank_manager_*.json"))
        for path in records:
            attempts = execute_answers(ENVIRONMENT, tasks, read_programs(path).usable.rows, jails)
            by_id = {task.id: task for task in tasks}
            outcomes.update(judge(ENVIRONMENT, by_id[row.answer.task], row).outcome for row in attempts)
    assert len(records) == 5
    assert sum(outcomes.values()) == 400
    assert outcomes["invalid"] == 0
    assert outcomes["safe_success"] > 150


@pytest.mark.slow
@pytest.mark.shared
@needs_published
@pytest.mark.parametrize(("domain", "rules"), [("bank_manager", "psd2_rules.json"), ("smart_lock", "esti_rules.json")])
def test_published_and_flat_folder_layouts_give_the_same_tasks(
    domain: PublishedDomainName, rules: str, tmp_path: Path
) -> None:
    places = {
        rules: "ltl_generator/results",
        f"{domain}_ground_truth_cases.json": "results/ground_truth_data",
        f"labeled_{domain}_dataset.json": "results/benchmark_data",
    }
    for name, place in places.items():
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / name).symlink_to(PUBLISHED / name)
    with Jail() as jail:
        assert import_tasks(tmp_path, domain, jail).tasks == import_tasks(PUBLISHED, domain, jail).tasks


@pytest.mark.shared
@needs_published
def test_every_published_clinic_task_is_imported() -> None:
    with Jail() as jail:
        imported = import_tasks(PUBLISHED, "teladoc", jail)
    assert (len(imported.tasks), imported.empty, imported.problems) == (40, (), ())
    assert {len(task.rules) for task in imported.tasks} == {4}
