"""A guard as middleware of a LangChain agent, which is a LangGraph graph.

    pip install lawtrace langchain langgraph
    python examples/langgraph/guarded_agent.py
    lawtrace audit guard.jsonl --tools guard.jsonl --rules examples/rules.toml --complete

The model is scripted: it calls too early, follows the advice, and forgets the confirmation. Put yours in its place.
"""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel

import lawtrace

RULES = lawtrace.load_rules(Path(__file__).parents[1] / "rules.toml")


class GuardMiddleware(AgentMiddleware):
    """Asks a guard before each call, and tells it results and messages.

    In a plain LangGraph graph, `wrap_tool_call` is an argument of `ToolNode`. An agent that is awaited needs
    `awrap_tool_call` as well, with an `asyncio.Lock`.
    """

    def __init__(self, guard: lawtrace.Guard) -> None:
        super().__init__()
        self.guard = guard
        self._heard = 0
        self._turn = threading.Lock()  # calls of one turn run in threads, in any order

    def before_model(self, state: Any, runtime: Any) -> None:
        self._hear(state["messages"])

    def after_agent(self, state: Any, runtime: Any) -> None:
        self._hear(state["messages"])

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        made = request.tool_call
        call = lawtrace.Call(made["name"], made["args"], made["id"])
        with self._turn:
            decision = self.guard.before(call)
            if isinstance(decision, lawtrace.Refuse):
                return ToolMessage(decision.reason, name=call.tool, tool_call_id=call.id, status="error")
            try:
                answer = handler(request)
            except (TimeoutError, ConnectionError) as error:  # it may have been carried out
                self.guard.unanswered(call, str(error))
                raise
            except Exception as error:
                self.guard.after(call, error=str(error))
                raise
            if isinstance(answer, ToolMessage) and answer.status == "error":
                self.guard.after(call, error=str(answer.content))
            else:
                self.guard.after(call, parsed(getattr(answer, "content", None)))
            return answer

    def _hear(self, messages: list[Any]) -> None:
        for message in messages[self._heard :]:
            if isinstance(message, HumanMessage):
                self.guard.message("user", message.text)
            elif isinstance(message, AIMessage) and not message.tool_calls:
                self.guard.message("agent", message.text)
        self._heard = len(messages)


def parsed(content: Any) -> Any:
    """What a tool returned: LangChain writes objects as JSON."""
    try:
        return json.loads(content)
    except (TypeError, ValueError):
        return content


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


class ScriptedModel(FakeMessagesListChatModel):
    def bind_tools(self, tools: Any, **_: Any) -> "ScriptedModel":
        return self


def calling(name: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": {"reservation_id": "G2LTC4"}, "id": f"to-{name}"}])


def main() -> None:
    guard = lawtrace.Guard(RULES, TOOLS, log=lawtrace.GuardLog("guard.jsonl"))
    cancel, read = calling("cancel_reservation"), calling("get_reservation")
    again = cancel.model_copy(update={"tool_calls": [{**cancel.tool_calls[0], "id": "once-more"}]})
    model = ScriptedModel(responses=[cancel, read, again, AIMessage("It is cancelled.")])
    agent = create_agent(model, TOOLS, middleware=[GuardMiddleware(guard)])
    done = agent.invoke({"messages": [HumanMessage("Please cancel G2LTC4.")]})
    for message in done["messages"]:
        if isinstance(message, ToolMessage):
            print(f"{message.name}: {message.text}")
    for duty in guard.finish():
        print(f"Open: {duty}")


if __name__ == "__main__":
    main()
