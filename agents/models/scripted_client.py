"""A model that is a function: offline roles and baseline policies."""

from collections.abc import Callable, Sequence

from autogen_core import FunctionCall
from autogen_core.models import CreateResult, LLMMessage, RequestUsage

from lawtrace.agents.models.model_call import ModelCall, Request, plain_messages
from lawtrace.agents.models.request_client import RequestClient


class ScriptedClient(RequestClient):
    """Answers with ``answer(messages)``, text or tool calls, without network, clock or randomness.

    Usage counts plain words, so it is comparable only between scripted runs.
    """

    def __init__(self, answer: Callable[[Sequence[LLMMessage]], str | list[FunctionCall]]) -> None:
        super().__init__()
        self._answer = answer

    async def ask(self, call: ModelCall) -> CreateResult:
        """As the innermost layer of a stack."""
        return await self.respond(call.request)

    async def respond(self, request: Request) -> CreateResult:
        content = self._answer(request.messages)
        said = content if isinstance(content, str) else " ".join(f"{call.name} {call.arguments}" for call in content)
        usage = RequestUsage(
            prompt_tokens=sum(len(line.content.split()) for line in plain_messages(request.messages)),
            completion_tokens=len(said.split()),
        )
        reason = "stop" if isinstance(content, str) else "function_calls"
        return CreateResult(finish_reason=reason, content=content, usage=usage, cached=False)
