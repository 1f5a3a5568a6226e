"""The MCP guard at an address: sessions of several clients, who may connect, and what is left when it stops."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from tests.support.shell import Shell

pytest.importorskip("mcp", reason="the guard of MCP servers needs the extra 'mcp'")

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

LAWTRACE = str(Path(sys.executable).with_name("lawtrace"))
SECRET = "a token of forty letters, or thereabouts"
OPENING = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@contextmanager
def guarding(folder: Path, *words: str, **environment: str) -> Generator[str]:
    """A guard on a free port, in front of an environment; yields its address."""
    # Each session starts a server of its own, and each server wants a folder of its own.
    inner = ["--", "sh", "-c", f'exec {LAWTRACE} env serve banking --seed 7 --out "served-$$"']
    command = [LAWTRACE, "guard", "--env", "banking", "--transport", "http", "--port", "0", *words, *inner]
    process = subprocess.Popen(
        command, cwd=folder, env={**os.environ, **environment}, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        lines: list[str] = []
        for line in process.stderr:
            lines.append(line)
            if match := re.search(r"listening at (\S+)\. ", line):
                threading.Thread(target=process.stderr.read, daemon=True).start()
                yield match[1].replace("0.0.0.0", "127.0.0.1")
                break
        else:
            pytest.fail("".join(lines))
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0


def text_of(result: CallToolResult) -> str:
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


@pytest.mark.slow
async def test_sessions_are_apart_and_finished_when_the_guard_stops(lawtrace: Shell, tmp_path: Path) -> None:
    account = {"account_type": "checking"}
    with guarding(tmp_path) as address:
        async with Client(address) as one, Client(address) as other:
            assert len((await one.list_tools()).tools) == 8
            await one.call_tool("CheckAuthorization", {})
            assert not (await one.call_tool("GetAccountInformation", account)).is_error
            refused = await other.call_tool("GetAccountInformation", account)
            assert refused.is_error
            assert "Call CheckAuthorization() with the result authorized = true first." in text_of(refused)
        async with httpx2.AsyncClient() as stranger:
            assert (await stranger.get(address.removesuffix("/mcp"))).status_code == 404
            for headers, status in (
                ({"host": "evil.example"}, 421),
                ({"origin": "http://evil.example"}, 403),
                ({"mcp-session-id": "0" * 32}, 404),
            ):
                answer = await stranger.post(address, json={}, headers={**OPENING, **headers})
                assert answer.status_code == status
            assert (await stranger.post(address, content=b" " * 2_000_001, headers=OPENING)).status_code == 413
            assert (await stranger.post(address, content=b"{", headers=OPENING)).status_code == 400
    lines = [json.loads(line) for line in (tmp_path / "guard.jsonl").read_text().splitlines()]
    ends = {line["conversation"]: line["labels"]["refused"] for line in lines if "labels" in line}
    assert sorted(ends.values()) == [0, 1]
    assert {line["conversation"] for line in lines} == ends.keys(), "no session began for a request that was rejected"
    assert lawtrace("audit", "guard.jsonl", "--verify")[0] == 0


FOUR_EYES = """
[[rules]]
id = "four-eyes"
across_sessions = true
formula = "forall p: G(GetAccountInformation(by.principal == p) -> !O CheckAuthorization(by.principal == p))"
rationale = "Who looks is another than who has checked."
"""


@asynccontextmanager
async def connected(address: str, principal: str) -> AsyncGenerator[Client]:
    async with (
        httpx2.AsyncClient(headers={"x-user": principal}, timeout=60) as known,
        Client(streamable_http_client(address, http_client=known)) as client,
    ):
        yield client


@pytest.mark.slow
async def test_a_header_says_who_acts_in_a_session(lawtrace: Shell, tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(FOUR_EYES)
    words = ("--rules", str(tmp_path / "rules.toml"), "--principal-header", "X-User", "--role", "clerk")
    look = ("GetAccountInformation", {"account_type": "checking"})
    with guarding(tmp_path, *words) as address:
        async with connected(address, "ann") as anns, connected(address, "bob") as bobs:
            await anns.call_tool("CheckAuthorization", {})
            async with connected(address, "ann") as again:
                refused = [text_of(await client.call_tool(*look)) for client in (again, bobs)]
        assert ["Not carried out" in text for text in refused] == [True, False]
        async with httpx2.AsyncClient(timeout=60) as stranger:
            about = {"name": "a", "version": "1"}
            params: dict[str, object] = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
            greeting: dict[str, object] = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
            for given in ([], [("x-user", "")], [("x-user", "bob"), ("x-user", "ann")]):
                answer = await stranger.post(address, json=greeting, headers=[*OPENING.items(), *given])
                assert (answer.status_code, "X-User" in answer.text) == (403, True)
            opened = await stranger.post(address, json=greeting, headers={**OPENING, "x-user": "ann"})
            name = {**OPENING, "mcp-session-id": opened.headers["mcp-session-id"]}
            others = await stranger.post(address, json=greeting, headers={**name, "x-user": "bob"})
            assert others.status_code == 404, "the session of ann is none of bob's"
    lines = [json.loads(line) for line in (tmp_path / "guard.jsonl").read_text().splitlines()]
    actors = {line["conversation"]: line["by"] for line in lines if line.get("note") == "session"}
    assert lawtrace("audit", "guard.jsonl", "--verify")[0] == 0
    assert {(by["principal"], by["role"]) for by in actors.values()} == {("ann", "clerk"), ("bob", "clerk")}


@pytest.mark.slow
async def test_a_token_is_required_where_one_is_set(tmp_path: Path) -> None:
    with guarding(tmp_path, "--host", "0.0.0.0", LAWTRACE_GUARD_TOKEN=SECRET) as address:
        async with httpx2.AsyncClient() as stranger:
            for given in ({}, {"authorization": "Bearer no"}):
                assert (await stranger.post(address, json={}, headers={**OPENING, **given})).status_code == 401
        async with (
            httpx2.AsyncClient(headers={"authorization": f"Bearer {SECRET}"}, timeout=60) as known,
            Client(streamable_http_client(address, http_client=known)) as client,
        ):
            assert (await client.call_tool("GetAccountInformation", {"account_type": "checking"})).is_error


def test_a_server_that_cannot_be_started_is_said_at_once(lawtrace: Shell) -> None:
    code, _, err = lawtrace("guard", "--env", "banking", "--transport", "http", "--", "no-such-command")
    assert (code, "no-such-command: cannot be started" in err) == (3, True)
