"""Merged shards of a legal run are the files, and the event log, that an undivided run writes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.merging import entry_key
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.schemas.log_entries import ModelCalled
from tests.support.legal.small_cases import BOOK, answer_and_cite
from tests.support.openai_server import OpenAIServer, Status, serving
from tests.support.shell import Shell

RECIPE = """
schema_version = "lawtrace.legal_recipe/1"
models = ["openai:lawyer", "offline"]
contexts = ["F+LR", "AR"]
retrievers = ["bm25"]
depths = [1, 2]
trials = 2
probe_citations = true
"""
OFFLINE = 'retrievers = ["bm25", "released_bm25"]\ndepths = [1, 2]\n'
TEAMS = 'pipeline = "decomposed"\nretrievers = ["bm25"]\ndepths = [2]\ncontexts = ["F+LR", "AR"]\n'

QUESTIONS = sum(len(case.questions) for case in BOOK.cases)


def answer(request: Mapping[str, Any]) -> str:
    """Some replies cannot be used, some cite nothing, and others are probed."""
    system = str(request["messages"][0]["content"])
    if "Letter House" in system:
        return "Perhaps."
    if "zebra" in system:
        return json.dumps({"rationale": "because", "citations": [], "answer": "No"})
    return answer_and_cite(request)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    with serving(answer) as running:
        running.connect(monkeypatch)
        yield running


def command(folder: Path, recipe: str) -> tuple[str, ...]:
    write_rows(folder / "cases.jsonl", BOOK.cases)
    (folder / "legal.toml").write_text(recipe, encoding="utf-8")
    return "legal", "run", "--cases", "cases.jsonl", "--recipe", "legal.toml"


def content(folder: Path) -> Counter[str]:
    """The entries of an event log by key."""
    with EventLogFile.open(folder) as event_log:
        return Counter(map(entry_key, event_log.entries()))


def check_same(merged: Path, whole: Path) -> None:
    """Check that the stage files have the same bytes, and the event logs the same entries."""
    files = sorted(path.name for path in whole.glob("*.jsonl"))
    assert files == sorted(path.name for path in merged.glob("*.jsonl"))
    for name in files:
        assert (merged / name).read_bytes() == (whole / name).read_bytes(), name
    assert content(merged) == content(whole)
    with EventLogFile.open(merged) as ours, EventLogFile.open(whole) as theirs:
        assert ours.recipe == theirs.recipe


@pytest.mark.parametrize("recipe", [OFFLINE, TEAMS], ids=["once", "teams"])
def test_offline_shards_merge_into_the_run(lawtrace: Shell, tmp_path: Path, recipe: str) -> None:
    run = command(tmp_path, recipe)
    whole = lawtrace.json(*run, "--out", "whole")
    for number in (1, 2, 3):
        made = lawtrace.json(*run, "--shard", f"{number}/3", "--out", f"shards/{number}")
        assert (made["shard"], made["unanswered"], made["units"]) == (f"{number}/3", 0, whole["answers"])
    merged = lawtrace.json("merge", *(f"shards/{number}" for number in (3, 1, 2)), "--out", "merged")
    assert merged == {**whole, "run": "merged", "report": "merged/report.html"}
    check_same(tmp_path / "merged", tmp_path / "whole")


def test_shards_against_an_endpoint_merge_with_their_probes(
    lawtrace: Shell, tmp_path: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = command(tmp_path, RECIPE)
    whole = lawtrace.json(*run, "--out", "whole")
    asked = len(server.requests)
    for number in (1, 2):
        lawtrace.json("run", "legal.toml", "--set", "cases=cases.jsonl", "--shard", f"{number}/2", "--out", f"{number}")
    assert len(server.requests) == 2 * asked
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    merged = lawtrace.json("merge", "1", "2", "--out", "merged")
    assert len(server.requests) == 2 * asked
    assert merged == {**whole, "run": "merged", "report": "merged/report.html"}
    assert len((tmp_path / "merged" / "probes.jsonl").read_text(encoding="utf-8").splitlines()) > 2
    check_same(tmp_path / "merged", tmp_path / "whole")


@pytest.mark.slow
def test_answers_and_probes_that_shards_lack_are_asked_again_after_the_merge(
    lawtrace: Shell, tmp_path: Path, server: OpenAIServer
) -> None:
    run = command(tmp_path, RECIPE + "conversation.concurrency = 1\n")
    lawtrace.json(*run, "--out", "whole")
    lawtrace.json(*run, "--shard", "1/2", "--out", "1")
    before = len(server.requests)
    lawtrace.json(*run, "--shard", "2/2", "--out", "complete")
    probes = (tmp_path / "complete" / "probes.jsonl").read_text(encoding="utf-8").count("openai:lawyer")
    answers = len(server.requests) - before - probes
    server.then(Status(400), *[None] * (answers - 1), Status(400))
    code, out, err = lawtrace(*run, "--shard", "2/2", "--out", "2", "--json")
    assert (code, json.loads(out)["unanswered"], "2 replies of a model are missing" in err) == (1, 2, True)
    assert lawtrace("merge", "1", "2", "--out", "merged")[0] == 0  # as a run without all answers ends
    assert "invalid" in (tmp_path / "merged" / "answers.jsonl").read_text(encoding="utf-8")
    assert "invalid" in (tmp_path / "merged" / "probes.jsonl").read_text(encoding="utf-8")
    asked = len(server.requests)
    lawtrace.json("resume", "merged")
    assert len(server.requests) == asked + 3  # the answer, its probe, and the probe that was missing
    for name in ("answers", "probes"):
        merged, whole = tmp_path / "merged" / f"{name}.jsonl", tmp_path / "whole" / f"{name}.jsonl"
        assert merged.read_bytes() == whole.read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills a process as POSIX systems do")
def test_a_shard_that_was_killed_is_resumed_as_a_shard(lawtrace: Shell, tmp_path: Path, server: OpenAIServer) -> None:
    run = command(tmp_path, RECIPE.replace("probe_citations = true", "conversation.concurrency = 1"))
    slow = "import sys; sys.argv[0] = 'lawtrace'; from lawtrace.runs.cli import main; main()"
    words = [sys.executable, "-c", slow, *run, "--shard", "2/2", "--out", "2"]
    process = subprocess.Popen(words, cwd=tmp_path, env={**os.environ, **server.environment}, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(server.requests) < 5 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    lawtrace.json(*run, "--shard", "1/2", "--out", "1")
    code, _, err = lawtrace("merge", "1", "2")
    assert (code, "2/answers.jsonl (shard 2/2): not finished" in err) == (2, True)
    code, _, err = lawtrace("resume", "2", "--on", "ray")
    assert (code, "use one of them" in err) == (2, True)
    assert lawtrace.json("resume", "2")["shard"] == "2/2"
    with EventLogFile.open(tmp_path / "2") as event_log:
        calls = Counter(
            (entry.request_hash, entry.context.conversation_id)
            for entry in event_log.entries(kind="model_call")
            if isinstance(entry, ModelCalled) and entry.paid
        )
    assert max(calls.values()) == 1
    lawtrace.json("merge", "1", "2", "--out", "merged")
    lawtrace.json(*run, "--out", "whole")
    for name in ("cases", "dataset_issues", "retrieved", "answers"):
        merged, whole = tmp_path / "merged" / f"{name}.jsonl", tmp_path / "whole" / f"{name}.jsonl"
        assert merged.read_bytes() == whole.read_bytes()


def test_vectors_of_an_endpoint_are_asked_for_by_the_first_shard(
    lawtrace: Shell, tmp_path: Path, server: OpenAIServer
) -> None:
    run = command(tmp_path, 'retrievers = ["embedding"]\ndepths = [1]\nembedding = "openai:vectors"\n')
    lawtrace.json(*run, "--out", "whole")
    asked = len(server.requests)
    code, _, err = lawtrace(*run, "--shard", "2/2", "--out", "early")
    assert (code, "finish shard 1 first" in err, len(server.requests)) == (2, True, asked)
    lawtrace.json(*run, "--shard", "1/2", "--out", "1")
    lawtrace.json(*run, "--shard", "2/2", "--reuse", "1", "--out", "2")
    assert len(server.requests) == 2 * asked
    lawtrace.json("merge", "1", "2", "--out", "merged")
    check_same(tmp_path / "merged", tmp_path / "whole")


def test_teams_that_share_vectors_of_an_endpoint_have_no_shards(lawtrace: Shell, tmp_path: Path) -> None:
    run = command(tmp_path, 'pipeline = "decomposed"\nembedding = "openai:vectors"\n')
    code, _, err = lawtrace(*run, "--shard", "1/2", "--out", "1")
    assert (code, "--shard: teams share the vectors" in " ".join(err.split())) == (2, True)


def test_shards_are_not_divided_among_workers_too(lawtrace: Shell, tmp_path: Path) -> None:
    run = command(tmp_path, OFFLINE)
    code, _, err = lawtrace(*run, "--shard", "1/2", "--on", "ray", "--out", "1")
    assert (code, "use one of them" in err, (tmp_path / "1").exists()) == (2, True, False)


def test_a_budget_is_shared_by_the_shards(lawtrace: Shell, tmp_path: Path, server: OpenAIServer) -> None:
    run = (*command(tmp_path, 'models = ["openai:lawyer"]\nretrievers = ["bm25"]\n'), "--budget", "messages=4")
    for number in (1, 2):
        code, _, err = lawtrace(*run, "--shard", f"{number}/2", "--out", f"{number}")
        assert (code, "budget of 2 messages" in err) == (3, True)
    assert len(server.requests) == 4


def test_shards_that_do_not_belong_together_are_refused(lawtrace: Shell, tmp_path: Path) -> None:
    run = command(tmp_path, 'retrievers = ["bm25"]\ndepths = [1]\n')
    for number in (1, 2):
        lawtrace.json(*run, "--shard", f"{number}/2", "--out", f"{number}")
    lawtrace.json(*run, "--set", "probe_citations=true", "--shard", "2/2", "--out", "probed")
    lawtrace.json(*run, "--set", "depths=[2]", "--shard", "2/2", "--out", "deeper")
    for words, complaint in {
        ("1",): "2 is missing; run `lawtrace legal run --shard 2/2`",
        ("1", "2", "2"): "are both shard 2/2",
        ("1", "probed"): "is of another job",
        ("1", "deeper"): "is of another job",
        ("1", "2", "--fail-under", "0.5"): "--fail-under has no meaning for shards of `lawtrace legal run`",
    }.items():
        code, _, err = lawtrace("merge", *words, "--out", "merged")
        assert (code, complaint in " ".join(err.split())) == (2, True), err
        assert not (tmp_path / "merged").exists()
    lost = tmp_path / "2" / "events.sqlite"
    for file in (lost, tmp_path / "1" / "retrieved.jsonl"):
        file.rename(tmp_path / "lost")
        code, _, err = lawtrace("merge", "1", "2", "--out", "merged")
        assert (code, f"{file.name} is missing" in err or f"{file.name}: missing" in err) == (2, True)
        assert not (tmp_path / "merged").exists()
        (tmp_path / "lost").rename(file)
    lawtrace.json("merge", "1", "2", "--out", "merged")
    code, _, err = lawtrace("merge", "1", "2", "--out", "merged")
    assert (code, "has the event log of a run" in " ".join(err.split())) == (2, True)
    code, _, err = lawtrace("report", "1")
    assert (code, "only shard 1/2 of a run" in " ".join(err.split())) == (2, True)
    with (tmp_path / "2" / "answers.jsonl").open("a", encoding="utf-8") as rows:
        rows.write("{}\n")
    code, _, err = lawtrace("merge", "1", "2", "--out", "merged")
    assert (code, "changed since it was made" in " ".join(err.split())) == (2, True)
    lawtrace.json(*run, "--set", "probe_citations=true", "--shard", "1/2", "--out", "first")
    (tmp_path / "probed" / "probes.jsonl").unlink()
    code, _, err = lawtrace("merge", "first", "probed", "--out", "merged")
    assert (code, "probes.jsonl: missing" in " ".join(err.split())) == (2, True)
