"""Words as retrieval and its checks count them: lower-cased runs of letters and digits, nothing stemmed or left out."""

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=65_536)
def tokenize(text: str) -> tuple[str, ...]:
    """The words in order. Remembered, since every context of a case shares its texts."""
    return tuple(_WORD.findall(text.lower()))
