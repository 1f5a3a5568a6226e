"""What a client of the tool server sees: the tools, the law, the request if there is one. Nothing of the judge.

A client may be the very model that is under test. So the server offers what a model in tools mode is given and no more:
there is no resource, no log and no message in which state, rules, target or verdict could be read.
"""

import json
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptMessage,
    TextContent,
    Tool,
)

from lawtrace.agents.roles.executor import Briefing, request_text, tools_system
from lawtrace.environments.documentation import call_schemas, document_tool
from lawtrace.runs.serving.watched import Watched

REQUEST = "request"
"""The name of the prompt that holds the user's request."""

_Context = ServerRequestContext[Any]


def make_server(watched: Watched) -> Server[Any]:
    """A server for one watched session. Every client of it, on every connection, acts in that session."""
    environment, regulation = watched.assignment.setting.environment, watched.assignment.setting.regulation
    tools = [
        Tool(
            name=name,
            description=json.dumps(document_tool(environment.tools[name]), ensure_ascii=False),
            input_schema={key: value for key, value in schema.items() if key != "description"},
        )
        for name, schema in call_schemas(environment).items()
    ]
    request = _request(watched)

    async def list_tools(_: _Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    async def call_tool(_: _Context, params: CallToolRequestParams) -> CallToolResult:
        answer = watched.call(params.name, params.arguments or {})
        return CallToolResult(
            content=[TextContent(text=answer.text)],
            structured_content=answer.event.result,
            is_error=answer.event.error is not None,
        )

    async def list_prompts(_: _Context, __: PaginatedRequestParams | None) -> ListPromptsResult:
        offered = [Prompt(name=REQUEST, description="What the user asks for.")] if request else []
        return ListPromptsResult(prompts=offered)

    async def get_prompt(_: _Context, params: GetPromptRequestParams) -> GetPromptResult:
        if request is None or params.name != REQUEST:
            raise MCPError(INVALID_PARAMS, f"there is no prompt {params.name[:80]!r}")
        return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(text=request))])

    return Server(
        f"lawtrace {environment.name}",
        instructions=tools_system(environment, regulation, Briefing(shield=watched.assignment.shield)),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def _request(watched: Watched) -> str | None:
    task = watched.assignment.task
    return request_text(task.instructions[watched.assignment.style]) if task is not None else None
