"""Mentions in a line of a request: objects that must be looked up or were created before, such as *the savings
account*, *the new guest "Edda Marsh"*, *the consultation with the doctor found with the keywords "cardiology"*.

Mentions are derived from the documentation alone: if a tool's result has an identifier in the format that a parameter
requires, the object that the tool finds or creates can be named by a noun phrase with the tool's arguments. A required
argument is recognized by its position after the noun, an optional one only if the words before it name it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lawtrace.environments.spec.types import MOMENT_FORMS

Documented = Mapping[str, Any]

QUOTED = r'"([^"]*)"'
TIMES = {
    "YYYY-MM-DD": r"\d{4}-\d{2}-\d{2}(?![ T]\d{2}:)",
    **{
        form: re.sub("[YMDHms]+", lambda part: rf"\d{{{len(part[0])}}}", form.replace("+", r"\+")) + r"(?!:\d|[Z+])"
        for form in MOMENT_FORMS
    },
    "HH:mm": r"(?<!-\d{2}[ T])\b\d{2}:\d{2}",
}
"""Patterns of values in the date and time formats."""


@dataclass(frozen=True, slots=True)
class Source:
    """A call that returns an object.

    Attributes:
        noun: a pattern for the name of the object: *booking* or *booking code* for a ``booking_code``.
        path: to the identifier in the result.
        shape: the identifier's format.
        makes: whether the call creates the object rather than finding it.
    """

    tool: str
    noun: str
    path: tuple[str | int, ...]
    shape: str
    makes: bool

    @property
    def field(self) -> str:
        return str(self.path[-1])


@dataclass(frozen=True, slots=True)
class Mention:
    """An object mentioned in a line: the call that returns it, with its arguments, and its position in the line.

    An argument that is itself an object is a nested mention.
    """

    source: Source
    arguments: dict[str, Any]
    start: int
    end: int


def _identifiers(fields: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Fields in an identifier format such as ``P-XXXXXX``, not dates."""
    for field, kind in fields.items():
        shape = re.search(r"format ([^,]+)", kind) if isinstance(kind, str) else None
        if shape and shape[1] not in TIMES:
            yield field, shape[1]


def format_of(parameter: Documented) -> str | None:
    match = re.search(r"Format: (.+?)\.$", parameter["description"])
    return match[1] if match else None


def options_of(parameter: Documented) -> list[str]:
    match = re.search(r"One of: (.+)\.$", parameter["description"])
    return match[1].split(", ") if match else []


def _sources_of(tools: Mapping[str, Documented]) -> list[Source]:
    """All calls that return an object: look-ups with parameters, and calls that create one."""
    found: list[Source] = []
    for name, tool in tools.items():
        for result in tool["returns"]:
            listed = result["type"].startswith("array of objects")
            fields = result.get("fields", {}) if listed else {result["name"]: result["type"]}
            identifier = next(_identifiers(fields), None)
            if identifier and tool["parameters"]:
                field, shape = identifier
                first, *more = field.split("_")
                noun = f"{first}(?: {' '.join(more)})?" if more else first
                found.append(Source(name, noun, (result["name"], 0, field) if listed else (field,), shape, not listed))
                break
    searched = {source.noun for source in found if not source.makes}
    # Where an object can also be searched for, the created one is *the new* one.
    return [replace(one, noun=f"new {one.noun}") if one.makes and one.noun in searched else one for one in found]


@dataclass(frozen=True, slots=True)
class _Clause:
    """A few words and the value after them: quoted texts, a time, or another mention."""

    words: tuple[str, ...]
    value: list[str] | Mention
    shape: str | None
    end: int


class MentionFinder:
    """Finds mentions of what the calls of documented tools return."""

    def __init__(self, tools: Mapping[str, Documented]) -> None:
        self.tools = tools
        self._sources = _sources_of(tools)

    def mentions(self, line: str) -> list[Mention]:
        """The mentions in the line from left to right; nested ones are in the arguments of the outer one."""
        found: list[Mention] = []
        for match in re.finditer(r"\bthe\b", line, re.IGNORECASE):
            if not found or match.start() >= found[-1].end:
                mention = self._mention_at(line, match.start())
                found += [mention] if mention else []
        return found

    def _mention_at(self, line: str, start: int) -> Mention | None:
        """The mention at that position, by the source that explains most of the line; then by the longer noun."""
        found = (mention for source in self._sources if (mention := self._explained(line, start, source)))
        return max(found, key=lambda mention: (mention.end, len(mention.source.noun)), default=None)

    def _explained(self, line: str, start: int, source: Source) -> Mention | None:
        parameters: Sequence[Documented] = self.tools[source.tool]["parameters"]
        choosing = next((parameter for parameter in parameters if options_of(parameter)), None)
        before = "|".join(map(re.escape, options_of(choosing))) if choosing else r"\w+"
        head = re.compile(rf"the (?:(?P<word>{before}) )?{source.noun}s?\b", re.IGNORECASE).match(line, start)
        if head is None:
            return None
        arguments: dict[str, Any] = {choosing["name"]: head["word"]} if choosing and head["word"] else {}
        end = head.end()
        while (clause := self._clause_at(line, end)) is not None:
            parameter = _taker(parameters, arguments, clause)
            if parameter is None:
                break
            several = parameter["type"].startswith("array")
            arguments[parameter["name"]] = (
                clause.value if several or isinstance(clause.value, Mention) else clause.value[0]
            )
            end = clause.end
        complete = source.makes or all(p["name"] in arguments for p in parameters if p["required"])
        return Mention(source, arguments, start, end) if arguments and complete else None

    def _clause_at(self, line: str, start: int) -> _Clause | None:
        lead = re.compile(r",?((?: [a-z]+)*?) (?=\"|\d|the\b)").match(line, start)
        if lead is None:
            return None
        words = tuple(lead[1].split())
        if line.startswith("the", lead.end()):
            mention = self._mention_at(line, lead.end())
            if mention is not None:
                return _Clause(words, mention, mention.source.shape, mention.end)
            further = self._clause_at(line, lead.end() + len("the"))
            return further and _Clause((*words, *further.words), further.value, further.shape, further.end)
        for shape, pattern in ((None, f"{QUOTED}(?: {QUOTED})*"), *TIMES.items()):
            value = re.compile(pattern).match(line, lead.end())
            if value:
                return _Clause(words, re.findall(QUOTED, value[0]) if shape is None else [value[0]], shape, value.end())
        return None


def _taker(parameters: Sequence[Documented], taken: Mapping[str, Any], clause: _Clause) -> Documented | None:
    """The parameter for a value: the one that the words before it name, else the first required one."""
    fitting = [
        parameter
        for parameter in parameters
        if parameter["name"] not in taken
        and format_of(parameter) == clause.shape
        and parameter["type"] in {"string", "array of strings"}
        and not options_of(parameter)
    ]
    named = [parameter for parameter in fitting if set(parameter["name"].split("_")) & set(clause.words)]
    by_place = [parameter for parameter in fitting if parameter["required"]]
    return next(iter(named + by_place), None)
