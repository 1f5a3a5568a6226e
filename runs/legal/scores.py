"""What answers add up to: accuracy and refusals of each cell, over a denominator that is always the questions.

The published figures divide by the answers that could be read, so failures vanish and cells are compared on different
questions. Here every question of a cell counts: accuracy is the share answered correctly, and what is refused, cannot
be read or never came is no right answer.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lawtrace.runs.legal.rows import AnswerRow, LegalOutcome


@dataclass(frozen=True, slots=True)
class CellScore:
    """How often each outcome occurred among the questions of a cell."""

    counts: Mapping[LegalOutcome, int]

    def count(self, outcome: LegalOutcome) -> int:
        return self.counts.get(outcome, 0)

    def share(self, outcome: LegalOutcome) -> float:
        return self.count(outcome) / self.questions if self.questions else 0.0

    @property
    def questions(self) -> int:
        return sum(self.counts.values())

    @property
    def accuracy(self) -> float:
        return self.share("correct")

    @property
    def refusals(self) -> float:
        return self.share("refused")


def count_answers(rows: Iterable[AnswerRow]) -> CellScore:
    return CellScore(Counter(row.outcome for row in rows))
