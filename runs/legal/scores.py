"""What answers add up to: accuracy and refusals of each cell, over a denominator that is always the questions.

The published figures divide by the answers that could be read, so failures vanish and cells are compared on different
questions. Here every question of a cell counts: accuracy is the share answered correctly, and what is refused, cannot
be read or never came is no right answer.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from runs.legal.rows import AnswerRow, Cell, LegalOutcome
from runs.metrics import Interval, wilson_interval

__all__ = ["CellScore", "count_answers", "score_cells"]


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

    @property
    def accuracy_of_committed(self) -> float | None:
        """Accuracy among the questions answered with an option; None where there is none."""
        committed = self.count("correct") + self.count("wrong")
        return self.count("correct") / committed if committed else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's interval of the accuracy. It takes questions as independent, which those of one case are not."""
        return wilson_interval(self.count("correct"), self.questions)


def count_answers(rows: Iterable[AnswerRow]) -> CellScore:
    return CellScore(Counter(row.outcome for row in rows))


def score_cells(rows: Iterable[AnswerRow]) -> dict[Cell, CellScore]:
    """The score of every cell, in the order of the rows."""
    counts: dict[Cell, Counter[LegalOutcome]] = {}
    for row in rows:
        counts.setdefault(row.cell, Counter())[row.outcome] += 1
    return {cell: CellScore(count) for cell, count in counts.items()}
