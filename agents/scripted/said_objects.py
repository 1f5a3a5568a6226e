"""Objects in a line of a request: ``name "Ann", seats 2 and name "Bob", seats 1``.

Which fields an object has comes from the documentation. Each field is its name in words and then its value: texts in
quotes, dates, times and numbers as they are, truth as yes or no, objects inside an object in parentheses.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from lawtrace.agents.scripted.mentions import QUOTED, TIMES, Documented

NUMBER = r"-?\d+(?:\.\d+)?"


@dataclass(frozen=True, slots=True)
class Said:
    """A value that the line says, and where."""

    value: Any
    start: int
    end: int


def said_objects(parameter: Documented, line: str) -> Said | None:
    """The object, or the list of objects, that the line says for a parameter with documented fields."""
    for start in range(len(line)):
        found = _value(parameter, line, start)
        if found is not None:
            return found
    return None


def _value(documented: Documented, line: str, start: int) -> Said | None:
    """A value of the documented type at that position."""
    kind = str(documented["type"])
    if "fields" not in documented:
        return _scalar(kind, line, start)
    if not kind.startswith("array"):
        return _object(documented["fields"], line, start)
    items: list[Any] = []
    end = start
    while (item := _object(documented["fields"], line, end + 5 * bool(items))) is not None:
        items.append(item.value)
        end = item.end
        if not line.startswith(" and ", end):
            break
    return Said(items, start, end) if items else None


def _object(fields: Mapping[str, Any], line: str, start: int) -> Said | None:
    """An object at that position; None if a field is missing that may not be."""
    found: dict[str, Any] = {}
    end = start
    for name, declared in fields.items():
        documented = cast("Documented", declared if isinstance(declared, Mapping) else {"type": declared})
        lead = f"{', ' if found else ''}{name.replace('_', ' ')} "
        opens = "fields" in documented
        if line.startswith(lead, end):
            place = end + len(lead) + opens
            value = _value(documented, line, place) if not opens or line[place - 1] == "(" else None
            if value is not None and (not opens or line.startswith(")", value.end)):
                found[name], end = value.value, value.end + opens
                continue
        if not str(documented["type"]).endswith("may be absent"):
            return None
    return Said(found, start, end) if found else None


def _scalar(kind: str, line: str, start: int) -> Said | None:
    shape = re.search(r"format ([^,]+)", kind)
    if kind.startswith("array"):
        pattern = f"{QUOTED}(?: {QUOTED})*"
    elif shape and shape[1] in TIMES:
        pattern = TIMES[shape[1]]
    else:
        pattern = {"number": NUMBER, "integer": NUMBER, "boolean": "yes|no"}.get(kind.partition(",")[0], QUOTED)
    match = re.compile(pattern).match(line, start)
    if match is None:
        return None
    value: Any = match[0].strip('"')
    if kind.startswith("array"):
        value = re.findall(QUOTED, match[0])
    elif pattern == NUMBER:
        value = int(value) if kind.startswith("integer") and value.lstrip("-").isdigit() else float(value)
    elif pattern == "yes|no":
        value = value == "yes"
    return Said(value, start, match.end())
