"""The recipe of a review: who reviews, in how many rounds, and what it takes to be accepted.

[review]
reviewers = ["ada", "ben", "cleo"]   # or a number, whoever they are
rounds = 3
decision = "unanimous"
quota = 40                           # of tasks: stop at so many accepted pairs
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from lawtrace.runs.recipe import Options, distinct
from lawtrace.runs.recipe_file import read_recipe

Reviewers = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(distinct)]


class Protocol(Options):
    """How a review goes. An item that a round does not accept is in no later round."""

    reviewers: Reviewers | Annotated[int, Field(ge=1, le=100)] = 1
    rounds: int = Field(default=1, ge=1, le=20)
    decision: Literal["unanimous", "majority"] = "unanimous"
    quota: int | None = Field(default=None, ge=1)

    @property
    def needed(self) -> int:
        """How many opinions a round needs."""
        return self.reviewers if isinstance(self.reviewers, int) else len(self.reviewers)

    def admits(self, reviewer: str) -> bool:
        return isinstance(self.reviewers, int) or reviewer in self.reviewers

    def accepts(self, votes: int) -> bool:
        """Whether so many votes for an item, of all that a round needs, accept it."""
        return votes == self.needed if self.decision == "unanimous" else 2 * votes > self.needed


class _File(Options):
    review: Protocol = Protocol()


def load_protocol(path: Path) -> Protocol:
    """Read the recipe of a review. Raises InputError naming the file and the key."""
    return read_recipe(path, _File).review
