"""Broken input files: each fault is reported with file and row and counts as invalid; the other rows are judged."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.schemas.recipe import AttemptOptions, Recipe, RuleOptions, TaskOptions
from tests.support.runs import run_recipe
from tests.support.shell import Shell


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    folder = RunFolder(tmp_path_factory.mktemp("bad") / "run")
    recipe = Recipe(
        rules=RuleOptions(),
        tasks=TaskOptions(count=2, spare=1, length=5),
        attempts=AttemptOptions(baselines=False, models=("baseline:reference", "baseline:noop")),
    )
    with EventLogFile.create(folder.path, recipe=recipe.model_dump(mode="json")) as event_log:
        asyncio.run(run_recipe(recipe, event_log))
    return folder


@pytest.fixture
def run(walked: RunFolder, tmp_path: Path) -> RunFolder:
    """A copy of a run that a test may change: two pairs, two models, eight attempts."""
    shutil.copytree(walked.path, tmp_path / "run")
    return RunFolder(tmp_path / "run")


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines(keepends=True)


def found(lawtrace: Shell, *words: object) -> tuple[dict[str, Any], str]:
    """The JSON of a command that exits with findings, and its standard error on one line."""
    code, out, err = lawtrace(*words, "--json")
    assert code == 1, err
    return json.loads(out.splitlines()[-1]), " ".join(err.split())


def test_broken_program_files(lawtrace: Shell, run: RunFolder, tmp_path: Path) -> None:
    task = json.loads(lines_of(run.tasks)[1])
    good = {"task": task["id"], "style": "goal", "program": task["program"], "model": "m"}
    rows = [
        json.dumps(good),
        json.dumps({**good, "style": "workflow", "program": None}),  # no code: judged, and no program
        json.dumps({**good, "task": "another"}),
        json.dumps(good),  # a second time
        json.dumps({"task": task["id"], "style": "goal"}),  # without the field
        json.dumps([1, 2]),
        json.dumps({**good, "style": "poem"}),
        json.dumps(good)[:40],  # cut off
    ]
    (tmp_path / "programs.jsonl").write_text("\n".join(rows))
    result, err = found(lawtrace, "grade", "--tasks", run.tasks, "--programs", "programs.jsonl")
    assert result["verdicts"] == 2
    assert result["outcomes"]["safe_success"] == result["outcomes"]["no_program"] == 1
    assert result["outcomes"]["invalid"] == 6
    for number, complaint in (
        (3, "no task 'another'"),
        (4, "the same attempt"),
        (5, "field 'program'"),
        (6, "object"),
        (7, "field 'style'"),
        (8, "JSON"),
    ):
        (line,) = [line for line in result["unusable"] if f"programs.jsonl, line {number}:" in line]
        assert complaint in line
        assert line in err


def test_truncated_published_record(lawtrace: Shell, run: RunFolder, tmp_path: Path) -> None:
    task = json.loads(lines_of(run.tasks)[1])["id"]
    row = {"trace_id": task, "prompt_type": "goal", "model_used": "m", "generated_code": "pass"}
    verdict = {"status": "FAIL", "reason": ""}
    rows: list[Any] = [
        {**row, "evaluation": verdict},
        row,
        "text",
        {**row, "prompt_type": "workflow", "evaluation": verdict},
    ]
    (tmp_path / "record.json").write_text(json.dumps(rows)[:-30])
    result, _ = found(lawtrace, "grade", "--tasks", run.tasks, "--programs", "record.json")
    assert (result["verdicts"], result["outcomes"]["invalid"]) == (1, 3)
    for number, complaint in ((2, "evaluation"), (3, "not an object"), (4, "broken JSON")):
        assert any(f"record.json, row {number}:" in line and complaint in line for line in result["unusable"])
    (tmp_path / "record.json").write_text('[{"trace_id": ')
    code, _, err = lawtrace("grade", "--tasks", run.tasks, "--programs", "record.json")
    assert (code, "record.json, row 1: broken JSON" in " ".join(err.split())) == (2, True)


def test_broken_run_files(lawtrace: Shell, run: RunFolder) -> None:
    verdicts = lines_of(run.verdicts)
    foreign = json.dumps({**json.loads(verdicts[1]), "task": "another"}) + "\n"
    run.verdicts.write_text("".join([*verdicts[:1], foreign, *verdicts[2:-1], verdicts[0], verdicts[-1][:50]]))
    result, _ = found(lawtrace, "report", run.path)
    assert [line.partition(": ")[0].rpartition(", ")[2] for line in result["unusable"]] == [
        "line 9",
        "line 2",
        "line 8",
    ]
    page = run.report.read_text(encoding="utf-8")
    assert "3 rows could not be used. They count as invalid" in page
    assert "no task &#39;another&#39;" in page
    code, out, _ = lawtrace("report", run.path)
    assert code == 1
    assert "8 attempts planned: 6 judged" in out
    assert "0 invalid, 2 missing; also invalid: 3 unusable rows" in " ".join(out.split())
    compared, err = found(lawtrace, "compare", run.path, "--model", "baseline:reference", "--against", "baseline:noop")
    assert len(compared["problems"]) == 3
    assert "verdicts.jsonl, line 2: no task 'another'" in err
    attempts = lines_of(run.attempts)
    run.attempts.write_text("".join(attempts[:-1]) + attempts[-1][:80])
    again, _ = found(lawtrace, "grade", run.path)
    assert (again["verdicts"], again["outcomes"]["invalid"]) == (7, 1)


def test_broken_task_files(lawtrace: Shell, run: RunFolder, tmp_path: Path) -> None:
    header, first, second = lines_of(run.tasks)
    rows = [header, first, first, second.replace('"payees":', '"payes":'), '{"id": "foreign"}\n', second[:90]]
    (tmp_path / "tasks.jsonl").write_text("".join(rows))
    result, err = found(lawtrace, "tasks", "check", "tasks.jsonl")
    assert (result["tasks"], result["passed"], len(result["invalid"])) == (1, 1, 4)
    for number, complaint in ((3, "occurs twice"), (4, "payes"), (5, "environment"), (6, "JSON")):
        assert any(f"tasks.jsonl, line {number}" in line and complaint in line for line in result["invalid"])
    assert "tasks.jsonl, line 3" in err


def test_broken_transcript_files(lawtrace: Shell, tmp_path: Path) -> None:
    call = {"conversation": "1", "tool": "CheckAuthorization", "arguments": {}, "result": {"authorized": True}}
    rows = [json.dumps(call), json.dumps({**call, "conversation": "2", "tool": "LaunchRocket"}), '{"conversation": "3"']
    (tmp_path / "log.jsonl").write_text("\n".join(rows))
    result, err = found(lawtrace, "audit", "log.jsonl")
    assert result["outcomes"] == {"lawful": 1, "invalid": 2}
    assert "LaunchRocket, unknown in banking" in err
    assert "log.jsonl, line 2" in err
    assert "log.jsonl, line 3" in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("resume run --env airline", "its environment is banking, built in; leave out --env airline"),
        ("messages run --stage attempt", "no stage 'attempt'; there is attempts"),
        ("messages run --style goals", "no style 'goals'; there is goal, workflow"),
        ("messages run --role evaluator", "no role 'evaluator'; there is"),
        ("messages run --model literal", "no model 'literal'; there is baseline:noop, baseline:reference"),
        ("messages run --variant 3", "no variant '3'; there is none"),
        ("messages run --trial 9", "no trial '9'; there is 0"),
        (f"messages run --message {9:0<5000}", "no message has the id '9000"),
        ("messages run --verdict unsafe", "unknown outcome 'unsafe'; choose one of safe_success"),
        ("messages run --rule nosuch", "broken or undetermined rules: "),
        ("compare run run", "run is given twice"),
        ("compare run --model noop --against baseline:reference", "no verdict on noop; it has baseline:reference"),
    ],
)
def test_what_a_run_does_not_have_is_answered_with_what_it_has(
    lawtrace: Shell, run: RunFolder, monkeypatch: pytest.MonkeyPatch, words: str, says: str
) -> None:
    monkeypatch.chdir(run.path.parent)
    code, _, err = lawtrace(*words.split())
    assert (code, says in " ".join(err.split())) == (2, True), err


def test_reports_go_on_after_an_unfinished_run(lawtrace: Shell, run: RunFolder, tmp_path: Path) -> None:
    shutil.copytree(run.path, tmp_path / "stopped")
    (tmp_path / "stopped" / "verdicts.jsonl").unlink()
    made = lawtrace.json("report", tmp_path / "stopped", run.path)
    assert made["reports"] == [str(run.report)]
    assert made["unfinished"] == [str(tmp_path / "stopped")]
