"""Baselines without a model: rules that answer a given set of questions.

Label sets are unbalanced: if most yes/no answers are Yes and the longest option is often right, a rule that reads no
case can beat a model. So accuracy is always shown with these baselines.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lawtrace.environments.legal.case import Choice, Question
from lawtrace.runs.legal.accuracy import balanced_weights


@dataclass(frozen=True, slots=True)
class ModelFreeBaseline:
    """A rule that answers without a model.

    Attributes:
        correct: expected number of right answers; not always an integer.
        balanced: balanced accuracy (see `lawtrace.runs.legal.accuracy.balanced_weights`).
    """

    name: str
    correct: float
    questions: int
    balanced: float

    @property
    def accuracy(self) -> float:
        return self.correct / self.questions


def measure_baselines(questions: Sequence[Question]) -> tuple[ModelFreeBaseline, ...]:
    """The rules of `baseline_probabilities` with their scores; none without questions."""
    weights = balanced_weights(questions)
    return tuple(
        ModelFreeBaseline(
            name,
            sum(right),
            len(questions),
            sum(weights[question.id] * chance for question, chance in zip(questions, right, strict=True))
            / len(questions),
        )
        for name, right in baseline_probabilities(questions).items()
        if questions
    )


def baseline_probabilities(questions: Sequence[Question]) -> dict[str, list[float]]:
    """For each rule the probability that it is right on each question.

    - *random*: uniform over the question's options;
    - *majority*: the most frequent answer to questions of this kind (it needs the answers);
    - *always Yes, random letter*;
    - *always Yes, longest option*: the first of several longest options.
    """
    majority = _majority(questions)
    return {
        "random": [_chance(question) for question in questions],
        "majority": [float((*question.options, question.answer) in majority) for question in questions],
        "always Yes, random letter": [
            float(question.answer == "Yes") if question.kind == "yes_no" else _chance(question)
            for question in questions
        ],
        "always Yes, longest option": [
            float(question.answer == ("Yes" if question.kind == "yes_no" else longest_option(question)))
            for question in questions
        ],
    }


def best_baseline(baselines: Sequence[ModelFreeBaseline]) -> ModelFreeBaseline:
    """The baseline with the highest accuracy; of equals, the first."""
    return max(baselines, key=lambda baseline: baseline.accuracy)


def _chance(question: Question) -> float:
    return 1 / len(question.options) if question.options else 0.0


def longest_option(question: Question) -> Choice | None:
    """The option with most characters; the first of several. None without options."""
    return max(question.options, key=lambda choice: len(question.options[choice]), default=None)


def _majority(questions: Sequence[Question]) -> set[tuple[Choice, ...]]:
    """The options of each kind of question with the most frequent answer to it at the end."""
    answers = Counter((*question.options, question.answer) for question in questions)
    best: dict[tuple[Choice, ...], tuple[Choice, ...]] = {}
    for kind in sorted(answers, key=lambda kind: -answers[kind]):
        best.setdefault(kind[:-1], kind)
    return {*best.values()}
