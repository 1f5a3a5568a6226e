"""Four-option questions without a model: what was infringed, what was failed, what was the cause, how many there were.

The wrong options are provisions of the same law that the findings do not name, duties and causes that they do not speak
of, and numbers of something else, so that exactly one option is right.
"""

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lawtrace.environments.legal.retrieval.tokenizer import tokenize

_PROVISION = re.compile(
    r"\b(?P<kind>[Aa]rticle|[Rr]egulation) (?P<number>\d+)(?P<within>(?: ?\(\w+\))*)"
    r"(?P<law> (?:of )?(?:the )?(?:UK )?(?:GDPR|PECR))?"
)
_INFRINGED = re.compile(r"\b(?:contravened|infringed|breached|contrary to|comply with|infringements? of)\b")
_OTHERS: Mapping[str, tuple[str, ...]] = {
    "article": ("6", "9", "13", "15", "17", "25", "28", "30", "33", "35", "44"),
    "regulation": ("5A", "6", "14", "19", "20", "21", "23", "24"),
}
_FAILED = re.compile(r"\b(?:failed to|did not (?=make|provide|take|ensure|carry|give|check|train)) ?(?P<what>[a-z].+)")
_DUTIES = (
    "appoint a representative in the country",
    "answer requests for access within one month",
    "keep a register of its processing operations",
    "agree on a contract with each of its hosting companies",
    "carry out an impact assessment before the launch",
    "erase the accounts of people who had left long ago",
    "report the incident to the regulator within three days",
    "encrypt the backups that it stored with another company",
    "appoint an officer for data protection",
    "verify the age of children who registered",
)
_CAUSE = re.compile(r"\bthe cause of the (?P<what>breach|incident|infringement|contravention) was (?P<cause>.+)", re.I)
_CAUSES = (
    "an attack on a server whose updates were late",
    "a laptop that was lost on a journey",
    "a password that several teams had shared",
    "a supplier that kept copies without permission",
    "a letter that went to the wrong address",
)
_COUNT = re.compile(
    r"\bthere were (?P<number>\d{1,3}(?:,\d{3})+|\d{3,}) (?P<what>[a-z][a-z -]+?) "
    r"(?P<done>sent|received|made|affected) by (?P<who>[\w ]+?)(?=[,.;]|$)"
)
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+")
_BREAK = re.compile(r"[,;:.](?!\d)|[(“‘]| (?:which|who|where|as|when|because|at the|and|or)\b")
_MOST_WORDS = 11


def four_options(
    ref: str, sentence: str, party: str, paragraphs: Sequence[Mapping[str, str]]
) -> Iterator[Mapping[str, Any]]:
    """The four-option questions that a sentence of the findings supports."""
    together = " ".join(paragraph["text"] for paragraph in paragraphs)
    for found in (
        _which_provision(sentence, party, together),
        _what_failed(sentence, party, together),
        _what_caused(sentence, together),
        _how_many(sentence, together),
    ):
        if found is not None:
            question, right, wrong = found
            yield _asked(ref, question, right, wrong)


_Found = tuple[str, str, Sequence[str]]


def _which_provision(sentence: str, party: str, together: str) -> _Found | None:
    cited = _PROVISION.search(sentence)
    if cited is None or not _INFRINGED.search(sentence[: cited.start()]) or party not in sentence:
        return None
    kind, law = cited["kind"], cited["law"] or ""
    named = {found["number"] for found in _PROVISION.finditer(together)}
    free = [number for number in _OTHERS[kind.lower()] if number not in named]
    if len(free) < 3:
        return None
    right = f"{kind} {cited['number']}{cited['within']}{law}"
    return (
        f"Which provision was {party} found to have infringed?",
        right,
        [f"{kind} {n}{law}" for n in _drawn(free, right)],
    )


def _what_failed(sentence: str, party: str, together: str) -> _Found | None:
    failed = _FAILED.search(sentence)
    if failed is None or not re.search(rf"{re.escape(party)}\b|\bit\b", sentence[: failed.start()]):
        return None
    words = _BREAK.split(failed["what"], maxsplit=1)[0].split()
    right = " ".join(words)
    free = _foreign(_DUTIES, together)
    if not 3 <= len(words) <= _MOST_WORDS or len(free) < 3:
        return None
    longer = [duty for duty in free if len(duty) >= len(right)]
    wrong = [*longer[:1], *_drawn([duty for duty in free if duty not in longer[:1]], right)][:3]
    return f"What was {party} found to have failed to do?", right, wrong


def _what_caused(sentence: str, together: str) -> _Found | None:
    found = _CAUSE.search(sentence)
    if found is None:
        return None
    words = _BREAK.split(found["cause"], maxsplit=1)[0].split()
    at = next((place for place, word in enumerate(words) if place > 3 and word in {"for", "prior", "in"}), len(words))
    right = " ".join(words[: min(at, _MOST_WORDS)])
    wrong = _foreign(_CAUSES, together)
    return (f"What was the cause of the {found['what']}?", right, _drawn(wrong, right)) if len(wrong) >= 3 else None


def _foreign(options: Sequence[str], together: str) -> list[str]:
    """Those that share no more than one telling word with the findings."""
    said = set(tokenize(together))
    return [option for option in options if len({word for word in tokenize(option) if len(word) > 5} & said) <= 1]


def _how_many(sentence: str, together: str) -> _Found | None:
    counted = _COUNT.search(sentence)
    if counted is None:
        return None
    right = counted["number"]
    others = [number for number in dict.fromkeys(_NUMBER.findall(together)) if number != right]
    value = int(right.replace(",", ""))
    wrong = [*_drawn(others, right), *(f"{value * share // 100:,}" for share in (63, 142, 171))]
    return f"How many {counted['what']} were {counted['done']} by {counted['who']}?", right, wrong[:3]


def _drawn(options: Sequence[str], key: str) -> list[str]:
    """Three of them at most, other ones for another key."""
    start = zlib.crc32(key.encode()) % len(options) if options else 0
    return [options[(start + step) % len(options)] for step in range(min(3, len(options)))]


def _asked(ref: str, question: str, right: str, wrong: Sequence[str]) -> Mapping[str, Any]:
    place = zlib.crc32(f"{ref}{right}".encode()) % 4
    choices = [*wrong[:3]]
    choices.insert(place, right)
    return {
        "paragraphs": [ref],
        "whether_contains_decision": True,
        "question": question,
        "options": dict(zip("ABCD", choices, strict=True)),
        "correct_answer": "ABCD"[place],
    }
