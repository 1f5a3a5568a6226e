"""Tool conversations over the real protocol: events, limits and messages."""

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import pytest

from lawtrace.agents.conversations.attempts import run_tool_conversation
from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.models.model_call import CallFailed
from lawtrace.agents.models.stack import ModelClients
from lawtrace.agents.prompt_context import PromptContext, RegulationText
from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.runtime.session import Session
from lawtrace.schemas.instructions import Instruction
from lawtrace.schemas.log_entries import Context, MessageSent, ModelCalled
from lawtrace.schemas.model_spec import ModelSpec
from lawtrace.schemas.tool_conversation import AttemptLimits, ToolConversation
from lawtrace.solver.declarations.loader import load_domain
from tests.support.openai_server import Answer, Raw, Status, calling, serving

INSTRUCTION = Instruction(style="goal", text="Pay the bill.", variables={"amount_1": 12.5})
CONTEXT = Context(stage="attempts", role="executor", task="t", style="goal", tested_model="m")
Told = list[str]
Policy = Callable[[Told], str | Mapping[str, Any]]
"""The next action of the model, given all results so far."""


def policy(next_move: Policy) -> Answer:
    return lambda request: next_move([line["content"] for line in request["messages"] if line["role"] == "tool"])


async def act(
    answer: Answer,
    *,
    limits: AttemptLimits | None = None,
    event_log: MemoryEventLog | None = None,
    first: object = None,
) -> tuple[ToolConversation, Session, list[Mapping[str, Any]]]:
    session = Session(ENVIRONMENT, ENVIRONMENT.populate(Random(1)))
    event_log = event_log or MemoryEventLog()
    with serving(answer) as server:
        if isinstance(first, Raw | Status):
            server.then(first)
        async with ModelClients(event_log, environment=server.environment) as clients:
            acted = await run_tool_conversation(
                session,
                INSTRUCTION,
                client=clients.client_for(ModelSpec.parse("openai:m"), CONTEXT),
                context=CONTEXT,
                event_log=event_log,
                limits=limits or AttemptLimits(),
                prompt_context=PromptContext(law=RegulationText("whole", load_domain("banking").regulation.text())),
            )
        return acted, session, server.requests


async def test_calls_continue_until_the_model_answers_in_text() -> None:
    def move(told: Told) -> str | Mapping[str, Any]:
        if not told:
            return calling(("GetAccountInformation", {"account_type": "savings"}), saying="Let me look.")
        return f"You have {json.loads(told[0])['accounts'][0]['balance']}."

    acted, session, requests = await act(policy(move))
    assert [event.tool for event in session.events] == ["GetAccountInformation"]
    assert acted.end == "finished"
    assert acted.turns[0].text == "Let me look."
    result = session.events[0].result
    assert isinstance(result, dict)
    assert acted.turns[1].text.startswith("You have ")
    assert json.loads(acted.turns[0].results[0]) == result
    offered = {tool["function"]["name"]: tool["function"]["parameters"] for tool in requests[0]["tools"]}
    assert set(offered) == set(ENVIRONMENT.tools)
    assert set(offered["PayBill"]["required"]) <= set(offered["PayBill"]["properties"])
    assert [line["role"] for line in requests[1]["messages"]] == ["system", "user", "assistant", "tool"]
    assert "Article 97(1)(b)" in requests[0]["messages"][0]["content"]


async def test_invalid_calls_are_answered_and_recorded() -> None:
    batch: list[tuple[str, str | Mapping[str, Any]]] = [
        ("PayBills", "{}"),
        ("SearchPayee", '{"keywords": ["x"'),
        ("SearchPayee", {"keywords": ["x"], "limit": 3}),
        ("SearchPayee", {}),
        ("TransferFunds", {"from_account_number": "1", "to_account_number": "2", "amount": -5}),
    ]
    acted, session, _ = await act(policy(lambda told: "Sorry." if told else calling(*batch)))
    assert [event.outcome for event in session.events] == ["rejected"] * 4 + ["raised"]
    told = acted.turns[0].results
    assert "did you mean PayBill" in told[0]
    assert "not strict JSON" in told[1]
    assert "no parameter 'limit'" in told[2]
    assert "needs the argument 'keywords'" in told[3]
    assert acted.end == "finished"


@pytest.mark.parametrize(
    ("limits", "end", "calls"),
    [
        (AttemptLimits(turns=3), "turn_limit", 6),
        (AttemptLimits(calls=3), "call_limit", 3),
        (AttemptLimits(tokens=1), "token_limit", 2),
        (AttemptLimits(seconds=1e-9), "time_limit", 2),
    ],
)
async def test_limits_end_the_conversation(limits: AttemptLimits, end: str, calls: int) -> None:
    event_log = MemoryEventLog()
    batch = [("CheckAuthorization", "{}")] * 2
    acted, session, _ = await act(policy(lambda told: calling(*batch)), limits=limits, event_log=event_log)
    assert (acted.end, len(session.events)) == (end, calls)
    assert acted.reason
    said = [entry for entry in event_log.entries if isinstance(entry, MessageSent)]
    assert (said[-1].source, said[-1].content) == ("limits", acted.reason)


async def test_all_messages_calls_and_results_are_recorded() -> None:
    event_log = MemoryEventLog()
    acted, session, _ = await act(
        policy(lambda told: "Done." if told else calling(("CheckAuthorization", "{}"))), event_log=event_log
    )
    messages = [entry for entry in event_log.entries if isinstance(entry, MessageSent)]
    assert [(m.source, m.context.turn) for m in messages] == [
        ("user", 0),
        ("executor", 1),
        ("CheckAuthorization", 2),
        ("executor", 3),
    ]
    assert [call.name for call in messages[1].function_calls] == ["CheckAuthorization"]
    assert json.loads(messages[2].content) == {"authorized": True}
    assert messages[1].prompt_id == "executor_tools_system"
    models = [entry for entry in event_log.entries if isinstance(entry, ModelCalled)]
    assert [call.function_calls for call in models] == [messages[1].function_calls, ()]
    assert len({message.id for message in messages}) == len(messages)
    assert [turn.message for turn in acted.turns] == [messages[1].id, messages[3].id]
    assert [event.message for event in session.events] == [messages[1].id]
    other_trial = messages[1].model_copy(update={"context": messages[1].context.at(trial=1)})
    assert other_trial.id != messages[1].id


async def test_endpoint_failure_raises_call_failed() -> None:
    with pytest.raises(CallFailed):
        await act(policy(lambda told: "never asked"), first=Status(400))
    with pytest.raises(CallFailed, match="not a chat completion"):
        await act(policy(lambda told: "never asked"), first=Raw("{}"))
