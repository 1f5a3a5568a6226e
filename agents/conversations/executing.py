"""One attempt's conversation: the model under test gets the request and answers, once."""

from collections.abc import Mapping
from contextlib import aclosing

from autogen_agentchat.messages import BaseChatMessage
from autogen_core.models import ChatCompletionClient

from lawtrace.agents.ledger import Context, Ledger, MessageSent
from lawtrace.agents.roles.executor import UNAIDED, Briefing, request_text, seat_executor
from lawtrace.environments.declaration import Environment
from lawtrace.environments.events import Json
from lawtrace.environments.regulation import Regulation
from lawtrace.solver.masking import Instruction


async def ask_for_program(
    environment: Environment,
    regulation: Regulation,
    instruction: Instruction,
    *,
    client: ChatCompletionClient,
    context: Context,
    ledger: Ledger,
    briefing: Briefing = UNAIDED,
    target_state: Mapping[str, Json] | None = None,
) -> str:
    """The model's whole answer. Raises CallFailed if no answer came, which is no fault of the model."""
    agent = seat_executor(client, environment, regulation, briefing)
    prompts = {"user": briefing.prompts["executor_user"], agent.name: briefing.prompts["executor_system"]}
    answer = ""
    async with aclosing(agent.run_stream(task=request_text(instruction, target_state, briefing.prompts))) as stream:
        async for message in stream:
            if not isinstance(message, BaseChatMessage):
                continue
            answer = message.to_text()
            prompt = prompts.get(message.source)
            ledger.record(
                MessageSent(
                    context=context.at(role=message.source, turn=0 if message.source == "user" else 1),
                    source=message.source,
                    content=answer,
                    prompt_id=prompt.id if prompt else None,
                    prompt_hash=prompt.hash if prompt else None,
                )
            )
    return answer
