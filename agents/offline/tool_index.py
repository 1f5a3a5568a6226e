"""Retrieval over the documentation of tools: BM25 over stemmed words, with a few words that mean the same."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import bm25s  # pyright: ignore[reportMissingTypeStubs]

from lawtrace.agents.offline.words import words_of

_NAME_WEIGHT = 3
"""A word of a tool's name counts as often as this many in its summary."""

_SAME: Mapping[str, str] = {
    # stems as `words_of` gives them
    **dict.fromkeys(("authentic", "authenticat", "verify", "verif", "identify", "authoris"), "authoriz"),
    **dict.fromkeys(("log", "document", "audit", "evidenc"), "record"),
    **dict.fromkeys(("remittanc", "remit"), "transfer"),
}


class ToolIndex:
    """The tools of a documentation, to be asked for by words."""

    def __init__(self, tools: Sequence[Mapping[str, Any]]) -> None:
        self._names = [str(tool["name"]) for tool in tools]
        texts = [_tokens(str(tool["name"])) * _NAME_WEIGHT + _tokens(str(tool["summary"])) for tool in tools]
        self._places = {word: place for place, word in enumerate(dict.fromkeys(w for words in texts for w in words))}
        self._index: Any = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
        numbered = [[self._places[word] for word in words] for words in texts]
        self._index.index((numbered, self._places), create_empty_token=False, show_progress=False)

    def ranked(self, text: str) -> list[tuple[float, str]]:
        """The tools that share a word with the text, best first; of equals the first by name."""
        known = [word for word in _tokens(text) if word in self._places]
        if not known:
            return []
        scores = [float(score) for score in self._index.get_scores(known)]
        found = [(score, name) for score, name in zip(scores, self._names, strict=True) if score > 0]
        return sorted(found, key=lambda scored: (-scored[0], scored[1]))

    def best(self, text: str) -> list[str]:
        return [name for _, name in self.ranked(text)]


def _tokens(text: str) -> list[str]:
    return [_SAME.get(word, word) for word in words_of(re.sub(r"[^\w\s]", " ", text))]
