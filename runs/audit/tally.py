"""Counts of an audit: one number by key, added up as rows come, in one process or in several."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

MAX_EXAMPLES: Final = 10
"""How many examples of a kind are kept; the others are counted."""
MAX_VALUES: Final = 1_000
"""How many different values of a label are counted."""

Key = tuple[str, ...]
"""What is counted, from the general to the particular: ``("rule", "0.5", "checked", "broken")``."""


@dataclass(slots=True)
class Examples:
    """Texts of one kind: the first of them, and how many there are."""

    first: list[str] = field(default_factory=list[str])
    count: int = 0

    def add(self, text: str) -> None:
        self.count += 1
        if len(self.first) < MAX_EXAMPLES:
            self.first.append(text)


@dataclass(slots=True)
class Tally:
    """Counts and examples by key.

    Attributes:
        values: by label, the values that are counted; of one more than `MAX_VALUES` it is known that there are too
            many, and no more of them are kept.
    """

    counts: Counter[Key] = field(default_factory=Counter[Key])
    examples: dict[Key, Examples] = field(default_factory=dict[Key, Examples])
    values: dict[str, dict[str, None]] = field(default_factory=dict[str, dict[str, None]])

    def add(self, *key: str, times: int = 1) -> None:
        self.counts[key] += times

    def count(self, *key: str) -> int:
        return self.counts[key]

    def below(self, *key: str) -> Iterator[tuple[Key, int]]:
        """The counts with a longer key that begins so, each with the rest of its key, in the order of their coming."""
        depth = len(key)
        return ((one[depth:], number) for one, number in self.counts.items() if one[:depth] == key and len(one) > depth)

    def admits(self, label: str, value: str) -> bool:
        """Whether a value of a label is counted."""
        known = self.values.setdefault(label, {})
        if value not in known and len(known) <= MAX_VALUES:
            known[value] = None
        return value in known

    def add_example(self, *key: str, text: str) -> None:
        self.examples.setdefault(key, Examples()).add(text)

    def examples_of(self, *key: str) -> Examples:
        return self.examples.get(key) or Examples()

    def merge(self, other: "Tally") -> None:
        """Add the counts of records that come after."""
        for label, values in other.values.items():
            for value in values:
                self.admits(label, value)
        for key, number in other.counts.items():
            if key[0] != "label" or key[2] in self.values[key[1]]:
                self.counts[key] += number
        for key, found in other.examples.items():
            mine = self.examples.setdefault(key, Examples())
            mine.count += found.count
            mine.first = [*mine.first, *found.first][:MAX_EXAMPLES]
