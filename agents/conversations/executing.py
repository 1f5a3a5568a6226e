"""One attempt's conversation: the model under test gets the request and answers, once."""

from collections.abc import Mapping

from autogen_agentchat.messages import BaseChatMessage
from autogen_core.models import ChatCompletionClient

from agents.ledger import Context, Ledger, MessageSent
from agents.roles.executor import request_text, seat_executor
from environments.declaration import Environment
from environments.events import Json
from environments.regulation import Regulation
from prompts.loader import load_prompt
from solver.masking import Instruction
from solver.shield import ShieldMode

__all__ = ["ask_for_program"]


async def ask_for_program(
    environment: Environment,
    regulation: Regulation,
    instruction: Instruction,
    *,
    client: ChatCompletionClient,
    context: Context,
    ledger: Ledger,
    hints: bool = False,
    shield: ShieldMode = "off",
    target_state: Mapping[str, Json] | None = None,
) -> str:
    """The model's whole answer. Raises CallFailed if no answer came, which is no fault of the model."""
    agent = seat_executor(client, environment, regulation, hints=hints, shield=shield)
    prompts = {"user": load_prompt("executor_user"), agent.name: load_prompt("executor_system")}
    answer = ""
    async for message in agent.run_stream(task=request_text(instruction, target_state)):
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
