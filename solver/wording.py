"""Business calls in plain words: what a user would say for each, from the phrases that the tools declare."""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from environments.declaration import Environment, Tool
from environments.events import Json
from environments.kinds import MONEY, Kind
from solver.traces import PlannedCall

__all__ = ["say_outcome", "say_step", "say_value", "variables_of"]


def say_value(value: Json, kind: Kind) -> str:
    """A value as a user writes it: ``22.60``, ``2026-01-31``, ``"Harbour" "Taxes"``."""
    if kind is MONEY and isinstance(value, int | float):
        return f"{value:.2f}"
    if isinstance(value, list):
        return " ".join(f'"{item}"' for item in value)
    return str(value)


def say_step(environment: Environment, calls: Sequence[PlannedCall], number: int) -> str:
    """Call ``number`` as a business step, in the imperative."""
    tool = environment.tools[calls[number].event.tool]
    return _fill(tool.phrases.step if tool.phrases else "", environment, calls, number)


def say_outcome(environment: Environment, calls: Sequence[PlannedCall], number: int) -> str | None:
    """The change of state that call ``number`` makes, as a fact wished for; None if it makes none."""
    tool = environment.tools[calls[number].event.tool]
    if tool.phrases is None or tool.phrases.outcome is None:
        return None
    return _fill(tool.phrases.outcome, environment, calls, number)


def variables_of(calls: Sequence[PlannedCall], numbers: Sequence[int]) -> dict[str, Json]:
    """What the user says in those calls, as variables: ``amount_1``, ``payment_date_1``, ``amount_2``..."""
    variables: dict[str, Json] = {}
    counts: dict[str, int] = {}
    for number in numbers:
        for name in calls[number].said:
            value = calls[number].event.arguments[name]
            if value is None:
                continue
            if any(other == value and label.rsplit("_", 1)[0] == name for label, other in variables.items()):
                continue
            counts[name] = counts.get(name, 0) + 1
            variables[f"{name}_{counts[name]}"] = value
    return variables


def _fill(phrase: str, environment: Environment, calls: Sequence[PlannedCall], number: int) -> str:
    call = calls[number]
    tool = environment.tools[call.event.tool]
    words = {
        name: _say_argument(environment, tool, calls, call, name)
        for name, value in call.event.arguments.items()
        if value is not None
    }
    untrue = {name for name, value in call.event.arguments.items() if value is False}
    return _fill_words(phrase, words, shown=words.keys() - untrue)


def _fill_words(phrase: str, words: Mapping[str, str], *, shown: AbstractSet[str]) -> str:
    def optional(match: re.Match[str]) -> str:
        return " " + match["words"].strip() if match["name"] in shown else ""

    whole = re.sub(r"\[(?P<name>\w+):(?P<words>[^\]]*)\]", optional, phrase)
    return re.sub(r"\{(\w+)\}", lambda match: words[match[1]], whole).strip()


def _say_argument(
    environment: Environment, tool: Tool, calls: Sequence[PlannedCall], call: PlannedCall, name: str
) -> str:
    places = call.looked_up.get(name)
    if places is None:
        return say_value(call.event.arguments[name], tool.parameter(name).kind)
    things: list[str] = []
    for place in places:
        looked_up = environment.tools[calls[place.step].event.tool]
        if looked_up.phrases is None or looked_up.phrases.thing is None:
            return say_value(call.event.arguments[name], tool.parameter(name).kind)
        things.append(_fill(looked_up.phrases.thing, environment, calls, place.step))
    return " and ".join(things)
