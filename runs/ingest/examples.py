"""Examples: the first texts of a kind, and how many there are."""

from dataclasses import dataclass, field

MAX_EXAMPLES = 10
"""How many examples of a kind are kept; the others are counted."""


@dataclass(slots=True)
class Examples:
    """Texts of one kind: the first of them, and how many there are."""

    first: list[str] = field(default_factory=list[str])
    count: int = 0

    def add(self, text: str) -> None:
        self.count += 1
        if len(self.first) < MAX_EXAMPLES:
            self.first.append(text)

    def merge(self, other: "Examples") -> None:
        """Add those that come after."""
        self.count += other.count
        self.first = [*self.first, *other.first][:MAX_EXAMPLES]
