"""Text that others wrote, as a reader can be shown it: in a terminal, on a page."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lawtrace.environments.events import Event, Json

if TYPE_CHECKING:  # the command line imports this module before it knows what it will need
    from lawtrace.runs.scoring.metrics import Interval

# Control characters, and those that make a browser show text in another order than it runs in.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    """The text with characters that a reader could not see written as escapes; a program shows what it runs."""
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text.replace("\r\n", "\n"))


RESULT_CHARACTERS = 280
ARGUMENTS_CHARACTERS = 400


def cut(text: str, limit: int) -> str:
    """The text, or its beginning and how many characters follow."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} … ({len(text) - limit:,} more characters)"


def slug(text: str) -> str:
    """The text as part of an element's id."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-") or "unnamed"


def unique_anchors(names: Sequence[str]) -> list[str]:
    """An id for each name, in order; names that look alike as ids are numbered apart."""
    seen = Counter[str]()
    anchors: list[str] = []
    for name in names:
        anchor = slug(name)
        seen[anchor] += 1
        # A double hyphen never comes out of a name, so a number cannot collide with one.
        anchors.append(anchor if seen[anchor] == 1 else f"{anchor}--{seen[anchor]}")
    return anchors


def counted(count: int, thing: str) -> str:
    """``1 call``, ``2 calls``."""
    return f"{count:,} {thing}" + ("" if count == 1 else "s")


def percent(share: float | None, *, digits: int = 1, unit: str = " %") -> str:
    return "–" if share is None else f"{100 * share:.{digits}f}{unit}"


def short_percent(share: float | None, *, unit: str = " %") -> str:
    """With the digit after the point only where it says something: 80 and 82.5."""
    return "–" if share is None else f"{100 * share:.1f}".removesuffix(".0") + unit


def show_interval(interval: "Interval | None", *, digits: int = 1) -> str:
    if interval is None:
        return "–"
    dash = " to " if interval.low < 0 else "–"  # a dash between negative numbers reads as one more minus
    return f"{100 * interval.low:.{digits}f}{dash}{100 * interval.high:.{digits}f}"


def show_probability(p_value: float) -> str:
    """A p-value with two digits that mean something, and never a row of zeros."""
    return "< 0.0001" if p_value < 0.0001 else f"{p_value:.2g}"


def sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?", ")")) else ".")


def show_value(value: Json, limit: int = RESULT_CHARACTERS) -> str:
    """A JSON value on one line."""
    return visible(cut(json.dumps(value, ensure_ascii=False), limit))


def show_call(event: Event) -> str:
    """A call as a program would write it."""
    return f"{visible(event.tool)}({_show_arguments(event.arguments)})"


def _show_arguments(arguments: Mapping[str, Json]) -> str:
    shown = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return visible(cut(shown, ARGUMENTS_CHARACTERS))
