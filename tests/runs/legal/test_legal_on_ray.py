"""A legal run on a Ray cluster of two workers: the files and the event log of one process."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import write_rows
from tests.support.legal.small_cases import BOOK
from tests.support.openai_server import OpenAIServer, serving
from tests.support.ray_cluster import log_content, ray_workers
from tests.support.shell import Shell

pytest.importorskip("ray", reason="needs the extra lawtrace[ray]")

pytestmark = [pytest.mark.slow, pytest.mark.integration]

RECIPE = """
models = ["openai:lawyer"]
contexts = ["F+LR", "AR"]
retrievers = ["bm25"]
depths = [1, 2]
trials = 2
probe_citations = true
"""


def answer(request: Mapping[str, Any]) -> str:
    """Some replies cannot be used, and are asked for once more."""
    system = str(request["messages"][0]["content"])
    if "Letter House" in system:
        return "Perhaps."
    return json.dumps({"rationale": "because", "citations": [], "answer": "A. Article 33"})


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with serving(answer) as running:
        yield running


def test_a_legal_run_writes_what_one_process_writes(server: OpenAIServer, lawtrace: Shell, tmp_path: Path) -> None:
    write_rows(tmp_path / "cases.jsonl", BOOK.cases)
    (tmp_path / "legal.toml").write_text(RECIPE, encoding="utf-8")
    command = ("legal", "run", "--cases", "cases.jsonl", "--recipe", "legal.toml")
    with ray_workers(server.environment):
        lawtrace.json(*command, "--out", "whole")
        asked = len(server.requests)
        code, _, err = lawtrace(*command, "--budget", "messages=9", "--on", "ray", "--out", "cluster")
        assert (code, "is used up" in err) == (3, True)
        lawtrace.json("resume", "cluster", "--budget", f"messages={asked}", "--on", "ray")
        assert len(server.requests) == 2 * asked
    for name in ("cases", "retrieved", "answers", "probes"):
        assert (tmp_path / "cluster" / f"{name}.jsonl").read_bytes() == (
            tmp_path / "whole" / f"{name}.jsonl"
        ).read_bytes()
    with EventLogFile.open(tmp_path / "cluster") as ours, EventLogFile.open(tmp_path / "whole") as theirs:
        assert {*log_content(theirs)} <= {*log_content(ours)}


def test_teams_that_share_vectors_of_an_endpoint_are_refused(lawtrace: Shell, tmp_path: Path) -> None:
    write_rows(tmp_path / "cases.jsonl", BOOK.cases)
    (tmp_path / "legal.toml").write_text('pipeline = "decomposed"\nembedding = "openai:vectors"\n', encoding="utf-8")
    command = ("legal", "run", "--cases", "cases.jsonl", "--recipe", "legal.toml", "--out", "run")
    code, _, err = lawtrace(*command, "--on", "ray")
    assert (code, "each worker would ask for them again" in err) == (2, True)
