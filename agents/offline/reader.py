"""The independent reader without a model: a parser of requests that knows the documentation and nothing else.

It shares no code with the offline writer. A line is matched to a tool by its words; values are taken from the line by
what the documentation says of each parameter; a thing that has to be looked up (*the savings account*) is recognised
because some tool's results carry the identifier that the parameter asks for.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autogen_core.models import LLMMessage

from agents.offline.messages import labelled_json, last_said, system_text
from agents.offline.words import rank_tools, words_of

__all__ = ["read_request"]

Documented = Mapping[str, Any]

DATE = r"\d{4}-\d{2}-\d{2}"
NUMBER = rf"(?<![\w.-])(?!{DATE})\d+(?:\.\d+)?(?![\w-]|\.\d)"
QUOTED = r'"([^"]*)"'


@dataclass(frozen=True, slots=True)
class Mention:
    """A thing in a line that has to be looked up: how, and where in the line it stands."""

    tool: str
    arguments: dict[str, Any]
    path: tuple[str | int, ...]
    start: int
    end: int


def read_request(messages: Sequence[LLMMessage]) -> str:
    tools = {tool["name"]: tool for tool in labelled_json(messages, "documentation")["tools"]}
    goal = "states the outcome wanted" in system_text(messages)
    reader = _Reader(tools, adds_lookups=goal)
    for line in last_said(messages).splitlines():
        item = re.match(r"\s*(?:-|\d+\.)\s+(.*)", line)
        if item:
            reader.read(item[1])
    return json.dumps({"calls": reader.calls})


class _Reader:
    def __init__(self, tools: Mapping[str, Documented], *, adds_lookups: bool) -> None:
        self._tools = tools
        self._adds_lookups = adds_lookups
        self.calls: list[dict[str, Any]] = []

    def read(self, line: str) -> None:
        """Add the call that the line asks for, with the look-ups it needs if those may be added."""
        mentions = self._mentions(line)
        bare = line
        for mention in sorted(mentions, key=lambda mention: -mention.start):
            bare = bare[: mention.start] + bare[mention.end :]
        ranked = rank_tools(re.sub(QUOTED, "", bare), self._tools)
        if not ranked:
            return
        best = ranked[0][1]
        own = [mention for mention in mentions if mention.tool == best]
        references = [mention for mention in mentions if mention.tool != best]
        arguments: dict[str, Any] = dict(own[0].arguments) if own else {}
        for parameter in self._tools[best]["parameters"]:
            if parameter["name"] in arguments:
                continue
            value = self._reference(parameter, references, line)
            if value is None:
                value = _plain_value(parameter, self._tools[best]["parameters"], bare)
            if value is not None:
                arguments[parameter["name"]] = value
        self.calls.append({"tool": best, "arguments": arguments})

    def _mentions(self, line: str) -> list[Mention]:
        """Everything in the line that a look-up with one required parameter would find."""
        found: list[Mention] = []
        for name, tool in self._tools.items():
            identifier = _identifier(tool)
            required = [parameter for parameter in tool["parameters"] if parameter["required"]]
            if identifier is None or len(required) != 1:
                continue
            result, field, _ = identifier
            noun = field.split("_")[0]
            for start, end, value in _lookup_values(required[0], noun, line):
                found.append(Mention(name, {required[0]["name"]: value}, (result, 0, field), start, end))
        return found

    def _reference(self, parameter: Documented, mentions: Sequence[Mention], line: str) -> dict[str, Any] | None:
        shape = _format_of(parameter["description"])
        fitting: list[Mention] = []
        for mention in mentions:
            identifier = _identifier(self._tools[mention.tool])
            if identifier and shape and identifier[2] == shape and parameter["name"].endswith(identifier[1]):
                fitting.append(mention)
        if not fitting:
            return None
        preposition = parameter["name"].removesuffix(str(fitting[0].path[-1])).strip("_")
        led = [m for m in fitting if preposition and line[: m.start].rstrip().endswith(f" {preposition}")]
        mention = (led or fitting)[0]
        return {"from_call": self._call_for(mention), "path": list(mention.path)}

    def _call_for(self, mention: Mention) -> int:
        for number, call in enumerate(self.calls, 1):
            if call["tool"] == mention.tool and call["arguments"] == mention.arguments:
                return number
        if not self._adds_lookups:
            return 0  # nothing in the steps so far finds it: the reading will fail, as it should
        self.calls.append({"tool": mention.tool, "arguments": mention.arguments})
        return len(self.calls)


def _identifier(tool: Documented) -> tuple[str, str, str] | None:
    """Result, field and format of the identifier that the rows of a look-up carry first."""
    for result in tool["returns"]:
        for field, kind in result.get("fields", {}).items():
            shape = re.search(r"format ([^,]+)", str(kind))
            if shape:
                return result["name"], field, shape[1]
    return None


def _format_of(description: str) -> str | None:
    match = re.search(r"Format: (.+?)\.$", description)
    return match[1] if match else None


def _lookup_values(parameter: Documented, noun: str, line: str) -> list[tuple[int, int, Any]]:
    """Where the line names a thing of that noun: *the savings account*, *the payee ... "word" "word"*."""
    options = _options(parameter)
    if options:
        pattern = rf"\bthe ({'|'.join(re.escape(option) for option in options)}) {noun}\b"
        return [(match.start(), match.end(), match[1]) for match in re.finditer(pattern, line)]
    if parameter["type"].startswith("array"):
        pattern = rf'\bthe {noun}s?\b[^",]*("[^"]*"(?: "[^"]*")*)'
        return [(match.start(), match.end(), re.findall(QUOTED, match[1])) for match in re.finditer(pattern, line)]
    return []


def _options(parameter: Documented) -> list[str]:
    match = re.search(r"One of: (.+)\.$", parameter["description"])
    return match[1].split(", ") if match else []


def _plain_value(parameter: Documented, siblings: Sequence[Documented], line: str) -> Any:  # noqa: ANN401
    """The value that the line gives for a parameter that needs no look-up, or None."""
    name, kind = parameter["name"], parameter["type"]
    if kind == "boolean":
        return True if len(set(words_of(parameter["description"])) & set(words_of(line))) >= 2 else None
    if _format_of(parameter["description"]) == "YYYY-MM-DD":
        dates = re.findall(DATE, line)
        place = [other["name"] for other in siblings if _format_of(other["description"]) == "YYYY-MM-DD"].index(name)
        return dates[place] if place < len(dates) else None
    if kind == "number":
        return _number(name, line)
    if kind.startswith("array"):
        return re.findall(QUOTED, line) or None
    labelled = re.search(rf"{name.replace('_', ' ')}:? ({NUMBER})", line)
    if labelled:
        return labelled[1]
    quoted = re.findall(QUOTED, line)
    return quoted[0] if quoted and not parameter["required"] else None


def _number(name: str, line: str) -> float | None:
    bounds = {"min": r"at least ", "max": r"at most "}
    lead = bounds.get(name.split("_")[0])
    if lead:
        match = re.search(lead + f"({NUMBER})", line)
        return float(match[1]) if match else None
    amounts = [value for value in re.findall(NUMBER, line) if "." in value or len(value) < 8]
    return float(amounts[0]) if amounts else None
