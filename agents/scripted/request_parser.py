"""The independent reader without a model: a parser of requests that uses only the tool documentation.

It shares no code with the offline writer. A line is matched to a tool by its words and its mentions (`mentions`);
values are extracted as the documentation describes each parameter.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from autogen_core.models import LLMMessage

from lawtrace.agents.scripted.mentions import QUOTED, TIMES, Documented, Mention, MentionFinder, format_of, options_of
from lawtrace.agents.scripted.prompt_blocks import labelled_json, last_user_message
from lawtrace.agents.scripted.stemming import rank_tools, stemmed_words

NUMBER = r"(?<![\w.:-])(?!\d{4}-\d{2}-\d{2})\d+(?:\.\d+)?(?![\w:-]|\.\d)"
NAMED = r"\b(?=[^\W\d]+\d|\d+[^\W\d])\w+"
"""A name of letters and digits, such as DE44 or user7."""
E_MAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"


def read_request(messages: Sequence[LLMMessage]) -> str:
    tools = {tool["name"]: tool for tool in labelled_json(messages, "documentation")["tools"]}
    reader = _Reader(tools, adds_lookups=labelled_json(messages, "style") == "goal")
    items = (re.match(r"\s*(?:-|\d+\.)\s+(.*)", line) for line in last_user_message(messages).splitlines())
    lines = [item[1] for item in items if item]
    unclear = [line for line in lines if not reader.read(line)] if lines else [last_user_message(messages)]
    return json.dumps({"calls": reader.calls, "unclear": unclear})


class _Reader:
    def __init__(self, tools: Mapping[str, Documented], *, adds_lookups: bool) -> None:
        self._tools = tools
        self._finder = MentionFinder(tools)
        self._adds_lookups = adds_lookups
        self.calls: list[dict[str, Any]] = []

    def read(self, line: str) -> bool:
        """Add the call that the line requests, with the look-ups it needs in goal style; False if that is unclear."""
        # *Access history* is not *access code*: a mention that no earlier step returns does not count.
        found = self._finder.mentions(line)
        mentions = [mention for mention in found if not mention.source.makes or self._is_made(mention)]
        bare = line
        for mention in reversed(mentions):
            bare = bare[: mention.start] + bare[mention.end :]
        ranked = [name for _, name in rank_tools(re.sub(QUOTED, "", bare), self._tools) if self._takes(name, mentions)]
        ranked = [name for name in ranked if not self._lists_all(name) or self._asks_no_more(name, bare)]
        for name in ranked:
            arguments = self._arguments(name, mentions, line, bare)
            needed = (one["name"] for one in self._tools[name]["parameters"] if one["required"])
            if all(one in arguments for one in needed) and _tells_all(arguments, bare):
                settled = {parameter: self._settled(value) for parameter, value in arguments.items()}
                self.calls.append({"tool": name, "arguments": settled})
                return True
        return False

    def _is_made(self, mention: Mention) -> bool:
        plain = {name: value for name, value in mention.arguments.items() if not isinstance(value, Mention)}
        made = (call["arguments"] for call in self.calls if call["tool"] == mention.source.tool)
        return any(plain.items() <= arguments.items() for arguments in made)

    def _takes(self, name: str, mentions: Sequence[Mention]) -> bool:
        """Whether the tool has a parameter for every mention, or is the look-up that returns it."""
        shapes = {format_of(parameter) for parameter in self._tools[name]["parameters"]}
        return all(mention.source.tool == name or mention.source.shape in shapes for mention in mentions)

    def _lists_all(self, name: str) -> bool:
        """Whether the tool returns lists, and no argument narrows them."""
        tool = self._tools[name]
        return not tool["parameters"] and all(one["type"].startswith("array of objects") for one in tool["returns"])

    def _asks_no_more(self, name: str, line: str) -> bool:
        """Whether a line says little besides what the documentation of the tool says."""
        documented = " ".join([*re.findall(r"[A-Z][a-z]*", name), self._tools[name]["summary"]])
        return len(set(stemmed_words(line)) - set(stemmed_words(documented))) <= 2

    def _arguments(self, name: str, mentions: Sequence[Mention], line: str, bare: str) -> dict[str, Any]:
        """The arguments in the line; objects as mentions."""
        own = [mention for mention in mentions if mention.source.tool == name and not mention.source.makes]
        others = [mention for mention in mentions if mention not in own]
        arguments: dict[str, Any] = dict(own[0].arguments) if own else {}
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

    def _settled(self, value: Any) -> Any:  # noqa: ANN401 (a value, or mentions, of whatever the parameter takes)
        if isinstance(value, Mention):
            return {"from_call": self._call_for(value), "path": list(value.source.path)}
        if isinstance(value, list):
            return [self._settled(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        return value

    def _call_for(self, mention: Mention) -> int:
        """The number of the call that returns the object: the first equal look-up, or the last call that created it."""
        tool, makes = mention.source.tool, mention.source.makes
        wanted = {name: self._settled(value) for name, value in mention.arguments.items()}
        numbered = [(number, call["arguments"]) for number, call in enumerate(self.calls, 1) if call["tool"] == tool]
        for number, arguments in reversed(numbered) if makes else numbered:
            if arguments == wanted or (makes and wanted.items() <= arguments.items()):
                return number
        if makes or not self._adds_lookups:
            return 0  # no earlier step finds or creates the object: the reading fails, as it should
        self.calls.append({"tool": tool, "arguments": wanted})
        return len(self.calls)


def _tells_all(arguments: Mapping[str, Any], line: str) -> bool:
    """Whether the arguments have each name of letters and digits in the line.

    An environment may say texts without quotes. To call another tool without them would be to misread the line.
    """
    told = json.dumps([value for value in arguments.values() if not isinstance(value, Mention)], default=str)
    named = re.findall(NAMED, re.sub(QUOTED, "", line))
    return all(name in told for name in named)


def _reference(parameter: Documented, mentions: Sequence[Mention], line: str) -> Mention | list[Mention] | None:
    """The mention for the parameter, or all of them for a list."""
    shape, several = format_of(parameter), parameter["type"].startswith("array")
    name = parameter["name"].removesuffix("s") if several else parameter["name"]
    fitting = [mention for mention in mentions if mention.source.shape == shape and name.endswith(mention.source.field)]
    if not fitting:
        return None
    if several:
        return fitting
    preposition = name.removesuffix(fitting[0].source.field).strip("_")
    led = [m for m in fitting if preposition and line[: m.start].rstrip().endswith(f" {preposition}")]
    return (led or fitting)[0]


def _plain_value(parameter: Documented, siblings: Sequence[Documented], line: str) -> Any:  # noqa: ANN401
    """The value in the line for a parameter without a look-up, or None."""
    name, kind, shape = parameter["name"], parameter["type"], format_of(parameter)
    if "fields" in parameter:
        return None
    if kind == "boolean":
        return _truth(parameter, line)
    if shape in TIMES:
        return _in_order(re.findall(TIMES[shape], line), parameter, [p for p in siblings if format_of(p) == shape])
    if shape is not None:
        return None
    if kind in {"number", "integer"}:
        number = _number(name, re.sub(QUOTED, "", line))
        return int(number) if number is not None and kind == "integer" else number
    if kind.startswith("array"):
        return re.findall(QUOTED, line) or None
    options = options_of(parameter)
    return _option(options, line) if options else _text(parameter, siblings, line)


def _truth(parameter: Documented, line: str) -> bool | None:
    """A required boolean is named by the parameter's words, an optional one by words of its description."""
    if parameter["required"]:
        return set(stemmed_words(parameter["name"])) <= set(stemmed_words(line))
    return True if len(set(stemmed_words(parameter["description"])) & set(stemmed_words(line))) >= 2 else None


def _option(options: Sequence[str], line: str) -> str | None:
    """The option that the line names, perhaps inflected: ``update`` in *has been updated*."""
    said = [word.lower() for word in re.findall(r"\w+", line)]
    return next((option for option in options if any(word.startswith(option.rstrip("e")) for word in said)), None)


def _text(parameter: Documented, siblings: Sequence[Documented], line: str) -> str | None:
    """The quoted text after a word of the parameter's name, a number after the whole name, an address, or the text at
    the parameter's position among parameters of its kind."""
    name = parameter["name"]
    found = (
        re.search(rf"\b(?:{name.replace('_', '|')}):? {QUOTED}", line)
        or re.search(rf"{name.replace('_', ' ')}:? ({NUMBER})", line)
        or ("email" in name and re.search(rf"({E_MAIL})", line))
    )
    if found:
        return found[1]
    texts = [p for p in siblings if p["type"] == "string" and not format_of(p) and not options_of(p)]
    return _in_order(re.findall(QUOTED, line), parameter, texts)


def _in_order(found: Sequence[str], parameter: Documented, siblings: Sequence[Documented]) -> str | None:
    """The value at the parameter's position among parameters of its kind."""
    place = [other["name"] for other in siblings].index(parameter["name"])
    return found[place] if place < len(found) else None


def _number(name: str, line: str) -> float | None:
    bounds = {"min": r"at least ", "max": r"at most "}
    lead = bounds.get(name.split("_")[0])
    if lead:
        match = re.search(lead + f"({NUMBER})", line)
        return float(match[1]) if match else None
    amounts = [value for value in re.findall(NUMBER, line) if "." in value or len(value) < 8]
    return float(amounts[0]) if amounts else None
