"""JSON Schema to types of values.

Structure becomes types: objects, lists, options, dates. Parts whose values are left open, so that rules about them are
not checked, are noted for readers. Keywords that narrow values down in ways that no type has are ignored.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

from lawtrace.environments.literals import fields_of, items_of
from lawtrace.environments.spec.open_types import ANY, NUMBER, OrNull
from lawtrace.environments.spec.types import BOOLEAN, DATE, INTEGER, TEXT, Choice, ListOf, ObjectOf, ValueType

Schema = Mapping[str, Any]

_FREE_OBJECT: Final = ObjectOf({}, (), ANY)

NO_TYPE: Final = "no type"
_BESIDE_OPTIONS: Final = frozenset(
    {"title", "description", "default", "examples", "nullable", "discriminator", "$defs", "definitions", "$schema"}
)
"""What may stand beside several schemas for a value without saying anything of the value."""
_MOST_STEPS: Final = 24
"""How deep types nest. A schema that refers to itself ends here at the latest."""
_MOST_PARTS: Final = 5_000
"""How many parts are read of one schema: references to references make small schemas large."""


_KINDS: Final[Mapping[type, str]] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
}
"""The JSON type of a value by its type in Python, but for objects."""


@dataclass(slots=True)
class SchemaReader:
    """Reads the schemas of one document, in which references lead to `root`.

    Attributes:
        left_open: notes on parts of which any value is accepted, each with its place.
    """

    root: Schema
    left_open: list[str] = field(default_factory=list[str])
    _inside: tuple[str, ...] = ()
    _parts: int = 0

    def read(self, schema: object, place: str, depth: int = 0) -> ValueType:
        """The nearest type. ``place``: the path of the value, for notes: ``flights[].date``."""
        fields = fields_of(schema)
        if schema is True or schema == {}:
            return self._open(place, NO_TYPE)
        if not fields:
            return self._open(place, "not a schema")
        self._parts += 1
        if depth > _MOST_STEPS or self._parts > _MOST_PARTS:
            return self._open(place, "nested too deep" if depth > _MOST_STEPS else "too many parts")
        if isinstance(reference := fields.get("$ref"), str):
            return self._referenced(fields, reference, place, depth)
        for joined in ("anyOf", "oneOf"):
            if options := items_of(fields.get(joined)):
                return self._union(fields, joined, options, place, depth)
        if parts := items_of(fields.get("allOf")):
            rest = {name: value for name, value in fields.items() if name != "allOf"}
            return self.read(self._merged([*parts, rest]), place, depth + 1)
        kinds = json_kinds(fields)
        null = "null" in kinds or fields.get("nullable") is True
        kinds = [kind for kind in kinds if kind != "null"]
        if set(kinds) == {"integer", "number"}:
            kinds = ["number"]
        if len(kinds) > 1:
            return self._open(place, " or ".join(kinds))
        found = self._of_kind(kinds[0] if kinds else None, fields, place, depth)
        return OrNull(found) if null and found is not ANY else found

    def _of_kind(self, kind: str | None, fields: Schema, place: str, depth: int) -> ValueType:
        options = _options(fields)
        match kind:
            case "string" if options:
                return Choice(tuple(dict.fromkeys(str(one) for one in options if one is not None)))
            case "string":
                return DATE if fields.get("format") == "date" else TEXT
            case "boolean":
                return BOOLEAN
            case "integer" | "number":
                return INTEGER if kind == "integer" else NUMBER
            case "array":
                return ListOf(self._items(fields, place, depth))
            case "object":
                return self._object(fields, place, depth)
            case _:
                return self._open(place, NO_TYPE if kind is None else f"the type {kind!r}")

    def _items(self, fields: Schema, place: str, depth: int) -> ValueType:
        items, inside = fields.get("items"), f"{place}[]"
        if prefix := items_of(fields.get("prefixItems")) or items_of(items):
            types = [self.read(one, f"{place}[{number}]", depth + 1) for number, one in enumerate(prefix)]
            return types[0] if all(one == types[0] for one in types) else self._open(inside, "items of several types")
        return self._open(inside, NO_TYPE) if items is None else self.read(items, inside, depth + 1)

    def _object(self, fields: Schema, place: str, depth: int) -> ValueType:
        properties = fields_of(fields.get("properties"))
        required = items_of(fields.get("required"))
        types: dict[str, ValueType] = {}
        optional: list[str] = []
        for name, part in properties.items():
            found = self.read(part, f"{place}.{name}", depth + 1)
            if isinstance(found, OrNull) or name not in required:  # an absent field and one that is null are the same
                optional.append(name)
            types[name] = found.value if isinstance(found, OrNull) else found
        more = fields.get("additionalProperties")
        if more is None and not properties:
            more = True
        others = None
        if fields_of(more):
            others = self.read(more, f"{place}.*", depth + 1)
        elif more is True or more == {}:
            others = ANY
            self.left_open.append(f"{place}.*: fields of any name")
        known = {name: (fields_of(part), self._resolved(fields_of(part))) for name, part in properties.items()}
        said = {name: part.get("description", whole.get("description")) for name, (part, whole) in known.items()}
        descriptions = {name: text for name, text in said.items() if isinstance(text, str)}
        return ObjectOf(types, tuple(optional), others, descriptions)

    # Several schemas for one value

    def _union(self, fields: Schema, joined: str, options: Sequence[object], place: str, depth: int) -> ValueType:
        rest = {name: value for name, value in fields.items() if name != joined}
        if rest.keys() - _BESIDE_OPTIONS:
            options = [self._merged([rest, one]) for one in options]
        types: list[ValueType] = []
        null = fields.get("nullable") is True
        noted = len(self.left_open)
        for option in options:
            if json_kinds(self._resolved(fields_of(option))) == ["null"]:
                null = True
                continue
            found = self.read(option, place, depth + 1)
            null = null or isinstance(found, OrNull)
            found = found.value if isinstance(found, OrNull) else found
            if found not in types:
                types.append(found)
        known = [one for one in types if one != _FREE_OBJECT]
        if len(known) < len(types) and known and all(isinstance(one, ObjectOf) for one in known):
            del self.left_open[noted:]
            self.left_open.append(f"{place}: objects with other fields, too")
            types = known  # the declared fields are the nearest type
        found = join_types(types)
        if found is None:
            del self.left_open[noted:]
            found = self._open(place, " or ".join(dict.fromkeys(one.name for one in types)))
        return OrNull(found) if null and found is not ANY else found

    def _merged(self, parts: Iterable[object]) -> Schema:
        """One schema for values that meet all of them: fields and requirements of objects are joined."""
        whole: dict[str, Any] = {}
        for part in parts:
            for name, value in self._resolved(fields_of(part)).items():
                if name == "properties":
                    whole[name] = {**fields_of(whole.get(name)), **fields_of(value)}
                elif name == "required":
                    whole[name] = [*items_of(whole.get(name)), *items_of(value)]
                else:
                    whole[name] = value
        return whole

    # References

    def _referenced(self, fields: Schema, reference: str, place: str, depth: int) -> ValueType:
        if reference in self._inside:
            return self._open(place, f"refers to itself, {reference}")
        target = find_reference(self.root, reference)
        if target is None:
            return self._open(place, f"the reference {reference} leads nowhere")
        beside = {name: value for name, value in fields.items() if name in ("properties", "required")}
        outside, self._inside = self._inside, (*self._inside, reference)
        try:
            return self.read(self._merged([target, beside]) if beside else target, place, depth + 1)
        finally:
            self._inside = outside

    def _resolved(self, schema: Schema) -> Schema:
        """The schema that a reference leads to; any other as it is."""
        for _ in range(_MOST_STEPS):
            target = find_reference(self.root, reference) if isinstance(reference := schema.get("$ref"), str) else None
            if not fields_of(target):
                break
            schema = fields_of(target)
        return schema

    # Notes

    def _open(self, place: str, why: str) -> ValueType:
        self.left_open.append(f"{place}: {why}")
        return ANY


def find_reference(root: Schema, reference: str) -> object:
    """The schema in a document that a reference leads to; None if there is none."""
    if not reference.startswith("#"):
        return None
    found: object = root
    for step in [unquote(step).replace("~1", "/").replace("~0", "~") for step in reference[1:].split("/")[1:]]:
        found = fields_of(found).get(step)
    return found


def join_types(types: Sequence[ValueType]) -> ValueType | None:
    """One type that has the values of all of them; None if that is none but any value."""
    if not types:
        return None
    first = types[0]
    if all(one == first for one in types):
        return first
    if all(one in (INTEGER, NUMBER) for one in types):
        return NUMBER
    choices = [one for one in types if isinstance(one, Choice)]
    if len(choices) == len(types):
        return Choice(tuple(dict.fromkeys(option for one in choices for option in one.options)))
    if all(one in (TEXT, DATE) or isinstance(one, Choice) for one in types):
        return TEXT
    lists = [one for one in types if isinstance(one, ListOf)]
    if len(lists) == len(types):
        return ListOf(join_types([one.items for one in lists]) or ANY)
    objects = [one for one in types if isinstance(one, ObjectOf)]
    if len(objects) == len(types):
        return _join_objects(objects)
    return None


def _join_objects(objects: Sequence[ObjectOf]) -> ObjectOf:
    names = dict.fromkeys(name for one in objects for name in one.fields)
    fields = {name: join_types([one.fields[name] for one in objects if name in one.fields]) or ANY for name in names}
    optional = [name for name in names if any(name not in one.fields or name in one.optional for one in objects)]
    others = [one.others for one in objects if one.others is not None]
    return ObjectOf(fields, tuple(optional), (join_types(others) or ANY) if others else None)


def json_kinds(fields: Schema) -> list[str]:
    """The JSON types that a schema names or implies. Some write them in capitals."""
    given = fields.get("type")
    if isinstance(given, str):
        return [given.lower()]
    if kinds := items_of(given):
        return [str(one).lower() for one in kinds]
    if "properties" in fields or "additionalProperties" in fields:
        return ["object"]
    if "items" in fields or "prefixItems" in fields:
        return ["array"]
    return list(dict.fromkeys(_KINDS.get(type(one), "object") for one in _options(fields)))


def _options(fields: Schema) -> list[object]:
    return items_of(fields.get("enum")) or ([fields["const"]] if "const" in fields else [])
