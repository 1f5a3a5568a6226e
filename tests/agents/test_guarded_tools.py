"""A guard in front of the tools of AutoGen's own agents: refusals, parallel calls, errors, cancellation, state."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import ToolCallExecutionEvent
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import CancellationToken, FunctionCall
from autogen_core.models import FunctionExecutionResult
from autogen_core.tools import FunctionTool, StaticWorkbench, ToolResult

import lawtrace
from lawtrace.agents.guarded_tools import GuardedAgent, GuardedWorkbench
from lawtrace.agents.models.scripted_client import ScriptedClient
from lawtrace.solver.rules import Rule

Turn = str | list[FunctionCall]


def rule(name: str, formula: str, rationale: str) -> Rule:
    return Rule(id=name, regulation="POLICY", provisions=(name,), rationale=rationale, formula=formula)


LOOKED_UP = rule("looked-up", "forall r: G(cancel(id == r) -> O look_up(id == r))", "Read it before it is cancelled.")
RECEIPT = rule("receipt", "forall r: G(cancel(id == r) -> F receipt(id == r))", "Send a receipt.")
REFUNDABLE = rule(
    "refundable", "forall r: G(cancel(id == r) -> O look_up(id == r, result.refundable))", "Cancel what is refundable."
)
CONFIRMED = rule("confirmed", 'G(cancel -> O user("yes"))', "The user confirms.")
ADVICE = "Not carried out. Call look_up(id='A') first."


class Desk:
    """The tools. Each call is noted when it begins and when it ends."""

    def __init__(self, *, refundable: bool = True) -> None:
        self.refundable = refundable
        self.log: list[str] = []

    async def look_up(self, id: str) -> dict[str, object]:  # noqa: A002
        """Reads a booking."""
        self.log.append(f"look_up {id}")
        await asyncio.sleep(0.01)
        self.log.append(f"read {id}")
        return {"id": id, "refundable": self.refundable}

    def cancel(self, id: str, fee: int = 0) -> dict[str, object]:  # noqa: A002
        """Cancels a booking."""
        self.log.append(f"cancel {id}")
        if id == "broken":
            raise RuntimeError("the desk is on fire")
        return {"success": True}

    async def receipt(self, id: str) -> str:  # noqa: A002
        """Sends a receipt."""
        self.log.append(f"receipt {id}")
        return "sent"

    async def search(self, words: str) -> str:
        """Searches. No rule is about it."""
        self.log.append(f"search {words}")
        await asyncio.sleep(0.01)
        self.log.append(f"found {words}")
        return "nothing"

    @property
    def tools(self) -> list[Callable[..., Any]]:
        return [self.look_up, self.cancel, self.receipt, self.search]


def calling(*calls: tuple[str, Mapping[str, object]]) -> list[FunctionCall]:
    return [FunctionCall(id=f"c{at}", name=name, arguments=json.dumps(given)) for at, (name, given) in enumerate(calls)]


def clerk(tools: GuardedWorkbench, turns: Sequence[Turn], name: str = "clerk") -> AssistantAgent:
    left = iter(turns)
    return AssistantAgent(
        name, model_client=ScriptedClient(lambda _: next(left)), workbench=tools, max_tool_iterations=len(turns)
    )


async def results(agent: AssistantAgent | GuardedAgent, task: str = "Cancel A.") -> list[FunctionExecutionResult]:
    messages = (await agent.run(task=task)).messages
    return [result for one in messages if isinstance(one, ToolCallExecutionEvent) for result in one.content]


async def test_an_agent_follows_the_advice_of_a_refusal() -> None:
    desk = Desk()
    guard = lawtrace.Guard([LOOKED_UP, RECEIPT], desk.tools)
    cancel = calling(("cancel", {"id": "A"}))
    found = await results(
        clerk(GuardedWorkbench(desk.tools, guard), [cancel, calling(("look_up", {"id": "A"})), cancel, "Done."])
    )
    assert [result.is_error for result in found] == [True, False, False]
    assert found[0].content.startswith(ADVICE)
    assert desk.log == ["look_up A", "read A", "cancel A"]
    assert [(duty.rule, str(duty.steps[0])) for duty in guard.finish()] == [("receipt", "receipt(id='A')")]


async def test_calls_of_one_turn_are_decided_with_the_results_before_them() -> None:
    desk = Desk(refundable=False)
    guard = lawtrace.Guard([REFUNDABLE], desk.tools)
    both = calling(("look_up", {"id": "A"}), ("cancel", {"id": "A"}))
    looked_up, cancelled = await results(clerk(GuardedWorkbench(desk.tools, guard), [both, "Done."]))
    assert not looked_up.is_error
    assert cancelled.is_error
    assert desk.log == ["look_up A", "read A"]
    assert guard.lost == ()


async def test_a_call_that_raises_has_not_happened() -> None:
    desk = Desk()
    guard = lawtrace.Guard([RECEIPT], desk.tools)
    (failed,) = await results(
        clerk(GuardedWorkbench(desk.tools, guard), [calling(("cancel", {"id": "broken"})), "Sorry."])
    )
    assert failed.is_error
    assert failed.content == "the desk is on fire"
    assert guard.finish() == ()


async def test_the_tool_gets_the_arguments_that_the_guard_decided_about() -> None:
    desk = Desk()
    free = rule("free", "G(!cancel(fee > 10) & (cancel -> cancel(fee >= 0)))", "No fee above 10.")
    guarded = GuardedWorkbench(desk.tools, lawtrace.Guard([free], desk.tools))
    for fee, why in ((11, "No fee above 10"), ("11", "expected a whole number, not '11'"), (True, "whole number")):
        refused = await guarded.call_tool("cancel", {"id": "A", "fee": fee})
        assert refused.is_error
        assert why in refused.to_text()
    assert not (await guarded.call_tool("cancel", {"id": "A"})).is_error  # the default of fee
    rejected = await guarded.call_tool("cancel", {"fee": "much"})
    assert rejected.is_error
    assert desk.log == ["cancel A"]


@pytest.mark.parametrize("as_workbench", [False, True])
async def test_results_are_read_from_values_and_from_text(*, as_workbench: bool) -> None:
    for refundable in (True, False):
        desk = Desk(refundable=refundable)
        guard = lawtrace.Guard([REFUNDABLE], desk.tools)
        static = StaticWorkbench([FunctionTool(tool, description="A tool.") for tool in desk.tools])
        guarded = GuardedWorkbench(static if as_workbench else desk.tools, guard)
        await guarded.call_tool("look_up", {"id": "A"})
        assert (await guarded.call_tool("cancel", {"id": "A"})).is_error is not refundable


class Remote(StaticWorkbench):
    """A workbench whose connection is lost, and which converts nothing."""

    async def call_tool(self, *args: Any, **kwargs: Any) -> ToolResult:
        raise ConnectionError("the server is gone")


async def test_what_fails_around_a_tool_is_an_error_for_the_model(tmp_path: Path) -> None:
    desk = Desk()
    log = lawtrace.GuardLog(tmp_path / "guard.jsonl")
    guard = lawtrace.Guard([RECEIPT], desk.tools, log=log)
    remote = Remote([FunctionTool(tool, description="A tool.") for tool in desk.tools])
    cancel = calling(("cancel", {"id": "A"}))
    turns: list[Turn] = [cancel, calling(("cancel", {"id": 7})), "Sorry."]
    lost, wrong = await asyncio.wait_for(results(clerk(GuardedWorkbench(remote, guard), turns)), 10)
    assert lost.content == "ConnectionError: the server is gone"
    assert wrong.content == "Not carried out. It could not be checked: argument 'id': expected a string, not 7."
    listed = [FunctionCall(id="c", name="cancel", arguments="[1]")]
    (malformed,) = await asyncio.wait_for(results(clerk(GuardedWorkbench(desk.tools, guard), [listed, "Sorry."])), 10)
    assert malformed.content == "Not carried out. The arguments are not a JSON object."
    log.close()
    (unlogged,) = await asyncio.wait_for(results(clerk(GuardedWorkbench(desk.tools, guard), [cancel, "Sorry."])), 10)
    assert unlogged.is_error
    assert "the log cannot be written" in unlogged.content
    assert desk.log == []
    assert guard.lost == ()


async def test_a_cancelled_call_leaves_the_tools_usable() -> None:
    started = asyncio.Event()

    async def cancel(id: str) -> str:  # noqa: A002
        """Cancels a booking, and takes its time."""
        started.set()
        await asyncio.sleep(30)
        return "too late"

    desk = Desk()
    tools = [desk.look_up, cancel, desk.receipt]
    guard = lawtrace.Guard([LOOKED_UP, RECEIPT], tools)
    guarded = GuardedWorkbench(tools, guard)
    await guarded.call_tool("look_up", {"id": "A"})
    token = CancellationToken()
    turn = calling(("cancel", {"id": "A"}), ("receipt", {"id": "A"}))
    run = asyncio.ensure_future(clerk(guarded, [turn, "Done."]).run(task="Cancel A.", cancellation_token=token))
    await started.wait()
    token.cancel()
    messages = (await asyncio.wait_for(run, 5)).messages
    told = [result for one in messages if isinstance(one, ToolCallExecutionEvent) for result in one.content]
    assert [result.is_error for result in told] == [True, True]
    assert "receipt A" not in desk.log, "the call that waited was not made"
    assert [duty.rule for duty in guard.finish()] == ["receipt"], "it may have been cancelled all the same"
    assert (await asyncio.wait_for(guarded.call_tool("receipt", {"id": "A"}), 5)).to_text() == "sent"
    assert guard.finish() == ()


@pytest.mark.parametrize("error", [TimeoutError("too slow"), ConnectionResetError("gone"), ValueError("wrong")])
async def test_a_lost_connection_leaves_open_whether_a_call_happened(error: Exception) -> None:
    async def cancel(id: str) -> str:  # noqa: A002
        raise error

    desk = Desk()
    tools = [desk.look_up, cancel, desk.receipt]
    guard = lawtrace.Guard([LOOKED_UP, RECEIPT], tools)
    guarded = GuardedWorkbench(tools, guard)
    await guarded.call_tool("look_up", {"id": "A"})
    assert (await guarded.call_tool("cancel", {"id": "A"})).is_error
    assert len(guard.finish()) == (not isinstance(error, ValueError))


async def test_agents_that_share_a_guard_know_of_each_others_calls_and_hear_the_user_once(tmp_path: Path) -> None:
    desk, path = Desk(), tmp_path / "guard.jsonl"
    guard = lawtrace.Guard([LOOKED_UP, RECEIPT, CONFIRMED], desk.tools, log=lawtrace.GuardLog(path))
    reading = GuardedWorkbench([desk.look_up], guard)
    writing = GuardedWorkbench([desk.cancel, desk.receipt], reading)
    reader = clerk(reading, [calling(("look_up", {"id": "A"})), "I read A."], "reader")
    writer = clerk(writing, [calling(("cancel", {"id": "A"})), "I cancelled A."], "writer")
    team = RoundRobinGroupChat([GuardedAgent(reader, reading), GuardedAgent(writer, writing)], max_turns=2)
    await team.run(task="Yes, cancel A.")
    assert desk.log == ["look_up A", "read A", "cancel A"]
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [(one, line[one]) for line in lines for one in ("user", "agent") if one in line] == [
        ("user", "Yes, cancel A."),
        ("agent", "I read A."),
        ("agent", "I cancelled A."),
    ]
    assert [duty.rule for duty in guard.finish()] == ["receipt"]


async def test_a_team_that_is_loaded_goes_on_with_the_guard_it_was_saved_with() -> None:
    def make(turns: Sequence[Turn]) -> tuple[Desk, lawtrace.Guard, RoundRobinGroupChat]:
        desk = Desk()
        guard = lawtrace.Guard([LOOKED_UP, RECEIPT, CONFIRMED], desk.tools)
        tools = GuardedWorkbench(desk.tools, guard)
        return desk, guard, RoundRobinGroupChat([GuardedAgent(clerk(tools, turns), tools)], max_turns=1)

    _, _, first = make([calling(("look_up", {"id": "A"})), "I read it."])
    await first.run(task="Yes, cancel A.")
    state = json.loads(json.dumps(await first.save_state()))
    desk, guard, second = make([calling(("cancel", {"id": "A"})), "Done."])
    await second.load_state(state)
    await second.run(task="Go on.")
    assert desk.log == ["cancel A"]
    assert [duty.rule for duty in guard.finish()] == ["receipt"]


async def test_open_duties_are_logged_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    desk = Desk()
    async with GuardedWorkbench(desk.tools, lawtrace.Guard([RECEIPT], desk.tools)) as guarded:
        await guarded.call_tool("cancel", {"id": "A"})
    assert any("guard.open_duty" in record.getMessage() for record in caplog.records)
