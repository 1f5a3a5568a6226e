"""The MCP guard with the official client: in front of our own server, and of a server that misbehaves."""

import json
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lawtrace.schemas.choices import Fallback, GuardMode
from lawtrace.solver.rules import Rule
from tests.support.shell import Shell

pytest.importorskip("mcp", reason="the guard of MCP servers needs the extra 'mcp'")

import anyio
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    CallToolResult,
    CreateMessageResult,
    JSONRPCError,
    JSONRPCRequest,
    TextContent,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from lawtrace.runs.integrations import mcp_guard
from lawtrace.runs.integrations.guarded_session import GuardedSession
from lawtrace.runs.integrations.inner_server import MAX_MESSAGE_BYTES, Malformed, Oversized, child_server
from lawtrace.runs.integrations.mcp_guard import McpGuard
from lawtrace.solver.guard.log import GuardLog

LAWTRACE = str(Path(sys.executable).with_name("lawtrace"))
RULES = (
    Rule(id="looked-up", formula="forall r: G(cancel(id == r) -> O look_up(id == r))", rationale="Look before."),
    Rule(id="told", formula="G(cancel -> F notify)", rationale="Tell the customer."),
)
ID = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
TOOLS: list[dict[str, Any]] = [
    {"name": "look_up", "inputSchema": ID},
    {"name": "cancel", "inputSchema": ID},
    {"name": "notify", "inputSchema": {"type": "object", "properties": {"to": {"type": "string", "default": "all"}}}},
    {"name": "weather", "inputSchema": {"type": "object"}},
]

SAMPLING = {"messages": [{"role": "user", "content": {"type": "text", "text": "May I?"}}], "maxTokens": 10}


class Server:
    """A server whose answers a test chooses: written message by message."""

    def __init__(self) -> None:
        self.tools = TOOLS
        self.called: list[tuple[str, Any]] = []
        self.heard: list[dict[str, Any]] = []  # notifications, and answers to what it asked
        self.send: Callable[[dict[str, Any]], Awaitable[None]]
        self.listing: Callable[[Any], Awaitable[dict[str, Any]]] | None = None
        self.answers: dict[str, Callable[[Any], Awaitable[dict[str, Any] | None]]] = {}

    async def run(self, reading: Any, writing: Any) -> None:
        async def send(message: dict[str, Any]) -> None:
            await writing.send(SessionMessage(jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **message})))

        self.send = send
        async for item in reading:
            message = item.message
            if isinstance(message, JSONRPCRequest):
                answer = await self.answer(message)
                if answer is not None:
                    await send({"id": message.id, **answer})
            else:
                self.heard.append(message.model_dump(exclude_none=True))

    async def answer(self, message: JSONRPCRequest) -> dict[str, Any] | None:
        params = message.params or {}
        if message.method == "tools/call":
            self.called.append((params["name"], params.get("arguments")))
            chosen = self.answers.get(params["name"])
            text = {"type": "text", "text": "done"}
            return await chosen(message) if chosen else {"result": {"content": [text]}}
        match message.method:
            case "initialize":
                info = {"name": "test", "version": "1"}
                capabilities = {"tools": {"listChanged": True}, "resources": {}}
                version = params["protocolVersion"]
                return {"result": {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}}
            case "tools/list" if self.listing is not None:
                return await self.listing(message)
            case "tools/list":
                return {"result": {"tools": self.tools}}
            case "resources/read":
                return {"result": {"contents": [{"uri": params["uri"], "text": "a\x07b", "mimeType": "text/plain"}]}}
            case _:
                return {"error": {"code": -32601, "message": f"no {message.method}"}}


class Proxied:
    """A guard with its log, between a client and a server in this process."""

    def __init__(self, folder: Path) -> None:
        self.server = Server()
        self.log = folder / "guard.jsonl"
        self.told: list[str] = []
        self.now = 1_000

    @asynccontextmanager
    async def client(
        self, mode: GuardMode = "refuse", fallback: Fallback = "refuse", patience: float = 30, **options: Any
    ) -> AsyncGenerator[Client]:
        with GuardLog(self.log, "test") as log:
            session = GuardedSession(
                RULES,
                log,
                mode=mode,
                fallback=fallback,
                error_texts=("No .* found",),
                clock=lambda: self.now,
                tell=self.told.append,
            )

            @asynccontextmanager
            async def transport() -> AsyncGenerator[Any]:
                async with (
                    create_client_server_memory_streams() as (outer, client),
                    create_client_server_memory_streams() as (server, inner),
                    anyio.create_task_group() as group,
                ):

                    async def serve() -> None:
                        async with inner[0], inner[1]:
                            await self.server.run(*inner)

                    group.start_soon(serve)
                    group.start_soon(McpGuard(session, client, server, patience).run)
                    yield outer
                    group.cancel_scope.cancel()

            async with Client(transport(), mode="legacy", **options) as made:
                yield made
            session.finish()

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def notes(self) -> str:
        return "\n".join(line["note"] for line in self.lines() if "note" in line)


@pytest.fixture
def proxied(tmp_path: Path) -> Proxied:
    return Proxied(tmp_path)


def text_of(result: CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


async def test_refused_call_never_reaches_the_server_and_says_what_to_do(proxied: Proxied) -> None:
    async with proxied.client() as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [tool["name"] for tool in TOOLS]
        refused = await client.call_tool("cancel", {"id": "A"})
        assert refused.is_error
        assert "Call look_up(id='A') first." in text_of(refused)
        assert proxied.server.called == []
        await client.call_tool("look_up", {"id": "A"})
        assert not (await client.call_tool("cancel", {"id": "A"})).is_error
    assert [name for name, _ in proxied.server.called] == ["look_up", "cancel"]
    first, *_, last = proxied.lines()
    assert first["note"] == "session"
    assert {first[option] for option in ("mode", "on_undecided", "on_arguable")} == {"refuse"}
    assert last["labels"] == {"calls": 3, "refused": 1, "warned": 0, "undecided": 0, "open_duties": 1, "lost": 0}
    assert [duty["rule"] for duty in last["open"]] == ["told"]
    assert any("open duty, rule 'told': Call notify()" in line for line in proxied.told)


@pytest.mark.parametrize("mode", ["warn", "record"])
async def test_other_modes_let_calls_through(proxied: Proxied, mode: GuardMode) -> None:
    async with proxied.client(mode=mode) as client:
        result = await client.call_tool("cancel", {"id": "A"})
    assert not result.is_error
    assert ("Warning" in text_of(result)) is (mode == "warn")
    decision = next(line["decision"] for line in proxied.lines() if "decision" in line)
    assert (decision["allowed"], decision["rules"]) == (True, ["looked-up"])


async def test_everything_else_passes(proxied: Proxied) -> None:
    async def slow(message: JSONRPCRequest) -> dict[str, Any]:
        token = (message.params or {})["_meta"]["progressToken"]
        params = {"progressToken": token, "progress": 1, "total": 2, "message": "half"}
        await proxied.server.send({"method": "notifications/progress", "params": params})
        return {"result": {"content": [{"type": "text", "text": "bell \x07"}], "structuredContent": {"x": "\x1b[2J"}}}

    proxied.server.answers["weather"] = slow
    seen: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    async with proxied.client() as client:
        result = await client.call_tool("weather", {}, progress_callback=on_progress)
        assert (text_of(result), result.structured_content, seen) == ("bell \x07", {"x": "\x1b[2J"}, [1])
        contents = (await client.read_resource("file:///x")).contents
        assert "a\x07b" in str([part.model_dump() for part in contents]).encode().decode("unicode_escape")
        with pytest.raises(MCPError, match="no prompts/list"):
            await client.list_prompts()
    raw = proxied.log.read_text()
    assert "\x1b" not in raw
    assert "\\u001b[2J" in raw


async def test_errors_of_the_server_pass_and_the_call_has_not_happened(proxied: Proxied) -> None:
    async def fail(_: JSONRPCRequest) -> dict[str, Any]:
        return {"error": {"code": -32000, "message": "disk on fire"}}

    proxied.server.answers["look_up"] = fail
    async with proxied.client() as client:
        with pytest.raises(MCPError, match="disk on fire"):
            await client.call_tool("look_up", {"id": "A"})
        assert (await client.call_tool("cancel", {"id": "A"})).is_error


async def test_texts_of_errors_are_those_that_the_patterns_match(proxied: Proxied) -> None:
    async def nothing(_: Any) -> dict[str, Any]:
        return {"result": {"content": [{"type": "text", "text": "No booking found"}]}}

    proxied.server.answers["look_up"] = nothing
    async with proxied.client() as client:
        assert not (await client.call_tool("look_up", {"id": "A"})).is_error
        assert (await client.call_tool("cancel", {"id": "A"})).is_error
    assert [line.get("error") for line in proxied.lines() if line.get("call") == "1"] == [None, "No booking found"]
    assert next(line for line in proxied.lines() if "tools" in line)["error_texts"] == ["No .* found"]


@pytest.mark.parametrize("fallback", ["refuse", "allow"])
@pytest.mark.parametrize(
    ("tools", "why"),
    [
        (
            [*TOOLS[:1], {"name": "cancel", "inputSchema": {"type": "object"}}, *TOOLS[2:]],
            "schema of the tool 'cancel'",
        ),
        ([TOOLS[1], *TOOLS[2:]], "'look_up' vanished"),
        ([*TOOLS, {"name": "cancel", "inputSchema": {"type": "object"}}], "two tools with the name 'cancel'"),
        ([TOOLS[0], {"name": "cancel", "inputSchema": {"type": 7}}, *TOOLS[2:]], "'cancel'"),
    ],
)
async def test_tools_that_change_in_a_session_fail_closed(
    proxied: Proxied, tools: list[dict[str, Any]], why: str, fallback: Fallback
) -> None:
    async with proxied.client(fallback=fallback) as client:
        await client.call_tool("look_up", {"id": "A"})
        proxied.server.tools = tools
        await proxied.server.send({"method": "notifications/tools/list_changed"})
        await anyio.sleep(0.05)
        result = await client.call_tool("cancel", {"id": "A"})
        assert result.is_error is (fallback == "refuse")
        assert not (await client.call_tool("weather", {})).is_error
        proxied.server.tools = TOOLS
        await client.list_tools()
        assert not (await client.call_tool("cancel", {"id": "A"})).is_error
    assert why in proxied.notes()


async def test_tools_of_rules_that_appear_later_are_guarded_from_then_on(proxied: Proxied) -> None:
    proxied.server.tools = TOOLS[:2]
    async with proxied.client() as client:
        await client.call_tool("look_up", {"id": "A"})
        refused = await client.call_tool("cancel", {"id": "A"})
        assert "the server has no tool 'notify'" in text_of(refused)
        proxied.server.tools = TOOLS
        await client.list_tools()
        assert not (await client.call_tool("cancel", {"id": "A"})).is_error


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [("cancel", {"id": 7}, "argument 'id'"), ("Cancel", {"id": "A"}, "lists no tool 'Cancel'")],
)
async def test_calls_that_a_server_may_read_differently_are_refused(
    proxied: Proxied, tool: str, arguments: dict[str, Any], why: str
) -> None:
    async with proxied.client() as client:
        assert why in text_of(await client.call_tool(tool, arguments))
        await client.call_tool("notify", {"to": None})
    assert proxied.server.called == [("notify", {"to": "all"})], "the server gets the call that was decided about"


async def test_unlistable_tools_fail_closed(proxied: Proxied) -> None:
    proxied.server.tools = {"not": "a list"}  # type: ignore[assignment]
    async with proxied.client() as client:
        assert "could not be listed" in text_of(await client.call_tool("weather", {}))


@pytest.mark.parametrize(
    ("characters", "pause", "why"), [(10_000, 0, "at most 10000 tools and 5000 char"), (0, 0.2, "")]
)
async def test_endless_lists_of_tools_end(
    proxied: Proxied, monkeypatch: pytest.MonkeyPatch, characters: int, pause: float, why: str
) -> None:
    """Pages that are large, and pages that are slow, each of them in time."""
    monkeypatch.setattr(mcp_guard, "MAX_LISTED_CHARACTERS", 5_000)
    pages: list[int] = []

    async def page(_: Any) -> dict[str, Any]:
        pages.append(1)
        await anyio.sleep(pause)
        return {"result": {"tools": [], "nextCursor": "more", "_meta": {"text": "x" * characters}}}

    proxied.server.listing = page
    async with proxied.client(patience=0.5) as client:
        refused = text_of(await client.call_tool("weather", {}))
    assert "could not be listed" in refused
    assert why in refused
    assert len(pages) <= 3


async def test_a_question_that_is_never_answered_keeps_no_call_waiting(
    proxied: Proxied, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_guard, "MAX_QUESTION_SECONDS", 0.3)

    async def ask(_: JSONRPCRequest) -> None:
        await proxied.server.send({"id": "question", "method": "sampling/createMessage", "params": SAMPLING})

    async def answer(*_: object) -> CreateMessageResult:
        await anyio.sleep_forever()
        raise AssertionError

    proxied.server.answers["weather"] = ask
    with anyio.fail_after(20):
        async with proxied.client(patience=0.2, sampling_callback=answer) as client:
            with pytest.raises(MCPError, match=r"did not answer within 0\.2 seconds"):
                await client.call_tool("weather", {})


@pytest.mark.parametrize(
    ("line", "answered"), [('{"jsonrpc": "2.0", "id": 7, "method": 5}', 7), ('{"id": "a"}', "a"), ("[1]", None)]
)
async def test_malformed_requests_with_an_id_are_answered(line: str, answered: object, tmp_path: Path) -> None:
    with pytest.raises(ValidationError) as fault:
        jsonrpc_message_adapter.validate_json(line)
    with GuardLog(tmp_path / "log", "test") as log:
        async with create_client_server_memory_streams() as (outer, client), anyio.create_task_group() as group:
            nobody = anyio.create_memory_object_stream[Any](0)
            group.start_soon(McpGuard(GuardedSession(RULES, log), client, (nobody[1], nobody[0]), 5).run)
            await outer[1].send(fault.value)  # type: ignore[arg-type] (as the reader of standard input does)
            with anyio.move_on_after(0.3):
                item = await outer[0].receive()
                assert isinstance(item, SessionMessage)
                assert isinstance(item.message, JSONRPCError)
                assert (item.message.id, item.message.error.code) == (answered, INVALID_REQUEST)
                answered = None
            group.cancel_scope.cancel()
    assert answered is None


async def hang(_: JSONRPCRequest) -> None:
    return None


async def test_a_call_that_is_never_answered_may_have_happened_or_not(proxied: Proxied) -> None:
    proxied.server.answers["look_up"] = hang
    async with proxied.client(patience=0.4) as client:
        with pytest.raises(MCPError, match=r"did not answer within 0\.4 seconds"):
            await client.call_tool("look_up", {"id": "A"})
        refused = text_of(await client.call_tool("cancel", {"id": "A"}))
        assert "Call look_up(id='A') first." in refused
        assert "It is not known whether look_up(id='A') happened." in refused
        del proxied.server.answers["look_up"]
        await client.call_tool("look_up", {"id": "A"})
        assert not (await client.call_tool("cancel", {"id": "A"})).is_error
    assert "outcome of call 1 of 'look_up' is not known" in proxied.notes()


async def test_cancelled_call_that_the_server_answers_has_happened(proxied: Proxied) -> None:
    waiting: list[Any] = []

    async def wait(message: JSONRPCRequest) -> None:
        waiting.append(message.id)

    proxied.server.answers["look_up"] = wait
    async with proxied.client() as client:
        with anyio.move_on_after(0.2):
            await client.call_tool("look_up", {"id": "A"})
        await anyio.sleep(0.05)
        told = [one["params"]["requestId"] for one in proxied.server.heard if "cancelled" in one.get("method", "")]
        assert told == waiting
        await proxied.server.send({"id": waiting[0], "result": {"content": []}})
        await anyio.sleep(0.05)
        assert not (await client.call_tool("cancel", {"id": "A"})).is_error


async def test_no_time_passes_while_the_server_asks_the_client(proxied: Proxied) -> None:
    asked = anyio.Event()
    waiting: list[Any] = []

    async def ask(message: JSONRPCRequest) -> None:
        waiting.append(message.id)
        await proxied.server.send({"id": "question", "method": "sampling/createMessage", "params": SAMPLING})

    async def answer(*_: object) -> CreateMessageResult:
        await anyio.sleep(0.6)
        asked.set()
        return CreateMessageResult(role="assistant", content=TextContent(text="yes"), model="person")

    proxied.server.answers["weather"] = ask
    async with proxied.client(patience=0.4, sampling_callback=answer) as client, anyio.create_task_group() as group:

        async def finish() -> None:
            await asked.wait()
            await anyio.sleep(0.05)
            assert [one["id"] for one in proxied.server.heard if "result" in one] == ["question"]
            await proxied.server.send({"id": waiting[0], "result": {"content": []}})

        group.start_soon(finish)
        assert not (await client.call_tool("weather", {})).is_error


async def test_full_disk_fails_closed(proxied: Proxied, monkeypatch: pytest.MonkeyPatch) -> None:
    async with proxied.client() as client:
        await client.list_tools()
        await anyio.sleep(0.05)

        def fail(*_: object) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(GuardLog, "write", fail)
            result = await client.call_tool("weather", {})
    assert "No space left on device" in text_of(result)
    assert proxied.server.called == []


async def read_all(program: str) -> list[Any]:
    async with child_server([sys.executable, "-c", program]) as (reading, _):
        return [item.message if isinstance(item, SessionMessage) else item async for item in reading]


async def test_bad_messages_of_a_child_are_bounded() -> None:
    ping = '{"jsonrpc":"2.0","method":"notifications/x"}'
    deep = "[" * 5_000
    program = f"""
import sys
print("hello"); print('{deep}'); print('{{"jsonrpc":"2.0","id":1,"result":{{"x":"\\\\ud800"}}}}')
for _ in range({MAX_MESSAGE_BYTES} // 1_000_000 + 2): sys.stdout.write("x" * 1_000_000)
print(); print('{ping}')
"""
    *bad, good = await read_all(program)
    assert [type(item) for item in bad] == [Malformed, Malformed, Malformed, Oversized]
    assert good.method == "notifications/x"


@pytest.mark.slow
async def test_guard_of_a_served_environment(lawtrace: Shell, tmp_path: Path) -> None:
    log = tmp_path / "guard.jsonl"
    inner = [LAWTRACE, "env", "serve", "banking", "--seed", "7", "--out", str(tmp_path / "served")]
    words = ["guard", "--env", "banking", "--log", str(log), "--", *inner]
    async with Client(StdioServerParameters(command=LAWTRACE, args=words, env={**os.environ})) as client:
        refused = await client.call_tool("GetAccountInformation", {"account_type": "checking"})
        assert refused.is_error
        assert "Call CheckAuthorization() with the result authorized = true first." in text_of(refused)
        await client.call_tool("CheckAuthorization", {})
        account = (await client.call_tool("GetAccountInformation", {"account_type": "checking"})).structured_content
        number = account["accounts"][0]["account_number"]
        wanted = {"account_number": number, "start_date": "2026-01-01", "end_date": "2026-01-31"}
        assert not (await client.call_tool("GetAccountStatement", wanted)).is_error
    last = json.loads(log.read_text().splitlines()[-1])
    assert (last["labels"]["refused"], last["labels"]["open_duties"]) == (1, 1)
    rows = lawtrace.json("audit", log, "--env", "banking", "--fail-on", "broken")
    assert (rows["conversations"], rows["outcomes"].get("broken", 0)) == (1, 0)


@pytest.mark.slow
async def test_server_that_dies_answers_by_errors(tmp_path: Path) -> None:
    rules = tmp_path / "rules.jsonl"
    rules.write_text("".join(rule.model_dump_json() + "\n" for rule in RULES))
    program = "import sys; sys.stdin.readline(); sys.exit(1)"
    words = ["guard", "--rules", str(rules), "--log", str(tmp_path / "g.jsonl"), "--", sys.executable, "-c", program]
    server = StdioServerParameters(command=LAWTRACE, args=words, env={**os.environ})
    with pytest.RaisesGroup(MCPError, allow_unwrapped=True, flatten_subgroups=True), anyio.fail_after(60):
        async with Client(server):
            pass


@pytest.mark.slow
async def test_a_command_permits_calls(tmp_path: Path) -> None:
    rules, log, program = tmp_path / "rules.toml", tmp_path / "guard.jsonl", tmp_path / "ask.py"
    rules.write_text(
        '[[rules]]\nid = "asked"\nask = true\nformula = \'G !CheckAuthorization(not by.role == "supervisor")\'\n'
    )
    program.write_text(
        "import json, sys\nasked = json.load(sys.stdin)\nprint('ok for', asked['by']['principal'])\n"
        "sys.exit(asked['by']['principal'] != 'ann')\n"
    )
    serve = [LAWTRACE, "env", "serve", "banking", "--seed", "7", "--out"]
    for principal, role, refused in (("ann", "clerk", False), ("bob", "clerk", True), ("sam", "supervisor", False)):
        who = ["--principal", principal, "--role", role, "--ask", f"{sys.executable} {program}"]
        words = ["guard", "--rules", str(rules), "--log", str(log), *who, "--", *serve, str(tmp_path / principal)]
        async with Client(StdioServerParameters(command=LAWTRACE, args=words, env={**os.environ})) as client:
            assert (await client.call_tool("CheckAuthorization", {})).is_error == refused
    decisions = [json.loads(line).get("decision", {}) for line in log.read_text().splitlines()]
    answers = [decision["asked"] for decision in decisions if "asked" in decision]
    assert [(one["granted"], one["words"]) for one in answers] == [(True, "ok for ann"), (False, "ok for bob")]
