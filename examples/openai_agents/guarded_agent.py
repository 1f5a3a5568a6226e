"""A guard in front of the tools of the OpenAI Agents SDK.

    pip install lawtrace openai-agents
    python examples/openai_agents/guarded_agent.py
    lawtrace audit guard.jsonl --tools guard.jsonl --rules examples/rules.toml --complete

The model is scripted: it calls too early, follows the advice, and forgets the confirmation. Put yours in its place.
"""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agents import Agent, FunctionTool, Runner, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call
from agents.tool_context import ToolContext

import lawtrace

RULES = lawtrace.load_rules(Path(__file__).parents[1] / "rules.toml")


@dataclass
class Session:
    """The context of a run: the guard of one conversation, and whose turn it is.

    The SDK begins all calls of a turn at the same time. With the lock each is decided with the results before it.
    """

    guard: lawtrace.Guard
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


def guarded_tool(function: Callable[..., Any]) -> FunctionTool:
    """A function as a tool: the guard of the run is asked before each call, and told the result or the error."""
    tool = function_tool(function, failure_error_function=None)

    async def invoke(context: ToolContext[Session], written: str) -> Any:
        guard, arguments = context.context.guard, None
        with suppress(ValueError):
            arguments = json.loads(written or "{}")
        if not isinstance(arguments, dict):
            return "The arguments are not a JSON object."
        async with context.context.turn:
            call = lawtrace.Call(tool.name, arguments, context.tool_call_id)
            decision = await guard.before_async(call)
            if isinstance(decision, lawtrace.Refuse):
                return decision.reason
            call = decision.call or call
            try:
                result = await tool.on_invoke_tool(context, json.dumps(dict(call.arguments)))
            except (TimeoutError, ConnectionError, asyncio.CancelledError) as error:  # it may have been carried out
                guard.unanswered(call, str(error))
                if isinstance(error, asyncio.CancelledError):
                    raise
                return f"The call failed: {error}"
            except Exception as error:  # noqa: BLE001 (the guard and the model are told)
                guard.after(call, error=str(error))
                return f"The call failed: {error}"
            guard.after(call, result)
            return result

    return replace(tool, on_invoke_tool=invoke)


def get_reservation(reservation_id: str) -> dict[str, str]:
    """Read a reservation."""
    return {"reservation_id": reservation_id, "cabin": "business"}


def cancel_reservation(reservation_id: str) -> dict[str, str]:
    """Cancel a reservation."""
    return {"reservation_id": reservation_id, "status": "cancelled"}


def send_confirmation(reservation_id: str) -> str:
    """Confirm a cancellation to the customer."""
    return f"Sent for {reservation_id}."


TOOLS = [get_reservation, cancel_reservation, send_confirmation]


def calling(name: str, number: int) -> list[Any]:
    return [function_call(name, {"reservation_id": "G2LTC4"}, call_id=f"call-{number}")]


async def main() -> None:
    set_tracing_disabled(True)
    guard = lawtrace.Guard(RULES, TOOLS, log=lawtrace.GuardLog("guard.jsonl"))
    names = ("cancel_reservation", "get_reservation", "cancel_reservation")
    steps = [calling(name, number) for number, name in enumerate(names, 1)]
    model = ScriptedModel([*steps, [assistant_message("It is cancelled.")]])
    agent = Agent("clerk", model=model, tools=[guarded_tool(function) for function in TOOLS])
    request = "Please cancel G2LTC4."
    guard.message("user", request)
    done = await Runner.run(agent, request, context=Session(guard))
    guard.message("agent", done.final_output)
    for item in done.new_items:
        if item.type == "tool_call_output_item":
            print(f"{names[int(item.call_id.removeprefix('call-')) - 1]}: {item.output}")
    for duty in guard.finish():
        print(f"Open: {duty}")


if __name__ == "__main__":
    asyncio.run(main())
