"""A guard as tool guardrails of the OpenAI Agents SDK.

    pip install lawtrace openai-agents
    python examples/openai_agents/guarded_agent.py
    lawtrace audit guard.jsonl --tools guard.jsonl --rules examples/rules.toml --complete

The model is scripted: it calls too early, follows the advice, and forgets the confirmation. Put yours in its place,
with `ModelSettings(parallel_tool_calls=False)`: the SDK begins all calls of a turn before the first has returned.
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents import (
    Agent,
    FunctionTool,
    Runner,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailData,
    ToolOutputGuardrailData,
    function_tool,
    set_tracing_disabled,
    tool_input_guardrail,
    tool_output_guardrail,
)
from agents.testing import ScriptedModel, assistant_message, function_call

import lawtrace

RULES = lawtrace.load_rules(Path(__file__).parents[1] / "rules.toml")


def guarded_tool(guard: lawtrace.Guard, function: Callable[..., Any]) -> FunctionTool:
    """A function as a tool: a guard is asked before each call, and told the result or the error."""
    made: dict[str, lawtrace.Call] = {}

    @tool_input_guardrail
    def before(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        context = data.context
        try:
            arguments = json.loads(context.tool_arguments or "{}")
        except ValueError:
            arguments = None
        if not isinstance(arguments, dict):
            return ToolGuardrailFunctionOutput.reject_content("The arguments are not a JSON object.")
        call = lawtrace.Call(context.tool_name, arguments, context.tool_call_id)
        decision = guard.before(call)
        if isinstance(decision, lawtrace.Refuse):
            return ToolGuardrailFunctionOutput.reject_content(decision.reason)
        made[context.tool_call_id] = call
        return ToolGuardrailFunctionOutput.allow()

    @tool_output_guardrail
    def after(data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        if (call := made.pop(data.context.tool_call_id, None)) is not None:  # None: `failed` has told the guard
            guard.after(call, data.output)
        return ToolGuardrailFunctionOutput.allow()

    def failed(context: Any, error: Exception) -> str:
        if (call := made.pop(context.tool_call_id, None)) is not None:
            if isinstance(error, TimeoutError | ConnectionError):  # it may have been carried out
                guard.unanswered(call, str(error))
            else:
                guard.after(call, error=str(error))
        return f"The call failed: {error}"

    return function_tool(
        function, failure_error_function=failed, tool_input_guardrails=[before], tool_output_guardrails=[after]
    )


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
    agent = Agent("clerk", model=model, tools=[guarded_tool(guard, function) for function in TOOLS])
    request = "Please cancel G2LTC4."
    guard.message("user", request)
    done = await Runner.run(agent, request)
    guard.message("agent", done.final_output)
    for item in done.new_items:
        if item.type == "tool_call_output_item":
            print(f"{names[int(item.call_id.removeprefix('call-')) - 1]}: {item.output}")
    for duty in guard.finish():
        print(f"Open: {duty}")


if __name__ == "__main__":
    asyncio.run(main())
