"""Omissions: the values that a request can leave out and its user can tell later, when asked.

A request in the phrases of the declaration is here, one in a freely written text in `written_omissions`.

A value can be left out if the sentence remains one, and if a reader notices that it is missing: a required argument of
a requested change, or what a row is looked up by (*a payee* for *the payee Ash*). An optional argument is never left
out, because an agent that does not ask for it has done nothing wrong.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.tools import Parameter, Phrases
from lawtrace.environments.spec.types import scalars_in
from lawtrace.schemas.choices import Style
from lawtrace.schemas.events import Json
from lawtrace.solver.masking.wording import (
    Unsaid,
    describe_step,
    describe_thing,
    format_value,
    found_entity,
    has_outcome,
    leave_out,
)
from lawtrace.solver.traces import PlannedCall

_IN_ORDER = ("Then", "After that,", "Next,")
_TOGETHER = ("Also,", "And")


@dataclass(frozen=True, slots=True)
class Omission:
    """A value that a request can leave out, or the values that a row is looked up by, which belong together.

    Attributes:
        calls: the indices of the calls with the values; several for a look-up that is made twice.
        parameters: the names of their arguments.
        kind: what a question names: the parameter, or what is looked up. Two omissions may have the same kind.
        words: the value in the words of the phrase: ``payment date {}``, ``the savings account``.
        value: the value of a single argument; None for a look-up.
        documentation: the documentation of the arguments, also of those that take what is looked up.
        cues: further words by which a question names it.
        stand_in: what the request says in its place; two omissions of one message have different ones.
    """

    calls: tuple[int, ...]
    parameters: tuple[str, ...]
    kind: str
    words: str
    value: Json
    documentation: str
    cues: str = ""
    stand_in: str = ""


@dataclass(frozen=True, slots=True)
class PartialRequest(ABC):
    """A request with the omissions that are possible.

    Attributes:
        calls: the calls that it asks for.
    """

    environment: Environment
    calls: Sequence[PlannedCall]
    omissions: tuple[Omission, ...]

    greets: ClassVar[bool]
    """Whether the request begins as a message does."""

    @abstractmethod
    def wish(self, unsaid: Collection[Omission]) -> str:
        """The request without these values."""

    @abstractmethod
    def answer(self, told: Collection[Omission], unsaid: Collection[Omission]) -> str:
        """The sentences of the request that tell those values, without these."""

    @property
    @abstractmethod
    def values(self) -> tuple[str, ...]:
        """All values that the user states, as they are written."""

    def words(self, omission: Omission) -> str:
        """The values of an omission by themselves."""
        if omission.value is None:
            return omission.words
        return omission.words.replace("{}", format_value(omission.value, self.parameters(omission)[0].type))

    def parameters(self, omission: Omission) -> list[Parameter]:
        """The parameters that take its values."""
        tool = self.environment.tools[self.calls[omission.calls[0]].event.tool]
        return [tool.parameter(name) for name in omission.parameters]


@dataclass(frozen=True, slots=True)
class PhrasedRequest(PartialRequest):
    """A request in the phrases of the declaration.

    Attributes:
        numbers: the indices of the calls that are described; look-ups of a goal appear only as what they find.
        ordered: whether it gives steps in order.
    """

    numbers: tuple[int, ...]
    ordered: bool
    greets: ClassVar[bool] = False

    def wish(self, unsaid: Collection[Omission]) -> str:
        first, *others = self._sentences(unsaid, frozenset(range(len(self.calls))))
        links = _IN_ORDER if self.ordered else _TOGETHER
        later = [f"{links[at % len(links)]} {_lower(step)}" for at, step in enumerate(others)]
        return " ".join([f"Please {_lower(first)}", *later])

    def answer(self, told: Collection[Omission], unsaid: Collection[Omission]) -> str:
        return " ".join(self._sentences(unsaid, frozenset(number for one in told for number in one.calls)))

    def _sentences(self, unsaid: Collection[Omission], about: frozenset[int]) -> list[str]:
        """The steps that mention those calls."""
        left_out: Unsaid = {
            number: frozenset(name for one in unsaid if number in one.calls for name in one.parameters)
            for one in unsaid
            for number in one.calls
        }
        shown = [number for number in self.numbers if not self._is_lookup(number) or number not in left_out]
        if len(about) < len(self.calls):
            concerned = [n for n in shown if n in about or self.calls[n].sources & about]
            shown = [n for n in concerned if not self._is_lookup(n)] or concerned
        return [describe_step(self.environment, self.calls, number, left_out) for number in shown]

    @property
    def values(self) -> tuple[str, ...]:
        """All values that the user states; of a list each item, of an object each field."""
        found: list[str] = []
        for call in self.calls:
            tool = self.environment.tools[call.event.tool]
            for name in call.said:
                value = call.event.arguments[name]
                if value is not None:
                    scalars = scalars_in(value, tool.parameter(name).type)
                    found += [format_value(one, kind) for one, kind in scalars if not isinstance(one, bool)]
        return tuple(dict.fromkeys(found))

    def _is_lookup(self, number: int) -> bool:
        return found_entity(self.environment, self.calls[number]) is not None


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def phrased_request(environment: Environment, calls: Sequence[PlannedCall], style: Style) -> PhrasedRequest:
    """``calls``: those that the style asks for (`requested_calls`). No omissions if a call has no phrases."""
    worded = all(environment.tools[call.event.tool].phrases is not None for call in calls)
    numbers = tuple(n for n, call in enumerate(calls) if style == "workflow" or has_outcome(environment, call))
    found = [*_lookups(environment, calls), *_arguments(environment, calls, numbers)] if worded else []
    return PhrasedRequest(environment, calls, tuple(found), numbers, style == "workflow")


def _lookups(environment: Environment, calls: Sequence[PlannedCall]) -> list[Omission]:
    """The look-ups by values that the user states, if a later call uses what they find."""
    found: list[Omission] = []
    for number, call in enumerate(calls):
        entity, tool = found_entity(environment, call), environment.tools[call.event.tool]
        same = tuple(n for n, other in enumerate(calls) if other.event == call.event)
        takers = [
            environment.tools[other.event.tool].parameter(name)
            for other in calls
            for name, places in other.looked_up.items()
            if any(place.step in same for place in places)
        ]
        words = describe_thing(environment, calls, number)
        said = tuple(name for name in call.said if call.event.arguments[name] is not None)
        if entity is None or words is None or call.sources or not said or not takers or same[0] != number:
            continue
        parameters = [*(tool.parameter(name) for name in said), *takers]
        documentation = " ".join(f"{one.name} {one.description}" for one in parameters)
        found.append(Omission(same, said, entity, words, None, documentation))
    return found


def _arguments(environment: Environment, calls: Sequence[PlannedCall], numbers: Sequence[int]) -> list[Omission]:
    """The required arguments of changes that every phrase can leave out."""
    found: list[Omission] = []
    for number in numbers:
        call = calls[number]
        tool = environment.tools[call.event.tool]
        phrases = tool.phrases.of(call.event.arguments) if tool.phrases else Phrases("")
        if not has_outcome(environment, call):
            continue
        for name in call.said:
            parameter, value = tool.parameter(name), call.event.arguments[name]
            shorter = leave_out(phrases.step, name, parameter.type)
            thing = phrases.noun_phrase or ""
            hidden = f"{{{name}}}" not in thing or leave_out(thing, name, parameter.type) is not None
            if shorter is None or not hidden or not parameter.required or value is None or isinstance(value, bool):
                continue
            words = shorter.left_out.replace(f"{{{name}}}", "{}")
            documentation = f"{name} {parameter.description}"
            found.append(Omission((number,), (name,), name.replace("_", " "), words, value, documentation))
    return found
