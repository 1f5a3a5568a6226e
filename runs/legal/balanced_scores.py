"""A balanced evaluation beside the plain one: what is left of an accuracy once the answers no longer lean.

Two figures say it. *Balanced*: accuracy on the questions as they are asked then, half of the yes/no ones restated,
options shuffled. *Even*: the same answers, weighed so that within a kind each form and right answer counts alike (Yes,
No, each once as written and once restated; A, B, C, D): whoever goes by form or letter alone gets one half of yes/no, a
quarter of A-D.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lawtrace.environments.legal.case import Case, Question, QuestionKind
from lawtrace.runs.legal.legal_files import AnswerRow, RestatedRow
from lawtrace.runs.legal.model_free_baselines import baseline_probabilities
from lawtrace.runs.scoring.metrics import Interval
from lawtrace.runs.scoring.statistics import clustered_interval


@dataclass(frozen=True, slots=True)
class RestatementCounts:
    """How many yes/no questions of each answer there are, could be restated, and were; and why the others could not."""

    answer: str
    questions: int
    restatable: int
    asked: int


@dataclass(frozen=True, slots=True)
class KindShares:
    """Accuracy on the questions of a kind: as written, balanced, even with its interval. None where there are none."""

    plain: float | None
    balanced: float | None
    even: float | None
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class BalancedLine:
    """A model in a context, over all its columns."""

    model: str
    context: str
    whole: KindShares
    yes_no: KindShares
    four_options: KindShares


@dataclass(frozen=True, slots=True)
class BalancedBaseline:
    """A rule that needs no model, on the questions as written and balanced; ``plain`` is None where the rule needs
    restated questions."""

    name: str
    whole: KindShares
    yes_no: KindShares
    four_options: KindShares


@dataclass(frozen=True, slots=True)
class BalancedTables:
    """``invalid``: balanced questions that no answer came to through no fault of a model; they count as not correct."""

    restating: tuple[RestatementCounts, ...]
    refusals: tuple[tuple[str, int], ...]
    baselines: tuple[BalancedBaseline, ...]
    lines: tuple[BalancedLine, ...]
    invalid: int


@dataclass(frozen=True, slots=True)
class _Mark:
    """How likely an answer is right, where it belongs, and what it weighs."""

    case: str
    kind: QuestionKind
    weight: float
    right: float


def compare_balanced(
    cases: Sequence[Case],
    balanced: Sequence[Case],
    plain_answers: Sequence[AnswerRow],
    balanced_answers: Sequence[AnswerRow],
    restated: Sequence[RestatedRow],
) -> BalancedTables:
    """All tables. Both case books hold the same questions, by id; both sets of answers the same cells."""
    written = [(case.id, question) for case in cases for question in case.questions]
    asked = [(case.id, question) for case in balanced for question in case.questions]
    return BalancedTables(
        _restating([question for _, question in written], restated),
        tuple(Counter(row.refused for row in restated if row.refused).most_common()),
        _baselines(written, asked),
        _lines(written, asked, plain_answers, balanced_answers),
        sum(row.outcome == "invalid" for row in balanced_answers),
    )


def even_weights(questions: Sequence[Question]) -> dict[str, float]:
    """A weight for each question, by id: within a kind, each form and right answer that occurs weighs the same in all,
    and the weights add up to the number of questions."""
    groups = Counter((question.kind, bool(question.restated_from), question.answer) for question in questions)
    kinds = Counter(question.kind for question in questions)
    different = Counter(kind for kind, _, _ in groups)
    return {
        q.id: kinds[q.kind] / different[q.kind] / groups[q.kind, bool(q.restated_from), q.answer] for q in questions
    }


def _restating(questions: Sequence[Question], rows: Sequence[RestatedRow]) -> tuple[RestatementCounts, ...]:
    by_id = {row.question: row for row in rows}
    found: list[RestatementCounts] = []
    for answer in ("Yes", "No"):
        having = [by_id[q.id] for q in questions if q.id in by_id and q.answer == answer]
        usable = sum(row.restated is not None for row in having)
        found.append(RestatementCounts(answer, len(having), usable, sum(row.asked for row in having)))
    return tuple(found)


def _baselines(
    written: Sequence[tuple[str, Question]], asked: Sequence[tuple[str, Question]]
) -> tuple[BalancedBaseline, ...]:
    before = baseline_probabilities([question for _, question in written])
    after = baseline_probabilities([question for _, question in asked])
    weights = even_weights([question for _, question in asked])

    def marks(of: Sequence[tuple[str, Question]], right: Sequence[float]) -> list[_Mark]:
        return [_Mark(case, q.kind, weights[q.id], chance) for (case, q), chance in zip(of, right, strict=True)]

    return tuple(
        BalancedBaseline(name, *_shares(marks(written, before[name]) if name in before else [], marks(asked, right)))
        for name, right in after.items()
    )


def _lines(
    written: Sequence[tuple[str, Question]],
    asked: Sequence[tuple[str, Question]],
    plain: Sequence[AnswerRow],
    balanced: Sequence[AnswerRow],
) -> tuple[BalancedLine, ...]:
    kinds: dict[str, QuestionKind] = {question.id: question.kind for _, question in written}
    weights = even_weights([question for _, question in asked])

    def marks(rows: Sequence[AnswerRow]) -> dict[tuple[str, str], list[_Mark]]:
        found: dict[tuple[str, str], list[_Mark]] = {}
        for row in rows:
            mark = _Mark(row.case, kinds[row.question], weights[row.question], float(row.outcome == "correct"))
            found.setdefault((row.model, row.context), []).append(mark)
        return found

    before, after = marks(plain), marks(balanced)
    return tuple(
        BalancedLine(model, context, *_shares(before[model, context], members))
        for (model, context), members in after.items()
    )


def _shares(before: Sequence[_Mark], after: Sequence[_Mark]) -> tuple[KindShares, KindShares, KindShares]:
    """Of all questions, of yes/no, of four options."""
    kinds: tuple[QuestionKind | None, ...] = (None, "yes_no", "four_options")

    def shares(kind: QuestionKind | None) -> KindShares:
        plain, balanced = ([mark for mark in marks if kind in (None, mark.kind)] for marks in (before, after))
        return KindShares(_mean(plain), _mean(balanced), _even(balanced), _interval(balanced))

    whole, yes_no, four_options = (shares(kind) for kind in kinds)
    return whole, yes_no, four_options


def _mean(marks: Sequence[_Mark]) -> float | None:
    return sum(mark.right for mark in marks) / len(marks) if marks else None


def _even(marks: Sequence[_Mark]) -> float | None:
    return sum(mark.weight * mark.right for mark in marks) / sum(mark.weight for mark in marks) if marks else None


def _interval(marks: Sequence[_Mark]) -> Interval | None:
    """Of the even score, drawn by case."""
    cases = dict.fromkeys(mark.case for mark in marks)
    sums = {case: sum(mark.weight * mark.right for mark in marks if mark.case == case) for case in cases}
    sizes = {case: sum(mark.weight for mark in marks if mark.case == case) for case in cases}
    return clustered_interval([*sums.values()], [*sizes.values()])
