"""Omissions: the values that a request can leave out and its user can tell later, when asked.

The request is the text of an instruction, from phrases or freely written. A value can be left out if the text says it
once, in a place where other words can stand for it (*a certain amount*), or none; if neither the value nor a part of
its name is left; and if a reader notices that it is missing: a required argument of a requested change, or what a row
is looked up by. An optional argument is never left out, because an agent that does not ask for it has done nothing
wrong. All this is decided on the text alone, not on rows, so both sides of a contrast pair have the same omissions.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import Parameter
from lawtrace.environments.spec.types import DATE, INTEGER, MOMENT, MONEY, TEXT, TIME, Calendar, ValueType
from lawtrace.schemas.events import Json
from lawtrace.schemas.instructions import Instruction, noted_forms
from lawtrace.solver.masking.goals import goal_calls
from lawtrace.solver.masking.surface_forms import (
    CENTS,
    CURRENCY,
    WEEKDAYS,
    Span,
    overlaps,
    phrase_spans,
    plain,
    value_spans,
)
from lawtrace.solver.masking.wording import format_value, found_entity, has_outcome
from lawtrace.solver.traces import PlannedCall, literal_calls

_GENERAL = frozenset(("name", "title", "nickname", "description", "label", "keywords"))
"""Names of arguments that say nothing about what is looked up by them."""
_PLAIN = frozenset(("the", "for", "and", "with", "from", "our"))
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?!\s|$))+[.!?]*")
_DETERMINER = r"\b(?:the|that|my|our|his|her|their|your)"
_NAMED = "called|marked|named|titled|labelled|with|about|over|of|for|to|from"
_THINGS = "transfer|payment|debit|charge|order|card|account|system|contract|request|case|one"
_LEAD = (
    r"(?:,| (?:for|of|on|at|by|with|called|titled|about))"
    r"(?: (?!(?:the|my|our|his|her|their|your|and|or|to|it|not)\b)[a-z]+){0,2} $"
)
"""What goes with a value at the end of a clause."""
_ENDS = r"(?=[,.;:!?)\n]|$)"
_NO_FIGURE = rf"(?:{_DETERMINER}|\b(?:an?|last|next|first|past)) $"
_FIGURES: Final[Mapping[ValueType, str]] = {
    MONEY: "a certain amount",
    INTEGER: "a certain number of",
    DATE: "a certain day",
    TIME: "a certain time",
    MOMENT: "a certain time",
}
_AROUND: Final[Mapping[ValueType, tuple[str, str]]] = {
    MONEY: (r"(?:[€$£]\s?|\b(?:EUR|USD) )$", rf"\s?-?(?:{CURRENCY}|{CENTS})(?!\w)"),
    DATE: (rf"(?:\bthe |\b(?:{'|'.join(WEEKDAYS)}),? (?:the )?)$", r"(?!)"),
}
"""What stands before and after a figure as a part of it; around other values, quotation marks."""


@dataclass(frozen=True, slots=True)
class Omission:
    """A value that a request can leave out.

    Attributes:
        calls: the indices of the calls with the value.
        parameter: the first one that takes it.
        kind: what a question names: the parameter, or what is looked up. Two omissions may have the same kind.
        words: how the text says it, with ``{}`` for a figure: ``€{}``, ``the savings account``.
        value: the figure; None for words.
        documentation: the documentation of the arguments, also of those that take what is looked up.
        span: the part of the text to replace.
        stand_in: what stands there instead; two omissions of one message have different ones.
    """

    calls: tuple[int, ...]
    parameter: Parameter
    kind: str
    words: str
    value: Json
    documentation: str
    span: Span
    stand_in: str


@dataclass(frozen=True, slots=True)
class PartialRequest:
    """A request with the omissions that are possible.

    Attributes:
        values: all values that the text says, in its words.
        is_free: whether the text is freely written, so that it begins as a message does.
    """

    environment: Environment
    text: str
    omissions: tuple[Omission, ...]
    values: tuple[str, ...]
    is_free: bool

    def wish(self, unsaid: Collection[Omission]) -> str:
        """The request without these values."""
        return self._part((0, len(self.text)), unsaid)

    def answer(self, told: Collection[Omission], unsaid: Collection[Omission]) -> str:
        """The sentences of the request that tell those values, without these."""
        wanted = [omission.span for omission in told]
        sentences = [match.span() for match in _SENTENCE.finditer(self.text) if overlaps(match.span(), wanted)]
        return " ".join(self._part(sentence, unsaid).strip(" -") for sentence in sentences)

    def _part(self, part: Span, unsaid: Collection[Omission]) -> str:
        start, end = part
        text = self.text[start:end]
        within = [one for one in self.omissions if one in unsaid and start <= one.span[0] and one.span[1] <= end]
        for one in sorted(within, key=lambda one: one.span, reverse=True):
            text = text[: one.span[0] - start] + one.stand_in + text[one.span[1] - start :]
        return text

    def words(self, omission: Omission) -> str:
        """The value of an omission by itself."""
        if omission.value is None:
            return omission.words
        return omission.words.replace("{}", format_value(omission.value, omission.parameter.type))


@dataclass(slots=True)
class _Mention:
    """A value, the arguments that it is for, and where the text says it."""

    value: Json
    type: ValueType
    places: list[tuple[int, str]]
    spans: list[Span]


def partial_request(
    environment: Environment, initial: State, calls: Sequence[PlannedCall], instruction: Instruction
) -> PartialRequest:
    """``calls``: those of the trace that the request was made from."""
    literal, text = literal_calls(environment, calls), instruction.text.strip()
    goal = instruction.style == "goal"
    numbers = goal_calls(environment, initial, literal) if goal else range(len(literal))
    mentions = list(_mentions(environment, literal, numbers, plain(text), instruction))
    found: list[Omission] = []
    for mention in mentions:
        others = [span for other in mentions if other is not mention for span in other.spans]
        omission = _omission(environment, literal, mention, plain(text), others)
        if omission is not None and not overlaps(omission.span, [other.span for other in found]):
            found.append(omission)
    values = dict.fromkeys(text[slice(*span)].removesuffix("'s") for mention in mentions for span in mention.spans)
    return PartialRequest(environment, text, tuple(found), tuple(values), instruction.is_free)


def _mentions(
    environment: Environment, calls: Sequence[PlannedCall], numbers: Sequence[int], text: str, instruction: Instruction
) -> Iterator[_Mention]:
    """The values that the user states, equal ones of one type together."""
    found: dict[tuple[str, ValueType], _Mention] = {}
    for number in numbers:
        call, tool = calls[number], environment.tools[calls[number].event.tool]
        for name in call.said:
            value, value_type = call.event.arguments[name], tool.parameter(name).type
            if value is None or isinstance(value, bool):
                continue
            mention = found.setdefault((str(value), value_type), _Mention(value, value_type, [], []))
            mention.places.append((number, name))
            noted = noted_forms(instruction.says, number, tool.name, name)
            spans = value_spans(text, value, value_type)
            spans = spans or [span for words in noted for span in phrase_spans(text, plain(words))]
            if isinstance(value_type, Calendar) and value_type != DATE:
                spans = phrase_spans(text, str(value)) or spans
            mention.spans = list(dict.fromkeys([*mention.spans, *spans]))
    yield from found.values()


def _omission(
    environment: Environment, calls: Sequence[PlannedCall], mention: _Mention, text: str, others: Sequence[Span]
) -> Omission | None:
    """The omission of a value, if the text can do without it."""
    spans = [span for span in mention.spans if not any(start <= span[0] and span[1] <= end for start, end in others)]
    if len(spans) != 1 or any(other in spans for other in others):
        return None
    number, name = mention.places[0]
    call = calls[number]
    parameter, entity = environment.tools[call.event.tool].parameter(name), found_entity(environment, call)
    used = any(_takers(environment, calls, number))
    if entity is not None and not call.sources and parameter.type is TEXT and used:
        own = name.removesuffix("_name")
        kind = entity if own in _GENERAL else own.replace("_", " ")
        cut = _without_name(text, spans[0], entity, parameter)
    elif has_outcome(environment, call) and parameter.required and len(mention.places) == 1:
        kind, cut = name.replace("_", " "), _without_value(text, spans[0], parameter.type)
    else:
        return None
    if cut is None or overlaps(cut.span, others) or _is_still_said(mention, text, cut, others, {kind, entity or ""}):
        return None
    figures = re.findall(r"\d+(?:\.\d+)?", cut.words)
    exact = not isinstance(mention.value, str) and figures == [format_value(mention.value, parameter.type)]
    return Omission(
        tuple(place for place, _ in mention.places),
        parameter,
        kind,
        cut.words.replace(figures[0], "{}") if exact else cut.words,
        mention.value if exact else None,
        " ".join(f"{one.name} {one.description}" for one in _parameters(environment, calls, mention.places)),
        cut.span,
        cut.stand_in,
    )


@dataclass(frozen=True, slots=True)
class _Cut:
    """A part of a text to replace, by what, and what it says as an answer to a question."""

    span: Span
    stand_in: str
    words: str


def _without_value(text: str, span: Span, value_type: ValueType) -> _Cut | None:
    """Without an argument: *pay a certain amount*; nothing stands for one at the end of a clause."""
    leads, follows = _AROUND.get(value_type, ('"$', '"'))
    before, after = re.search(leads, text[: span[0]]), re.match(follows, text[span[1] :])
    start, end = before.start() if before else span[0], span[1] + (after.end() if after else 0)
    words = text[start:end].strip('"')
    if re.match(_ENDS, text[end:]) and (lead := re.search(_LEAD, text[:start])):
        return _Cut((lead.start(), end), "", words)
    stand_in = _FIGURES.get(value_type)
    if stand_in is None or re.search(_NO_FIGURE, text[:start], re.IGNORECASE):
        return None
    if value_type is INTEGER and not re.match(r" [a-z]+s\b", text[end:]):
        return None
    return _Cut((start, end), stand_in, words)


def _without_name(text: str, span: Span, entity: str, parameter: Parameter) -> _Cut | None:
    """Without what a row is looked up by: *one of the accounts*, *someone*."""
    start, end = span
    words = re.sub(r"'s?$", "", text[start:end])
    possessive = text[start:end] != words
    noun = rf"(?:{entity}|{_THINGS})"
    named = rf'(?:{noun} (?:(?:{_NAMED}) (?:{_DETERMINER} )?|(?:[a-z]+ )*(?="$)))?'
    determined = re.search(rf'{_DETERMINER} (?:[a-z-]+ )?{named}"?$', text[:start], re.IGNORECASE)
    headed = re.match(rf'"?(?: {noun}\b)?', text[end:])
    if determined is None and parameter.name.endswith("name") and words[0].isupper() and text[end : end + 1] != "'":
        return _Cut(span, _in_case(text, start, "someone's" if possessive else "someone"), words)
    if possessive or determined is None or re.search(r"\b(?:an?|\w+'s?) $", text[: determined.start()]):
        return None
    start, end = determined.start(), end + (headed.end() if headed else 0)
    if text[end:].startswith("'"):
        return None
    return _Cut((start, end), _in_case(text, start, f"one of the {entity}s"), text[start:end])


def _in_case(text: str, start: int, words: str) -> str:
    """The words, with a capital letter if they begin a sentence."""
    begins = re.search(r"(?:^|[.!?]\s+|\n\s*)$", text[:start]) and not text[start].islower()
    return words[:1].upper() + words[1:] if begins else words


def _is_still_said(mention: _Mention, text: str, cut: _Cut, others: Sequence[Span], nouns: Collection[str]) -> bool:
    """Whether the value, or a telling part of its name, is left outside what says other values."""
    taken = [*others, cut.span]
    left = value_spans(text, mention.value, mention.type)
    if mention.type is TEXT:
        words = (word for word in re.findall(r"[A-Za-z]{3,}", str(mention.value)))
        telling = [word for word in words if word.lower() not in {*nouns, *_PLAIN}]
        left += [span for word in telling for span in phrase_spans(text, word.removesuffix("s"), inflected=True)]
    return any(not overlaps(span, taken) for span in left)


def _parameters(
    environment: Environment, calls: Sequence[PlannedCall], places: Iterable[tuple[int, str]]
) -> Iterator[Parameter]:
    """The arguments at the places, and those that take what is looked up by them."""
    for number, name in places:
        yield environment.tools[calls[number].event.tool].parameter(name)
        yield from _takers(environment, calls, number)


def _takers(environment: Environment, calls: Sequence[PlannedCall], number: int) -> Iterator[Parameter]:
    """The arguments that are read from the result of call ``number``."""
    for call in calls:
        for taker, places in call.looked_up.items():
            if any(place.step == number for place in places):
                yield environment.tools[call.event.tool].parameter(taker)
