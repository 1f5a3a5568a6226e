"""Which option an answer means: one place that maps what models write to Yes, No, A to D, or a refusal."""

import re
from collections.abc import Mapping
from typing import Literal

from lawtrace.environments.legal.case import Choice

Refused = Literal["refused"]
REFUSED: Refused = "refused"

_LEAD = r"\W*(?:(?:the )?(?:correct |final )?(?:answer|option|choice)\b(?: is)?\W*)?"
_MARKED = re.compile(_LEAD + r"(?P<key>yes|no|[a-d])(?:\s*$|\s*[^\w\s'’])", re.IGNORECASE)
_BEGUN = re.compile(_LEAD + r"(?P<key>yes|no)\b", re.IGNORECASE)
_SEVERAL = re.compile(_LEAD + r"(?:yes|no|[a-d])\s*(?:[/&+|]|\band\b|\bor\b)\s*(?:yes|no|[a-d])\b", re.IGNORECASE)
_JOINING = frozenset({"and", "or", "both", "either", "neither", "nor"})

_SOURCE = r"(?:passages?|contexts?|texts?|information|excerpts?|documents?|sources?|materials?|facts|evidence|details?)"
_DECLINES = re.compile(
    r"\A\W*(?:insufficient|not (?:enough|sufficient|sure)|unknown|undetermined|unclear|n/?a|none|null|no answer)"
    r"(?=\W*\Z|\s*[,;:.(–-])"
    r"|\b(?:unanswerable|I (?:must |have to )?(?:refuse|decline)|no (?:relevant )?information"
    rf"|(?:insufficient|not enough|not sufficient|lack of) (?:\w+ )?{_SOURCE}"
    rf"|{_SOURCE}\b[^.]{{0,40}}? (?:is|are) (?:insufficient|not enough|not sufficient)"
    rf"|{_SOURCE}\b[^.]{{0,40}}? (?:does|do)(?: not|n't|n’t) (?:say|state|mention|specify|contain|provide|suffice)"
    r"|(?:can(?:not|'t|’t)|unable to|impossible to) (?:be )?"
    r"(?:tell|say|conclude|infer|determined?|answer(?:ed)?|decided?|help|assist)"
    r"|no answer (?:is|can|could|may))\b",
    re.IGNORECASE,
)
_ANSWERS = re.compile(r"\b(?:answer|option|choice)\b\W*(?:is\W*)?(?:yes|no|[a-d])\W*\Z", re.IGNORECASE)
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)


def parse_choice(answer: str | None, options: Mapping[Choice, str]) -> Choice | Refused | None:
    """The option meant; ``refused`` if the answer declines; None if it is neither.

    Read in this order: nothing at all declines; the option's key or its whole text, whatever the case and the marks
    around it; several keys (*A, B*, *Yes or No*) are no answer, since to take one would be a guess of ours; a key at
    the beginning with a mark behind it (*C. A fine*, *Yes, it did*); words that say that the information does not
    suffice; *Yes* or *No* with words behind it. A letter with words behind it may be an article.
    """
    text = (answer or "").strip()
    if not text:
        return REFUSED
    plain = _plain(text)
    for choice, option in options.items():
        if plain in {_plain(choice), _plain(option), _plain(f"{choice} {option}")}:
            return choice
    if _SEVERAL.match(text) or _names_several_options(plain, options):
        return None
    marked = _MARKED.match(text)
    if marked:
        return _key(marked["key"], options)
    if is_refusal(text):
        return REFUSED
    begun = _BEGUN.match(text)
    return _key(begun["key"], options) if begun else None


def _key(key: str, options: Mapping[Choice, str]) -> Choice | None:
    return next((choice for choice in options if choice.casefold() == key.casefold()), None)


def _names_several_options(plain: str, options: Mapping[Choice, str]) -> bool:
    """Whether all that is said is the keys of several options."""
    keys = {choice.casefold() for choice in options}
    said = set(plain.split()) - _JOINING
    return len(said) > 1 and said <= keys


def is_refusal(text: str) -> bool:
    """Whether the words say that the question cannot be answered from what is given.

    Decisions are full of measures that were insufficient and of parties unable to say something, so the words must be
    about what is given, or about answering. What a model thinks aloud does not count; nor does an answer in the form
    asked for that came out broken, whatever its rationale says, or one that names an option after all.
    """
    said = _THOUGHT.sub("", text).strip()
    if "{" in said or _ANSWERS.search(said):
        return False
    return _DECLINES.search(said) is not None


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
