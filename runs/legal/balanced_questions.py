"""Questions without the lean of their answers: options shuffled by seed, yes/no questions restated.

What is restated is half of the questions whose answer is Yes, and half of those whose answer is No. So both answers
come out equally often, and neither form nor answer is all of one kind. A rule that takes the form for the answer (No
wherever a question was restated) still wins what always Yes won before; scores that weigh each form and answer alike
give it one half.
"""

import hashlib
import random
from collections.abc import Callable, Collection, Mapping, Sequence

from lawtrace.agents.event_log import Context, EventLog
from lawtrace.agents.legal.restater import RestatementResult, restate_question
from lawtrace.agents.models.stack import ModelClients
from lawtrace.environments.legal.case import LETTERS, YES_NO, Case, Choice, Question
from lawtrace.runs.legal.legal_files import RestatedRow
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.stages.concurrency import gather


def shuffle_options(question: Question, seed: int) -> Question:
    """A four-option question with its options in an order drawn by seed and id; the right one keeps being right.

    Yes/no questions stay as they are: their keys are their meaning. What leaks by length stays, too.
    """
    if question.kind == "yes_no":
        return question
    order = random.Random(_digest(question.id, seed)).sample(LETTERS, len(LETTERS))
    options = {letter: question.options[old] for letter, old in zip(LETTERS, order, strict=True)}
    return question.model_copy(update={"options": options, "answer": LETTERS[order.index(question.answer)]})


def negate_question(question: Question, restated: str) -> Question:
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
    return shuffle_options(question, seed) if words is None else negate_question(question, words)


def _digest(id: str, seed: int) -> bytes:  # noqa: A002 (the field's name)
    return hashlib.sha256(f"{seed}\0{id}".encode()).digest()


async def restate_questions(
    cases: Sequence[Case],
    recipe: LegalRecipe,
    *,
    clients: ModelClients,
    event_log: EventLog,
    on_question: Callable[[], None] = lambda: None,
) -> list[RestatedRow]:
    """A row for each yes/no question, in their order. All are offered to the restater, so that refusals are counted
    over all of them; half of each answer's questions are drawn from what it could do."""
    role_models = recipe.role_models(clients)

    async def restate(question: Question) -> RestatementResult:
        restated = await restate_question(
            question,
            role_models=role_models,
            context=Context(stage="restating", role="restater"),
            event_log=event_log,
            most_rounds=recipe.conversation.rounds,
        )
        on_question()
        return restated

    offered = [(case, q) for case in cases for q in case.questions if q.kind == "yes_no"]
    restated = await gather(restate(question) for _, question in offered)
    usable = {q.id for (_, q), said in zip(offered, restated, strict=True) if said.text is not None}
    drawn = choose_restated([question for _, question in offered], usable, recipe.seed)
    return [
        RestatedRow(case=case.id, question=q.id, restated=said.text, refused=said.refused, asked=q.id in drawn)
        for (case, q), said in zip(offered, restated, strict=True)
    ]


def balance_cases(cases: Sequence[Case], rows: Sequence[RestatedRow], seed: int) -> tuple[Case, ...]:
    """The cases with their questions as the balanced evaluation asks them."""
    restated = {row.question: row.restated for row in rows if row.asked and row.restated is not None}
    return tuple(
        case.model_copy(update={"questions": tuple(balance_question(q, restated, seed) for q in case.questions)})
        for case in cases
    )
