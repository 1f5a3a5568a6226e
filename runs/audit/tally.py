"""Counts of an audit: one number by key, added up as rows come, in one process or in several."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

MAX_EXAMPLES: Final = 10
"""How many examples of a kind are kept; the others are counted."""

Key = tuple[str, ...]
"""What is counted, from the general to the particular: ``("rule", "checked", "broken")``."""


@dataclass(frozen=True, slots=True)
class Examples:
    """Texts of one kind: the first of them, and how many there are."""

    first: list[str]
    count: int


@dataclass(slots=True)
class Tally:
    """Counts and examples by key."""

    counts: Counter[Key] = field(default_factory=Counter[Key])
    texts: dict[Key, list[str]] = field(default_factory=dict[Key, list[str]])

    def add(self, *key: str, times: int = 1) -> None:
        self.counts[key] += times

    def count(self, *key: str) -> int:
        return self.counts[key]

    def below(self, *key: str) -> Iterator[tuple[Key, int]]:
        """The counts with a longer key that begins so, each with the rest of its key, in the order of their coming."""
        depth = len(key)
        return ((one[depth:], number) for one, number in self.counts.items() if one[:depth] == key and len(one) > depth)

    def add_example(self, *key: str, text: str) -> None:
        self.add("example", *key)
        texts = self.texts.setdefault(key, [])
        if len(texts) < MAX_EXAMPLES:
            texts.append(text)

    def examples(self, *key: str) -> Examples:
        return Examples(self.texts.get(key, []), self.count("example", *key))

    def merge(self, other: "Tally") -> None:
        self.counts.update(other.counts)
        for key, texts in other.texts.items():
            self.texts[key] = [*self.texts.get(key, ()), *texts][:MAX_EXAMPLES]
