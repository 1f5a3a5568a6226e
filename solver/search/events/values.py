"""Values for the fields of representative events: what a JSON Schema admits, and what tells conditions apart."""

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import combinations, pairwise
from typing import Final, TypeVar

from lawtrace.environments.tool_schemas.arguments import is_number, misfit
from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.violations import Scalar
from lawtrace.solver.logic.conditions import TEXTS, Comparison, Condition, IsTrue
from lawtrace.solver.logic.terms import FieldPath, LiteralList, LiteralValue, SpanLiteral, Term, is_value, leaves

T = TypeVar("T")

MAX_LIST: Final = 5
"""Of so many values all lists are tried; of more those with none, one, two, all but one and all."""


class Absent:
    """Stands for a field that is left out."""


ABSENT: Final = Absent()
Candidate = Json | Absent

Schema = Mapping[str, Json]
ANYTHING: Final[Schema] = {}


def part_schema(schema: Schema, steps: Sequence[str | int]) -> Schema:
    """The schema of a part of a value."""
    for step in steps:
        inner: Json = None
        properties = schema.get("properties")
        if isinstance(step, str) and isinstance(properties, Mapping):
            inner = properties.get(step)
        elif schema.get("type") == "array":
            inner = schema.get("items")
            if isinstance(step, str) and isinstance(inner, Mapping):  # the list of a field of the rows
                return {"type": "array", "items": dict(part_schema(inner, (step,)))}
        if not isinstance(inner, Mapping):
            return ANYTHING
        schema = inner
    return schema


def admits(schema: Schema, value: Json) -> bool:
    """Whether a schema admits a value, as far as type, choice, range and format say; patterns are not looked at."""
    for name in ("anyOf", "oneOf"):
        options = schema.get(name)
        if isinstance(options, list):
            return any(admits(option, value) for option in options if isinstance(option, Mapping))
    if misfit({name: schema[name] for name in _SEEN if name in schema}, value) is not None:
        return False
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, Mapping):
        return all(admits(items, item) for item in value)
    return True


_SEEN: Final = ("type", "format", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def distinct(values: Iterable[T]) -> list[T]:
    """The values without repetition; True and 1 are two."""
    found: list[T] = []
    for value in values:
        if not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in found):
            found.append(value)
    return found


def choices(schema: Schema) -> list[Json] | None:
    """All values of a schema if they are few."""
    allowed = schema.get("enum")
    if isinstance(allowed, list):
        return allowed
    if "const" in schema:
        return [schema["const"]]
    return [True, False] if schema.get("type") == "boolean" else None


def fresh(schema: Schema, number: int, known: Iterable[Json]) -> Json | Absent:
    """A value that occurs nowhere else; ABSENT if the schema has none. `number`: which of several."""
    if choices(schema) is not None:
        return ABSENT
    if schema.get("format") == "date":
        return (dt.date(2000, 1, 1) + dt.timedelta(days=number)).isoformat()
    kinds, numbers = schema.get("type"), [one for one in known if is_number(one)]
    if kinds not in ("integer", "number") and not (kinds is None and numbers):
        return f"new-{number}" if admits(schema, "") else ABSENT
    highest = math.floor(max(numbers, default=0)) + 1000 * number
    lowest = math.floor(min(numbers, default=0)) - 1000 * number
    found = next((one for one in (highest, lowest) if admits(schema, one)), None)
    if found is not None:
        return found
    limits = [limit for name in ("minimum", "maximum") if isinstance(limit := schema.get(name), int | float)]
    between = [limit + sign * number for limit in limits for sign in (1, -1)]
    return next((one for one in between if one not in numbers and admits(schema, one)), ABSENT)


def constants(condition: Condition) -> list[Json]:
    """Values on either side of what a condition on one field tells apart."""
    if isinstance(condition, IsTrue):
        return [True, False]
    if not isinstance(condition, Comparison):
        return []
    found: list[Json] = []
    for side in (condition.left, condition.right):
        for leaf in leaves(side):
            match leaf:
                case LiteralValue(content):
                    found += neighbours(content) if condition.operator not in ("==", "!=", "in") else [content]
                case LiteralList(items):
                    found += [item.content for item in items]
                case SpanLiteral():
                    found += neighbours(leaf.span.seconds)
                case _:
                    pass
    if condition.operator in TEXTS:
        found += [f"{one}~" for one in found] + [f"~{one}" for one in found] + [f"~{one}~" for one in found]
    return found


def neighbours(value: Scalar) -> list[Json]:
    """A value, and for a number or text those next to it in order."""
    if isinstance(value, bool):
        return [value]
    if isinstance(value, str):
        return [value, f"{value}~", value[:-1]]
    return [value, value + 1, value - 1]


def between(schema: Schema, values: Iterable[Json]) -> list[Json]:
    """Numbers between those that are next to each other in order: whole ones unless the schema names other numbers."""
    pairs = pairwise(sorted({one for one in values if is_number(one)}))
    whole = schema.get("type") != "number"
    return [math.floor(low) + 1 if whole or high - low >= 2 else (low + high) / 2 for low, high in pairs]


def derived(terms: Sequence[Term], now: int | None) -> list[Json]:
    """Guesses for a field inside functions and arithmetic: texts of all lengths and dates that the numbers suggest."""
    numbers = [0, 1]
    found: list[Json] = []
    for leaf in (leaf for term in terms for leaf in leaves(term)):
        match leaf:
            case LiteralValue(int() | float() as number) if is_number(number):
                found += neighbours(number)
                numbers += [round(number) + step for step in (-1, 0, 1)]
            case LiteralValue(str() as text):
                found.append(text)
            case SpanLiteral():
                numbers += [leaf.span.seconds // 86_400 + step for step in (-1, 0, 1)]
            case _:
                pass
    small = sorted({number for number in numbers if 0 <= number <= 1000})
    found += ["x" * number for number in small]
    for number in small[:100]:
        found.append([*("x" * number)])
    today = dt.datetime.fromtimestamp(now or 0, dt.UTC).date()
    for number in small:
        for days in (number, -number, round(number * 365.25), -round(number * 365.25)):
            with suppress(OverflowError):
                found.append((today + dt.timedelta(days=days)).isoformat())
    return found


def lists_of(values: Sequence[Json]) -> list[Json]:
    """Lists of some values, without repetition."""
    if len(values) <= MAX_LIST:
        return [list(some) for size in range(len(values) + 1) for some in combinations(values, size)]
    few = [list(some) for size in range(3) for some in combinations(values, size)]
    others = [[one for one in values if one is not left_out] for left_out in values]
    return [*few, *others, list(values)]


def placed(content: Json, path: Sequence[str | int], value: Json) -> Json:
    """The content with a value at the end of a path; objects and lists on the way are made."""
    if not path:
        return value
    step, *rest = path
    if isinstance(step, int):
        items = list(content) if isinstance(content, list) else []
        items.extend({} for _ in range(step + 1 - len(items)))
        items[step] = placed(items[step], rest, value)
        return items
    fields = dict(content) if isinstance(content, dict) else {}
    fields[step] = placed(fields.get(step), rest, value)
    return fields


def values_at(event: Event, path: FieldPath) -> list[Scalar]:
    """The scalars that an event has in a field, or in the list there."""
    found = path.value(event)
    return [one for one in (found if isinstance(found, list) else [found]) if is_value(one)]
