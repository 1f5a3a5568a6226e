"""Phrases of a sentence and the tools that they name, with the words that justify it.

A phrase names a tool if it says the words of the tool's name (or the verb and the object of its summary), and if every
other word of it stands in the documentation of the tool. No other tool may explain as much. Everything else names no
tool, or two.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lawtrace.agents.scripted.deontic_patterns import ACTORS, SERVED, Token, Tokens, text_of
from lawtrace.agents.scripted.stated_limits import Limit, currency_in, limits_in, opposite
from lawtrace.agents.scripted.stemming import listed, root

Documented = Mapping[str, Any]


def _roots(words: str) -> list[str]:
    return [root(word) for word in listed(words)]


_SAME: Final[Mapping[str, str]] = {
    **dict.fromkeys(_roots("get retrieve view show display read access obtain fetch look"), "look"),
    **dict.fromkeys(_roots("find search query locate"), "find"),
    **dict.fromkeys(_roots("check verify"), "check"),
    **dict.fromkeys(_roots("record document"), "record"),
    **dict.fromkeys(_roots("delete remove erase"), "delete"),
    **dict.fromkeys(_roots("tell inform notify"), "tell"),
    **dict.fromkeys(_roots("transfer move remit"), "transfer"),
    **dict.fromkeys(_roots("ask request"), "ask"),
    **dict.fromkeys(_roots("create generate"), "create"),
    **dict.fromkeys(_roots("change update modify alter amend"), "change"),
    **dict.fromkeys(_roots("send mail dispatch"), "send"),
    **dict.fromkeys(_roots("start begin commence"), "start"),
    **dict.fromkeys(_roots("refund reimburse"), "refund"),
    **dict.fromkeys(_roots("money funds"), "money"),
}
"""Verbs of the same kind of act, and *funds* for *money*: general English, not the words of an environment."""
_LIGHT: Final = frozenset(
    root(word)
    for word in listed(
        "be is are was were been being have has had do does done make made carry carried perform take took come happen "
        "occur execute place"
    )
)
"""Verbs that say only that something happens."""
_STOP: Final = frozenset(
    listed(
        "a an and any are as at by can each every all for from has have in into is it its of on or out over the their "
        "his her your our to up was were with who which been be"
    )
)
_LEAD_SKIPPED: Final = frozenset(listed("whether which what how when where who"))
_NEGATIONS: Final = frozenset(listed("no not never none neither nor without"))
_NUMBER_TYPES: Final = ("number", "integer")
_MONEY: Final = frozenset(_roots("amount fee price cost sum euro dollar pound balance"))


@dataclass(frozen=True, slots=True)
class NamedCall:
    """Calls of one tool that a phrase names.

    Attributes:
        atom: the calls in the rule language: `TransferFunds(amount > 1000)`.
        because: the words that justify it, in a sentence.
    """

    tool: str
    atom: str
    words: str
    because: str


@dataclass(frozen=True, slots=True)
class NamedCalls:
    """The calls of a phrase: several if it lists alternatives, joined by *or* or *and*."""

    calls: tuple[NamedCall, ...]
    joined: str = "or"


class NoTool(Exception):
    """The phrase names no tool, or two; the message is the reason."""


class ToolLexicon:
    """The words with which tools are documented."""

    def __init__(self, tools: Sequence[Documented]) -> None:
        self.tools = [_DocumentedTool(tool) for tool in tools]

    def calls(self, phrase: Tokens, *, state: bool = False, state_first: bool = False) -> NamedCalls:
        """The calls that a phrase names. Raises NoTool.

        Args:
            state: whether the phrase may describe what a result shows rather than name a call.
            state_first: whether that comes first.
        """
        readings = (self._state, self._whole) if state_first else (self._whole, self._state)
        reasons: list[NoTool] = []
        for reading in readings:
            if reading == self._state and not state:
                continue
            try:
                return NamedCalls((reading(phrase),))
            except NoTool as reason:
                reasons.append(reason)
        parts, joined = _alternatives(phrase)
        if len(parts) > 1:
            return NamedCalls(tuple(self._whole(part) for part in parts), joined)
        raise reasons[0 if readings[0] == self._whole else -1]

    def nearest(self, text: str) -> str | None:
        """The tool of whose name, or of the verb and object of whose summary, the text has most words, at least two;
        None if there is none."""
        said = {_kind(word) for word in re.findall(r"[a-z]+", text.lower())}
        shared = {tool.id: max(len(said & tool.name) / min(2, len(tool.name)), len(said & tool.lead) / 2)
                  for tool in self.tools}  # fmt: skip
        best = max(shared, key=lambda tool: shared[tool], default=None)
        return best if best is not None and shared[best] >= 1 else None

    def support(self, phrase: Tokens, tool: str) -> int:
        """How many words of the phrase stand in the tool's name or summary."""
        said = _said(phrase)
        return sum(len(said.keys() & (one.name | one.summary)) for one in self.tools if one.id == tool)

    def limited(self, condition: Tokens, calls: NamedCalls, *, allowed: bool) -> NamedCalls:
        """The calls that a condition in a clause of its own forbids. Raises NoTool."""
        text = text_of(condition)
        limits = limits_in(text)
        rest = text[: limits[0].span[0]] + text[limits[0].span[1] :]
        said = {_kind(word) for word in re.findall(r"[a-z]+", rest.lower()) if word not in _STOP} - _LIGHT
        if len(limits) != 1 or len(calls.calls) != 1:
            raise NoTool(f"{text!r} is not one comparison of one call")
        (call,) = calls.calls
        tool = next(one for one in self.tools if one.id == call.tool)
        if not said or "(" in call.atom:
            raise NoTool(f"{text!r} names no value of {call.tool}")
        limit = limits[0]
        comparison = opposite(limit.comparison) if allowed else limit.comparison
        field = tool.number(limit, said, whole=True)
        atom = f"{call.tool}({field} {comparison} {_number(limit.value)})"
        return NamedCalls(
            (NamedCall(call.tool, atom, f"{call.words}; {text}", f"{call.because}; {field!r} is its parameter"),)
        )

    def _whole(self, phrase: Tokens) -> NamedCall:
        """The call that all words of the phrase together name."""
        text = text_of(phrase)
        if not phrase:
            raise NoTool("a part of the sentence is empty")
        if negation := next((token.text for token in phrase if token.low in _NEGATIONS), None):
            raise NoTool(f"{text!r} contains {negation!r}, which is in no pattern known offline")
        limits = limits_in(text)
        if len(limits) > 1:
            raise NoTool(f"{text!r} compares two values")
        plain = text if not limits else f"{text[: limits[0].span[0]]} {text[limits[0].span[1] :]}"
        said = _said_in(plain)
        fitting = [(tool, route) for tool in self.tools if (route := tool.route(said)) is not None]
        best = [(tool, route) for tool, route in fitting if not self._rivals(tool, said, fitting)]
        if not fitting:
            raise NoTool(self._nothing_fits(text, said))
        if len(best) != 1:
            rivals = {tool.id for tool, _ in fitting} | {
                other.id for tool, _ in fitting for other in self._rivals(tool, said, fitting)
            }
            raise NoTool(f"{text!r} could be {' or '.join(sorted(rivals))}")
        ((tool, route),) = best
        condition, why = tool.condition(limits[0] if limits else None, said, text)
        telling = ", ".join(repr(said[word]) for word in said if word in tool.name | tool.lead)
        because = f"{tool.id}: its {route} says {telling}{why}"
        return NamedCall(tool.id, f"{tool.id}({condition})" if condition else tool.id, text, because)

    def _state(self, phrase: Tokens) -> NamedCall:
        """The call whose result shows what the phrase says: a boolean that it describes."""
        text = text_of(phrase)
        if any(token.low in _NEGATIONS for token in phrase):
            raise NoTool(f"{text!r} contains a negation")
        said = _said(phrase)
        found = [
            (tool, name)
            for tool in self.tools
            for name, words in tool.booleans.items()
            if _kind(name) in said and said.keys() <= words
        ]
        if len(found) != 1:
            raise NoTool(
                f"{text!r} names no call, and {'no result shows it' if not found else 'several results show it'}"
            )
        ((tool, name),) = found
        because = f"{tool.id}: its result {name!r} says {', '.join(map(repr, said.values()))}"
        return NamedCall(tool.id, f"{tool.id}(result.{name})", text, because)

    def _rivals(
        self, tool: "_DocumentedTool", said: Mapping[str, str], fitting: Sequence[tuple["_DocumentedTool", str]]
    ) -> list["_DocumentedTool"]:
        """Other tools that explain as many words as this one, and at least one that its name does not."""
        fits = {other.id for other, _ in fitting}
        own = said.keys() & (tool.name | tool.lead)
        rivals: list[_DocumentedTool] = []
        for other in self.tools:
            if other is tool:
                continue
            theirs = said.keys() & (other.name | (other.lead if other.id in fits else set()))
            equal = len(theirs) >= len(own)
            more = equal and bool(theirs - own)
            same = other.id in fits and theirs == own
            if more or same or (equal and tool.route(said) == "name in part"):
                rivals.append(other)
        return rivals

    def _nothing_fits(self, text: str, said: Mapping[str, str]) -> str:
        shared = {tool.id: len(said.keys() & (tool.name | tool.lead)) for tool in self.tools}
        near = [tool for tool in self.tools if shared[tool.id] == max(shared.values())]
        if not near or not shared[near[0].id]:
            return f"{text!r} names no tool"
        if len(near) > 1:
            return f"{text!r} names no tool: {' and '.join(tool.id for tool in near)} are equally near"
        (nearest,) = near
        unsaid = sorted(said[word] for word in said.keys() - nearest.vocabulary)
        if unsaid:
            words = ", ".join(map(repr, unsaid))
            return f"{text!r} names no tool: {nearest.id} is nearest, but nothing about it says {words}"
        return f"{text!r} names no tool: {nearest.id} is nearest, but the phrase does not say all of its name"


class _DocumentedTool:
    """The words of one tool by where they stand, each as its kind."""

    def __init__(self, tool: Documented) -> None:
        self.id = str(tool["name"])
        names = [_kind(word) for word in _split_name(self.id) if word not in _STOP]
        self.name = {word for word in names if word not in _LIGHT} or set(names)
        self.head = names[-1] if names else ""
        first = re.split(r"[.:;,]", str(tool["summary"]))[0]
        self.lead = _lead(first)
        self.first = _kinds(first)
        self.summary = _kinds(str(tool["summary"]))
        self.parameters: Sequence[Documented] = tool.get("parameters", ())
        self.returns: Sequence[Documented] = tool.get("returns", ())
        about = [f"{one['name']} {one.get('description', '')}" for one in (*self.parameters, *self.returns)]
        self.vocabulary = self.name | self.summary | _kinds(" ".join(about).replace("_", " "))
        self.booleans = {
            str(one["name"]): _kinds(f"{one['name']} {one.get('description', '')} {tool['summary']}") | self.name
            for one in self.returns
            if str(one["type"]).startswith("boolean") and one["name"] != "success"
        }

    def route(self, said: Mapping[str, str]) -> str | None:
        """What of the tool the words say: its name, its summary, or its name in part; None if they do not name it."""
        words = said.keys()
        if not words <= self.vocabulary:
            return None
        if self.name <= words:
            return "name"
        if self.lead and self.lead <= words:
            return "summary"
        partly = len(self.name) >= 3 and self.name - {self.head} <= words
        return "name in part" if partly and words & (self.first - self.name) else None

    def condition(self, limit: Limit | None, said: Mapping[str, str], text: str) -> tuple[str, str]:
        """The condition on an argument that the words state, and why; both are empty without one."""
        conditions: list[str] = []
        reasons: list[str] = []
        if limit is not None:
            field = self.number(limit, set(said))
            conditions.append(f"{field} {limit.comparison} {_number(limit.value)}")
            reasons.append(f"; {limit.words!r} is about its {field!r}")
        extra = said.keys() - self.name - self.lead - self.first
        for parameter in self.parameters:
            for option in _options(parameter):
                if _kinds(option) and _kinds(option) <= extra and option.lower() in text.lower():
                    conditions.append(f'{parameter["name"]} == "{option}"')
                    reasons.append(f"; {option!r} is an option of its {parameter['name']!r}")
        if len(conditions) > 1:
            raise NoTool(f"{text!r} states two conditions on {self.id}")
        return "".join(conditions), "".join(reasons)

    def number(self, limit: Limit, said: set[str], *, whole: bool = False) -> str:
        """The numeric parameter that a comparison is about. Raises NoTool."""
        numeric = [one for one in self.parameters if str(one["type"]).startswith(_NUMBER_TYPES)]
        named = [one for one in numeric if _kinds(str(one["name"]).replace("_", " ")) <= said | {_kind(limit.unit)}]
        if limit.currency:
            named = [one for one in named or numeric if _is_money(one, limit.currency)]
        if (
            whole
            and not said
            <= {word for one in named for word in _kinds(str(one["name"]).replace("_", " "))} | self.name | self.first
        ):
            named = []
        if len(named) != 1:
            raise NoTool(f"{limit.words!r} is about no one number that {self.id} takes")
        if limit.unit and _kind(limit.unit) not in _kinds(f"{named[0]['name']} {named[0].get('description', '')}"):
            raise NoTool(f"{limit.words!r} counts {limit.unit}, which {self.id} does not take")
        return str(named[0]["name"])


def _is_money(parameter: Documented, currency: str) -> bool:
    text = f"{parameter['name']} {parameter.get('description', '')}".replace("_", " ")
    return bool(_kinds(text) & _MONEY) and currency_in(text) in {"", currency}


def _alternatives(phrase: Tokens) -> tuple[list[Tokens], str]:
    """The parts of a phrase between commas, *or* and *and*, and the word that joins them."""
    parts: list[list[Token]] = [[]]
    joining: set[str] = set()
    for token in phrase:
        if token.low in {"or", "and"}:
            joining.add(token.low)
        if token.low in {"or", "and", ","}:
            parts.append([])
        else:
            parts[-1].append(token)
    kept = [tuple(part) for part in parts if part]
    if joining == {"or", "and"}:
        raise NoTool(f"{text_of(phrase)!r} joins its parts by 'or' and by 'and'")
    return kept, "and" if joining == {"and"} else "or"


def _said(phrase: Tokens) -> dict[str, str]:
    return _said_in(text_of(phrase))


def _said_in(text: str) -> dict[str, str]:
    """The kinds of the words that a phrase says, each with the word; without articles, prepositions, light verbs, and
    the parties that act or that something belongs to."""
    found: dict[str, str] = {}
    tokens = re.findall(r"[A-Za-z]+(?:[-'’][A-Za-z]+)*|\d+", text)
    for place, token in enumerate(tokens):
        low = token.lower()
        owner = re.sub(r"['’]s?$", "", low)
        previous = [word.lower() for word in tokens[max(0, place - 2) : place]]
        belongs = owner != low or (previous[-1:] == ["of"] or previous == ["of", "the"] or previous == ["of", "a"])
        if belongs and owner.removesuffix("s") in SERVED | ACTORS and owner != low:
            continue
        acts = previous[-1:] == ["by"] or previous == ["by", "the"]
        first = place == 0 or (place == 1 and previous == ["the"])
        if low in ACTORS and (acts or (first and len(tokens) > place + 1)):
            continue
        for word in re.findall(r"[a-z]+|\d+", owner):
            kind = _kind(word)
            if word not in _STOP and kind not in _LIGHT:
                found[kind] = word
    return found


def _lead(first: str) -> set[str]:
    """The verb and the object with which a summary begins; empty if it begins otherwise."""
    content = [word for word in re.findall(r"[a-z]+", first.lower()) if word not in _STOP and word not in {"one", "s"}]
    if len(content) < 2 or content[1] in _LEAD_SKIPPED or _kind(content[0]) in _LIGHT:
        return set()
    return {_kind(content[0]), _kind(content[1])}


def _options(parameter: Documented) -> list[str]:
    found = re.search(r"One of: ([^.]+)\.", str(parameter.get("description", "")))
    return found[1].split(", ") if found else []


def _split_name(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name)]


def _kinds(text: str) -> set[str]:
    """The kinds of the words of a documentation."""
    return {_kind(word) for word in re.findall(r"[a-z]+", text.lower()) if word not in _STOP}


def _kind(word: str) -> str:
    """What a word is compared by: its root, or the common one of verbs of the same kind."""
    found = root(word)
    return _SAME.get(found, found)


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else str(value)
