"""The user of a dialogue: an automaton decides what is said; a model may choose the words, and code checks them."""

import re
from dataclasses import dataclass
from typing import Final

from autogen_core import CancellationToken

from lawtrace.agents.models.model_call import CallFailed, ModelCall
from lawtrace.agents.participants import Role, RoleAgent, RoleFailure
from lawtrace.agents.scripted.user_automaton import ScriptedUser, UserLine
from lawtrace.environments.spec.declaration import Environment
from lawtrace.prompts.loader import Prompt
from lawtrace.schemas.choices import Behaviour
from lawtrace.schemas.models import FrozenModel
from lawtrace.schemas.tool_conversation import UserMove
from lawtrace.solver.masking.instructions import find_leaks, mentions

VOICED_MOVES: Final[frozenset[UserMove]] = frozenset({"asks", "answers", "restates", "tells_all"})
"""Moves that a model may word: code can check that their values are there. It cannot check a withdrawal or a doubt."""
_NUMBER = re.compile(r"\d+(?:[.,:-]\d+)*")


class SpokenMessage(FrozenModel):
    """A message of the user in the model's words."""

    text: str


USER = Role("user", SpokenMessage, message_filter=str, stateful=False)
"""Words what the automaton says."""


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A message of the user of a dialogue.

    Attributes:
        line: of the script.
        text: the line as it is, or in the words of the model.
        prompt, call: what gave the words of the model, if it did.
    """

    line: UserLine
    text: str
    prompt: Prompt | None = None
    call: ModelCall | None = None


class DialogueUser:
    """The user of one dialogue.

    Attributes:
        behaviour: what the user is to do besides answering.
    """

    def __init__(
        self, environment: Environment, script: ScriptedUser, voice: RoleAgent[SpokenMessage] | None = None
    ) -> None:
        """`script`: decides what is said. `voice`: a new agent of the role `USER`; None to send lines as they are."""
        self.behaviour: Behaviour | None = script.behaviour
        self._environment = environment
        self._script = script
        self._voice = voice

    async def say(self, heard: str | None) -> UserMessage:
        """The answer to a message of the agent; the first message for None. Raises CallFailed if the model is gone."""
        line = self._script.open() if heard is None else self._script.reply(heard)
        if self._voice is None or not VOICED_MOVES.issuperset(line.moves):
            return UserMessage(line, line.text)
        request = f"The assistant wrote:\n{heard or '(nothing yet)'}\n\nThe person answers:\n{line.text}"
        spoken = await self._voice.reply([request], CancellationToken())
        if isinstance(spoken, RoleFailure) and not spoken.answered:
            raise CallFailed("endpoint", f"the model of the user: {spoken.reason}")
        if not isinstance(spoken, SpokenMessage) or find_deviations(self._environment, line, spoken.text):
            return UserMessage(line, line.text)
        return UserMessage(line, spoken.text, self._voice.prompt, self._voice.call)


def find_deviations(environment: Environment, line: UserLine, spoken: str) -> list[str]:
    """How the words of the model deviate from a line: values that are missing, numbers that are new, leaks."""
    missing = [f"{value} is missing" for value in line.values if not mentions(spoken, value)]
    known = set(_NUMBER.findall(line.text))
    added = [f"{number} is added" for number in _NUMBER.findall(spoken) if number not in known]
    leaks = [f"{leak!r} is added" for leak in find_leaks(environment, spoken) if leak not in line.text]
    return missing + added + leaks
