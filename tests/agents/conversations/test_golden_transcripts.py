"""Golden transcripts: what each team says and what its models are sent, with scripted models.

A change of AutoGen's version, of a team or of a prompt shows here. If it is meant, write the transcripts again with

    .venv/bin/python -m tests.agents.conversations.test_golden_transcripts
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from autogen_core.models import AssistantMessage, ChatCompletionClient, LLMMessage, SystemMessage

from lawtrace.agents.conversations.instruction_writing import write_instruction
from lawtrace.agents.conversations.rule_extraction import extract_rules
from lawtrace.agents.event_log import Context, MemoryEventLog, MessageSent
from lawtrace.agents.legal.decomposition import DecompositionLimits, answer_by_decomposition
from lawtrace.agents.legal.role_calls import RoleCalls
from lawtrace.agents.legal.scripted.legal_offline_roles import LEGAL_OFFLINE_ROLES
from lawtrace.agents.models.scripted_client import ScriptedClient
from lawtrace.agents.scripted.offline_roles import OFFLINE_ROLES
from lawtrace.environments.domains.loader import load_domain
from lawtrace.environments.legal.case import Agent, Chunk
from lawtrace.prompts.loader import Prompt, load_prompt
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.rules import load_rules
from tests.agents.conversations.test_attempts import act
from tests.agents.conversations.test_rule_extraction import law
from tests.support.legal.small_cases import BOTTLES
from tests.support.openai_server import calling

FOLDER = Path(__file__).parent / "transcripts"
Script = Callable[[Sequence[LLMMessage]], str]
BANKING = load_domain("banking")


class Cast:
    """The offline roles, except those with a script; notes what each is sent."""

    def __init__(self, **scripts: Script) -> None:
        self._scripts: Mapping[str, Script] = {**OFFLINE_ROLES, **LEGAL_OFFLINE_ROLES, **scripts}
        self.sent: list[str] = []

    def prompt(self, role: str) -> Prompt:
        return load_prompt(role)

    def name_of(self, role: str) -> str:
        return "offline"

    def client(self, role: str, context: Context) -> ChatCompletionClient:
        def answer(messages: Sequence[LLMMessage]) -> str:
            self.sent.append(f"{role} is sent {', '.join(map(_kind, messages))}")
            return self._scripts[role](messages)

        return ScriptedClient(answer)


def _kind(message: LLMMessage) -> str:
    match message:
        case SystemMessage():
            return "its prompt"
        case AssistantMessage():
            return "its own words"
        case _:
            return "a message"


def lines(event_log: MemoryEventLog, sent: Sequence[str]) -> list[str]:
    """The messages in order, then what the models were sent."""
    said = [entry for entry in event_log.entries if isinstance(entry, MessageSent)]
    messages: list[Mapping[str, Any]] = [
        {
            "turn": message.context.turn,
            "source": message.source,
            "prompt": message.prompt_id,
            "content": message.content,
            **(
                {"calls": [[call.name, call.arguments] for call in message.function_calls]}
                if message.function_calls
                else {}
            ),
        }
        for message in said
    ]
    return [*(json.dumps(message, ensure_ascii=False) for message in messages), *sent]


async def writing() -> list[str]:
    """The first draft names a hidden step, the second answer does not parse, the third is accepted."""
    drafts = 0

    def generator(messages: Sequence[LLMMessage]) -> str:
        nonlocal drafts
        drafts += 1
        text = json.loads(OFFLINE_ROLES["instruction_generator"](messages[:2]))["text"]
        match drafts:
            case 1:
                return json.dumps({"text": f"{text}\nDo not forget to record an audit event."})
            case 2:
                return "Sorry, I was distracted."
            case _:
                return json.dumps({"text": text})

    rules = load_rules(BANKING.rules_file)
    trace = next(synthesize(BANKING.environment, rules, count=1, length=8, seed=7))
    cast, event_log = Cast(instruction_generator=generator), MemoryEventLog()
    await write_instruction(
        BANKING.environment,
        trace,
        "workflow",
        role_models=cast,
        context=Context(stage="tasks", role="instruction_generator", task="t"),
        event_log=event_log,
        most_rounds=3,
    )
    return lines(event_log, cast.sent)


async def extraction() -> list[str]:
    cast, event_log = Cast(), MemoryEventLog()
    await extract_rules(
        BANKING.environment,
        law(),
        role_models=cast,
        context=Context(stage="rules", role="policy_extractor"),
        event_log=event_log,
        most_rounds=2,
    )
    return lines(event_log, cast.sent)


async def tools() -> list[str]:
    """Two calls in one message, then a text."""

    def answer(request: Mapping[str, Any]) -> str | Mapping[str, Any]:
        if any(message["role"] == "tool" for message in request["messages"]):
            return "Both are there."
        of_savings, of_checking = ({"account_type": kind} for kind in ("savings", "checking"))
        return calling(("GetAccountInformation", of_savings), ("GetAccountInformation", of_checking), saying="I look.")

    event_log = MemoryEventLog()
    _, _, requests = await act(answer, event_log=event_log)
    return lines(event_log, [f"executor is sent {[one['role'] for one in sent['messages']]}" for sent in requests])


async def decomposition() -> list[str]:
    def store(agent: Agent, text: str) -> tuple[Sequence[Chunk], float]:
        pool = BOTTLES.chunks_of((agent,))
        return pool[:2], float(len(pool))

    cast, event_log = Cast(), MemoryEventLog()
    question = BOTTLES.questions[0]
    context = Context(stage="answers", role="meta_llm", task=question.id)
    calls = RoleCalls(cast, context, event_log)
    await answer_by_decomposition(BOTTLES, question, ("F", "LR"), store, calls, limits=DecompositionLimits())
    return lines(event_log, cast.sent)


TEAMS: Mapping[str, Callable[[], Awaitable[list[str]]]] = {
    "writing": writing,
    "extraction": extraction,
    "tools": tools,
    "decomposition": decomposition,
}


@pytest.mark.parametrize("team", TEAMS)
async def test_a_team_says_what_it_said(team: str) -> None:
    golden = (FOLDER / f"{team}.txt").read_text(encoding="utf-8").splitlines()
    assert await TEAMS[team]() == golden


async def _write() -> None:
    FOLDER.mkdir(exist_ok=True)
    for team, play in TEAMS.items():
        (FOLDER / f"{team}.txt").write_text("\n".join(await play()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(_write())
