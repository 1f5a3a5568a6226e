"""What a tool makes of the arguments that it is given, as far as its JSON Schema says so.

Defaults are filled in, and null is left out where it is no value: so a call reads as its tool will read it. Whatever
else does not fit is an error; nothing is converted. Names that a schema does not list are errors, too, unless it says
that there may be others. Patterns are read as JSON Schema means them: ``\\d`` is a digit of ASCII, ``$`` the very end.
"""

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeGuard

from lawtrace.environments.literals import fields_of, items_of
from lawtrace.environments.tool_schemas.json_types import Schema, find_reference, json_kinds
from lawtrace.schemas.events import Json

_MOST_STEPS: Final = 20_000
"""How many schemas are compared with the values of one call: small schemas that refer to themselves can mean many."""
_TYPES: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    "integer": ("a whole number", lambda value: is_number(value) and (isinstance(value, int) or value.is_integer())),
    "number": ("a number", lambda value: is_number(value)),
    "string": ("a string", lambda value: isinstance(value, str)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "array": ("a list", lambda value: isinstance(value, list)),
    "object": ("an object", lambda value: isinstance(value, dict)),
    "null": ("null", lambda value: value is None),
}
_LIMITS: Final[tuple[tuple[str, str, Callable[[Any, Any], bool]], ...]] = (
    ("minimum", "at least", operator.ge),
    ("maximum", "at most", operator.le),
    ("exclusiveMinimum", "more than", operator.gt),
    ("exclusiveMaximum", "less than", operator.lt),
)
_SIZES: Final = ((str, "Length", "characters"), (list, "Items", "items"))
_FORMATS: Final = {"date": r"^\d{4}-\d{2}-\d{2}$"}

_Problem = tuple[str, str]
"""A place, such as ``.codes[0]``, and what is wrong there."""


class ArgumentCheck:
    """Completes the arguments of one call, and says what is wrong with them."""

    def __init__(self, parameters: Schema, *, others: bool = False) -> None:
        """`parameters`: the schema of the object of arguments. `others`: whether there may be arguments that it does
        not list, if it does not deny that."""
        self._root: Final[Schema] = {"type": "object", **parameters}
        self._others: Final = others
        self._steps = 0

    def completed(self, arguments: Mapping[str, Json]) -> Mapping[str, Json]:
        """The arguments with the defaults of those that are left out, and without null where it is no value."""
        return fields_of(self._completed(self._root, {**arguments}))

    def wrong(self, arguments: Mapping[str, Json]) -> str | None:
        """What is wrong, in words: ``argument 'amount': expected a number, not '150'``; None if nothing is."""
        given = {**arguments}
        with suppress(TypeError, ValueError, RecursionError):
            if json.loads(json.dumps(given, allow_nan=False)) == given:
                place, problem = self._wrong(self._root, given) or ("", "")
                where = f" {place.removeprefix('.')!r}:" if place else ""
                return f"argument{where} {problem}" if problem else None
        return "the arguments are not strict JSON"

    def _parts(self, schema: object) -> list[Schema]:
        """All schemas that a value has to meet: a schema, what it refers to, and what it joins by ``allOf``."""
        self._steps += 1
        found: list[Schema] = [fields_of(schema)]
        for part in found:
            reference = part.get("$ref")
            more = [find_reference(self._root, reference)] if isinstance(reference, str) else []
            more = [fields_of(one) for one in (*more, *items_of(part.get("allOf")))]
            found += [one for one in more if not any(one is other for other in found)]
        return found

    def _completed(self, schema: object, value: Json) -> Json:
        if not isinstance(value, dict | list) or self._steps > _MOST_STEPS:
            return value
        for part in self._parts(schema):
            options = ((one, self._completed(one, value)) for one in _options(part))
            value = next((made for one, made in options if self._wrong(one, made) is None), value)
            if isinstance(value, list):
                value = [self._completed(part.get("items"), one) for one in value]
            elif isinstance(value, dict):
                value = self._completed_fields(part, value)
        return value

    def _completed_fields(self, schema: Schema, given: Mapping[str, Json]) -> dict[str, Json]:
        declared, needed = fields_of(schema.get("properties")), items_of(schema.get("required"))
        found: dict[str, Json] = {}
        for name, value in given.items():
            if value is not None or name not in declared or name in needed or not self._wrong(declared[name], None):
                found[name] = self._completed(declared.get(name), value)
        for name in declared:
            default = next((one["default"] for one in self._parts(declared[name]) if "default" in one), None)
            if name not in found and default is not None:
                found[name] = self._completed(declared[name], default)
        return found

    def _wrong(self, schema: object, value: Json, place: str = "", *, whole: bool = True) -> _Problem | None:
        """The first problem. `whole`: whether fields of an object that the schema does not list are problems."""
        if self._steps > _MOST_STEPS or schema is False:
            return place, "there is no such argument" if schema is False else "its schema is too large"
        parts = self._parts(schema)
        if isinstance(value, dict) and whole and not self._others:
            listed = [*self._listed(parts)]
            other = next((name for name in value if name not in listed), None)
            if other is not None and None not in listed and any("properties" in part for part in parts):
                names = ", ".join(dict.fromkeys(map(str, listed))) or "none"
                return f"{place}.{other}", f"there is no such argument, only {names}"
        for part in parts:
            if problem := misfit(part, value):
                return place, problem
            inside = (self._wrong(inner, one, place + step) for inner, one, step in _inside(part, value))
            if found := next(filter(None, inside), None):
                return found
            for joined in ("anyOf", "oneOf"):
                tried = [self._wrong(one, value, place, whole=False) for one in items_of(part.get(joined))]
                if problems := [one for one in tried if one is not None and None not in tried]:
                    return max(problems, key=lambda problem: len(problem[0]))
        return None

    def _listed(self, parts: Sequence[Schema]) -> Iterator[str | None]:
        """The names that an object may have; among them None if there may be others."""
        for part in parts if self._steps <= _MOST_STEPS else ():
            yield from fields_of(part.get("properties"))
            if part.get("additionalProperties", False) is not False or "patternProperties" in part:
                yield None
            for option in _options(part):
                yield from self._listed(self._parts(option))


def _options(schema: Schema) -> list[object]:
    return [*items_of(schema.get("anyOf")), *items_of(schema.get("oneOf"))]


def _inside(schema: Schema, value: Json) -> Iterator[tuple[object, Json, str]]:
    """The parts of a value, each with its schema and the step to it."""
    if isinstance(value, list):
        items = schema.get("items")
        first = items_of(schema.get("prefixItems")) or items_of(items)
        rest = schema.get("additionalItems") if isinstance(items, list) else items
        for number, one in enumerate(value):
            yield first[number] if number < len(first) else rest, one, f"[{number}]"
    elif isinstance(value, dict):
        declared, patterns = fields_of(schema.get("properties")), fields_of(schema.get("patternProperties"))
        for name, one in value.items():
            schemas = [patterns[text] for text in patterns if _matches(text, name)]
            schemas += [declared[name]] if name in declared else []
            yield from ((inner, one, f".{name}") for inner in schemas or [schema.get("additionalProperties")])


def misfit(schema: Schema, value: Json) -> str | None:
    """What is wrong with a value itself, whatever its parts are."""
    kinds = [kind for kind in json_kinds(schema) if kind in _TYPES]
    kinds += ["null"] if kinds and schema.get("nullable") is True else []
    if kinds and not any(_TYPES[kind][1](value) for kind in kinds):
        return f"expected {' or '.join(_TYPES[kind][0] for kind in kinds)}, not {_shown(value)}"
    options = [schema["const"]] if "const" in schema else items_of(schema.get("enum"))
    if options and not any(_is_same(value, one) for one in options) and not (value is None and "null" in kinds):
        return f"{_shown(value)} is not one of [{', '.join(map(_shown, options))}]"
    if isinstance(value, dict):
        return next((f"{name!r} is missing" for name in items_of(schema.get("required")) if name not in value), None)
    for name, words, holds in _LIMITS:
        if is_number(value) and is_number(limit := schema.get(name)) and not holds(value, limit):
            return f"{_shown(value)} is not {words} {limit}"
    for pattern in (schema.get("pattern"), _FORMATS.get(str(schema.get("format")))):
        if isinstance(value, str) and isinstance(pattern, str) and not _matches(pattern, value):
            return f"{_shown(value)} does not match {pattern!r}"
    for kind, name, unit in _SIZES:
        least, most = schema.get(f"min{name}", 0), schema.get(f"max{name}", float("inf"))
        if isinstance(value, kind) and is_number(least) and is_number(most) and not least <= len(value) <= most:
            return f"it has {len(value)} {unit}"
    return None


def _matches(pattern: str, text: str) -> bool:
    """Whether a text has a pattern somewhere; True for a pattern that cannot be read."""
    try:
        return re.search(re.sub(r"(?<!\\)\$(?=$|\)|\|)", r"\\Z", pattern), text, re.ASCII) is not None
    except (re.error, RecursionError):
        return True


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number of JSON: true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_same(one: Json, other: Json) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _shown(value: Json) -> str:
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) < 60 else f"{text[:57]}..."
