"""What can be reviewed, as the pages see it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from lawtrace.runs.reviewing.ballot import Item


class Subject(Protocol):
    """A file under review.

    Attributes:
        noun: what its groups are called (``rule``, ``pair``).
        template: the template that shows one of its items.
    """

    noun: str
    template: str
    title: str

    def items(self) -> Sequence[Item]:
        """Everything to be judged, in order."""
        ...

    def sheet(self, item: Item) -> object:
        """What stands beside the item, for the template."""
        ...

    def objection(self, item: Item, text: str) -> str | None:
        """What code holds against the text in place of the item's words; None if it could stand there."""
        ...

    def export(self, accepted: Sequence[Item], path: Path) -> int:
        """Write what was accepted; how many rows."""
        ...
