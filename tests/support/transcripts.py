"""Golden transcripts: what a team says and what its models are sent, kept as text beside the tests."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from autogen_core.models import AssistantMessage, ChatCompletionClient, LLMMessage, SystemMessage

from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.models.scripted_client import ScriptedClient
from lawtrace.agents.role_models import RoleModels
from lawtrace.agents.scripted.offline_roles import OFFLINE_ROLES
from lawtrace.prompts.loader import DEFAULT_PROMPTS, Prompt, Prompts
from lawtrace.schemas.log_entries import Context, MessageSent

Script = Callable[[Sequence[LLMMessage]], str]
Teams = Mapping[str, Callable[[], Coroutine[Any, Any, list[str]]]]
"""For each team a function that lets it speak and returns the transcript."""


class Cast(RoleModels):
    """Scripted roles; notes what each is sent."""

    def __init__(
        self,
        scripts: Mapping[str, Script] = OFFLINE_ROLES,
        model: str = "scripted",
        prompts: Prompts = DEFAULT_PROMPTS,
        /,
        **more: Script,
    ) -> None:
        self._scripts = {**scripts, **more}
        self._prompts = prompts
        self._model = model
        self.requests: list[tuple[str, Sequence[LLMMessage]]] = []

    @property
    def asked(self) -> Counter[str]:
        """How often each role was asked."""
        return Counter(role for role, _ in self.requests)

    def prompt(self, role: str) -> Prompt:
        return self._prompts[role]

    def name_of(self, role: str) -> str:
        return self._model

    def client(self, role: str, context: Context) -> ChatCompletionClient:
        def answer(messages: Sequence[LLMMessage]) -> str:
            self.requests.append((role, messages))
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


def transcript(event_log: MemoryEventLog, cast: Cast) -> list[str]:
    """The messages in order, then what the models were sent."""
    sent = [f"{role} is sent {', '.join(map(_kind, messages))}" for role, messages in cast.requests]
    return [*said_in(event_log), *sent]


def said_in(event_log: MemoryEventLog) -> list[str]:
    """The messages in order."""
    said = [entry for entry in event_log.entries if isinstance(entry, MessageSent)]
    messages: list[Mapping[str, Any]] = [
        {
            "turn": message.context.turn,
            "source": message.source,
            **({"to": message.to} if message.to else {}),
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
    return [json.dumps(message, ensure_ascii=False) for message in messages]


def golden(folder: Path, team: str) -> list[str]:
    return (folder / f"{team}.txt").read_text(encoding="utf-8").splitlines()


def write_golden(folder: Path, teams: Teams) -> None:
    folder.mkdir(exist_ok=True)
    for team, play in teams.items():
        (folder / f"{team}.txt").write_text("\n".join(asyncio.run(play())) + "\n", encoding="utf-8")
