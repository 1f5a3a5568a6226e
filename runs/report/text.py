"""Formatting of untrusted text and values for terminals and pages."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from lawtrace.schemas.events import CALLS, SPEAKERS, Event, Json

if TYPE_CHECKING:  # for type checking only: keeps the start of the command line fast
    from lawtrace.runs.scoring.metrics import Interval

# Control characters, and bidirectional controls, which reorder displayed text.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    """The text with invisible and reordering characters escaped."""
    return replace_unseen(text.replace("\r\n", "\n"), lambda code: f"\\u{code:04x}")


def replace_unseen(text: str, shown: Callable[[int], str]) -> str:
    """The text with each invisible or reordering character replaced by what its code is shown as."""
    return _UNSEEN.sub(lambda match: shown(ord(match[0])), text)


RESULT_CHARACTERS = 280
ARGUMENTS_CHARACTERS = 400


def cut(text: str, limit: int) -> str:
    """The text, or its beginning and the number of characters omitted."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} … ({len(text) - limit:,} more characters)"


def slug(text: str) -> str:
    """The text as part of an element's id."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-") or "unnamed"


def unique_anchors(names: Sequence[str]) -> list[str]:
    """A unique id for each name, in order; equal ids get a number."""
    seen = Counter[str]()
    anchors: list[str] = []
    for name in names:
        anchor = slug(name)
        seen[anchor] += 1
        # A slug never has a double hyphen, so a numbered id cannot collide with another name's.
        anchors.append(anchor if seen[anchor] == 1 else f"{anchor}--{seen[anchor]}")
    return anchors


def counted(count: int, thing: str) -> str:
    """``1 call``, ``2 calls``."""
    return f"{count:,} {thing}" + ("" if count == 1 else "s")


def percent(share: float | None, *, digits: int = 1, unit: str = " %") -> str:
    return "–" if share is None else f"{100 * share:.{digits}f}{unit}"


def short_percent(share: float | None, *, unit: str = " %") -> str:
    """One decimal, omitted if zero: 80 and 82.5."""
    return "–" if share is None else f"{100 * share:.1f}".removesuffix(".0") + unit


def show_interval(interval: "Interval | None", *, digits: int = 1) -> str:
    if interval is None:
        return "–"
    dash = " to " if interval.low < 0 else "–"  # a dash between negative numbers looks like another minus
    return f"{100 * interval.low:.{digits}f}{dash}{100 * interval.high:.{digits}f}"


def show_probability(p_value: float) -> str:
    """A p-value with two significant digits; ``< 0.0001`` for smaller values."""
    return "< 0.0001" if p_value < 0.0001 else f"{p_value:.2g}"


def sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?", ")")) else ".")


def show_value(value: Json, limit: int = RESULT_CHARACTERS) -> str:
    """A JSON value on one line."""
    return visible(cut(json.dumps(value, ensure_ascii=False), limit))


def show_call(event: Event) -> str:
    """A call in Python syntax; of a message only the text."""
    if event.tool in SPEAKERS and event.arguments.keys() - {CALLS} == {"text", "words"}:
        return f"{event.tool}: {show_value(event.arguments['text'], ARGUMENTS_CHARACTERS)}"
    return f"{visible(event.tool)}({_show_arguments(event.arguments)})"


def _show_arguments(arguments: Mapping[str, Json]) -> str:
    shown = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return visible(cut(shown, ARGUMENTS_CHARACTERS))


def format_duration(seconds: float) -> str:
    """A duration for readers: ``40 s``, ``3 min``, ``2 h 5 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def show_fact(fact: str, value: Json) -> str:
    """A fact of the initial state with its value."""
    return visible(f"{fact}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")
