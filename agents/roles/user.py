"""The user of a dialogue: an automaton decides what is said; a model may choose the words, and code checks them."""

import re
from collections.abc import Sequence
from typing import Final

from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, StopMessage, TextMessage
from autogen_core import CancellationToken
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.models.model_call import CallFailed
from lawtrace.agents.participants import Participant, Role, RoleAgent, RoleFailure, content_of
from lawtrace.agents.scripted.user_automaton import ScriptedUser, UserLine
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.choices import Behaviour
from lawtrace.schemas.tool_conversation import UserMove
from lawtrace.solver.masking.instructions import find_leaks, mentions

VOICED_MOVES: Final[frozenset[UserMove]] = frozenset({"asks", "answers", "restates", "tells_all"})
"""Moves that a model may word: code can check that their values are there. It cannot check a withdrawal or a doubt."""
_NUMBER = re.compile(r"\d+(?:[.,:-]\d+)*")


class SpokenMessage(BaseModel):
    """A message of the user in the model's words."""

    model_config = ConfigDict(frozen=True)

    text: str


USER = Role("user", SpokenMessage, attend=str, remembers=False)
"""Words what the automaton says."""


class DialogueUser(Participant):
    """The user of one dialogue. It answers each message of the agent; its last message is a `StopMessage`.

    Args:
        script: decides what is said.
        voice: a new agent of the role `USER`; None if the lines are sent as they are.

    Attributes:
        behaviour: what the script is to do besides answering.
        line: the last line of the script.
        voiced: whether the last message has the words of the model.
    """

    def __init__(
        self,
        environment: Environment,
        script: ScriptedUser,
        voice: RoleAgent[SpokenMessage] | None = None,
    ) -> None:
        super().__init__("user", description="the user of a dialogue")
        self._environment = environment
        self._script = script
        self._voice = voice
        self.behaviour: Behaviour | None = script.behaviour
        self.line = UserLine("", (), ())
        self.voiced = False
        self.prompt = voice.prompt if voice else None

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (TextMessage, StopMessage)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        """The answer to the last message; without messages the first one. Raises CallFailed if the model is gone."""
        heard = messages[-1].to_text() if messages else ""
        self.line = self._script.reply(heard) if messages else self._script.open()
        spoken = await self._spoken(heard, cancellation_token)
        self.voiced = spoken is not None
        text = self.line.text if spoken is None else spoken
        kind = StopMessage if self.line.ends else TextMessage
        return Response(chat_message=kind(content=text, source=self.name))

    async def _spoken(self, heard: str, cancellation_token: CancellationToken) -> str | None:
        """The line in the words of the model; None if it must be sent as it is, or if the words do not say the same."""
        if self._voice is None or not VOICED_MOVES.issuperset(self.line.moves):
            return None
        request = f"The assistant wrote:\n{heard or '(nothing yet)'}\n\nThe person answers:\n{self.line.text}"
        response = await self._voice.on_messages([TextMessage(content=request, source="script")], cancellation_token)
        self.call = self._voice.call
        if self._voice.fatal_error is not None:
            raise self._voice.fatal_error
        spoken = content_of(response.chat_message)
        if isinstance(spoken, RoleFailure) and not spoken.answered:
            raise CallFailed("endpoint", f"the model of the user: {spoken.reason}")
        if not isinstance(spoken, SpokenMessage) or find_deviations(self._environment, self.line, spoken.text):
            return None
        return spoken.text

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """Does nothing: a dialogue has a new user."""


def find_deviations(environment: Environment, line: UserLine, spoken: str) -> list[str]:
    """How the words of the model deviate from a line: values that are missing, numbers that are new, leaks."""
    missing = [f"{value} is missing" for value in line.values if not mentions(spoken, value)]
    known = set(_NUMBER.findall(line.text))
    added = [f"{number} is added" for number in _NUMBER.findall(spoken) if number not in known]
    leaks = [f"{leak!r} is added" for leak in find_leaks(environment, spoken) if leak not in line.text]
    return missing + added + leaks
