"""Literal calls in plain words, from the phrases that the tools declare."""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.tools import Phrases
from lawtrace.environments.spec.types import MONEY, ListOf, ObjectOf, ValueType, has_objects, is_text_type
from lawtrace.schemas.events import Json
from lawtrace.solver.traces import PlannedCall


def format_value(value: Json, value_type: ValueType) -> str:
    """A value as a user writes it: ``22.60``, ``2026-01-31``, ``"Harbour" "Taxes"``, ``flight number "TR-100", date
    2026-01-31 and flight number "TR-200", date 2026-02-02``."""
    match value_type, value:
        case _, int() | float() if value_type is MONEY:
            return f"{value:.2f}"
        case ListOf(items=items), list() if has_objects(items):
            return " and ".join(format_value(item, items) for item in value)
        case _, list():
            return " ".join(f'"{item}"' for item in value)
        case ObjectOf(fields=fields), dict():
            return ", ".join(_format_field(name, value[name], part) for name, part in fields.items() if name in value)
        case _:
            return str(value)


def _format_field(name: str, value: Json, value_type: ValueType) -> str:
    words = name.replace("_", " ")
    if isinstance(value, bool):
        return f"{words} {'yes' if value else 'no'}"
    said = format_value(value, value_type)
    if has_objects(value_type):
        return f"{words} ({said})"
    return f'{words} "{said}"' if is_text_type(value_type) and isinstance(value, str) else f"{words} {said}"


def describe_step(environment: Environment, calls: Sequence[PlannedCall], number: int) -> str:
    """Call ``number`` as a step, in the imperative."""
    phrases = _phrases(environment, calls[number])
    return _sentence(_fill(phrases.step if phrases else "", environment, calls, number))


def describe_outcome(environment: Environment, calls: Sequence[PlannedCall], number: int) -> str | None:
    """The change of state by call ``number``, as a desired fact; None if it makes none."""
    phrases = _phrases(environment, calls[number])
    if phrases is None or phrases.outcome is None:
        return None
    return _sentence(_fill(phrases.outcome, environment, calls, number))


def has_outcome(environment: Environment, call: PlannedCall) -> bool:
    """Whether a goal can describe the call. A tool that can change something may also be called only to look."""
    phrases = _phrases(environment, call)
    return phrases is not None and phrases.outcome is not None


def found_entity(environment: Environment, call: PlannedCall) -> str | None:
    """What the call looks up, in one word: ``payee``; None if it looks up nothing."""
    return next((result.entity.singular for result in environment.tools[call.event.tool].lookups), None)


def _phrases(environment: Environment, call: PlannedCall) -> Phrases | None:
    phrases = environment.tools[call.event.tool].phrases
    return phrases.of(call.event.arguments) if phrases else None


def _sentence(words: str) -> str:
    """The text with a capital first letter."""
    return words[:1].upper() + words[1:]


def instruction_variables(calls: Sequence[PlannedCall], numbers: Sequence[int]) -> dict[str, Json]:
    """The user's values in those calls as variables: ``amount_1``, ``payment_date_1``, ``amount_2``..."""
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
    words = {
        name: _format_argument(environment, calls, call, name)
        for name, value in call.event.arguments.items()
        if value is not None
    }
    untrue = {name for name, value in call.event.arguments.items() if value is False}
    return _fill_words(phrase, words, shown=words.keys() - untrue)


def _fill_words(phrase: str, words: Mapping[str, str], *, shown: AbstractSet[str]) -> str:
    def optional(match: re.Match[str]) -> str:
        if match["name"] not in shown:
            return ""
        added = match["words"].strip()
        return added if added.startswith((",", ";")) else f" {added}"

    whole = re.sub(r"\[(?P<name>\w+):(?P<words>[^\]]*)\]", optional, phrase)
    return re.sub(r"\{(\w+)\}", lambda match: words[match[1]], whole).strip()


def _format_argument(environment: Environment, calls: Sequence[PlannedCall], call: PlannedCall, name: str) -> str:
    """The value of an argument, or the things that it was looked up by."""
    things: list[str] = []
    for place in call.looked_up.get(name, ()):
        phrases = _phrases(environment, calls[place.step])
        if phrases is None or phrases.noun_phrase is None:
            things = []
            break
        things.append(_fill(phrases.noun_phrase, environment, calls, place.step))
    value_type = environment.tools[call.event.tool].parameter(name).type
    return " and ".join(things) or format_value(call.event.arguments[name], value_type)
