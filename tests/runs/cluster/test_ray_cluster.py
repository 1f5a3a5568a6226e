"""Commands on a Ray cluster of two workers: the files and the event log of one process."""

import pickle
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.stages.evaluate import prepare_execution
from lawtrace.runs.stages.stage_job import StageJob
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.attempt_rows import Answer, Attempt
from lawtrace.schemas.recipe import Recipe
from tests.support.openai_server import OpenAIServer, calling, serving
from tests.support.playing import play
from tests.support.ray_cluster import log_content, ray_workers
from tests.support.shell import Shell

pytest.importorskip("ray", reason="needs the extra lawtrace[ray]")

pytestmark = [pytest.mark.slow, pytest.mark.integration]

TURNS = 3
RUN = """
[tasks]
count = 2
spare = 1
part_size = 2

[models]
instruction_generator = "openai:writer"

[attempts]
models = ["openai:tester"]
baselines = true
mode = "{mode}"
"""
KEY = "sk-only-in-the-environment"


def answer(request: Mapping[str, Any]) -> str | Mapping[str, Any]:
    """Calls a tool in each turn but the last; the answer depends on the request only."""
    if request["model"] == "writer":
        return play(request)
    turns = sum(message["role"] == "assistant" for message in request["messages"])
    return calling(("CheckAuthorization", {}), saying=f"turn {turns}") if turns < TURNS else "Done."


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with serving(answer) as running:
        yield running


@pytest.fixture(scope="module")
def cluster(server: OpenAIServer) -> Iterator[None]:
    with ray_workers({**server.environment, "OPENAI_API_KEY": KEY}):
        yield


def content(folder: Path) -> list[str]:
    with EventLogFile.open(folder) as event_log:
        return log_content(event_log)


def stage_files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.jsonl"))}


@pytest.mark.parametrize("mode", ["program", "tools"])
def test_a_run_and_its_resumption_write_what_one_process_writes(
    cluster: None, server: OpenAIServer, lawtrace: Shell, tmp_path: Path, mode: str
) -> None:
    (tmp_path / "run.toml").write_text(RUN.format(mode=mode), encoding="utf-8")
    before = len(server.requests)
    lawtrace.json("run", "run.toml", "--out", "whole")
    asked = len(server.requests) - before
    lawtrace.json("run", "run.toml", "--on", "ray", "--out", "cluster")
    assert len(server.requests) == before + 2 * asked
    assert stage_files(tmp_path / "cluster") == stage_files(tmp_path / "whole")
    assert content(tmp_path / "cluster") == content(tmp_path / "whole")
    for file in (tmp_path / "cluster").rglob("*"):
        assert file.is_dir() or KEY.encode() not in file.read_bytes()
    code, _, err = lawtrace("run", "run.toml", "--budget", f"messages={asked - 1}", "--on", "ray", "--out", "stopped")
    assert (code, "is used up" in err) == (3, True)
    lawtrace.json("resume", "stopped", "--budget", f"messages={asked}", "--on", "ray")
    assert len(server.requests) == before + 3 * asked
    assert stage_files(tmp_path / "stopped") == stage_files(tmp_path / "whole")
    assert (tmp_path / "stopped" / "report.html").exists()


def test_variants_are_those_of_one_process(cluster: None, lawtrace: Shell, tmp_path: Path) -> None:
    axes = '[ablation]\n"attempts.shield" = ["off", "refuse"]\n'
    (tmp_path / "run.toml").write_text(RUN.format(mode="program") + axes, encoding="utf-8")
    lawtrace.json("run", "run.toml", "--out", "whole")
    lawtrace.json("run", "run.toml", "--on", "ray", "--out", "cluster")
    for folder in (".", "variants/01", "variants/02"):
        assert stage_files(tmp_path / "cluster" / folder) == stage_files(tmp_path / "whole" / folder)
    assert content(tmp_path / "cluster") == content(tmp_path / "whole")


def test_synthesized_traces_are_those_of_one_process(cluster: None, lawtrace: Shell, tmp_path: Path) -> None:
    command = ("traces", "synthesize", "--count", 11, "--set", "tasks.part_size=3")
    whole = lawtrace.json(*command, "--out", "whole.jsonl")
    on_ray = lawtrace.json(*command, "--on", "ray", "--out", "cluster.jsonl")
    assert {**on_ray, "out": ""} == {**whole, "out": ""}
    assert (tmp_path / "cluster.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    no_trace = ("--set", "tasks.length=2", "--require", "TransferFunds", "--require", "PayBill")
    for on in ((), ("--on", "ray")):
        code, _, err = lawtrace(*command, *no_trace, *on, "--out", "none.jsonl")
        assert (code, "no compliant trace of 2 calls exists" in err) == (3, True)


def test_no_key_is_in_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    job: StageJob[Answer, Attempt] = StageJob(Recipe().model_dump(mode="json"), (), prepare_execution)
    assert KEY.encode() not in pickle.dumps((job, Recipe().call_options))
