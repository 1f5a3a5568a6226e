"""OSCAL catalogs (JSON) to the tree: groups are divisions, controls are units, statement items are points.

Only the statement of a control is a provision. Guidance is kept as notes, which are not cited. A placeholder for a
value that an organisation chooses (``{{ insert: param, ac-1_prm_1 }}``) is replaced by the name of the value.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lawtrace.environments.documents.legal_text import LegalText, Node
from lawtrace.environments.literals import fields_of, items_of
from lawtrace.environments.strict_json import parse_strict_json
from lawtrace.schemas.errors import InputError

_INSERT = re.compile(r"\{\{\s*insert:\s*param,\s*([\w.-]+)\s*\}\}")

Object = Mapping[str, Any]


def parse_oscal(text: str) -> LegalText:
    """Parse a catalog. Raises InputError naming what is missing."""
    try:
        content = parse_strict_json(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON that can be read: {error}") from error
    catalog = fields_of(fields_of(content).get("catalog"))
    if not catalog:
        raise InputError("not an OSCAL catalog: it has no member 'catalog'; resolve a profile to a catalog first")
    nodes = tuple(_nodes(catalog, dict(_parameters(catalog))))
    if not nodes:
        raise InputError("the catalog contains no control")
    title = fields_of(catalog.get("metadata")).get("title")
    return LegalText(title=title if isinstance(title, str) else "", nodes=nodes, notes=tuple(_resources(catalog)))


def _nodes(holder: Object, values: Mapping[str, str]) -> Iterator[Node]:
    for group in _objects(holder, "groups"):
        yield Node(kind="division", heading=_text(group, "title", values), nodes=tuple(_nodes(group, values)))
    for control in _objects(holder, "controls"):
        label = _label(control) or str(control.get("id", ""))
        yield Node(
            kind="unit",
            label=label,
            citation=label,
            heading=_text(control, "title", values),
            nodes=(
                *(node for part in _objects(control, "parts") for node in _part(part, label, values)),
                *_guidelines(control, values),
                *_nodes(control, values),
            ),
        )


def _part(part: Object, above: str, values: Mapping[str, str]) -> Iterator[Node]:
    prose, name = _text(part, "prose", values), part.get("name")
    if name not in {"statement", "item"}:
        pieces = (node.text for below in _objects(part, "parts") for node in _part(below, above, values))
        if words := " ".join(filter(None, [prose, *pieces])):
            yield Node(kind="note", label=str(part.get("title") or ""), text=words)
        return
    label = _label(part)
    citation = f"{above}{label}"
    below = tuple(node for item in _objects(part, "parts") for node in _part(item, citation, values))
    if label:
        yield Node(kind="point", label=label, citation=citation, text=prose, nodes=below)
    else:
        if prose:
            yield Node(kind="passage", citation=above, text=prose)
        yield from below


def _guidelines(control: Object, values: Mapping[str, str]) -> Iterator[Node]:
    """Guidelines for the values that an organisation chooses."""
    for parameter in _objects(control, "params"):
        for guideline in _objects(parameter, "guidelines"):
            yield Node(kind="note", label=str(parameter.get("id", "")), text=_text(guideline, "prose", values))


def _resources(catalog: Object) -> Iterator[str]:
    """References in the back matter."""
    for resource in _objects(fields_of(catalog.get("back-matter")), "resources"):
        words = (resource.get("title"), fields_of(resource.get("citation")).get("text"))
        yield ": ".join(text for text in words if isinstance(text, str))


def _label(holder: Object) -> str:
    found = [p for p in _objects(holder, "props") if p.get("name") == "label" and "class" not in p]
    return str(found[0].get("value", "")) if found else ""


def _parameters(holder: Object) -> Iterator[tuple[str, str]]:
    """Names of the values that an organisation chooses; for a choice, its options."""
    for parameter in _objects(holder, "params"):
        options = items_of(fields_of(parameter.get("select")).get("choice"))
        name = parameter.get("label") or " or ".join(map(str, options))
        yield str(parameter.get("id", "")), f"[{name or 'a value'}]"
    for member in ("groups", "controls"):
        for below in _objects(holder, member):
            yield from _parameters(below)


def _text(holder: Object, member: str, values: Mapping[str, str]) -> str:
    words = holder.get(member)
    if not isinstance(words, str):
        return ""
    for _ in range(3):  # the name of a value may contain another placeholder
        words = _INSERT.sub(lambda found: values.get(found[1], found[1]), words)
    return " ".join(words.split())


def _objects(holder: Object, member: str) -> list[Object]:
    return [one for one in items_of(holder.get(member)) if isinstance(one, dict)]
