"""The independent reader without a model: a parser of requests that knows the documentation and nothing else.

It shares no code with the offline writer. A line is matched to a tool by its words; values are taken from the line by
what the documentation says of each parameter; a thing that has to be looked up is recognised by ``mentions.py``.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from autogen_core.models import LLMMessage

from agents.offline.mentions import MOMENT, QUOTED, Documented, Mention, find_mentions, format_of
from agents.offline.messages import labelled_json, last_said, system_text
from agents.offline.words import rank_tools, words_of

__all__ = ["read_request"]

NUMBER = rf"(?<![\w.-])(?!{MOMENT})\d+(?:\.\d+)?(?![\w:-]|\.\d)"
E_MAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
TIMES = {
    "YYYY-MM-DD": r"\d{4}-\d{2}-\d{2}(?! \d{2}:)",
    "YYYY-MM-DD HH:mm": r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}",
    "HH:mm": r"(?<!-\d{2} )\b\d{2}:\d{2}",
}


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
        mentions = find_mentions(line, self._tools, self.calls)
        bare = line
        for mention in sorted(mentions, key=lambda mention: -mention.start):
            bare = bare[: mention.start] + bare[mention.end :]
        ranked = [name for _, name in rank_tools(re.sub(QUOTED, "", bare), self._tools)]
        if not ranked:
            return
        complete = (name for name in ranked if self._is_complete(self._arguments(name, mentions, line, bare), name))
        best = next(complete, ranked[0])
        arguments = self._arguments(best, mentions, line, bare)
        call = {"tool": best, "arguments": {name: self._settled(value) for name, value in arguments.items()}}
        self.calls.append(call)

    def _arguments(self, name: str, mentions: Sequence[Mention], line: str, bare: str) -> dict[str, Any]:
        """What the line gives for the tool's parameters; what has to be looked up as the mention of it."""
        own = [mention for mention in mentions if mention.tool == name and mention.arguments is not None]
        others = [mention for mention in mentions if mention not in own]
        arguments: dict[str, Any] = dict(own[0].arguments or {}) if own else {}
        parameters: Sequence[Documented] = self._tools[name]["parameters"]
        for parameter in parameters:
            if parameter["name"] in arguments:
                continue
            value = _reference(parameter, others, line)
            if value is None:
                value = _plain_value(parameter, parameters, bare)
            if value is not None:
                arguments[parameter["name"]] = value
        return arguments

    def _is_complete(self, arguments: Mapping[str, Any], name: str) -> bool:
        return all(
            parameter["name"] in arguments for parameter in self._tools[name]["parameters"] if parameter["required"]
        )

    def _settled(self, value: Any) -> Any:  # noqa: ANN401 (a value, or mentions, of whatever the parameter takes)
        if isinstance(value, Mention):
            return {"from_call": self._call_for(value), "path": list(value.identifier.path)}
        if isinstance(value, list):
            return [self._settled(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        return value

    def _call_for(self, mention: Mention) -> int:
        if mention.arguments is None:
            return mention.made_by
        for number, call in enumerate(self.calls, 1):
            if call["tool"] == mention.tool and call["arguments"] == mention.arguments:
                return number
        if not self._adds_lookups:
            return 0  # nothing in the steps so far finds it: the reading will fail, as it should
        self.calls.append({"tool": mention.tool, "arguments": mention.arguments})
        return len(self.calls)


def _reference(parameter: Documented, mentions: Sequence[Mention], line: str) -> Mention | list[Mention] | None:
    """The mention that the parameter means, or all of them for a list."""
    shape, several = format_of(parameter), parameter["type"].startswith("array")
    name = parameter["name"].removesuffix("s") if several else parameter["name"]
    fitting = [
        mention for mention in mentions if mention.identifier.shape == shape and name.endswith(mention.identifier.field)
    ]
    if not fitting:
        return None
    if several:
        return sorted(fitting, key=lambda mention: mention.start)
    preposition = name.removesuffix(fitting[0].identifier.field).strip("_")
    led = [m for m in fitting if preposition and line[: m.start].rstrip().endswith(f" {preposition}")]
    return (led or fitting)[0]


def _plain_value(parameter: Documented, siblings: Sequence[Documented], line: str) -> Any:  # noqa: ANN401
    """The value that the line gives for a parameter that needs no look-up, or None."""
    name, kind, shape = parameter["name"], parameter["type"], format_of(parameter)
    if kind == "boolean":
        return _truth(parameter, line)
    if shape in TIMES:
        times = re.findall(TIMES[shape], line)
        place = [other["name"] for other in siblings if format_of(other) == shape].index(name)
        return times[place] if place < len(times) else None
    if shape is not None:
        return None
    if kind == "number":
        return _number(name, line)
    if kind.startswith("array"):
        return re.findall(QUOTED, line) or None
    found = (
        re.search(rf"{name.replace('_', ' ')}:? ({NUMBER})", line)
        or ("email" in name and re.search(rf"({E_MAIL})", line))
        or re.search(QUOTED, line)
    )
    return found[1] if found else None


def _truth(parameter: Documented, line: str) -> bool | None:
    """A required truth is said by the parameter's own word, an optional one by words of its description."""
    if parameter["required"]:
        return set(words_of(parameter["name"])) <= set(words_of(line))
    return True if len(set(words_of(parameter["description"])) & set(words_of(line))) >= 2 else None


def _number(name: str, line: str) -> float | None:
    bounds = {"min": r"at least ", "max": r"at most "}
    lead = bounds.get(name.split("_")[0])
    if lead:
        match = re.search(lead + f"({NUMBER})", line)
        return float(match[1]) if match else None
    amounts = [value for value in re.findall(NUMBER, line) if "." in value or len(value) < 8]
    return float(amounts[0]) if amounts else None
