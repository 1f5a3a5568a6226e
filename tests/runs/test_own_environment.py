"""Runs, task files and reports with a user's own environment, given by name or folder."""

import json
import shutil
from pathlib import Path

import pytest

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.solver.declarations import loader
from lawtrace.solver.declarations.loader import Domain, load_domain, load_folder
from tests.support.shell import Shell

RECIPE = """
environment = "../mine"
[tasks]
count = 1
spare = 0
[attempts]
models = ["baseline:reference"]
baselines = false
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """Banking under another name, in its own folder."""
    folder = tmp_path / "mine"
    folder.mkdir()
    banking = load_domain("banking")
    (folder / "__init__.py").write_text(
        "from dataclasses import replace\n"
        "from lawtrace.environments.domains.banking import ENVIRONMENT as BANKING\n"
        'ENVIRONMENT = replace(BANKING, name="mine")\n'
    )
    for name in ("regulation.toml", "manual.toml", "rules.toml"):
        shutil.copy(banking.folder / name, folder)
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "mine.toml").write_text(RECIPE)
    return folder


@pytest.mark.slow
def test_a_merge_needs_the_environment_and_records_the_recipe_of_the_shards(
    lawtrace: Shell, mine: Path, tmp_path: Path
) -> None:
    lawtrace.json("run", "recipes/mine.toml", "--shard", "1/1", "--out", "1")
    lawtrace.json("traces", "synthesize", "--env", "./mine", "--count", 1, "--shard", "1/1", "--out", "traces.jsonl")
    rules = (mine / "rules.toml").read_text()
    (mine / "rules.toml").write_text(f"{rules}# changed")
    for shard in ("1", "traces.jsonl"):
        for env, said in (("./none", "folder not found"), ("./mine", "'mine' has changed")):
            code, _, err = lawtrace("merge", shard, "--env", env, "--out", "merged")
            assert (code, said in " ".join(err.split())) == (2, True)
    assert not (tmp_path / "merged").exists()
    (mine / "rules.toml").write_text(rules)
    lawtrace.json("merge", "1", "--env", "./mine", "--out", "merged")
    with EventLogFile.open(tmp_path / "1") as shard, EventLogFile.open(tmp_path / "merged") as merged:
        assert merged.recipe == shard.recipe


@pytest.mark.slow
def test_a_run_from_a_recipe_and_later_commands(lawtrace: Shell, mine: Path, tmp_path: Path) -> None:
    done = lawtrace.json("run", "recipes/mine.toml", "--out", "run")
    assert done["outcomes"] == {
        "baseline:reference/goal/safe_success": 1,
        "baseline:reference/workflow/safe_success": 1,
    }
    for command in ("report", "resume", "grade"):
        code, _, err = lawtrace(command, "run")
        assert (code, "--env" in err) == (2, True), command
        lawtrace.json(command, "run", "--env", "./mine")
    attempt = ("run", "--tasks", "run", "--model", "baseline:literal")
    code, _, err = lawtrace(*attempt)
    assert (code, "say where its folder is: --env ./mine" in " ".join(err.split())) == (2, True)
    lawtrace.json(*attempt, "--env", "./mine")
    code, _, err = lawtrace(*attempt, "--env", "banking")
    assert (code, "'mine', not about 'banking'" in " ".join(err.split())) == (2, True)
    moved = tmp_path / "moved"
    mine.rename(moved)
    assert "folder not found" in " ".join(lawtrace("grade", "run", "--env", "./mine")[2].split())
    lawtrace.json("grade", "run", "--env", "./moved", "--force")


@pytest.mark.slow
def test_a_run_loads_the_environment_once(lawtrace: Shell, mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Path] = []

    def load(folder: Path) -> Domain:
        loaded.append(folder)
        return load_folder(folder)

    monkeypatch.setattr(loader, "load_folder", load)
    lawtrace.json("run", "recipes/mine.toml", "--out", "run")
    assert [folder.resolve() for folder in loaded] == [mine]


def test_an_error_in_populate_prevents_the_run(lawtrace: Shell, mine: Path, tmp_path: Path) -> None:
    with (mine / "__init__.py").open("a") as declaration:
        declaration.write("def populate(random):\n    1 / 0\nENVIRONMENT = replace(ENVIRONMENT, populate=populate)\n")
    code, _, err = lawtrace("run", "recipes/mine.toml", "--out", "run")
    assert (code, "__init__.py, line 5: ZeroDivisionError" in " ".join(err.split())) == (2, True)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_run_with_a_changed_declaration_cannot_be_resumed(lawtrace: Shell, mine: Path) -> None:
    lawtrace.json("run", "recipes/mine.toml", "--out", "run")
    with (mine / "__init__.py").open("a") as file:
        file.write("# changed\n")
    code, _, err = lawtrace("resume", "run", "--env", "./mine")
    assert (code, "the declaration of 'mine' has changed" in " ".join(err.split())) == (2, True)
    lawtrace.json("report", "run", "--env", "./mine")
    assert "has changed since this run" in Path("run/report.html").read_text()


@pytest.mark.slow
def test_the_command_line_option_overrides_the_recipe(lawtrace: Shell, mine: Path, tmp_path: Path) -> None:
    recipe = (tmp_path / "recipes" / "mine.toml").read_text().replace("../mine", "banking")
    (tmp_path / "recipes" / "mine.toml").write_text(recipe)
    lawtrace.json("run", "recipes/mine.toml", "--env", "./mine", "--out", "run")
    assert '"environment":"mine"' in (tmp_path / "run" / "tasks.jsonl").read_text()


def test_a_recipe_rejects_absolute_paths(lawtrace: Shell, mine: Path, tmp_path: Path) -> None:
    path = tmp_path / "recipes" / "mine.toml"
    path.write_text(path.read_text().replace("../mine", str(mine)))
    code, _, err = lawtrace("run", "recipes/mine.toml")
    assert (code, "an absolute path" in " ".join(err.split())) == (2, True)


def test_a_recipe_may_pin_the_declaration(lawtrace: Shell, mine: Path, tmp_path: Path) -> None:
    path = tmp_path / "recipes" / "mine.toml"
    path.write_text(f'declaration = "{"0" * 64}"\n{path.read_text()}')
    code, _, err = lawtrace("run", "recipes/mine.toml")
    assert (code, "has changed (was 000000000000" in " ".join(err.split())) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("rules", "check"),
        ("traces", "synthesize", "--count", 1, "--out", "traces.jsonl"),
        ("traces", "coverage", "--length", 5, "--count", 2),
    ],
)
def test_every_stage_accepts_a_folder(lawtrace: Shell, mine: Path, words: tuple[object, ...]) -> None:
    lawtrace.json(*words, "--env", "./mine")
    lawtrace.json(*words, "--env", str(mine), *(("--force",) if "--out" in words else ()))


@pytest.mark.slow
def test_findings_of_env_check_name_the_place(lawtrace: Shell, mine: Path) -> None:
    assert lawtrace.json("env", "check", "./mine") == {
        "environment": "mine",
        "findings": [],
        "undecided": [],
        "unseen": [],
    }
    assert lawtrace("env", "check", "./mine")[1].strip() == "No findings for mine."
    rules = (mine / "rules.toml").read_text()
    (mine / "rules.toml").write_text(rules.replace('provisions = ["Article 97(1)(a)"]', "", 1))
    code, out, _ = lawtrace("env", "check", "./mine")
    assert (code, "cites no provision of PSD2" in " ".join(out.split())) == (1, True)
    code, out, _ = lawtrace("env", "check", "./mine", "--json")
    assert code == 1
    findings = json.loads(out.splitlines()[-1])["findings"]
    assert [finding["place"] for finding in findings] == ["rule 'authorize-before-statement'"]
    assert all(finding["remedy"] for finding in findings)
