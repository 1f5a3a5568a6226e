"""Stemmed words for comparison: lower case, without endings and stop words; and the roots that verbs share with their
nouns."""

import re
from collections.abc import Mapping
from typing import Any


def listed(words: str) -> list[str]:
    return words.split()


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


_MORE_IRREGULAR = {
    "written": "write", "given": "give", "held": "hold", "kept": "keep", "told": "tell", "shown": "show",
    "frozen": "freeze", "seen": "see", "begun": "begin", "drawn": "draw", "lost": "loss", "lose": "loss",
    "information": "info",
}  # fmt: skip
_INVARIANT = frozenset(listed("access address business document process session statement status"))
_NOUN_ENDINGS = {
    "ifications": "if", "ification": "if", "izations": "iz", "ization": "iz", "ssions": "t", "ssion": "t",
    "ations": "", "ation": "", "tions": "t", "tion": "t", "sions": "s", "sion": "s",
    "ements": "", "ement": "", "ments": "", "ment": "",
    "ovals": "ov", "oval": "ov", "ievals": "iev", "ieval": "iev", "ewals": "ew", "ewal": "ew", "awals": "aw",
    "awal": "aw", "usals": "us", "usal": "us", "osures": "os", "osure": "os", "asures": "as", "asure": "as",
    "ating": "", "ated": "", "ates": "", "ate": "", "ings": "", "ing": "", "ies": "", "ied": "", "ed": "", "es": "",
    "s": "", "y": "", "e": "",
}  # fmt: skip


def root(word: str) -> str:
    """The root that a verb shares with its nouns: of *authorised* and *authorization*, of *paid* and *payment*."""
    word = IRREGULAR.get(word.lower(), word.lower())
    word = _MORE_IRREGULAR.get(word, word)
    if word in _INVARIANT or word.removesuffix("s") in _INVARIANT:
        return word if word in _INVARIANT else word.removesuffix("s")
    word = re.sub(r"(?<=...)is(?=(?:e|es|ed|ing|ations?)$)", "iz", word)
    for ending, rest in _NOUN_ENDINGS.items():
        if word.endswith(ending) and len(word) - len(ending) + len(rest) >= 3:
            word = word.removesuffix(ending) + rest
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiousz" and (word[-1] != "l" or len(word) > 5):
        word = word[:-1]
    return {"revoc": "revok", "lo": "loss"}.get(word, word.rstrip("e") if len(word) > 3 else word)


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
