"""Released task sets: the same seed gives the same bytes; changed files are detected; tasks name their environment."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from lawtrace.environments.sandbox import SandboxPool
from lawtrace.runs.release.task_set import ReleaseManifest, canary_of, check_release, read_manifest, task_files
from lawtrace.runs.scoring.judge import judge
from lawtrace.runs.store.stage_files import file_digest, read_rows
from lawtrace.runs.store.task_file import read_task_rows, read_tasks
from lawtrace.schemas.attempt_rows import Answer
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.quality_rows import QualityRow
from lawtrace.schemas.validity_rows import Prompt
from lawtrace.solver.declarations.loader import PAPER_DOMAINS
from tests.support.answers import execute_answers
from tests.support.released import NEWEST
from tests.support.shell import Shell, run_command

RELEASED = sorted(path.parent for path in (Path(__file__).parents[3] / "docs" / "tasks").glob("[0-9]*/manifest.json"))


RELEASE = ("tasks", "release", "--env", "banking", "--count", 2, "--out", "release")


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of two pairs of banking tasks."""
    folder = tmp_path_factory.mktemp("release")
    run_command(folder, *RELEASE)
    return folder / "release"


@pytest.fixture
def release(pristine: Path, tmp_path: Path) -> Path:
    """A copy of the release that a test may change."""
    return Path(shutil.copytree(pristine, tmp_path / "release"))


@pytest.mark.slow
def test_changed_and_missing_files_are_detected(lawtrace: Shell, release: Path) -> None:
    assert check_release(release) == []
    (release / "README.md").write_text("Mine.")
    code, _, err = lawtrace("tasks", "check", release)
    assert code == 1
    assert "README.md: not the file that was released" in err
    (release / "references" / "banking.jsonl").write_text("{}")
    (release / "banking.prompts.jsonl").unlink()
    assert sorted(problem.what[:7] for problem in check_release(release)) == ["missing", "not the", "not the"]


@pytest.mark.slow
def test_a_copy_without_references_is_intact_and_names_no_task_to_run(lawtrace: Shell, release: Path) -> None:
    shutil.rmtree(release / "references")
    assert check_release(release) == []
    assert lawtrace.json("tasks", "check", release)["tasks"] == 0
    code, _, err = lawtrace("run", "--tasks", release, "--env", "banking", "--out", "run")
    assert (code, "no task file in this folder" in err) == (2, True)


@pytest.mark.slow
def test_known_defects_are_shown(lawtrace: Shell, release: Path) -> None:
    defect = {"date": "2026-11-29", "task": "banking-1", "what": "The bill is paid twice.", "consequence": "Dropped."}
    (release / "errata.jsonl").write_text(json.dumps(defect) + "\n", encoding="utf-8")
    _, out, _ = lawtrace("tasks", "check", release)
    assert "Known defect: 2026-11-29, banking-1: The bill is paid twice. Dropped." in " ".join(out.split())


@pytest.mark.slow
def test_a_release_is_not_overwritten_by_another_version(lawtrace: Shell, release: Path) -> None:
    version = read_manifest(release).version
    code, _, err = lawtrace(*RELEASE[:-1], release, "--version", "9.9")
    assert (code, f"holds version {version}" in err) == (2, True)
    assert read_manifest(release).environments["banking"].tasks == 2


@pytest.mark.slow
def test_public_rows_have_prompts_and_no_references(release: Path) -> None:
    tasks, domain = read_tasks(release / "references" / "banking.jsonl")
    prompts = read_rows(release / "banking.prompts.jsonl", Prompt)
    assert [row.id for row in prompts] == [f"{task.id}/{style}" for task in tasks for style in task.styles]
    assert prompts[0].prompt.strip().endswith(tasks[0].instructions["goal"].text)
    assert prompts[0].environment_version == domain.environment.version
    assert "Tool documentation" in (release / "banking.system.md").read_text(encoding="utf-8")
    public = "".join(path.read_text(encoding="utf-8") for path in release.iterdir() if path.is_file())
    assert not any(task.program in public for task in tasks)


@pytest.mark.slow
def test_every_file_has_the_canary_and_prompts_belong_to_tasks(lawtrace: Shell, release: Path) -> None:
    manifest = read_manifest(release)
    assert all(manifest.canary in (release / name).read_text(encoding="utf-8") for name in manifest.files)
    assert manifest.canary != canary_of(manifest.version, manifest.seed + 1)
    file = release / "banking.prompts.jsonl"
    file.write_text(file.read_text(encoding="utf-8").replace("banking-", "bank-"), encoding="utf-8")
    files = {**manifest.files, file.name: file_digest(file)}
    changed_one = manifest.model_copy(update={"files": files}).model_dump_json()
    (release / "manifest.json").write_text(changed_one, encoding="utf-8")
    code, _, err = lawtrace("tasks", "check", release)
    assert (code, "its prompts are not those of the tasks" in err) == (1, True)


@pytest.mark.slow
def test_given_tasks_are_released_as_they_are_and_can_be_run(lawtrace: Shell, release: Path) -> None:
    shutil.copy(release / "references" / "banking.jsonl", "mine.jsonl")
    lawtrace.json("tasks", "release", "--tasks", "mine.jsonl", "--out", "again", "--version", "1.0")
    entry = read_manifest(Path("again")).environments["mine"]
    assert (entry.environment, entry.tasks, entry.writers) == ("banking", 2, {"instructions": "offline"})
    header, *rows = Path("mine.jsonl").read_text(encoding="utf-8").splitlines()
    again, *same = Path("again/references/mine.jsonl").read_text(encoding="utf-8").splitlines()
    assert (same, json.loads(again)["rule_sets"]) == (rows, json.loads(header)["rule_sets"])
    lawtrace.json("tasks", "release", "--tasks", "mine.jsonl", "--current-rules", "--out", "today")
    assert Path("today/references/mine.jsonl").read_text(encoding="utf-8").splitlines()[1:] == rows
    code, _, err = lawtrace("tasks", "release", "--current-rules", "--out", "other")
    assert (code, "name their files with --tasks" in err) == (2, True)
    code, _, err = lawtrace("tasks", "release", "--tasks", "mine.jsonl", "--env", "banking", "--out", "other")
    assert (code, "cannot be combined" in err) == (2, True)
    done = lawtrace.json("run", "--tasks", "again", "--model", "baseline:reference", "--out", "run")
    assert done["outcomes"]["baseline:reference/goal/safe_success"] == 2


@pytest.mark.slow
def test_current_rules_and_code_reproduce_the_newest_release(lawtrace: Shell, tmp_path: Path) -> None:
    out, newest = tmp_path / "release", NEWEST
    paper = [word for name in PAPER_DOMAINS for word in ("--env", name)]
    made = lawtrace.json("tasks", "release", *paper, "--count", 1, "--out", out)
    assert made["tasks"] == dict.fromkeys(PAPER_DOMAINS, 1)
    checked = lawtrace.json("tasks", "check", out, "--out", tmp_path / "quality.jsonl")
    assert checked["tasks"] == len(PAPER_DOMAINS)
    assert all(answers == {"passed": len(PAPER_DOMAINS)} for answers in checked["checks"].values())
    card = (out / "README.md").read_text(encoding="utf-8")
    assert all(f"data_files: {name}.prompts.jsonl" in card for name in PAPER_DOMAINS)
    ours, theirs = read_manifest(out).environments, read_manifest(newest).environments
    changed = [name for name in PAPER_DOMAINS if ours[name].rules_sha256 != theirs[name].rules_sha256]
    assert changed == [], f"rules changed since {newest.name}: release a new version"
    for name in PAPER_DOMAINS:  # more pairs only add lines
        made_tasks = read_task_rows(out / "references" / f"{name}.jsonl").rows
        assert read_task_rows(newest / f"{name}.jsonl").rows[: len(made_tasks)] == made_tasks


@pytest.mark.parametrize("folder", RELEASED, ids=lambda folder: folder.name)
def test_released_sets_are_complete(folder: Path) -> None:
    assert check_release(folder) == []
    manifest = read_manifest(folder)
    assert manifest.version == folder.name
    if manifest.schema_version != "lawtrace.release/2":  # later releases have no rows of quality
        return
    for name, entry in manifest.environments.items():
        quality = read_rows(folder / f"{name}.quality.jsonl", QualityRow)
        assert len(quality) == entry.tasks == 40
        assert all(not row.findings for row in quality)
        assert [row.task for row in quality] == [task.id for task in read_task_rows(folder / f"{name}.jsonl").rows]


def changed(manifest: ReleaseManifest, **of_banking: object) -> ReleaseManifest:
    banking = manifest.environments["banking"].model_copy(update=of_banking)
    return manifest.model_copy(update={"environments": {"banking": banking}})


@pytest.mark.slow
def test_manifest_that_contradicts_the_tasks_is_detected(lawtrace: Shell, release: Path) -> None:
    folder, manifest = release, read_manifest(release)

    def problems(manifest: ReleaseManifest) -> list[str]:
        (folder / "manifest.json").write_text(manifest.model_dump_json(), encoding="utf-8")
        return [problem.what for problem in check_release(folder)]

    assert problems(manifest) == []
    assert problems(changed(manifest, tasks=40)) == ["2 tasks, and the manifest says 40"]
    assert problems(changed(manifest, rules=("authorize",))) == ["its rules are not those in the manifest"] * 2
    assert problems(changed(manifest, rules_sha256="0" * 64)) == ["its rules are not those in the manifest"] * 2
    assert problems(manifest.model_copy(update={"environments": {}})) == ["names no environment"]
    assert problems(manifest.model_copy(update={"files": {}})) == ["the manifest has no SHA-256 of it"] * 5
    file = folder / "references" / "banking.jsonl"
    header, first, _ = file.read_text(encoding="utf-8").splitlines()
    file.write_text(f"{header}\n{first}\n", encoding="utf-8")
    files = {**manifest.files, "references/banking.jsonl": file_digest(file)}
    assert problems(manifest.model_copy(update={"files": files})) == ["1 tasks, and the manifest says 2"]
    file.unlink()
    code, out, err = lawtrace("tasks", "check", folder)
    assert (code, "banking.jsonl: missing" in err) == (1, True)
    assert "0 of 0 tasks pass" in out


@pytest.mark.slow
def test_hugging_face_loads_the_tables(release: Path, tmp_path: Path) -> None:
    datasets: Any = pytest.importorskip("datasets", reason="the package datasets is not installed")
    loaded = datasets.load_dataset(str(release), "banking", cache_dir=str(tmp_path / "cache"))["train"]
    assert loaded.num_rows == 4


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.slow) for folder in RELEASED for path in task_files(folder)],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_the_references_of_a_release_are_safe(path: Path) -> None:
    tasks, domain = read_tasks(path)
    by_id = {task.id: task for task in tasks[:2]}
    programs = [
        Answer(task=task.id, style=style, program=task.program) for task in by_id.values() for style in task.styles
    ]
    with SandboxPool(count=1) as pool:
        attempts = execute_answers(domain.environment, tasks, programs, pool)
    assert [judge(domain.environment, by_id[row.answer.task], row).outcome for row in attempts] == ["safe_success"] * 4


def test_tasks_for_another_version_of_the_environment_are_refused(tmp_path: Path) -> None:
    written = (NEWEST / "banking.jsonl").read_text(encoding="utf-8")
    (tmp_path / "old.jsonl").write_text(written.replace('"environment_version":"2"', '"environment_version":"1"'))
    with pytest.raises(InputError, match="it is for version 1 of 'banking', and here is version 2"):
        read_tasks(tmp_path / "old.jsonl")
