"""One attempt with the tools of an environment, as a protocol without input and output: events in, actions out.

Turns, limits, the user of a dialogue, the shield's notice of open duties and the end are decided here and nowhere else.
Whatever carries the messages is an adapter: it does what an action says, and reports what happened.

    attempt = AttemptSession(session, limits, dialogue=True, warns=True)
    action = attempt.start()
    while not isinstance(action, Ended):
        if isinstance(action, AskUser):          # what the user answers to action.heard
            action = attempt.hear(text)
        else:                                    # AskModel: what the model answers, after it is told action.text
            attempt.receive(answer.text, answer.id, final=not answer.calls)
            for call in answer.calls:
                attempt.call(call.name, call.arguments, call.id)
            action = attempt.proceed()
    conversation = attempt.conversation()

A session without messages, as of an MCP client, is the same with calls only.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from lawtrace.environments.runtime.session import MAX_NAME_CHARACTERS, SESSION_ENDED, CallResult, Session
from lawtrace.schemas.choices import Behaviour
from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.log_entries import FunctionCalled
from lawtrace.schemas.tool_conversation import (
    AttemptLimits,
    ToolConversation,
    ToolConversationEnd,
    Turn,
    UserMove,
    UserTurn,
)

_CALL_LIMIT: Final = "CallLimitError: the call limit is reached"


@dataclass(frozen=True, slots=True)
class AskModel:
    """Ask the model for its next turn.

    Attributes:
        text: what it is told before; empty at the start, where it is the request, and after calls.
        speaker: who tells it: the user, or the shield with its notice of open duties.
    """

    text: str = ""
    speaker: Literal["user", "shield"] = "user"


@dataclass(frozen=True, slots=True)
class AskUser:
    """Ask the user for the next message.

    Attributes:
        heard: the text of the model that it answers; None for the first message.
    """

    heard: str | None


@dataclass(frozen=True, slots=True)
class Ended:
    """The attempt has ended.

    Attributes:
        end: what ended it.
        reason: the limit in words; None if the model ended it.
    """

    end: ToolConversationEnd = "finished"
    reason: str | None = None


Action = AskModel | AskUser | Ended


class AttemptSession:
    """One attempt in progress.

    Attributes:
        session: executes the calls; its guard is the shield.
        turns: of the model, so far.
        said: the messages of the user, so far.
        ended: what ended the attempt; None while it goes on. Nothing is executed afterwards.
    """

    def __init__(self, session: Session, limits: AttemptLimits, *, dialogue: bool = False, warns: bool = False) -> None:
        """Begin an attempt.

        Args:
            session: a new one.
            limits: of the attempt.
            dialogue: whether a user opens the conversation and answers until its last message.
            warns: whether a model that ends with open duties is told them, once, and may go on.
        """
        self.session: Final = session
        self.limits: Final = limits
        self.turns: list[Turn] = []
        self.said: list[UserTurn] = []
        self.ended: Ended | None = None
        self._dialogue: Final = dialogue
        self._listening = dialogue
        self._warns = warns
        self._calling = False
        self._notice = ""
        self._tokens = 0
        self._seconds = 0.0

    # Events in, actions out

    def start(self) -> Action:
        """The first action."""
        return AskUser(None) if self._dialogue else AskModel()

    def hear(self, text: str, message: str = "", moves: tuple[UserMove, ...] = (), *, last: bool = False) -> Action:
        """Record a message of the user. `last`: whether the user will send no more."""
        self.session.say("user", text, message)
        self.said.append(UserTurn(message=message, after=len(self.turns), moves=moves, text=text))
        self._listening = not last
        return self._close() if last else self._ask_model(AskModel(text))

    def receive(self, text: str, message: str = "", *, final: bool) -> None:
        """Record a turn of the model. `final`: whether it makes no calls; otherwise `call` takes them."""
        self.turns.append(Turn(message=message, notice=self._notice, text=text))
        self._notice, self._calling = "", not final
        if final and self._dialogue:
            self.session.say("agent", text, message)

    def call(self, tool: str, arguments: Mapping[str, Json] | str, call_id: str = "") -> CallResult:
        """Execute a call. Never raises because of a call; one that cannot be made is answered with the reason.

        A call above the limit is not executed, and ends the attempt.

        `arguments`: an object, or its JSON text as a model wrote it.
        """
        written = arguments if isinstance(arguments, str) else _written(arguments)
        if self.ended is None and self.session.calls >= self.limits.calls:
            self.ended = Ended("call_limit", f"made more than {self.limits.calls} calls")
        if not self._calling:
            return self._execute(tool, written, None)
        turn = self.turns[-1]
        result = self._execute(tool, written, turn.message)
        calls = (*turn.calls, FunctionCalled(id=call_id, name=tool, arguments=written))
        results = turn.results if self.ended is not None else (*turn.results, result.text)
        self.turns[-1] = turn.model_copy(update={"calls": calls, "results": results})
        return result

    def proceed(self) -> Action:
        """The action after a turn of the model and its calls."""
        if self._calling or self.ended is not None:
            self._calling = False
            return self._ask_model(AskModel())
        return AskUser(self.turns[-1].text) if self._listening else self._close()

    def used(self, tokens: int, seconds: float) -> None:
        """Record what the model has used so far, in total."""
        self._tokens, self._seconds = tokens, seconds

    def stop(self, end: ToolConversationEnd, reason: str | None) -> None:
        """End the attempt by a limit of the adapter's."""
        self.ended = self.ended or Ended(end, reason)

    def conversation(self, behaviour: Behaviour | None = None) -> ToolConversation:
        """The record of the attempt. `behaviour`: what the user was to do besides answering."""
        ended = self.ended or Ended()
        return ToolConversation(tuple(self.turns), ended.end, ended.reason, tuple(self.said), behaviour)

    # Decisions

    def _execute(self, tool: str, arguments: str, message: str | None) -> CallResult:
        if self.ended is None:
            return self.session.call_written(tool, arguments, message)
        error = _CALL_LIMIT if self.ended.end == "call_limit" else f"{SESSION_ENDED}: the attempt has ended"
        return CallResult(Event(tool[:MAX_NAME_CHARACTERS], {}, "rejected", None, error))

    def _ask_model(self, action: AskModel) -> Action:
        self.ended = self.ended or self._reached_limit()
        return self.ended or action

    def _close(self) -> Action:
        """The model has finished: it is told of open duties, if it is to be and a turn is left."""
        if self._warns and self._reached_limit() is None:
            self._warns, duties = False, self.session.open_duties()
            if duties is not None:
                self._notice = duties.text
                return AskModel(duties.text, "shield")
        self.ended = Ended()
        return self.ended

    def _reached_limit(self) -> Ended | None:
        """The limit that forbids another turn."""
        limits = self.limits
        if len(self.turns) >= limits.turns:
            return Ended("turn_limit", f"did not end within {limits.turns} turns")
        if self._tokens >= limits.tokens:
            return Ended("token_limit", f"used up its {limits.tokens} tokens")
        if self._seconds >= limits.seconds:
            return Ended("time_limit", f"took longer than {limits.seconds:g} seconds")
        return None


def _written(arguments: Mapping[str, Json]) -> str:
    """The JSON text of arguments; of what is nested too deep, or no JSON at all, a text that is not JSON either."""
    try:
        return json.dumps(arguments, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return "no JSON"


def replay(conversation: ToolConversation, session: Session) -> None:
    """Make the calls and messages of a record again, in a new session, which gives the same events."""
    for number, turn in enumerate(conversation.turns):
        _replay_user(conversation, session, number)
        if turn.notice:
            session.open_duties()
        if conversation.user and not turn.calls:
            session.say("agent", turn.text, turn.message)
        for call in turn.calls[: len(turn.results)]:
            session.call_written(call.name, call.arguments, turn.message)
    _replay_user(conversation, session, len(conversation.turns))


def _replay_user(conversation: ToolConversation, session: Session, number: int) -> None:
    for said in conversation.user:
        if said.after == number:
            session.say("user", said.text, said.message)
