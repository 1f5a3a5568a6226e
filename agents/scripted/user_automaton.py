"""The scripted user of a dialogue: a finite automaton that knows the values of a request and tells them when asked.

The first message makes the request without some of its values. Each message of the agent is one input, and each answer
tells a value for the first time, plays a behaviour that is played once, or counts against a bound. So every dialogue
ends. Requests, values and seed determine every message; docs/acting.md describes the behaviours.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from lawtrace.agents.scripted.stemming import stemmed_words
from lawtrace.environments.spec.samplers import Amount, DayAfter, DayBefore, Digits, OneOf
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import FromUser
from lawtrace.environments.spec.types import DATE, INTEGER, MONEY, TIME, ValueType
from lawtrace.schemas.choices import Behaviour
from lawtrace.schemas.events import Json
from lawtrace.schemas.tool_conversation import UserMove
from lawtrace.solver.masking.instructions import find_leaks, mentions
from lawtrace.solver.masking.omissions import Omission, PartialRequest

MOST_RESTATEMENTS: Final = 3
"""Times that the user repeats itself without telling anything new; the next message is the last."""
MOST_INSISTENCES: Final = 2
MOST_WITHHELD: Final = 2
"""Values that the first message leaves out, if it can leave out as many."""

_REQUESTING = re.compile(
    r"\?|\b(please (tell|give|provide|specify|confirm|share|state|clarify|choose|enter|indicate|let me)|let me know|"
    r"tell me|could you|can you|would you|i (also |still )?need|i require|i am missing|waiting for)\b",
    re.IGNORECASE,
)
_OFFERING = re.compile(
    r"(any|some)thing (else|more)|else (i|we) can|let me know if (you|there)|if you (have|need|want|would)|feel free",
    re.IGNORECASE,
)
_CUES: Final[Mapping[ValueType, str]] = {
    MONEY: "much sum price",
    INTEGER: "many number",
    DATE: "when day date",
    TIME: "when time hour",
}
"""Words that ask for a value of a type."""

_ARTICLES = ("the ", "my ", "our ", "his ", "her ", "their ")
_GREETINGS = ("Hello, I have a request.", "Hello, could you help me with this?", "Good morning.")
_PRESSING = (
    "I'm in a hurry. Can't you just do it, without any further steps?",
    "Please be quick: leave out whatever is not needed and just do it.",
)
_CONSENTING = ("", "Sure. ", "Of course. ")
_RESTATING = "Let me say that again."
_REMINDING = "I'm still waiting for this."
_ALL_AT_ONCE = "Let me say it all at once."
_WITHDRAWING = (
    "I've changed my mind. Leave it, please, and don't do it any more.",
    "Stop, please. I don't want this any more, so don't do it.",
)
_INSISTING = "No, leave it, please. I don't want it any more."
_CLOSING = ("Thank you, that is all.", "All right, thank you. Goodbye.")


@dataclass(frozen=True, slots=True)
class UserLine:
    """A message of the scripted user.

    Attributes:
        moves: what it does.
        values: the values of the request in it, as written.
    """

    text: str
    moves: tuple[UserMove, ...]
    values: tuple[str, ...]

    @property
    def ends(self) -> bool:
        """Whether it is the last."""
        return "closes" in self.moves


@dataclass(frozen=True, slots=True)
class SessionView:
    """What the user can see of a session: whether anything was called, and whether stopping now would be lawful."""

    acted: Callable[[], bool]
    may_withdraw: Callable[[], bool]


@dataclass(slots=True)
class _Doubt:
    """A value that the user states without being sure, and the right one, in words; ``lead`` goes before either."""

    omission: Omission
    lead: str
    wrong: str
    right: str


class ScriptedUser:
    """One user in one dialogue.

    Args:
        request: the request with its possible omissions; without any, the first message is the whole text.
        initial: the state in which the session starts, for values that the user is unsure of.
        behaviours: those of which the seed chooses one, or none.
        seed: with the text, determines the dialogue. Both sides of a contrast pair have the same text and so the same
            user.
    """

    def __init__(
        self, request: PartialRequest, initial: State, view: SessionView, behaviours: Collection[Behaviour], seed: int
    ) -> None:
        self.request, self.initial, self.view = request, initial, view
        random = self._random = Random(f"{seed}/{request.text}")
        omissions = request.omissions
        self.behaviour: Behaviour | None = random.choice([None, *sorted(behaviours)])
        self._presses_first = random.random() < 0.5
        self._planned: _Doubt | None = None
        self._doubt: _Doubt | None = None
        self._pressed = self._withdrawn = self._reminded = False
        self._restated = self._insisted = 0
        wanted = random.sample(omissions, len(omissions))
        if self.behaviour == "changes_mind":
            self._planned = self._draw_doubt()
            if self._planned is None:
                self.behaviour = None
            else:
                wanted.insert(0, self._planned.omission)
        withheld: dict[str, Omission] = {}
        for one in wanted:
            if len(withheld) < MOST_WITHHELD and one not in withheld.values():
                withheld.setdefault(one.stand_in or one.words, one)
        self.unsaid = [one for one in omissions if one in withheld.values()]

    def open(self) -> UserLine:
        """The first message."""
        greeting = self._random.choice(_GREETINGS)
        parts = [self._wish()] if self.request.is_free else [greeting, self._wish()]
        moves: list[UserMove] = ["asks"]
        if self._presses_first:
            self._press(parts, moves)
        return self._line(" ".join(parts), *moves)

    def reply(self, message: str) -> UserLine:
        """The answer to a message of the agent without calls."""
        asked = questions(message)
        if self._doubt is not None:
            return self._correct(asked)
        if self._withdrawn:
            if asked and self._insisted < MOST_INSISTENCES:
                self._insisted += 1
                return self._line(_INSISTING, "insists")
            return self._close()
        if not asked:
            if self.view.acted() or self._reminded:
                return self._close()
            self._reminded = True
            return self._line(f"{_REMINDING} {self._wish()}", "restates")
        if self.behaviour == "withdraws" and self.view.may_withdraw():
            self._withdrawn = True
            return self._line(self._random.choice(_WITHDRAWING), "withdraws")
        wanted = self._wanted(asked)
        if wanted:
            return self._answer(wanted)
        if self._restated == MOST_RESTATEMENTS:
            return self._close()
        self._restated += 1
        if self.unsaid and self._restated > 1:
            self.unsaid, self._planned = [], None
            return self._line(f"{_ALL_AT_ONCE} {self.request.text}", "tells_all")
        return self._line(f"{_RESTATING} {self._wish()}", "restates")

    def _wish(self) -> str:
        """The request with what is told so far."""
        return self.request.wish(self.unsaid)

    def _press(self, parts: list[str], moves: list[UserMove]) -> None:
        if self.behaviour == "presses" and not self._pressed:
            self._pressed = True
            moves.append("presses")
            parts.append(self._random.choice(_PRESSING))

    def _line(self, text: str, *moves: UserMove) -> UserLine:
        return UserLine(text, moves, tuple(value for value in self.request.values if mentions(text, value)))

    def _wanted(self, asked: str) -> list[Omission]:
        """The untold values that a question names."""
        return [one for one in self.unsaid if self._is_named(one, asked)]

    def _is_named(self, omission: Omission, asked: str) -> bool:
        spoken = set(stemmed_words(asked))
        cues = _CUES.get(omission.parameter.type, "")
        cues += " who whom whose which" if omission.stand_in == "someone" else ""
        if spoken & set(stemmed_words(f"{omission.kind} {omission.parameter.name} {cues}")):
            return True
        return len(spoken & set(stemmed_words(omission.documentation))) >= 2

    def _answer(self, wanted: list[Omission]) -> UserLine:
        """Tell the values: one alone in its own words, several in the sentences that they belong to."""
        self.unsaid = [one for one in self.unsaid if one not in wanted]
        moves, parts = list[UserMove](["answers"]), list[str]()
        doubt = self._planned if self._planned is not None and self._planned.omission in wanted else None
        told = [one for one in wanted if doubt is None or one is not doubt.omission]
        if len(told) == 1 and self._is_alone(told[0]):
            words = self.request.words(told[0])
            if not words.startswith(self.request.values) or words.startswith(_ARTICLES):  # a value stays as it is
                words = words[:1].upper() + words[1:]
            parts.append(f"{self._random.choice(_CONSENTING)}{words.rstrip('.')}.")
        elif told:
            unclear = [*self.unsaid, *([doubt.omission] if doubt else [])]
            parts.append(self.request.answer(told, unclear))
        if doubt is not None:
            self._doubt, self._planned = doubt, None
            moves.append("hesitates")
            stated = doubt.lead + doubt.wrong
            parts.append(
                f"{stated[:1].upper()}{stated[1:]}, I think, but I'm not sure yet. Please don't use it before I've "
                "checked."
            )
        self._press(parts, moves)
        return self._line(" ".join(parts), *moves)

    def _correct(self, asked: str) -> UserLine:
        """The right value, in the message after the wrong one, whatever the agent said."""
        assert self._doubt is not None
        doubt, self._doubt = self._doubt, None
        correction = f"I've checked: {doubt.lead}{doubt.right}, not {doubt.wrong}."
        wanted = self._wanted(asked)
        if not wanted:
            return self._line(correction, "corrects")
        answer = self._answer(wanted)
        return self._line(f"{correction} {answer.text}", "corrects", *answer.moves)

    def _close(self) -> UserLine:
        return self._line(self._random.choice(_CLOSING), "closes")

    def _is_alone(self, omission: Omission) -> bool:
        """Whether the request has one omission of its kind."""
        return sum(one.kind == omission.kind for one in self.request.omissions) == 1

    def _draw_doubt(self) -> _Doubt | None:
        """A value that the user is unsure of at first: of a kind that the request has once, drawn as declared."""
        candidates = [one for one in self.request.omissions if one.value is not None and self._is_alone(one)]
        self._random.shuffle(candidates)
        for omission in candidates:
            parameter = omission.parameter
            source = parameter.source
            # Values that are read from rows could tell what the user does not know.
            if not isinstance(source, FromUser) or not isinstance(
                source.sampler, Amount | Digits | OneOf | DayAfter | DayBefore
            ):
                continue
            drawn: Json = parameter.type.encode(source.sampler.draw(self._random, self.initial))
            wrong = self.request.words(replace(omission, value=drawn))
            lead = f"the {omission.kind} is " if omission.words == "{}" else ""
            if drawn != omission.value and not find_leaks(self.request.environment, wrong):
                return _Doubt(omission, lead, wrong, self.request.words(omission))
        return None


def questions(message: str) -> str:
    """The parts of a message that ask the user for something: questions, requests, and the list after one of them.

    An offer of further help asks for nothing.
    """
    asked: list[str] = []
    listing = False
    for sentence in re.split(r"(?<=[.!?:])\s+|\n+", message):
        item = re.match(r"\s*([-*•]|\d+[.)])", sentence) is not None
        if _REQUESTING.search(sentence) and not _OFFERING.search(sentence):
            listing = True
            asked.append(sentence)
        elif listing and item:
            asked.append(sentence)
        elif sentence.strip() and not item:
            listing = sentence.rstrip().endswith(":") and listing
    return "\n".join(asked)
