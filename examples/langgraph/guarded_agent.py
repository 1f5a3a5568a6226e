"""A guard as middleware of a LangChain agent, which is a LangGraph graph.

    pip install lawtrace langchain langgraph
    python examples/langgraph/guarded_agent.py
    lawtrace audit guard.jsonl --tools guard.jsonl --rules examples/rules.toml --complete

The model is scripted: it calls too early, follows the advice, and forgets the confirmation. Put yours in its place.
"""

# pyright: basic, reportMissingImports=false

import json
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel

import lawtrace

RULES = lawtrace.load_rules(Path(__file__).parents[1] / "rules.toml")


class GuardedState(AgentState[Any]):
    """The state of a conversation; a checkpointer keeps the name of its guarded session with it."""

    guarded: str


@dataclass(frozen=True)
class Login:
    """The context of a run: who has logged in. It comes from your server, never from the conversation."""

    principal: str
    role: str


class Session:
    """One conversation: its guard, the ids of the messages that were heard, and whose turn it is.

    Calls of one turn run in threads, in any order.
    """

    def __init__(self, guard: lawtrace.Guard, login: Login | None) -> None:
        self.guard = guard
        self.login = login
        self.written: set[str] = set()  # ids of messages that middleware wrote in the user's name
        self.turn = threading.Lock()

    def hear(self, messages: list[Any], *, given: bool) -> None:
        """Tell the guard what is new. `given`: by the caller; no user says what middleware writes, as summaries."""
        for message in messages:
            if isinstance(message, HumanMessage) and given and message.id not in self.written:
                self.guard.message("user", message.text, message_id=message.id)
            elif isinstance(message, HumanMessage):
                self.written.add(message.id)
            elif isinstance(message, AIMessage) and message.text:
                self.guard.message("agent", message.text, message_id=message.id)


class GuardMiddleware(AgentMiddleware):
    """Asks a guard before each call, and tells it results and messages. Each conversation has a session of its own.

    In a plain LangGraph graph, `wrap_tool_call` is an argument of `ToolNode`. An agent that is awaited needs
    `awrap_tool_call` as well, with an `asyncio.Lock`. Several processes share sessions by `guard.snapshot()`.
    """

    state_schema = GuardedState

    def __init__(self, open_guard: Callable[[str, Login | None], lawtrace.Guard]) -> None:
        """`open_guard`: makes the guard of a new conversation, given its name and who has logged in."""
        super().__init__()
        self.open_guard = open_guard
        self.sessions: dict[str, Session] = {}

    def session(self, state: Any, login: Login | None) -> Session:
        name = state["guarded"]
        if name not in self.sessions:
            self.sessions[name] = Session(self.open_guard(name, login), login)
        if self.sessions[name].login != login:
            raise PermissionError("this conversation belongs to another user")
        return self.sessions[name]

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        found = {"guarded": state.get("guarded") or secrets.token_hex(8)}
        self.session(found, runtime.context).hear(state["messages"], given=True)
        return found

    def before_model(self, state: Any, runtime: Any) -> None:
        self.session(state, runtime.context).hear(state["messages"], given=False)

    def after_model(self, state: Any, runtime: Any) -> None:
        self.session(state, runtime.context).hear(state["messages"], given=False)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        session, made = self.session(request.state, request.runtime.context), request.tool_call
        guard, call = session.guard, lawtrace.Call(made["name"], made["args"], made["id"])
        with session.turn:
            decision = guard.before(call)
            if isinstance(decision, lawtrace.Refuse):
                return ToolMessage(decision.reason, name=call.tool, tool_call_id=call.id, status="error")
            call = decision.call or call
            try:
                answer = handler(request.override(tool_call={**made, "args": dict(call.arguments)}))
            except (TimeoutError, ConnectionError) as error:  # it may have been carried out
                guard.unanswered(call, str(error))
                raise
            except Exception as error:
                guard.after(call, error=str(error))
                raise
            if isinstance(answer, ToolMessage) and answer.status == "error":
                guard.after(call, error=str(answer.content))
            else:
                guard.after(call, parsed(getattr(answer, "content", None)))
            return answer


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
    guard = lawtrace.Guard(RULES, TOOLS)

    def open_guard(name: str, login: Login | None) -> lawtrace.Guard:
        who = {} if login is None else {"principal": login.principal, "role": login.role}
        return guard.open_session(**who, log=lawtrace.GuardLog("guard.jsonl", name))

    middleware, ann = GuardMiddleware(open_guard), Login("ann", "clerk")
    cancel, read = calling("cancel_reservation"), calling("get_reservation")
    again = cancel.model_copy(update={"tool_calls": [{**cancel.tool_calls[0], "id": "once-more"}]})
    model = ScriptedModel(responses=[cancel, read, again, AIMessage("It is cancelled.")])
    agent = create_agent(model, TOOLS, middleware=[middleware], context_schema=Login)
    done = agent.invoke({"messages": [HumanMessage("Please cancel G2LTC4.")]}, context=ann)
    for message in done["messages"]:
        if isinstance(message, ToolMessage):
            print(f"{message.name}: {message.text}")
    for duty in middleware.session(done, ann).guard.finish():
        print(f"Open: {duty}")


if __name__ == "__main__":
    main()
