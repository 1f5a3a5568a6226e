"""Rows of an audit without the texts of their records: a digest stands for each, the same for the same text."""

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Final

from lawtrace.schemas.audit_rows import AuditRow
from lawtrace.schemas.events import Json

_KEPT: Final = re.compile(
    "schema_version|place|conversation|labels|outcome|rule|formula|provisions|template|source|under|states|role|tool|"
    "message|call|time|at_reference|readings|log"
)
"""Fields of a row, and of what is in it, that stay as they are: names, places, and what rules say."""


def redact(row: AuditRow) -> AuditRow:
    """The row with digests for the texts among arguments, results and errors, and wherever else it quotes them.

    The reason why a record is invalid may quote anything, so it is left out.
    """
    if row.outcome == "invalid":
        return row.model_copy(update={"reason": "the file of verdicts says why", "notes": ()})
    judged = [*row.rules, *(row.against.rules if row.against else ())]
    values = [
        value
        for rule in judged
        for value in (*rule.values, *(v for one in rule.violations for v in one.values.values()))
    ]
    parts = [part for event in row.events for part in (dict(event.arguments), event.result, event.error)]
    parts += [event.by.principal for event in row.events if event.by is not None]
    texts = {text for part in (*parts, *values) for text in _texts(part) if text.strip()}
    if not texts:
        return row
    longest_first = "|".join(map(re.escape, sorted(texts, key=lambda text: (-len(text), text))))
    known = re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)")
    return AuditRow.model_validate(_map_texts(row.model_dump(mode="json"), lambda text: known.sub(_digest, text)))


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def _map_texts(value: Json, change: Callable[[str], str], *, inside: bool = False) -> Json:
    """The value with its texts changed. ``inside``: of arguments, results and values, where names are the record's."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_map_texts(part, change, inside=inside) for part in value]
    if isinstance(value, dict):
        return {
            name: part
            if _KEPT.fullmatch(name) and not inside
            else _map_texts(part, change, inside=inside or name in ("arguments", "result", "values"))
            for name, part in value.items()
        }
    return value


def _digest(found: re.Match[str]) -> str:
    return f"sha256:{hashlib.sha256(found[0].encode()).hexdigest()[:16]}"
