"""Merged shards are the files, and the event log, that one process writes with the same seed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.audit.options import AuditOptions
from lawtrace.runs.cli.audit import audit
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.merging import entry_key
from lawtrace.runs.store.stage_files import file_digest
from tests.support.openai_server import Status, serving
from tests.support.shell import Shell, run_command

RECIPE = """
[rules]

[tasks]
count = 3
spare = 1

[attempts]
models = ["openai:tester"]
trials = 2
"""


def answer(request: Mapping[str, Any]) -> str:
    return "```python\npass\n```"


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tasks")
    run_command(folder, "tasks", "build", "--set", "tasks.count=3", "--set", "tasks.spare=1", "--out", "tasks.jsonl")
    return folder / "tasks.jsonl"


def content(folder: Path) -> list[str]:
    """The event log by key."""
    with EventLogFile.open(folder) as event_log:
        return sorted(map(entry_key, event_log.entries()))


def rows(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_shards_with_other_options_are_foreign(lawtrace: Shell, tasks: Path) -> None:
    command = ("run", "--tasks", tasks, "--model", "baseline:noop")
    lawtrace.json(*command, "--shard", "1/2", "--out", "1")
    lawtrace.json(*command, "--set", "attempts.seconds=3", "--shard", "2/2", "--out", "2")
    code, _, err = lawtrace("merge", "1", "2")
    assert (code, "is of another job" in err) == (2, True)
    code, _, err = lawtrace("merge", "2")
    assert (code, "1 is missing" in err) == (2, True)


def test_an_answer_that_a_shard_lacks_is_asked_again_after_the_merge(
    lawtrace: Shell, tasks: Path, tmp_path: Path
) -> None:
    command = ("run", "--tasks", tasks, "--model", "openai:tester")
    with serving(answer) as server, pytest.MonkeyPatch.context() as patch:
        server.connect(patch)
        lawtrace.json(*command, "--shard", "1/2", "--out", "shards/1")
        server.then(Status(400))
        assert lawtrace(*command, "--shard", "2/2", "--out", "shards/2")[0] == 1
        lawtrace("merge", "shards", "--out", "merged")
        asked = len(server.requests)
        lawtrace.json("resume", "merged")
        assert len(server.requests) == asked + 1
        lawtrace.json(*command, "--out", "whole")
    assert (tmp_path / "merged/attempts.jsonl").read_bytes() == (tmp_path / "whole/attempts.jsonl").read_bytes()


@pytest.mark.slow
def test_shards_of_a_run_merge_into_the_run(lawtrace: Shell, tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    with serving(answer) as server, pytest.MonkeyPatch.context() as patch:
        server.connect(patch)
        whole = lawtrace.json("run", "recipe.toml", "--out", "whole")
        for number in (1, 2):
            lawtrace.json("run", "recipe.toml", "--shard", f"{number}/2", "--out", f"runs/{number}")
        lawtrace.json("merge", "runs/1", "runs/2", "--out", "merged")
    files = [path.name for path in (tmp_path / "whole").glob("*.jsonl")]
    assert whole["attempts"] == len(rows(tmp_path / "merged" / "attempts.jsonl"))
    for file in files:
        assert (tmp_path / "merged" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes(), file
    assert content(tmp_path / "merged") == content(tmp_path / "whole")
    assert (tmp_path / "merged" / "report.html").exists()


@pytest.mark.slow
def test_only_the_first_shard_has_tasks_written_by_a_model(lawtrace: Shell, tmp_path: Path) -> None:
    recipe = f"{RECIPE}[models]\ninstruction_generator = 'openai:writer'\n"
    (tmp_path / "recipe.toml").write_text(recipe, encoding="utf-8")
    with serving(answer) as server, pytest.MonkeyPatch.context() as patch:
        server.connect(patch)
        code, _, err = lawtrace("run", "recipe.toml", "--shard", "2/2", "--out", "2")
        assert (code, "finish shard 1 first" in err) == (2, True)
        assert server.requests == []


def test_resume_continues_a_shard_as_a_shard(lawtrace: Shell, tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE.replace('"openai:tester"', '"baseline:noop"'), encoding="utf-8")
    made = lawtrace.json("run", "recipe.toml", "--shard", "2/2", "--out", "2")
    before = rows(tmp_path / "2" / "attempts.jsonl")
    assert lawtrace.json("resume", "2")["units"] == made["units"]
    assert rows(tmp_path / "2" / "attempts.jsonl") == before
    code, out, _ = lawtrace("report", "2")
    missing = f"{made['units'] - made['attempts']} of {made['units']} attempts are missing. `lawtrace merge` joins"
    assert (code, f"This is shard 2/2 of a run: {missing}" in " ".join(out.split())) == (0, True), out


def test_a_budget_is_shared_by_the_shards(lawtrace: Shell, tasks: Path) -> None:
    command = ("run", "--tasks", tasks, "--model", "openai:tester", "--budget", "messages=4")
    with serving(answer) as server, pytest.MonkeyPatch.context() as patch:
        server.connect(patch)
        for number in (1, 2):
            code, _, err = lawtrace(*command, "--shard", f"{number}/2", "--out", f"{number}")
            assert (code, "budget of 2 messages" in err) == (3, True)
        assert len(server.requests) == 4


def test_shards_of_an_audit_merge_into_the_audit(lawtrace: Shell, tmp_path: Path) -> None:
    call = {"name": "PayBill", "arguments": "{}"}
    with (tmp_path / "log.jsonl").open("w", encoding="utf-8") as log:
        for number in range(7):
            said: list[dict[str, object]] = [{"role": "user", "content": f"Pay bill {number}."}]
            if number % 3:
                said.append({"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": call}]})
            log.write(json.dumps({"id": f"c{number}", "messages": said, "reward": number % 2}) + "\n")
    command = ("audit", "log.jsonl", "--format", "csv")
    assert lawtrace("audit", "none.jsonl", "--shard", "1/3", "--out", "shards/1.jsonl")[0] == 2
    whole = lawtrace(*command, "--out", "whole.jsonl", "--json")
    for number in (1, 2, 3):
        lawtrace.json(*command, "--shard", f"{number}/3", "--out", f"shards/{number}.jsonl")
    merged = lawtrace("merge", "shards", "--out", "merged.jsonl", "--json")
    assert merged[0] == whole[0]
    assert merged[1].replace("merged", "whole") == whole[1]
    assert (tmp_path / "merged.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert (tmp_path / "merged.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    with (tmp_path / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps({"id": "c7", "messages": [{"role": "user", "content": "More."}]}) + "\n")
    lawtrace.json(*command, "--shard", "3/3", "--out", "shards/3.jsonl", "--force")
    code, _, err = lawtrace("merge", "shards", "--out", "other.jsonl")
    assert (code, "is of another job" in err) == (2, True)


def test_an_audit_keeps_all_arguments_for_its_merge() -> None:
    signature = audit
    given = {*signature.__annotations__} - {"return", "shard", "on", "out", "force", "as_json", "verify", "model"}
    assert {*AuditOptions.model_fields} == given


def test_shards_of_traces_merge_into_all_traces(lawtrace: Shell, tmp_path: Path) -> None:
    command = ("traces", "synthesize", "--count", 8, "--set", "tasks.part_size=3")
    whole = lawtrace.json(*command, "--out", "whole.jsonl")
    made = [
        lawtrace.json(*command, "--shard", f"{number}/2", "--out", f"shards/{number}.jsonl")["traces"]
        for number in (1, 2)
    ]
    assert made == [5, 3]
    assert lawtrace.json("merge", "shards", "--out", "merged.jsonl") == {**whole, "out": "merged.jsonl"}
    assert (tmp_path / "merged.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    code, _, err = lawtrace(*command, "--shard", "1/4", "--out", "4.jsonl")
    assert (code, "there are only 3 parts; a part has 3 traces" in err) == (2, True)
    code, _, err = lawtrace(*command, "--set", "tasks.part_size=1", "--shard", "1/9", "--out", "9.jsonl")
    assert (code, err.strip()) == (2, "lawtrace: --shard 1/9: there are only 8 parts; a part has 1 trace")
    extracted = ("--set", "rules.source=extracted", "--set", "models.policy_extractor=openai:some")
    code, _, err = lawtrace(*command, *extracted, "--shard", "1/2", "--out", "x.jsonl")
    assert (code, "each shard would extract rules of its own" in err) == (2, True)
    lawtrace.json(
        "traces", "synthesize", "--count", 9, "--set", "tasks.part_size=3", "--shard", "2/2", "--out", "2.jsonl"
    )
    code, _, err = lawtrace("merge", "shards/1.jsonl", "2.jsonl", "--out", "other.jsonl")
    assert (code, "is of another job" in err) == (2, True)


def test_a_shard_of_traces_that_lacks_a_row_is_refused(lawtrace: Shell, tmp_path: Path) -> None:
    command = ("traces", "synthesize", "--count", 4, "--set", "tasks.part_size=2")
    for number in (1, 2):
        lawtrace.json(*command, "--shard", f"{number}/2", "--out", f"shards/{number}.jsonl")
    file, record = tmp_path / "shards" / "1.jsonl", tmp_path / "shards" / "1.shard.json"
    file.write_text(rows(file)[0] + "\n", encoding="utf-8")
    kept = json.loads(record.read_text(encoding="utf-8"))
    record.write_text(json.dumps({**kept, "sha256": file_digest(file)}), encoding="utf-8")
    code, _, err = lawtrace("merge", "shards", "--out", "merged.jsonl")
    assert (code, "has fewer rows than its 1 units" in err) == (2, True)
    assert not (tmp_path / "merged.jsonl").exists()
