"""The things that a line of a request mentions and that have to be looked up or were made before.

All that is known of them is in the documentation: some tool's results carry an identifier in the format that a
parameter asks for, so what that tool finds or makes can be meant by a noun phrase with the tool's own arguments in it:
*the savings account*, *the guest found by searching for "Marsh"*, *the new guest "Edda Marsh"*.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["MOMENT", "QUOTED", "Documented", "Identifier", "Mention", "find_mentions", "format_of", "identifier_of"]

Documented = Mapping[str, Any]

DATE = r"\d{4}-\d{2}-\d{2}"
MOMENT = rf"{DATE}(?: \d{{2}}:\d{{2}})?"
QUOTED = r'"([^"]*)"'


@dataclass(frozen=True, slots=True)
class Identifier:
    """Where a tool's result carries an identifier, and its format. ``makes``: of something that the call makes."""

    path: tuple[str | int, ...]
    field: str
    shape: str
    makes: bool

    @property
    def noun(self) -> str:
        """A pattern for the thing: *booking* or *booking code* for a ``booking_code``."""
        first, *more = self.field.split("_")
        return f"{first}(?: {' '.join(more)})?" if more else first


@dataclass(frozen=True, slots=True)
class Mention:
    """A thing in a line: the tool whose result identifies it, and where in the line it stands.

    Attributes:
        arguments: what the tool must be called with to find it; None for a thing that an earlier call made.
        made_by: the number of that call, from 1.
    """

    tool: str
    identifier: Identifier
    start: int
    end: int
    arguments: dict[str, Any] | None = None
    made_by: int = 0


def find_mentions(line: str, tools: Mapping[str, Documented], calls: Sequence[Mapping[str, Any]]) -> list[Mention]:
    """Everything in the line that a look-up with one required parameter would find, or that a call so far made."""
    found: list[Mention] = []
    for name, tool in tools.items():
        identifier = identifier_of(tool)
        if identifier is None:
            continue
        if identifier.makes:
            found += _made(line, name, identifier, calls)
            continue
        required = [parameter for parameter in tool["parameters"] if parameter["required"]]
        if len(required) == 1:
            for start, end, value in _looked_up(line, required[0], identifier.noun):
                found.append(Mention(name, identifier, start, end, {required[0]["name"]: value}))
    return found


def identifier_of(tool: Documented) -> Identifier | None:
    """The identifier that the rows of a look-up carry first, or that of what the call makes."""
    for result in tool["returns"]:
        for field, kind in result.get("fields", {}).items():
            if shape := _shape(str(kind)):
                return Identifier((result["name"], 0, field), field, shape, makes=False)
        if shape := _shape(str(result["type"])):
            return Identifier((result["name"],), result["name"], shape, makes=True)
    return None


def _shape(kind: str) -> str | None:
    match = re.search(r"format ([^,]+)", kind)
    return match[1] if match else None


def format_of(parameter: Documented) -> str | None:
    match = re.search(r"Format: (.+?)\.$", parameter["description"])
    return match[1] if match else None


def _looked_up(line: str, parameter: Documented, noun: str) -> Iterator[tuple[int, int, Any]]:
    """*the savings account*; *the payee ... "word" "word"*."""
    options = re.search(r"One of: (.+)\.$", parameter["description"])
    if options:
        alternatives = "|".join(re.escape(option) for option in options[1].split(", "))
        for match in re.finditer(rf"\bthe ({alternatives}) {noun}\b", line):
            yield match.start(), match.end(), match[1]
        return
    several = parameter["type"].startswith("array")
    values = r'("[^"]*"(?: "[^"]*")*)' if several else r'("[^"]*")'
    for match in re.finditer(rf'\bthe {noun}s?\b[^",]*{values}', line):
        words = re.findall(QUOTED, match[1])
        yield match.start(), match.end(), words if several else words[0]


def _made(line: str, name: str, identifier: Identifier, calls: Sequence[Mapping[str, Any]]) -> Iterator[Mention]:
    """*the new guest "Edda Marsh"*, *the temporary access code for 2026-05-01 10:00 to ...*: the last that fits."""
    value = rf'(?:"[^"]*"|{MOMENT})'
    for match in re.finditer(rf"\bthe \w+ {identifier.noun}(?: for)? ({value}(?: to {value})*)", line):
        values = [text.strip('"') for text in re.findall(value, match[1])]
        for number in range(len(calls), 0, -1):
            call = calls[number - 1]
            if call["tool"] == name and set(values) <= set(map(str, call["arguments"].values())):
                yield Mention(name, identifier, match.start(), match.end(), made_by=number)
                break
