"""Stemmed words for comparison: lower case, without endings and stop words."""

import re
from collections.abc import Mapping
from typing import Any

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and any are as at be been by can each every for from has have if in is it its must of on one or that "
        "the their them this to user where which with you your",
    )
)
IRREGULAR = {
    "paid": "pay",
    "made": "make",
    "sent": "send",
    "found": "find",
    "left": "leave",
    "cancelled": "cancel",
    "taken": "take",
    "lent": "lend",
    "sold": "sell",
    "bought": "buy",
    "chosen": "choose",
    "withdrawn": "withdraw",
}


def stemmed_words(text: str) -> list[str]:
    """The words of a text or of a camel-case name without stop words, stemmed, in order."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text.replace("_", " "))
    return [_stem(word) for word in re.findall(r"[a-z]+", spaced.lower()) if word not in STOP_WORDS]


def _stem(word: str) -> str:
    word = IRREGULAR.get(word, word)
    for ending in ("ations", "ation", "ings", "ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word.rstrip("e")


def rank_tools(text: str, tools: Mapping[str, Mapping[str, Any]]) -> list[tuple[float, str]]:
    """Tools ranked by how well name and summary match the text; earlier words weigh more.

    Scores are sums over the text's words: 3 for a word of the name, 1 for a word of the summary, divided by the word's
    place. Tools that match nothing are left out.
    """
    spoken = stemmed_words(text)
    scores: list[tuple[float, str]] = []
    for name, tool in tools.items():
        in_name, in_summary = set(stemmed_words(name)), set(stemmed_words(str(tool["summary"])))
        score = sum(
            (3.0 * (word in in_name) + (word in in_summary)) / (1 + place / 2) for place, word in enumerate(spoken)
        )
        if score:
            scores.append((score, name))
    return sorted(scores, key=lambda scored: (-scored[0], scored[1]))
