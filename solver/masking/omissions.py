"""Omissions: the values that a request can leave out and its user can tell later, when asked.

A value can be left out if the sentence remains one, and if a reader notices that it is missing: a required argument of
a requested change, or what a row is looked up by (*a payee* for *the payee Ash*). An optional argument is never left
out, because an agent that does not ask for it has done nothing wrong.
"""

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from lawtrace.environments.events import Json
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.tools import Parameter, Phrases
from lawtrace.solver.masking.instructions import Style
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
    """

    calls: tuple[int, ...]
    parameters: tuple[str, ...]
    kind: str
    words: str
    value: Json
    documentation: str


@dataclass(frozen=True, slots=True)
class PartialRequest:
    """The calls that a style asks for, with the omissions that are possible.

    Attributes:
        calls: the requested calls.
        numbers: the indices of those that are described; look-ups of a goal appear only as what they find.
    """

    environment: Environment
    calls: Sequence[PlannedCall]
    numbers: tuple[int, ...]
    omissions: tuple[Omission, ...]

    def sentences(self, unsaid: Collection[Omission], about: AbstractSet[int] | None = None) -> list[str]:
        """The request as steps without these values; with ``about`` only the steps that mention those calls."""
        left_out: Unsaid = {
            number: frozenset(name for one in unsaid if number in one.calls for name in one.parameters)
            for one in unsaid
            for number in one.calls
        }
        shown = [number for number in self.numbers if not self._is_lookup(number) or number not in left_out]
        if about is not None:
            concerned = [n for n in shown if n in about or self.calls[n].sources & about]
            shown = [n for n in concerned if not self._is_lookup(n)] or concerned
        return [describe_step(self.environment, self.calls, number, left_out) for number in shown]

    def words(self, omission: Omission) -> str:
        """The values of an omission by themselves."""
        return omission.words.replace("{}", format_value(omission.value, self.parameters(omission)[0].type))

    def parameters(self, omission: Omission) -> list[Parameter]:
        """The parameters that take its values."""
        tool = self.environment.tools[self.calls[omission.calls[0]].event.tool]
        return [tool.parameter(name) for name in omission.parameters]

    @property
    def values(self) -> tuple[str, ...]:
        """All values that the user states, as the sentences write them; of a list each item."""
        found: list[str] = []
        for call in self.calls:
            tool = self.environment.tools[call.event.tool]
            for name in call.said:
                value = call.event.arguments[name]
                items = [str(item) for item in value] if isinstance(value, list) else None
                if value is not None and not isinstance(value, bool):
                    found += [format_value(value, tool.parameter(name).type)] if items is None else items
        return tuple(dict.fromkeys(found))

    def _is_lookup(self, number: int) -> bool:
        return found_entity(self.environment, self.calls[number]) is not None


def partial_request(environment: Environment, calls: Sequence[PlannedCall], style: Style) -> PartialRequest:
    """``calls``: those that the style asks for (`requested_calls`). No omissions if a call has no phrases."""
    worded = all(environment.tools[call.event.tool].phrases is not None for call in calls)
    numbers = tuple(n for n, call in enumerate(calls) if style == "workflow" or has_outcome(environment, call))
    found = [*_lookups(environment, calls), *_arguments(environment, calls, numbers)] if worded else []
    return PartialRequest(environment, calls, numbers, tuple(found))


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
