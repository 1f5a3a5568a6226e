"""Omissions from a request that was written freely: its own text, with some of its values cut out.

A value can be left out if the text says it once, in words that a pattern of `cuts` knows how to do without, and if
neither the value nor a part of its name is left. All this is decided on the text alone, not on rows, so both sides of a
contrast pair have the same omissions.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import Parameter, Tool
from lawtrace.environments.spec.types import DATE, INTEGER, MONEY, TEXT, TIME, ValueType
from lawtrace.schemas.events import Json
from lawtrace.schemas.instructions import Instruction
from lawtrace.solver.masking.cuts import (
    Cut,
    apply_cuts,
    cut_amount,
    cut_date,
    cut_number,
    cut_party,
    cut_thing,
    cut_wording,
)
from lawtrace.solver.masking.goals import goal_calls
from lawtrace.solver.masking.instructions import find_leaks
from lawtrace.solver.masking.omissions import Omission, PartialRequest
from lawtrace.solver.masking.sayings import Span, overlaps, phrase_spans, plain, value_spans
from lawtrace.solver.masking.wording import found_entity, has_outcome
from lawtrace.solver.traces import PlannedCall, literal_calls

_GENERAL = frozenset(("name", "title", "nickname", "description", "label", "keywords"))
"""Names of arguments that say nothing about what is looked up by them."""
_PLAIN = frozenset(("the", "for", "and", "with", "from", "our"))
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?!\s|$))+[.!?]*")


@dataclass(frozen=True, slots=True)
class WrittenRequest(PartialRequest):
    """A request in a freely written text.

    Attributes:
        cuts: one for each omission.
        said: the words that say the values.
    """

    text: str
    cuts: tuple[Cut, ...]
    said: tuple[str, ...]
    greets: ClassVar[bool] = True

    def wish(self, unsaid: Collection[Omission]) -> str:
        return apply_cuts(self.text, self._cuts(unsaid))

    def answer(self, told: Collection[Omission], unsaid: Collection[Omission]) -> str:
        sentences = [match.span() for match in _SENTENCE.finditer(self.text) if match[0].strip()]
        wanted = [cut.span for cut in self._cuts(told)]
        parts: list[str] = []
        for start, end in sentences:
            if overlaps((start, end), wanted):
                within = [cut for cut in self._cuts(unsaid) if start <= cut.span[0] and cut.span[1] <= end]
                moved = [Cut((cut.span[0] - start, cut.span[1] - start), cut.remains, cut.words) for cut in within]
                part = apply_cuts(self.text[start:end], moved).strip(" -")
                parts.append(part[:1].upper() + part[1:] if self.text[:1].isupper() else part)
        return " ".join(parts)

    def _cuts(self, omissions: Collection[Omission]) -> list[Cut]:
        return [cut for omission, cut in zip(self.omissions, self.cuts, strict=True) if omission in omissions]

    @property
    def values(self) -> tuple[str, ...]:
        return self.said


@dataclass(slots=True)
class _Saying:
    """A value, the arguments that it is for, and where the text says it."""

    value: Json
    type: ValueType
    places: list[tuple[int, str]]
    spans: list[Span]


def written_request(
    environment: Environment, initial: State, calls: Sequence[PlannedCall], instruction: Instruction
) -> WrittenRequest:
    """``calls``: those of the trace that the request was made from."""
    literal, text = literal_calls(environment, calls), instruction.text.strip()
    goal = instruction.style == "goal"
    numbers = goal_calls(environment, initial, literal) if goal else range(len(literal))
    sayings = list(_sayings(environment, literal, numbers, plain(text), instruction))
    found: list[tuple[Omission, Cut]] = []
    for saying in sayings:
        others = [span for other in sayings if other is not saying for span in other.spans]
        one = _omission(environment, literal, saying, plain(text), others)
        if one is not None and not overlaps(one[1].span, [cut.span for _, cut in found]):
            found.append(one)
    said = dict.fromkeys(text[slice(*span)].removesuffix("'s") for saying in sayings for span in saying.spans)
    return WrittenRequest(
        environment, literal, tuple(one for one, _ in found), text, tuple(cut for _, cut in found), tuple(said)
    )


def _sayings(
    environment: Environment,
    calls: Sequence[PlannedCall],
    numbers: Sequence[int],
    text: str,
    instruction: Instruction,
) -> Iterator[_Saying]:
    """The values that the user states, equal ones of one type together."""
    found: dict[tuple[str, ValueType], _Saying] = {}
    for number in numbers:
        call, tool = calls[number], environment.tools[calls[number].event.tool]
        for name in call.said:
            value, value_type = call.event.arguments[name], tool.parameter(name).type
            if value is None or isinstance(value, bool):
                continue
            saying = found.setdefault((str(value), value_type), _Saying(value, value_type, [], []))
            saying.places.append((number, name))
            place = f"{tool.name}.{name}"
            noted = [*instruction.says.get(f"{number + 1}.{place}", ()), *instruction.says.get(place, ())]
            spans = value_spans(text, value, value_type)
            spans = spans or [span for words in noted for span in phrase_spans(text, plain(words))]
            saying.spans = list(dict.fromkeys([*saying.spans, *spans]))
    yield from found.values()


def _omission(
    environment: Environment, calls: Sequence[PlannedCall], saying: _Saying, text: str, others: Sequence[Span]
) -> tuple[Omission, Cut] | None:
    """The omission of a value, if the text can do without it."""
    spans = [span for span in saying.spans if not any(start <= span[0] and span[1] <= end for start, end in others)]
    if len(spans) != 1 or any(other in spans for other in others):
        return None
    number, name = saying.places[0]
    call, tool = calls[number], environment.tools[calls[number].event.tool]
    parameter, entity = tool.parameter(name), found_entity(environment, call)
    is_thing = entity is not None and not call.sources and _is_used(calls, number)
    if is_thing and parameter.type is TEXT:
        kind, cues, cut = _cut_name(tool, parameter, entity or "", str(saying.value), text, spans[0])
    elif has_outcome(environment, call) and parameter.required and len(saying.places) == 1:
        kind, cues, cut = name.replace("_", " "), "", _cut_value(parameter.type, text, spans[0])
    else:
        return None
    if cut is None or overlaps(cut.span, others):
        return None
    rest = apply_cuts(text, [cut])
    left = [span for span in others if span[0] >= cut.span[1] or span[1] <= cut.span[0]]
    if _is_still_said(saying, rest, text, cut, left, {kind, entity or ""}):
        return None
    if set(find_leaks(environment, rest)) - set(find_leaks(environment, text)):
        return None
    digits = re.findall(r"\d+(?:\.\d+)?", cut.words)
    exact = not isinstance(saying.value, str) and digits == [_digits(saying.value)] and not is_thing
    exact = exact and re.search(r"\d(?:st|nd|rd|th)\b", cut.words) is None
    words = cut.words.replace(digits[0], "{}") if exact else cut.words
    documentation = " ".join(f"{one.name} {one.description}" for one in _takers(environment, calls, saying))
    return (
        Omission(
            tuple(place for place, _ in saying.places),
            (name,),
            kind,
            words,
            saying.value if exact else None,
            documentation,
            cues,
            cut.remains.strip().lower(),
        ),
        cut,
    )


def _cut_name(
    tool: Tool, parameter: Parameter, entity: str, value: str, text: str, span: Span
) -> tuple[str, str, Cut | None]:
    """What is looked up, how a question may name it, and the text without its name."""
    own = parameter.name.removesuffix("_name")
    is_party = parameter.name.endswith("name") and all(word[:1].isupper() or len(word) < 4 for word in value.split())
    if is_party and not value.startswith(("My ", "Our ")):
        noun = f"a {own}" if own not in {"name", "requester"} else "someone"
        return (own if own != "name" else entity), "who whom whose which", cut_party(text, span, noun)
    if len(tool.parameters) > 1:
        return entity, "", None
    kind = entity if parameter.name in _GENERAL else own
    return kind, f"which {entity}", cut_thing(text, span, kind)


def _cut_value(value_type: ValueType, text: str, span: Span) -> Cut | None:
    if value_type is MONEY:
        return cut_amount(text, span)
    if value_type is INTEGER:
        return cut_number(text, span)
    if value_type in (DATE, TIME):
        return cut_date(text, span)
    return cut_wording(text, span) if value_type is TEXT else None


def _is_still_said(
    saying: _Saying, rest: str, text: str, cut: Cut, others: Sequence[Span], nouns: Collection[str]
) -> bool:
    """Whether the value, or a telling part of its name, is left outside what says other values."""
    moved = len(rest) - len(text)
    others = [(a, b) if b <= cut.span[0] else (a + moved, b + moved) for a, b in others]
    if any(not overlaps(span, others) for span in value_spans(rest, saying.value, saying.type)):
        return True
    if saying.type is not TEXT:
        return saying.value == 365 and re.search(r"\byear\b", rest) is not None
    words = [word for word in re.findall(r"[A-Za-z]{3,}", str(saying.value)) if word.lower() not in {*nouns, *_PLAIN}]
    return any(
        not overlaps(span, others)
        for word in words
        for span in phrase_spans(rest, word.removesuffix("s"), inflected=True)
    )


def _is_used(calls: Sequence[PlannedCall], number: int) -> bool:
    return any(place.step == number for call in calls for places in call.looked_up.values() for place in places)


def _takers(environment: Environment, calls: Sequence[PlannedCall], saying: _Saying) -> Iterator[Parameter]:
    """The arguments that take the value, and those that take what is looked up by it."""
    for number, name in saying.places:
        yield environment.tools[calls[number].event.tool].parameter(name)
        for call in calls:
            for taker, places in call.looked_up.items():
                if any(place.step == number for place in places):
                    yield environment.tools[call.event.tool].parameter(taker)


def _digits(value: Json) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)
