"""Parser from an answer's text to an option, a right text, or a refusal. The only place that interprets answers."""

import re
from collections.abc import Mapping
from typing import Literal

from lawtrace.environments.legal.case import Choice, Question

Refused = Literal["refused"]
REFUSED: Refused = "refused"

_LEAD = r"\W*(?:(?:the )?(?:correct |final )?(?:answer|option|choice)\b(?: is)?\W*)?"
_MARKED = re.compile(_LEAD + r"(?P<key>yes|no|[a-z])(?:\s*$|\s*[^\w\s'’])", re.IGNORECASE)
_BEGUN = re.compile(_LEAD + r"(?P<key>yes|no)\b", re.IGNORECASE)
_SEVERAL = re.compile(_LEAD + r"(?:yes|no|[a-z])\s*(?:[/&+|]|\band\b|\bor\b)\s*(?:yes|no|[a-z])\b", re.IGNORECASE)
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
_ANSWERS = re.compile(r"\b(?:answer|option|choice)\b\W*(?:is\W*)?(?:yes|no|[a-z])\W*\Z", re.IGNORECASE)
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)


def parse_choice(answer: str | None, options: Mapping[Choice, str]) -> Choice | Refused | None:
    """The chosen option; ``refused`` if the answer declines; None if it is neither.

    Cases are tried in this order: an empty answer declines; the option's key or whole text, ignoring case and
    punctuation; several keys (*A, B*, *Yes or No*) are not an answer, since choosing one would be a guess; a key at the
    beginning with punctuation after it (*C. A fine*, *Yes, it did*); words that say that the information is
    insufficient; *Yes* or *No* followed by words. A letter followed by words may be an article.
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


def parse_text(answer: str | None, question: Question) -> bool | Refused:
    """Whether a text is a right answer to a question without options; ``refused`` if it declines."""
    text = (answer or "").strip()
    right = (question.answer, *question.also)
    if question.match == "exact":
        agrees = text in {one.strip() for one in right}
    else:
        agrees = _normalized(text) in {_normalized(one) for one in right}
    return REFUSED if not agrees and (not text or is_refusal(text)) else agrees


def _normalized(text: str) -> str:
    """The words of a text, without articles; its punctuation, if it has no words."""
    words = [word for word in _plain(text).split() if word not in {"a", "an", "the"}]
    return " ".join(words) or text.strip().casefold()


def _key(key: str, options: Mapping[Choice, str]) -> Choice | None:
    return next((choice for choice in options if choice.casefold() == key.casefold()), None)


def _names_several_options(plain: str, options: Mapping[Choice, str]) -> bool:
    """Whether the text consists of the keys of several options."""
    keys = {choice.casefold() for choice in options}
    said = set(plain.split()) - _JOINING
    return len(said) > 1 and said <= keys


def is_refusal(text: str) -> bool:
    """Whether the text says that the question cannot be answered from the given information.

    Decisions contain many insufficient measures and parties that were unable to say something, so the words must be
    about the given information, or about answering. Reasoning text is ignored. Two texts never count as a refusal:
    malformed JSON, whatever its rationale says, and a text that names an option after all.
    """
    said = _THOUGHT.sub("", text).strip()
    if "{" in said or _ANSWERS.search(said):
        return False
    return _DECLINES.search(said) is not None


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
