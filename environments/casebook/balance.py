"""Questions without the lean of their answers: options shuffled by seed, yes/no questions restated.

What is restated is half of the questions whose answer is Yes, and half of those whose answer is No. So both answers
come out equally often, and neither form nor answer is all of one kind. A rule that takes the form for the answer (No
wherever a question was restated) still wins what always Yes won before; scores that weigh each form and answer alike
give it one half.
"""

import hashlib
import random
from collections.abc import Collection, Mapping, Sequence

from lawtrace.environments.casebook.case import LETTERS, YES_NO, Choice, Question


def shuffle_options(question: Question, seed: int) -> Question:
    """A four-option question with its options in an order drawn by seed and id; the right one keeps being right.

    Yes/no questions stay as they are: their keys are their meaning. What leaks by length stays, too.
    """
    if question.kind == "yes_no":
        return question
    order = random.Random(_digest(question.id, seed)).sample(LETTERS, len(LETTERS))
    options = {letter: question.options[old] for letter, old in zip(LETTERS, order, strict=True)}
    return question.model_copy(update={"options": options, "answer": LETTERS[order.index(question.answer)]})


def turn_question(question: Question, restated: str) -> Question:
    """A yes/no question asked with the opposite polarity: its answer flips, and options that say more than Yes and No
    give way to these."""
    options: dict[Choice, str] = {choice: choice for choice in YES_NO}
    answer: Choice = "No" if question.answer == "Yes" else "Yes"
    return question.model_copy(
        update={"text": restated, "options": options, "answer": answer, "restated_from": question.text}
    )


def choose_restated(questions: Sequence[Question], restatable: Collection[str], seed: int) -> frozenset[str]:
    """The ids of the questions to restate: for each answer as many as half of its questions, drawn by seed from those
    that can be restated; fewer where fewer can."""
    chosen: list[str] = []
    for answer in YES_NO:
        having = [question.id for question in questions if question.kind == "yes_no" and question.answer == answer]
        usable = [name for name in having if name in restatable]
        chosen += sorted(usable, key=lambda name: _digest(name, seed))[: len(having) // 2]
    return frozenset(chosen)


def balance_question(question: Question, restated: Mapping[str, str], seed: int) -> Question:
    """The question as it is asked in a balanced evaluation; ``restated`` holds the new words by id."""
    words = restated.get(question.id)
    return shuffle_options(question, seed) if words is None else turn_question(question, words)


def _digest(id: str, seed: int) -> bytes:  # noqa: A002 (the field's name)
    return hashlib.sha256(f"{seed}\0{id}".encode()).digest()
