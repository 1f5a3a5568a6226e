"""The published benchmark: import and grading of its recorded programs, if the data are beside the checkout."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.published.domains import PUBLISHED_DOMAINS
from benchmarks.published.logisafetybench import ImportedTasks, import_tasks
from benchmarks.published.records import parse_record
from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.sandbox import Sandbox, SandboxPool
from lawtrace.runs.scoring.judge import judge
from lawtrace.runs.stages.submitted_programs import read_programs
from lawtrace.schemas.choices import PublishedDomainName
from lawtrace.schemas.errors import InputError
from tests.support.answers import execute_answers

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "logisafety"
needs_published = pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published data are not beside the checkout")


def test_bare_identifiers_are_quoted() -> None:
    program = "a = B.F(x=P-123456, y=123-4567-8901, z='P-123456', n=5-3)\nB.G(ids=[P-000001, P-000002])"
    repaired = PUBLISHED_DOMAINS["bank_manager"].repair(program)
    assert (
        repaired == "a = B.F(x='P-123456', y='123-4567-8901', z='P-123456', n=5-3)\nB.G(ids=['P-000001', 'P-000002'])"
    )


def test_every_missing_file_is_named_with_its_published_place(tmp_path: Path) -> None:
    rules = tmp_path / "ltl_generator" / "results" / "hipaa"
    rules.mkdir(parents=True)
    (rules / "5_filtered_ltl_rules.json").write_text("{}")
    (tmp_path / "labeled_teladoc_dataset.json").write_text("[]")
    with Sandbox() as sandbox, pytest.raises(InputError) as refused:
        import_tasks(tmp_path, "teladoc", sandbox)
    assert "ltl_generator/results/hipaa/7_label_ltl_rules.json (flat: hipaa_rules.json)" in str(refused.value)
    assert "results/ground_truth_data/teladoc_ground_truth_cases.json" in str(refused.value)
    assert "labeled_teladoc_dataset" not in str(refused.value)


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
        parse_record(row)


@pytest.mark.shared
@needs_published
def test_every_published_bank_task_is_imported_and_its_reference_passes() -> None:
    with Sandbox() as sandbox:
        imported = import_tasks(PUBLISHED, "bank_manager", sandbox)
    assert len(imported.tasks) == 40
    assert [line.split(", ", 1)[1] for line in imported.empty] == ["row 41: empty, as published"]
    assert imported.problems == ()
    assert {len(task.notes) for task in imported.tasks} == {1}  # tables of our state without a published counterpart
    assert all(len(task.rules) == 7 and task.applicable for task in imported.tasks)


@pytest.mark.slow
@pytest.mark.shared
@needs_published
def test_every_recorded_bank_program_ends_in_a_verdict() -> None:
    with Sandbox() as sandbox, SandboxPool() as sandboxes:
        tasks = import_tasks(PUBLISHED, "bank_manager", sandbox).tasks
        outcomes: Counter[str] = Counter()
        records = sorted((PUBLISHED / "records").glob("eval_bank_manager_*.json"))
        for path in records:
            attempts = execute_answers(ENVIRONMENT, tasks, read_programs(path).usable.rows, sandboxes)
            by_id = {task.id: task for task in tasks}
            outcomes.update(judge(ENVIRONMENT, by_id[row.answer.task], row).outcome for row in attempts)
    assert len(records) == 5
    assert sum(outcomes.values()) == 400
    assert outcomes["invalid"] == 0
    assert outcomes["safe_success"] > 150


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A folder with the published data in the places that they have on the public host."""
    places = {
        **{f"{law}_rules.json": f"ltl_generator/results/{law}/7_label_ltl_rules.json" for law in LAWS},
        **{name: f"results/ground_truth_data/{name}" for name in _names("*_ground_truth_cases.json")},
        **{name: f"results/benchmark_data/{name}" for name in _names("labeled_*_dataset.json")},
        **{f"records/{name}": f"results/evaluation_results/{name}" for name in _names("records/*.json")},
    }
    for name, place in places.items():
        target = tmp_path / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(PUBLISHED / name)
    for law in LAWS:  # earlier steps of the published extraction lie beside the rules
        (tmp_path / f"ltl_generator/results/{law}/5_filtered_ltl_rules.json").write_text("{}")
    return tmp_path


LAWS = [published.law for published in PUBLISHED_DOMAINS.values()]


def _names(pattern: str) -> list[str]:
    return [path.name for path in PUBLISHED.glob(pattern)]


@pytest.mark.slow
@pytest.mark.shared
@needs_published
@pytest.mark.parametrize("domain", PUBLISHED_DOMAINS)
def test_published_and_flat_folder_layouts_give_the_same_tasks(domain: PublishedDomainName, repository: Path) -> None:
    with Sandbox() as sandbox:
        assert import_tasks(repository, domain, sandbox) == _of_place(
            import_tasks(PUBLISHED, domain, sandbox), repository
        )
    records = sorted(repository.glob(f"results/evaluation_results/eval_{domain}_*.json"))
    assert records
    assert all(len(read_programs(path).recorded) == 80 for path in records)


def _of_place(imported: ImportedTasks, repository: Path) -> ImportedTasks:
    """The same with the place of an empty row in the repository."""
    flat, published = f"{PUBLISHED}/", f"{repository}/results/benchmark_data/"
    return replace(imported, empty=tuple(line.replace(flat, published) for line in imported.empty))


@pytest.mark.shared
@needs_published
def test_every_published_clinic_task_is_imported() -> None:
    with Sandbox() as sandbox:
        imported = import_tasks(PUBLISHED, "teladoc", sandbox)
    assert (len(imported.tasks), imported.empty, imported.problems) == (40, (), ())
    assert {len(task.rules) for task in imported.tasks} == {4}
