"""The benchmark of guards: labels, and guards behind it as functions, commands, addresses and models."""

import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from benchmarks import guard_bench
from benchmarks.guard_bench import Case, address, command, lawtrace_guard, make, model, run, schema_only, world_of
from benchmarks.guard_decisions import ROOT
from lawtrace.runs.store.task_file import read_tasks


@pytest.fixture(scope="module")
def lines() -> list[Case]:
    """The cases of one task, with prefixes of up to two calls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guard_bench, "LENGTH", 3)
        tasks, domain = read_tasks(ROOT / "docs" / "tasks" / "1.3" / "banking.jsonl", "banking")
        made = [*make(domain, tasks[:1], seed=1)]
        assert [case for case, _ in made] == [case for case, _ in make(domain, tasks[:1], seed=1)]
        how = sum((counted for _, counted in made), Counter[str]())
        assert {"allow, executed", "refuse, by proof"} <= how.keys()
        return [world_of(domain, tasks[0].rules), *(case for case, _ in made)]


@contextmanager
def answering(answer: Callable[[Any], Any]) -> Generator[tuple[str, list[Any]]]:
    """A server that answers each request by the function; yields its address, and what it was asked."""
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(answer(asked[-1])).encode())

        def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def test_our_guard_and_the_schema(lines: list[Case]) -> None:
    ours = run(lines, lawtrace_guard())
    assert (ours["misses"], ours["false refusals"], ours["dead ends"]) == (0, 0, 0)
    schema = run(lines, schema_only)
    assert schema["misses"] == schema["refuse"] > 0
    assert (schema["false refusals"], schema["allow"]) == (0, ours["allow"])


def test_a_guard_that_refuses_all_leads_into_dead_ends(lines: list[Case]) -> None:
    answer = "json.dumps({'allow': [False for _ in json.loads(line)['calls']]})"
    program = f"import json, sys\nfor line in sys.stdin: print({answer}, flush=True)"
    found = run(lines, command([sys.executable, "-c", program]))
    assert (found["misses"], found["false refusals"], found["dead ends"]) == (0, found["allow"], found["prefixes"])


def test_a_guard_at_an_address_gets_the_world_and_the_prefix(lines: list[Case]) -> None:
    with answering(lambda case: {"allow": [True] * len(case["calls"])}) as (url, asked):
        found = run(lines, address(url))
    assert found["misses"] == found["refuse"]
    assert all(case.keys() == {"tools", "rules", "text", "world", "prefix", "now", "calls"} for case in asked)
    assert not any("label" in call for case in asked for call in case["calls"])


def test_a_model_gets_the_text_and_one_call(lines: list[Case]) -> None:
    calls = lines[1]["calls"][:3]
    said = dict(zip(map(json.dumps, calls), ['{"allow": true}', "Yes.", '```json\n{"allow": false}\n```'], strict=True))

    def answer(request: Any) -> Any:  # requests come in any order
        _, _, asked_about = request["messages"][0]["content"].partition("## The next call")
        return {"choices": [{"message": {"content": next(said[call] for call in said if call in asked_about)}}]}

    with answering(answer) as (url, asked):
        decide = model("some-model", url)
        world = {key: lines[0][key] for key in ("tools", "rules", "text")}
        assert decide({**world, **lines[1], "calls": calls}) == [True, False, False]
    assert all(lines[0]["text"] in request["messages"][0]["content"] for request in asked)
    assert [request["model"] for request in asked] == ["some-model"] * 3
