"""Questions without the lean of their letters: options shuffled by seed."""

import hashlib
import random

from environments.casebook.case import LETTERS, Question

__all__ = ["shuffle_options"]


def shuffle_options(question: Question, seed: int) -> Question:
    """A four-option question with its options in an order drawn by seed and id; the right one keeps being right.

    Yes/no questions stay as they are: their keys are their meaning. What leaks by length stays, too.
    """
    if question.kind == "yes_no":
        return question
    digest = hashlib.sha256(f"{seed}\0{question.id}".encode()).digest()
    order = random.Random(digest).sample(LETTERS, len(LETTERS))
    options = {letter: question.options[old] for letter, old in zip(LETTERS, order, strict=True)}
    return question.model_copy(update={"options": options, "answer": LETTERS[order.index(question.answer)]})
