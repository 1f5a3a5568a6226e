"""The MCP server of an environment: its tools, the regulation, and the request of a task.

A client may be the model under test, so the server offers exactly what a model in tools mode gets: no resource,
log or message reveals state, rules, target or verdict.
"""

import json
from collections.abc import Callable
from typing import Any

import anyio
import uvicorn
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from starlette.types import ASGIApp

from lawtrace.agents.prompt_context import PromptContext, RegulationText, request_text, stated_start, tools_system
from lawtrace.environments.runtime.documentation import argument_schema, document_tool
from lawtrace.runs.integrations.judged_session import JudgedSession
from lawtrace.runs.integrations.mcp_http import (
    IDLE_SECONDS,
    MAX_BODY_BYTES,
    MAX_SESSIONS,
    TokenCheck,
    request_checks,
    shown_address,
)
from lawtrace.runs.network import bind_socket

REQUEST_PROMPT = "request"
"""The name of the prompt with the request of the user."""

_Context = ServerRequestContext[Any]


def make_server(session: JudgedSession) -> Server[Any]:
    """A server for one judged session, shared by all clients."""
    environment, law = session.setup.domain.environment, RegulationText("whole", session.setup.domain.regulation.text())
    tools = [
        types.Tool(
            name=name,
            description=json.dumps(document_tool(tool), ensure_ascii=False),
            input_schema=argument_schema(tool),
        )
        for name, tool in environment.tools.items()
    ]
    task = session.setup.task
    request = None if task is None else request_text(task.instructions[session.setup.style])
    start = stated_start(environment, session.setup.rules, session.setup.initial)

    async def list_tools(_: _Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(_: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        answer = session.call(params.name, params.arguments or {})
        return types.CallToolResult(
            content=[types.TextContent(text=answer.text)],
            structured_content=answer.event.result,
            is_error=answer.event.error is not None,
        )

    async def list_prompts(_: _Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        offered = [types.Prompt(name=REQUEST_PROMPT, description="What the user asks for.")] if request else []
        return types.ListPromptsResult(prompts=offered)

    async def get_prompt(_: _Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if request is None or params.name != REQUEST_PROMPT:
            raise MCPError(types.INVALID_PARAMS, f"no prompt {params.name[:80]!r}")
        return types.GetPromptResult(
            messages=[types.PromptMessage(role="user", content=types.TextContent(text=request))]
        )

    return Server(
        f"lawtrace {environment.name}",
        instructions=tools_system(
            environment, PromptContext(law=law, shield=session.setup.shield, session_start=start)
        ),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def serve_stdio(server: Server[Any]) -> None:
    """Serve one client on standard input and output until it disconnects."""

    async def run() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)


def serve_http(
    server: Server[Any], *, host: str, port: int, token: str | None, on_ready: Callable[[str], None]
) -> None:
    """Serve clients at ``http://HOST:PORT/mcp`` until the process is stopped.

    Args:
        port: 0 picks a free port.
        token: sent by clients as ``Authorization: Bearer TOKEN``; None for no authentication.
        on_ready: called with the address once the server listens.

    Raises OperationalError if the address cannot be bound.
    """
    listening = bind_socket(host, port)
    app: ASGIApp = server.streamable_http_app(
        host=host,
        max_request_body_size=MAX_BODY_BYTES,
        max_sessions=MAX_SESSIONS,
        session_idle_timeout=IDLE_SECONDS,
        transport_security=request_checks(host),
    )
    if token is not None:
        app = TokenCheck(app, token)
    config = uvicorn.Config(app, log_level="critical", access_log=False, timeout_graceful_shutdown=2)
    on_ready(shown_address(*listening.getsockname()[:2]))
    uvicorn.Server(config).run(sockets=[listening])
