"""The tokenizer of retrieval and checks: lower-case runs of letters and digits, without stemming or stop words."""

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=65_536)
def tokenize(text: str) -> tuple[str, ...]:
    """The words in order. Cached, since every context of a case shares its texts."""
    return tuple(_WORD.findall(text.lower()))


def occur_in(words: str, text: str) -> bool:
    """Whether the words occur in the text one after the other, without regard to case and punctuation."""
    return f" {' '.join(tokenize(words))} " in f" {' '.join(tokenize(text))} "
