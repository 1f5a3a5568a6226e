"""What accuracy is worth nothing: answers found without a model, computed from the questions at hand.

Every published label set leaks. Where most yes/no answers are Yes and the longest option is often the right one, a rule
that reads no case beats many models, so no accuracy is shown without these beside it.
"""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass

from environments.casebook.case import Choice, Question
from environments.casebook.retrieval.words import words_of

__all__ = ["Baseline", "best_baseline", "lexical_baseline", "measure_baselines", "skill"]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A rule that answers without a model. ``correct``: how many answers are expected to be right; not always whole."""

    name: str
    correct: float
    questions: int

    @property
    def accuracy(self) -> float:
        return self.correct / self.questions if self.questions else 0.0


def measure_baselines(questions: Sequence[Question]) -> tuple[Baseline, ...]:
    """The rules that need nothing but the questions; none where there is no question.

    - *random*: uniform over the question's options, as an expectation;
    - *majority*: the answer most frequent among the questions of its kind (known only to who holds the answers);
    - *always Yes, random letter*: an expectation;
    - *always Yes, longest option*: of several longest ones, the first.
    """
    if not questions:
        return ()
    four = [question for question in questions if question.kind == "four_options"]
    yes = sum(question.answer == "Yes" for question in questions)
    longest = sum(longest_option(question) == question.answer for question in four)
    measured = {
        "random": sum(1 / len(question.options) for question in questions),
        "majority": _majority(questions),
        "always Yes, random letter": yes + len(four) / 4,
        "always Yes, longest option": yes + longest,
    }
    return tuple(Baseline(name, correct, len(questions)) for name, correct in measured.items())


def lexical_baseline(asked: Sequence[tuple[Question, Sequence[str]]]) -> Baseline:
    """Comparing words with what was retrieved: always Yes; of four options the one with the largest share of its words
    in the texts, as an expectation over equals."""
    correct = 0.0
    for question, texts in asked:
        if question.kind == "yes_no":
            correct += question.answer == "Yes"
            continue
        known = {word for text in texts for word in words_of(text)}
        shares = {choice: _share_of_words(option, known) for choice, option in question.options.items()}
        best = [choice for choice, share in shares.items() if share == max(shares.values())]
        correct += (question.answer in best) / len(best)
    return Baseline("always Yes, option with most of its words retrieved", correct, len(asked))


def _share_of_words(text: str, known: Set[str]) -> float:
    words = words_of(text)
    return sum(word in known for word in words) / len(words) if words else 0.0


def best_baseline(baselines: Sequence[Baseline]) -> Baseline:
    """The one with the highest accuracy; of equals, the first."""
    return max(baselines, key=lambda baseline: baseline.accuracy)


def skill(accuracy: float, baseline: float) -> float | None:
    """How much of what the baseline leaves open is won: (accuracy - baseline) / (1 - baseline). 0 is the baseline, 1 is
    perfect, below 0 is worse than no model at all. None where the baseline is perfect."""
    return (accuracy - baseline) / (1 - baseline) if baseline < 1 else None


def longest_option(question: Question) -> Choice:
    """The option with most characters, the first of several."""
    return max(question.options, key=lambda choice: len(question.options[choice]))


def _majority(questions: Sequence[Question]) -> int:
    answers = Counter((question.kind, question.answer) for question in questions)
    return sum(
        max((count for (of, _), count in answers.items() if of == kind), default=0)
        for kind in ("yes_no", "four_options")
    )
