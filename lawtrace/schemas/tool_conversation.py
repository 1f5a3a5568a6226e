"""The record of an attempt with tools: the turns of the model and of the user, and the limits."""

from dataclasses import dataclass
from typing import Literal

from pydantic import ConfigDict, Field

from lawtrace.schemas.choices import Behaviour
from lawtrace.schemas.log_entries import FunctionCalled
from lawtrace.schemas.models import StrictModel

UserMove = Literal[
    "asks", "answers", "restates", "tells_all", "presses", "hesitates", "corrects", "withdraws", "insists", "closes"
]
"""What one message of the user does; a message may do several things."""

ToolConversationEnd = Literal["finished", "turn_limit", "call_limit", "token_limit", "time_limit"]


class AttemptLimits(StrictModel):
    """Limits of one attempt with tools.

    Attributes:
        turns: answers of the model. The calls of the last one are still executed.
        calls: tool calls; the next one is not executed.
        tokens: prompts and answers together, as the endpoint counts them.
        seconds: waiting for answers, as recorded, so that a replay ends at the same turn.
    """

    turns: int = Field(default=60, ge=1)
    calls: int = Field(default=500, ge=1)
    tokens: int = Field(default=1_000_000, ge=1)
    seconds: float = Field(default=900.0, gt=0)


class Turn(StrictModel):
    """One turn of the model.

    Attributes:
        message: the id of its message in the event log.
        notice: the shield's message before it, about open duties; ``told`` in files.
        text: its text, with or without calls.
        calls: its tool calls, verbatim.
        results: the results in the order of the calls; fewer than the calls if a limit ended the attempt.
    """

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    message: str = ""
    notice: str = Field(default="", validation_alias="told", serialization_alias="told")
    text: str = ""
    calls: tuple[FunctionCalled, ...] = ()
    results: tuple[str, ...] = ()


class UserTurn(StrictModel):
    """One message of the user in a dialogue.

    Attributes:
        message: its id in the event log.
        after: how many turns of the model came before it.
        moves: what the user did.
        text: the message.
    """

    message: str
    after: int
    moves: tuple[UserMove, ...]
    text: str


@dataclass(frozen=True, slots=True)
class ToolConversation:
    """The turns of an attempt with tools.

    Attributes:
        reason: the limit that ended it; None if the model did.
        user: the messages of the user; empty without a dialogue.
        behaviour: what this user was to do besides answering, whether or not the model let it come to that.
    """

    turns: tuple[Turn, ...]
    end: ToolConversationEnd
    reason: str | None
    user: tuple[UserTurn, ...] = ()
    behaviour: Behaviour | None = None

    @property
    def withdrawal(self) -> UserTurn | None:
        """The message in which the user withdrew the request."""
        return next((turn for turn in self.user if "withdraws" in turn.moves), None)
