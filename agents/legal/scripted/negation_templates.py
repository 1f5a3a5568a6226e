"""The restater without a model: it puts the question into *Is it false that ...?*, where it can tell where the subject
ends. It knows the verbs and predicates of questions about data protection, and declines where none of them is found.
"""

import json
import re
from collections.abc import Sequence

from autogen_core.models import LLMMessage

from lawtrace.agents.scripted.prompt_blocks import labelled_json
from lawtrace.environments.legal.polarity import AUXILIARIES, split_question

_VERBS = frozenset(
    re.findall(
        r"\w+",
        "accept act add allow apply be comply consider constitute contribute contravene decide demonstrate "
        "determine eliminate ensure err exempt fail find fulfill fulfil have impose include indicate infringe intend "
        "involve justify keep know make mandate meet mitigate oblige permit prevent prohibit provide recognise "
        "recognize reduce rely require satisfy send show suffice take tell transmit violate warrant",
    )
)
"""Verbs that follow the subject behind *do* and behind a modal, and are seldom anything else."""

_NOUNS_TOO = frozenset(re.findall(r"\w+", "address breach cause claim contain demand implement increase report"))
"""Verbs only right behind a name or pronoun of one word."""

_BEFORE_TO = frozenset({"amount", "need", "relate"})
"""Verbs only where *to* follows."""

_PREDICATES = frozenset(
    re.findall(
        r"\w+",
        "able allowed complying compliant considered entitled exempt found justified legally negligent obliged "
        "obligated relieved required responsible wholly",
    )
)
_ADJECTIVES = frozenset(
    re.findall(r"\w+", "appropriate disproportionate fair lawful liable proportionate serious sufficient")
)
"""Predicates only where no noun follows."""

_PARTICIPLES = frozenset(
    re.findall(r"\w+", "breached complied contravened contributed failed implemented infringed satisfied violated")
)
_NO_NOUN = frozenset({"", "under", "to", "for", "when", "by", "because", "in", "given", "as", "with"})
_RELATIVE = frozenset({"that", "which", "who", "whose", "whom", "where", "when"})
_ASKS = re.compile(rf"(?P<lead>^|.*?, )(?P<auxiliary>{'|'.join(sorted(AUXILIARIES))}) (?P<rest>.+)", re.IGNORECASE)


def restate_question(messages: Sequence[LLMMessage]) -> str:
    return json.dumps({"question": _restated(labelled_json(messages, "question")["question"])})


def _restated(question: str) -> str | None:
    told, asks = split_question(question)
    found = _ASKS.match(asks)
    if found is None:
        return None
    lead, auxiliary, words = found["lead"], found["auxiliary"].lower(), found["rest"].split()
    end = _end_of_subject(auxiliary, words)
    if end is None:
        return None
    opening = "is it false that" if lead else "Is it false that"
    return f"{told} {lead}{opening} {' '.join(words[:end])} {auxiliary} {' '.join(words[end:])}".strip()


def _end_of_subject(auxiliary: str, words: Sequence[str]) -> int | None:
    """How many words the subject has; None if that cannot be told."""
    plain = [re.sub(r"\W+$", "", word.lower()) for word in words] + [""]
    for place in range(1, len(words)):
        if plain[place] in _RELATIVE:
            return None
        if plain[place - 1] not in {"to", "not", "and", "or"} and _opens_predicate(auxiliary, plain, place):
            return place
    return None


def _opens_predicate(auxiliary: str, plain: Sequence[str], place: int) -> bool:
    word, following = plain[place], plain[place + 1]
    if auxiliary in {"is", "are", "was", "were"}:
        if word == "in":
            return following in {"breach", "compliance", "violation"}
        return word in _PREDICATES or (word in _ADJECTIVES and following in _NO_NOUN)
    if auxiliary in {"has", "have", "had"}:
        return word in _PARTICIPLES
    if word in _BEFORE_TO and following == "to":
        return True
    return word in _VERBS or (word in _NOUNS_TOO and place == 1 and plain[0] not in {"this", "the", "a"})
