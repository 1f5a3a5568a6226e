"""Deontic sentence patterns: which of two events must precede or follow the other.

A baseline by design: English legal prose in a handful of patterns, without understanding. Other sentences are ignored.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_MODAL = re.compile(
    r"\b(?:shall|must|may (?:only|not)|(?:is|are) (?:required|obliged) to|implement|establish)\b", re.IGNORECASE
)

_OBLIGED = r"(?:shall|must|may)"
_PHRASE = r"[^.:;\[\]]+?"
_END = r"(?=[.;\[\]]|$)"


@dataclass(frozen=True, slots=True)
class Clause:
    """``first`` before ``second``, or ``second`` after ``first``, with the words of the sentence."""

    order: Literal["before", "after"]
    first: str
    second: str
    quote: str


_Order = Literal["before", "after"]
_PATTERNS: tuple[tuple[_Order, str], ...] = (
    # our own restatements: X must come before Y; every Y must afterwards be X
    ("before", rf"(?P<first>{_PHRASE}) must (?:come|happen|be made|have \w+) before (?P<second>[^.\[\]]+)"),
    ("after", r"every (?P<first>[^.\[\]]+?) must afterwards (?P<second>be [^.\[\]]+)"),
    # applies X where the user: does Y
    (
        "before",
        rf"\b(?:appl(?:y|ies)|requires?) (?P<first>{_PHRASE}) (?:where|when|whenever|if) (?P<second>[^.;]+){_END}",
    ),
    # verify that a person seeking access is the one claimed
    (
        "before",
        r"\b(?P<first>verify|confirm|authenticate|identify)\b (?:that |the identity of )?"
        rf"(?P<second>[^.;]*?\b(?:seeking|requesting|initiating|accessing)\b[^.;]*){_END}",
    ),
    # X only if / where / after / on the basis of Y
    (
        "before",
        rf"(?P<second>{_PHRASE}) only (?:if|where|when|after|with|on the basis of) (?P<first>[^.;]+){_END}",
    ),
    # not X unless / without / before Y
    ("before", rf"{_OBLIGED} not (?P<second>{_PHRASE}) (?:unless|without|before|until) (?P<first>[^.;]+){_END}"),
    # before Y, a person shall X
    ("before", rf"\bbefore (?P<second>{_PHRASE}), {_PHRASE} {_OBLIGED} (?P<first>[^.;]+){_END}"),
    # shall X before (each) Y
    ("before", rf"\b{_OBLIGED}:? (?P<first>{_PHRASE}) (?:before|prior to) (?P<second>[^.;]+){_END}"),
    ("before", rf"\b(?P<first>\w+s {_PHRASE}) before (?P<second>each [^.;]+){_END}"),
    # every time Y, (a person shall) X
    (
        "after",
        rf"\b(?:every time|each time|whenever|for each) (?P<first>{_PHRASE}), (?:\w+ )?(?P<second>[^.;]+){_END}",
    ),
    # after / on Y, a person shall X
    (
        "after",
        rf"\b(?:after|on|upon) (?P<first>{_PHRASE}), (?:{_PHRASE} {_OBLIGED} )?(?P<second>[^.;]+){_END}",
    ),
    # record, log or document Y; by recording Y
    ("after", rf"\b(?P<second>record|log|document|maintain a record of)\b (?:and \w+ )?(?P<first>[^.;]+){_END}"),
    ("after", rf"\bby (?P<second>recording|logging|documenting)\b (?:and \w+ )?(?P<first>[^.;]+){_END}"),
    # prove that Y was recorded
    ("after", rf"\bprove that (?P<first>{_PHRASE}) was (?P<second>[^.;]*\brecorded\b[^.;]*){_END}"),
)
_COMPILED: tuple[tuple[_Order, re.Pattern[str]], ...] = tuple(
    (order, re.compile(pattern, re.IGNORECASE)) for order, pattern in _PATTERNS
)


def obliges(text: str) -> bool:
    """Whether the text contains a deontic modal."""
    return _MODAL.search(text) is not None


def clauses_of(text: str) -> Iterator[Clause]:
    """The clauses of the text, each once, in the order of the patterns."""
    seen: set[tuple[str, str]] = set()
    for order, pattern in _COMPILED:
        for found in pattern.finditer(text):
            first, second = found["first"].strip(" ,"), found["second"].strip(" ,")
            if first and second and (first, second) not in seen:
                seen.add((first, second))
                yield Clause(order, first, second, found[0].strip(" ,"))
