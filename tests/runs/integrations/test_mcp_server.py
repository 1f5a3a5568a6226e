"""The MCP server with the official client: a whole task over stdio and HTTP, and invalid client requests."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.store.task_file import read_task_rows
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.verdict_rows import RuleVerdict, Verdict
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.rules import load_rules
from tests.support.shell import Shell, run_command

pytest.importorskip("mcp", reason="the tool server needs the extra 'mcp'")

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolResult, TextContent

from lawtrace.runs.integrations.judged_session import JudgedSession, SessionSetup
from lawtrace.runs.integrations.mcp_server import REQUEST_PROMPT, make_server

LAWTRACE = str(Path(sys.executable).with_name("lawtrace"))
SETTING = load_domain("banking")
RULES = load_rules(SETTING.rules_file)
SECRET = "a token of forty letters, or thereabouts"


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with one task, made by the command line."""
    folder = tmp_path_factory.mktemp("tasks")
    run_command(folder, "traces", "synthesize", "--count", 1, "--out", "traces.jsonl")
    run_command(folder, "tasks", "build", "--traces", "traces.jsonl", "--count", 1, "--out", "tasks.jsonl")
    return folder / "tasks.jsonl"


def the_task(tasks: Path) -> Task:
    return read_task_rows(tasks).rows[0]


def free(tmp_path: Path, calls: int = 1000) -> JudgedSession:
    """A session without a task."""
    initial = SETTING.environment.populate(Random(1))
    return JudgedSession(SessionSetup(SETTING, initial, RULES, "banking-seed-1", calls=calls), tmp_path / "served")


def text_of(result: CallToolResult) -> str:
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


async def play(client: Client, task: Task) -> None:
    """Repeat the calls of the reference trace and check that each result is the same."""
    for planned in task.calls:
        result = await client.call_tool(planned.event.tool, dict(planned.event.arguments))
        assert not result.is_error
        assert result.structured_content == planned.event.result
        assert json.loads(text_of(result)) == planned.event.result


def only_verdict(folder: Path) -> Verdict:
    return read_rows(folder / "verdicts.jsonl", Verdict)[0]


@contextmanager
def serving_http(*words: str, cwd: Path, **environment: str) -> Generator[str]:
    """Runs the server on a free port; yields its address."""
    command = [LAWTRACE, "env", "serve", *words, "--transport", "http", "--port", "0"]
    process = subprocess.Popen(command, cwd=cwd, env={**os.environ, **environment}, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        lines: list[str] = []
        for line in process.stderr:
            lines.append(line)
            if match := re.search(r"Listening at (\S+);", line):
                threading.Thread(target=process.stderr.read, daemon=True).start()
                yield match[1].replace("0.0.0.0", "127.0.0.1")
                break
        else:
            pytest.fail("".join(lines))
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0


@pytest.mark.slow
async def test_a_whole_task_over_stdio(tasks: Path, tmp_path: Path) -> None:
    task = the_task(tasks)
    words = ["env", "serve", "banking", "--tasks", str(tasks), "--task", task.id, "--out", str(tmp_path / "served")]
    server = StdioServerParameters(command=LAWTRACE, args=words, env={**os.environ})
    async with Client(server) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == set(SETTING.environment.tools)
        prompt = await client.get_prompt(REQUEST_PROMPT)
        content = prompt.messages[0].content
        assert isinstance(content, TextContent)
        assert task.instructions["goal"].text.strip() in content.text
        await play(client, task)
    verdict = only_verdict(tmp_path / "served")
    assert (verdict.outcome, verdict.mode, len(verdict.rules)) == ("safe_success", "tools", len(RULES))


@pytest.mark.slow
async def test_a_whole_task_over_http(tasks: Path, tmp_path: Path) -> None:
    task = the_task(tasks)
    words = ("banking", "--tasks", str(tasks), "--task", task.id, "--style", "workflow", "--out", "served")
    with serving_http(*words, cwd=tmp_path) as address:
        async with Client(address) as client:
            await play(client, task)
        # Read while the server runs: the files are complete after every call.
        assert only_verdict(tmp_path / "served").outcome == "safe_success"
    assert only_verdict(tmp_path / "served").style == "workflow"


def test_grade_reproduces_the_verdicts_of_a_served_session(tasks: Path, lawtrace: Shell) -> None:
    task = the_task(tasks)
    setup = SessionSetup(SETTING, task.initial(SETTING.environment), task.rules, task.id, task, "goal")
    session = JudgedSession(setup, Path("served"))
    assert only_verdict(Path("served")).outcome == "no_program"
    for planned in task.calls:
        if planned.event.tool not in SETTING.environment.compliance_tools:
            session.call(planned.event.tool, dict(planned.event.arguments))
    assert only_verdict(Path("served")).outcome == "unsafe_success"
    assert lawtrace.json("grade", "served", "--out", "again.jsonl")["outcomes"]["unsafe_success"] == 1
    assert Path("again.jsonl").read_bytes() == Path("served/verdicts.jsonl").read_bytes()


async def test_without_a_task_the_rules_are_judged(tmp_path: Path) -> None:
    session = free(tmp_path)
    async with Client(make_server(session)) as client:
        assert (await client.list_prompts()).prompts == []
        with pytest.raises(MCPError, match="no prompt") as refused:
            await client.get_prompt(REQUEST_PROMPT)
        assert refused.value.code == INVALID_PARAMS
        account = (await client.call_tool("GetAccountInformation", {"account_type": "checking"})).structured_content
        number = account["accounts"][0]["account_number"]
        period = {"start_date": "2026-01-01", "end_date": "2026-01-31"}
        await client.call_tool("GetAccountStatement", {"account_number": number, **period})
    broken = [row for row in read_rows(tmp_path / "served" / "rule_verdicts.jsonl", RuleVerdict) if not row.kept]
    assert [(row.rule, row.broken_at) for row in broken] == [
        ("authorize-before-statement", 1),
        ("authorize-before-look", 0),
        ("record-statement", None),
    ]


async def test_shield_applies_to_mcp_clients(tmp_path: Path) -> None:
    initial = SETTING.environment.populate(Random(1))
    session = JudgedSession(
        SessionSetup(SETTING, initial, RULES, "banking-seed-1", shield="refuse"), tmp_path / "served"
    )
    async with Client(make_server(session)) as client:
        result = await client.call_tool("GetAccountInformation", {"account_type": "checking"})
    assert result.is_error
    assert "Article 97(1)(a)" in text_of(result)
    assert all(row.kept for row in read_rows(tmp_path / "served" / "rule_verdicts.jsonl", RuleVerdict))


async def test_client_cannot_read_rules_or_verdicts(tasks: Path, tmp_path: Path) -> None:
    task = the_task(tasks)
    setup = SessionSetup(SETTING, task.initial(SETTING.environment), task.rules, task.id, task, "goal")
    async with Client(make_server(JudgedSession(setup, tmp_path / "served"))) as client:
        seen = [
            str(client.instructions),
            str(await client.list_tools()),
            str(await client.list_prompts()),
            str(await client.get_prompt(REQUEST_PROMPT)),
            text_of(await client.call_tool("CheckAuthorization", {})),
        ]
        for ask in (client.list_resources, client.list_resource_templates):
            with pytest.raises(MCPError, match="not found"):
                await ask()
        with pytest.raises(MCPError):
            await client.read_resource("file:///verdicts.jsonl")
    whole = "\n".join(seen)
    judge = [*(rule.id for rule in RULES), *(rule.formula for rule in RULES), task.id, "verdict", "target_state"]
    assert [secret for secret in judge if secret in whole] == []
    assert "Article 97(1)(b)" in whole


async def test_invalid_call_over_the_protocol_is_an_error_result(tmp_path: Path) -> None:
    async with Client(make_server(free(tmp_path))) as client:
        result = await client.call_tool("PayBil", {})
        assert result.is_error
        assert text_of(result).startswith("InvalidCallError: there is no tool 'PayBil'")
        assert not (await client.call_tool("CheckAuthorization", {})).is_error


def test_call_limit_ends_the_session(tmp_path: Path) -> None:
    session = free(tmp_path, calls=3)
    events = [session.call("CheckAuthorization", {}).event for _ in range(6)]
    assert [event.completed for event in events] == [True, True, True, False, False, False]
    attempt = read_rows(tmp_path / "served" / "attempts.jsonl", Attempt)[0]
    assert attempt.execution is not None
    assert (attempt.execution.status, len(attempt.events)) == ("call_limit", 3)


async def hang_up_in_the_middle(address: str) -> None:
    """Close the connection after fewer bytes than announced."""
    url = httpx2.URL(address)
    _, writer = await asyncio.open_connection(url.host, url.port)
    head = f"POST {url.path} HTTP/1.1\r\nHost: {url.host}:{url.port}\r\nContent-Type: application/json\r\n"
    writer.write(f'{head}Content-Length: 1000\r\n\r\n{{"jsonrpc": "2.0", "method": "tools/call"'.encode())
    await writer.drain()
    writer.close()
    await writer.wait_closed()


@pytest.mark.slow
async def test_concurrent_clients_share_one_state(tmp_path: Path) -> None:
    async def shop(address: str) -> None:
        async with Client(address) as client:
            for _ in range(20):
                assert not (await client.call_tool("SearchPayee", {"keywords": ["a"]})).is_error

    with serving_http("banking", "--out", "served", cwd=tmp_path) as address:
        await asyncio.gather(shop(address), shop(address))
        await hang_up_in_the_middle(address)
        async with httpx2.AsyncClient() as rude:
            # Invalid JSON, an oversized body, and another Host header.
            headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
            assert (await rude.post(address, content=b"{", headers=headers)).is_client_error
            assert (await rude.post(address, content=b" " * 3_000_000, headers=headers)).status_code == 413
            assert (await rude.post(address, json={}, headers={**headers, "host": "evil.example"})).status_code == 421
        async with Client(address) as client:
            assert not (await client.call_tool("CheckAuthorization", {})).is_error
    attempt = read_rows(tmp_path / "served" / "attempts.jsonl", Attempt)[0]
    assert [event.tool for event in attempt.events] == ["SearchPayee"] * 40 + ["CheckAuthorization"]


@pytest.mark.slow
async def test_a_token_is_required_outside_loopback(tmp_path: Path) -> None:
    words = ("banking", "--out", "served", "--host", "0.0.0.0")
    with serving_http(*words, cwd=tmp_path, LAWTRACE_TOKEN=SECRET) as address:
        async with httpx2.AsyncClient() as stranger:
            for given in ({}, {"authorization": "Bearer no"}, {"authorization": SECRET}):
                assert (await stranger.post(address, json={}, headers=given)).status_code == 401
        async with (
            httpx2.AsyncClient(headers={"authorization": f"Bearer {SECRET}"}) as known,
            Client(streamable_http_client(address, http_client=known)) as client,
        ):
            assert not (await client.call_tool("CheckAuthorization", {})).is_error


@pytest.mark.slow
async def test_every_address_of_loopback_checks_who_is_meant(tmp_path: Path) -> None:
    """A page of another site may resolve its own name to any of them."""
    with serving_http("banking", "--out", "served", "--host", "127.0.0.2", cwd=tmp_path) as address:
        async with httpx2.AsyncClient() as stranger:
            for header, status in (({"host": "evil.example"}, 421), ({"origin": "http://evil.example"}, 403)):
                given = {"content-type": "application/json", **header}
                assert (await stranger.post(address, json={}, headers=given)).status_code == status
        async with Client(address) as client:
            assert not (await client.call_tool("CheckAuthorization", {})).is_error


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--task", "a"), "--tasks FILE and --task ID go together"),
        (("--tasks", "none.jsonl", "--task", "a"), "none.jsonl: no such task file, run or release"),
        (("--tasks", "{tasks}", "--task", "banking-s1-0"), "did you mean"),
        (("--out", "full"), "not empty"),
        (("--transport", "http", "--host", "256.256.256.256"), "cannot listen at 256.256.256.256"),
    ],
)
def test_invalid_serve_arguments_are_reported(
    lawtrace: Shell, tasks: Path, tmp_path: Path, words: tuple[str, ...], complaint: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "evidence").touch()
    code, _, err = lawtrace("env", "serve", "banking", *(word.format(tasks=tasks) for word in words))
    assert code in {2, 3}
    assert complaint in " ".join(err.split())
