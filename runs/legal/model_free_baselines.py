"""What accuracy is worth nothing: answers found without a model, computed from the questions at hand.

Every published label set leaks. Where most yes/no answers are Yes and the longest option is often the right one, a rule
that reads no case beats many models, so no accuracy is shown without these beside it.
"""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass

from lawtrace.environments.legal.case import LETTERS, YES_NO, Choice, Question
from lawtrace.environments.legal.retrieval.tokenizer import tokenize


@dataclass(frozen=True, slots=True)
class ModelFreeBaseline:
    """A rule that answers without a model. ``correct``: how many answers are expected to be right; not always whole."""

    name: str
    correct: float
    questions: int

    @property
    def accuracy(self) -> float:
        return self.correct / self.questions if self.questions else 0.0


def measure_baselines(questions: Sequence[Question]) -> tuple[ModelFreeBaseline, ...]:
    """The rules of `baseline_probabilities`, each with how many answers are expected to be right; none where there
    is no question."""
    found = baseline_probabilities(questions) if questions else {}
    return tuple(ModelFreeBaseline(name, sum(right), len(questions)) for name, right in found.items())


def baseline_probabilities(questions: Sequence[Question]) -> dict[str, list[float]]:
    """For each rule that needs nothing but the questions, how likely it is right on each of them.

    - *random*: uniform over the question's options;
    - *majority*: the answer most frequent among the questions of its kind (known only to who holds the answers);
    - *always Yes, random letter*;
    - *always Yes, longest option*: of several longest ones, the first;
    - *Yes, No where restated, longest option*: only where some question was restated. It sees through that at once.
    """
    majority = _majority(questions)
    found = {
        "random": [1 / len(question.options) for question in questions],
        "majority": [float(question.answer in majority) for question in questions],
        "always Yes, random letter": [
            0.25 if question.kind == "four_options" else float(question.answer == "Yes") for question in questions
        ],
        "always Yes, longest option": [
            float(question.answer == _longest_or(question, "Yes")) for question in questions
        ],
    }
    if any(question.restated_from for question in questions):
        found["Yes, No where restated, longest option"] = [
            float(question.answer == _longest_or(question, "No" if question.restated_from else "Yes"))
            for question in questions
        ]
    return found


def lexical_baseline(asked: Sequence[tuple[Question, Sequence[str]]]) -> ModelFreeBaseline:
    """Comparing words with what was retrieved: always Yes; of four options the one with the largest share of its words
    in the texts, as an expectation over equals."""
    correct = 0.0
    for question, texts in asked:
        if question.kind == "yes_no":
            correct += question.answer == "Yes"
            continue
        known = {word for text in texts for word in tokenize(text)}
        shares = {choice: _share_of_words(option, known) for choice, option in question.options.items()}
        best = [choice for choice, share in shares.items() if share == max(shares.values())]
        correct += (question.answer in best) / len(best)
    return ModelFreeBaseline("always Yes, option with most of its words retrieved", correct, len(asked))


def _share_of_words(text: str, known: Set[str]) -> float:
    words = tokenize(text)
    return sum(word in known for word in words) / len(words) if words else 0.0


def best_baseline(baselines: Sequence[ModelFreeBaseline]) -> ModelFreeBaseline:
    """The one with the highest accuracy; of equals, the first."""
    return max(baselines, key=lambda baseline: baseline.accuracy)


def skill(accuracy: float, baseline: float) -> float | None:
    """How much of what the baseline leaves open is won: (accuracy - baseline) / (1 - baseline). 0 is the baseline, 1 is
    perfect, below 0 is worse than no model at all. None where the baseline is perfect."""
    return (accuracy - baseline) / (1 - baseline) if baseline < 1 else None


def longest_option(question: Question) -> Choice:
    """The option with most characters, the first of several."""
    return max(question.options, key=lambda choice: len(question.options[choice]))


def _longest_or(question: Question, said: Choice) -> Choice:
    return longest_option(question) if question.kind == "four_options" else said


def _majority(questions: Sequence[Question]) -> set[Choice]:
    """The most frequent answer of each kind."""
    answers = Counter(question.answer for question in questions)
    return {max(keys, key=lambda choice: answers[choice]) for keys in (YES_NO, LETTERS)}
