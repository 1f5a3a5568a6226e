"""Hostile calls at a guard behind each adapter: whatever a model writes, no call that is carried out breaks a rule.

    python -m benchmarks.guard_fuzz --sessions 300
    python -m benchmarks.guard_fuzz --adapter mcp inspect --seed 7

A session has one to three rules, messages of the user, and turns of one to three calls at a time: of wrong types, with
arguments left out, misspelt or too many, look-alike letters, nested objects, and a tool with the name of the user. The
tools are the most obliging ones: they convert all that they can, and read names in any spelling. What they have read is
compared with the rules in plain Python. An adapter whose library is not installed is skipped.
"""

import argparse
import asyncio
import importlib.metadata
import inspect
import json
import random
import runpy
import sys
import tempfile
import unicodedata
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ValidationError, validate_call

import lawtrace
from lawtrace.environments.literals import fields_of
from lawtrace.environments.tool_schemas.forms import as_mcp
from lawtrace.schemas.events import Json

EXAMPLES: Final = Path(__file__).parents[1] / "examples"
RULES: Final = {
    "no-large": "G !pay(amount > 100)",
    "no-express": "G !pay(express)",
    "no-usd": 'G !pay(currency == "USD")',
    "known": 'G !pay(payee.country == "XX")',
    "no-cash": 'G !pay(any i in items: i.kind == "cash")',
    "agreed": 'G(pay -> O user(any w in words: w == "yes"))',
    "once": "G(pay -> WX G !pay)",
    "looked-up": "forall p: G(pay(payee.id == p) -> O find(id == p))",
}


class Item(BaseModel):
    kind: str = "cash"


class Payee(BaseModel):
    country: str = "XX"
    id: str = "p1"


@dataclass(frozen=True, slots=True)
class Carried:
    """A message of the user, or a call as its tool has read it."""

    tool: str
    read: Mapping[str, Any]


Written = tuple[str, dict[str, Json]]
Turn = str | Sequence[Written]
"""What the user says, or calls that are made at the same time."""


@dataclass(slots=True)
class Session:
    """Turns to try, and what was carried out of them."""

    rules: Mapping[str, str]
    turns: Sequence[Turn]
    random: random.Random
    carried: list[Carried] = field(default_factory=list[Carried])

    def functions(self) -> list[Callable[..., str]]:
        """The tools."""

        def pay(
            amount: float = 150,
            payee: Payee = Payee(country="NL"),  # noqa: B008 (a default that the schema declares)
            currency: Literal["EUR", "USD"] = "USD",
            items: list[Item] = [],  # noqa: B006 (the same)
            *,
            express: bool = False,
        ) -> str:
            """Pay."""
            read = {"amount": amount, "payee": payee, "currency": currency, "items": items, "express": express}
            self.carried.append(Carried("pay", read))
            return "paid"

        def find(id: str) -> str:  # noqa: A002
            """Find a payee."""
            self.carried.append(Carried("find", {"words": [id]}))
            return "found"

        def user(text: str, words: list[str]) -> str:
            """A tool with the name of the user."""
            return f"{text} {words}"

        return [pay, find, user]

    def obliging(self) -> dict[str, Callable[..., str]]:
        """The tools by name, which take arguments in any spelling."""
        return {tool.__name__: _obliging(tool) for tool in self.functions()}

    def guard(self) -> lawtrace.Guard:
        return lawtrace.Guard(self.known_rules(), self.functions()[:2], advice=False)

    def schemas(self) -> list[dict[str, Any]]:
        """The tools as an MCP server lists them."""
        return [as_mcp(tool) for tool in self.guard().tools.values()]

    def write_files(self, folder: Path) -> tuple[str, str]:
        """Files with the rules and the tools."""
        rules, tools = folder / "rules.toml", folder / "tools.json"
        written = [f"[[rules]]\nid = '{name}'\nformula = '{formula}'\n" for name, formula in self.rules.items()]
        rules.write_text("".join(written), encoding="utf-8")
        tools.write_text(json.dumps(self.schemas()), encoding="utf-8")
        return str(rules), str(tools)

    def known_rules(self) -> list[lawtrace.Rule]:
        return [lawtrace.Rule(id=name, formula=formula) for name, formula in self.rules.items()]

    def says(self, text: str) -> None:
        self.carried.append(Carried("user", {"words": text.casefold().split()}))

    def run_unguarded(self) -> None:
        """Carry out every call that its tool accepts."""
        tools = self.obliging()
        for turn in self.turns:
            if isinstance(turn, str):
                self.says(turn)
                continue
            for tool, arguments in turn:
                with suppress(ValidationError):
                    tools[tool](**arguments)

    def broken(self) -> list[str]:
        """The rules that what was carried out breaks."""
        pays = [(number, one.read) for number, one in enumerate(self.carried) if one.tool == "pay"]

        def before(number: int, tool: str, word: str) -> bool:
            return any(one.tool == tool and word in one.read["words"] for one in self.carried[:number])

        found = {
            "no-large": any(read["amount"] > 100 for _, read in pays),
            "no-express": any(read["express"] for _, read in pays),
            "no-usd": any(read["currency"] == "USD" for _, read in pays),
            "known": any(read["payee"].country == "XX" for _, read in pays),
            "no-cash": any(item.kind == "cash" for _, read in pays for item in read["items"]),
            "agreed": any(not before(number, "user", "yes") for number, _ in pays),
            "once": len(pays) > 1,
            "looked-up": any(not before(number, "find", read["payee"].id) for number, read in pays),
        }
        return [name for name in self.rules if found[name]]


def _obliging(tool: Callable[..., str]) -> Callable[..., str]:
    made = validate_call(tool)
    known = inspect.signature(tool).parameters

    def call(**arguments: Json) -> str:
        plain = {unicodedata.normalize("NFKC", name).strip().casefold(): value for name, value in arguments.items()}
        return made(**{name: value for name, value in plain.items() if name in known})

    return call


# Sessions

_ANY: Final[Sequence[Json]] = (
    *(0, 1, 99.5, 100, 101, 1e9, 10**400, -1, float("nan"), float("inf"), True, False, None),
    *(
        "1",
        "101",
        "１５０",
        " 150 ",
        "1e3",
        "yes",
        "on",
        "true",
        "EUR",
        "USD",
        "usd",
        " USD",
        "ＵＳＤ",
        "p1",
        "P1",
        "ｐ1",
        "",
    ),
    *('{"country": "NL"}', "[]", [150], [], {}, [[]], [{}], {"country": "XX"}, [{"country": "XX"}], [{"kind": "cash"}]),
    *({"kind": "cash"}, {"Country": "NL"}, {"country": None}, {"country": "NL", "country ": "XX"}, [None], ["cash"]),
)
_FITTING: Final[Mapping[str, Sequence[Json]]] = {
    "amount": (1, 100, 100.5, 150),
    "payee": ({"country": "NL"}, {}, {"country": "NL", "id": "p2"}, {"id": "p2"}),
    "currency": ("EUR", "USD"),
    "items": ([], [{"kind": "card"}], [{"kind": "card"}, {}], [{"kind": "cash"}]),
    "express": (True, False, False),
}
_ODD: Final = (
    "Amount",
    "ａmount",
    "amount ",
    "EXPRESS",
    "Express",
    "Payee",
    "Ｃurrency",
    "items ",
    "kwargs",
    "args",
    "self",
)


def session(seed: int, number: int) -> Session:
    """The same session for the same numbers."""
    chance = random.Random(f"{seed}/{number}")
    rules = chance.sample(sorted(RULES), chance.randint(1, 3))
    turns = [_turn(chance) for _ in range(chance.randint(2, 6))]
    return Session({name: RULES[name] for name in rules}, turns, chance)


def _turn(chance: random.Random) -> Turn:
    if chance.random() < 0.2:
        return chance.choice(["yes", "no", "YES", "yes please"])
    return [_call(chance) for _ in range(chance.choice([1, 1, 2, 3]))]


def _call(chance: random.Random) -> Written:
    which = chance.random()
    if which < 0.05:
        return "user", {"text": "yes", "words": ["yes"]}
    if which < 0.25:
        return "find", {"id": chance.choice(["p1", "p1", "p2"] if chance.random() < 0.7 else _ANY)}
    odd = chance.choice([0, 0, 0.3, 1])
    names = [name for name in _FITTING if chance.random() < 0.7]
    written = {name: chance.choice(_ANY if chance.random() < odd else _FITTING[name]) for name in names}
    if chance.random() < 0.5 * odd:
        written[chance.choice(_ODD)] = chance.choice(_ANY)
    return "pay", written


# Adapters


async def core(session: Session) -> None:
    """`Guard` itself: the calls of a turn are decided before any of them has returned."""
    guard, tools = session.guard(), session.obliging()
    for turn in session.turns:
        if isinstance(turn, str):
            guard.message("user", turn)
            session.says(turn)
            continue
        decisions = [guard.before(lawtrace.Call(tool, arguments)) for tool, arguments in turn]
        allowed = [one.call for one in decisions if isinstance(one, lawtrace.Allow) and one.call is not None]
        outcomes: list[tuple[lawtrace.Call, Json, str | None]] = []
        for call in allowed:
            try:
                outcomes.append((call, tools[call.tool](**call.arguments), None))
            except ValidationError as error:
                outcomes.append((call, None, str(error)))
        session.random.shuffle(outcomes)
        for call, result, error in outcomes:
            guard.after(call, result, error=error)


async def autogen(session: Session) -> None:
    """`GuardedWorkbench` of AutoGen."""
    guard = session.guard()
    tools = lawtrace.GuardedWorkbench(session.functions(), guard)
    for turn in session.turns:
        if isinstance(turn, str):
            guard.message("user", turn)
            session.says(turn)
        else:
            await asyncio.gather(*(tools.call_tool(tool, arguments) for tool, arguments in turn))


async def mcp(session: Session) -> None:
    """The guard between an MCP client and a server, which hears no messages."""
    import anyio
    from mcp import Client
    from mcp.shared.exceptions import MCPError
    from mcp.shared.memory import MessageStream, create_client_server_memory_streams
    from mcp.shared.message import SessionMessage
    from mcp.types import JSONRPCRequest, jsonrpc_message_adapter

    from lawtrace.runs.integrations.guarded_session import GuardedSession
    from lawtrace.runs.integrations.mcp_guard import McpGuard

    listed, tools = session.schemas(), session.obliging()

    def answer(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        if method == "initialize":
            info = {"name": "desk", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
        if method == "tools/list":
            return {"tools": listed}
        try:
            said = tools[params["name"]](**params.get("arguments") or {})
        except ValidationError as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True}
        return {"content": [{"type": "text", "text": said}]}

    async def serve(streams: MessageStream) -> None:
        reading, writing = streams
        async for item in reading:
            message = None if isinstance(item, Exception) else item.message
            if isinstance(message, JSONRPCRequest):
                result = answer(message.method, message.params or {})
                response = {"jsonrpc": "2.0", "id": message.id, "result": result}
                await writing.send(SessionMessage(jsonrpc_message_adapter.validate_python(response)))

    with tempfile.TemporaryDirectory() as folder, lawtrace.GuardLog(Path(folder, "log.jsonl"), "one") as log:
        guarded = GuardedSession(session.known_rules(), log)

        @asynccontextmanager
        async def transport() -> AsyncGenerator[MessageStream]:
            async with (
                create_client_server_memory_streams() as (outer, client),
                create_client_server_memory_streams() as (server, inner),
                anyio.create_task_group() as group,
            ):
                group.start_soon(serve, inner)
                group.start_soon(McpGuard(guarded, client, server, 30).run)
                yield outer
                group.cancel_scope.cancel()

        async with Client(transport(), mode="legacy") as client:

            async def call(tool: str, arguments: dict[str, Json]) -> None:
                with suppress(MCPError, ValueError):  # what is no call of the protocol
                    await client.call_tool(tool, arguments)

            for turn in session.turns:
                if isinstance(turn, str):
                    session.says(turn)
                else:
                    await asyncio.gather(*(call(*one) for one in turn))


async def langgraph(session: Session) -> None:
    """The middleware of the example, in an agent of LangChain."""
    example = runpy.run_path(str(EXAMPLES / "langgraph" / "guarded_agent.py"))
    guard, messages, ids = session.guard(), list[Any](), count()

    def open_guard(*_: object) -> lawtrace.Guard:
        return guard

    middleware = example["GuardMiddleware"](open_guard)
    state: dict[str, Any] = {}
    for said, turns in _by_message(session):
        messages = [*state.get("messages", messages), *map(example["HumanMessage"], said)]
        for text in said:
            session.says(text)
        calls = [
            [{"name": tool, "args": arguments, "id": str(next(ids))} for tool, arguments in turn] for turn in turns
        ]
        answers = [*(example["AIMessage"]("", tool_calls=of) for of in calls), example["AIMessage"]("Done.")]
        model = example["ScriptedModel"](responses=answers)
        agent = example["create_agent"](model, session.functions(), middleware=[middleware])
        state = await asyncio.to_thread(agent.invoke, {**state, "messages": messages})


async def agents_sdk(session: Session) -> None:
    """The tool of the example, in an agent of the OpenAI Agents SDK."""
    import tests.support.agents_sdk  # noqa: F401  # pyright: ignore[reportUnusedImport]

    example = runpy.run_path(str(EXAMPLES / "openai_agents" / "guarded_agent.py"))
    example["set_tracing_disabled"](True)
    guard, ids, given = session.guard(), count(), list[Any]()
    tools = [example["guarded_tool"](function) for function in session.functions()]
    for said, turns in _by_message(session):
        for text in said:
            guard.message("user", text)
            session.says(text)
            given.append({"role": "user", "content": text})
        given = given or [{"role": "user", "content": ""}]
        calls = [
            [example["function_call"](tool, json.dumps(of), call_id=f"call-{next(ids)}") for tool, of in turn]
            for turn in turns
        ]
        model = example["ScriptedModel"]([*calls, [example["assistant_message"]("Done.")]])
        agent = example["Agent"]("clerk", model=model, tools=tools)
        done = await example["Runner"].run(agent, given, context=example["Session"](guard), max_turns=20)
        given = done.to_input_list()


async def inspect_ai(session: Session) -> None:
    """The approver, where Inspect makes the calls of a message."""
    from inspect_ai.approval import ApprovalPolicy
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, execute_tools
    from inspect_ai.tool import ToolCall, ToolDef, ToolError, ToolParams

    from lawtrace.runs.integrations.inspect.approver import guard

    def tool(name: str, schema: dict[str, Any]) -> ToolDef:
        obliging = session.obliging()[name]

        async def execute(**arguments: Any) -> str:  # noqa: ANN401 (Inspect converts what has a type)
            try:
                return obliging(**arguments)
            except ValidationError as error:
                raise ToolError(str(error)) from error

        return ToolDef(execute, name=name, description=name, parameters=ToolParams.model_validate(schema))

    listed = session.schemas()
    tools = [tool(one["name"], _inlined(one["inputSchema"])) for one in listed]
    tools.append(tool("user", {"type": "object", "properties": {"text": {"type": "string"}}}))
    with tempfile.TemporaryDirectory() as folder:
        policies = [ApprovalPolicy(guard(*session.write_files(Path(folder))), "*")]
    history, ids = list[Any](), count()
    for turn in session.turns:
        if isinstance(turn, str):
            history.append(ChatMessageUser(content=turn))
            session.says(turn)
            continue
        calls = [ToolCall(id=str(next(ids)), function=tool, arguments=arguments) for tool, arguments in turn]
        history.append(ChatMessageAssistant(content="", tool_calls=calls))
        history += (await execute_tools(history, tools, approval=policies)).messages


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without references, which Inspect does not read."""
    parts = fields_of(schema.get("$defs"))

    def inlined(value: Json) -> Json:
        if isinstance(value, list):
            return [inlined(part) for part in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            return inlined(parts[str(value["$ref"]).rpartition("/")[2]])
        return {name: inlined(part) for name, part in value.items() if name != "$defs"}

    return fields_of(inlined(schema))


def _by_message(session: Session) -> list[tuple[list[str], list[Sequence[Written]]]]:
    """Messages of the user, each group with the turns of the agent that follow."""
    found: list[tuple[list[str], list[Sequence[Written]]]] = []
    for turn in session.turns:
        if not found or (isinstance(turn, str) and found[-1][1]):
            found.append(([], []))
        said, turns = found[-1]
        if isinstance(turn, str):
            said.append(turn)
        else:
            turns.append(turn)
    return found


ADAPTERS: Final[Mapping[str, tuple[Callable[[Session], Awaitable[None]], str]]] = {
    "core": (core, "lawtrace"),
    "autogen": (autogen, "autogen-agentchat"),
    "mcp": (mcp, "mcp"),
    "langgraph": (langgraph, "langchain"),
    "agents-sdk": (agents_sdk, "openai-agents"),
    "inspect": (inspect_ai, "inspect-ai"),
}
"""Each with the package that it needs."""


@dataclass(slots=True)
class Tally:
    """What was tried behind an adapter. `broken`: a sentence for each session in which a rule was."""

    sessions: int = 0
    calls: int = 0
    carried_out: int = 0
    broken: list[str] = field(default_factory=list[str])


def missing(adapter: str) -> str | None:
    """The package that an adapter needs, if it is not installed."""
    package = ADAPTERS[adapter][1]
    try:
        importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return package
    return None


def fuzz(adapter: str, seed: int, sessions: int) -> Tally:
    """Run sessions behind an adapter."""
    run, tally = ADAPTERS[adapter][0], Tally()

    async def run_all() -> None:
        for number in range(sessions):
            one = session(seed, number)
            await run(one)
            tally.sessions += 1
            tally.calls += sum(len(turn) for turn in one.turns if not isinstance(turn, str))
            tally.carried_out += sum(carried.tool != "user" for carried in one.carried)
            if broken := one.broken():
                tally.broken.append(f"session {number} of seed {seed}: {', '.join(broken)}: {one.carried}")

    asyncio.run(run_all())
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adapter", nargs="+", choices=ADAPTERS, default=list(ADAPTERS))
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = 0
    print(f"{'adapter':12} {'sessions':>8} {'calls':>8} {'carried out':>11} {'sessions with a broken rule':>28}")
    for adapter in given.adapter:
        if package := missing(adapter):
            print(f"{adapter:12} skipped: {package} is not installed")
            continue
        tally = fuzz(adapter, given.seed, given.sessions)
        print(
            f"{adapter:12} {tally.sessions:8,} {tally.calls:8,} {tally.carried_out:11,} {len(tally.broken):28,}",
            flush=True,
        )
        print("\n".join(tally.broken[:5]), end="\n" if tally.broken else "")
        found += len(tally.broken)
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
