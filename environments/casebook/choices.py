"""Which option an answer means: one place that maps what models write to Yes, No, A to D, or a refusal."""

import re
from collections.abc import Mapping
from typing import Literal

from environments.casebook.case import Choice

__all__ = ["REFUSED", "Refused", "declines", "read_choice"]

Refused = Literal["refused"]
REFUSED: Refused = "refused"

_LEAD = r"\W*(?:(?:the )?(?:correct )?(?:answer|option|choice)\b(?: is)?\W*)?"
_MARKED = re.compile(_LEAD + r"(?P<key>yes|no|[a-d])(?:\s*$|\s*[^\w\s'’])", re.IGNORECASE)
_BEGUN = re.compile(_LEAD + r"(?P<key>yes|no)\b", re.IGNORECASE)
_DECLINES = re.compile(
    r"\b(?:insufficient|not (?:enough|sufficient)|no (?:relevant )?information|unanswerable|refuse|unknown|undetermined"
    r"|n/?a|none|null"
    r"|(?:can(?:not|'t|’t)|unable to|impossible to) (?:be )?"
    r"(?:tell|say|conclude|infer|determined?|answer(?:ed)?|decided?))\b"
    r"|(?:does|do)(?: not|n't|n’t) (?:say|state|mention|specify|contain|provide)",
    re.IGNORECASE,
)


def read_choice(answer: str | None, options: Mapping[Choice, str]) -> Choice | Refused | None:
    """The option meant; ``refused`` if the answer declines; None if it is neither.

    Read in this order: nothing at all declines; the option's key or its whole text, whatever the case and the marks
    around it; a key at the beginning with a mark behind it (*C. A fine*, *Yes, it did*); words that say that the
    information does not suffice; *Yes* or *No* with words behind it. A letter with words behind it may be an article.
    """
    text = (answer or "").strip()
    if not text:
        return REFUSED
    plain = _plain(text)
    for choice, option in options.items():
        if plain in {_plain(choice), _plain(option), _plain(f"{choice} {option}")}:
            return choice
    marked = _MARKED.match(text)
    if marked:
        return _key(marked["key"], options)
    if declines(text):
        return REFUSED
    begun = _BEGUN.match(text)
    return _key(begun["key"], options) if begun else None


def _key(key: str, options: Mapping[Choice, str]) -> Choice | None:
    return next((choice for choice in options if choice.casefold() == key.casefold()), None)


def declines(text: str) -> bool:
    """Whether the words say that the question cannot be answered from what is given."""
    return _DECLINES.search(text) is not None


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
