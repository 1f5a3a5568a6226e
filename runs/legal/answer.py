"""Retrieved pieces to answers: every cell of the grid, every question in it."""

from collections.abc import Callable, Mapping, Sequence

from agents.casting import FixedCasting
from agents.clients.spec import ModelSpec
from agents.clients.stack import ModelClients
from agents.conversations.answering import answer_once
from agents.ledger import Context, Ledger
from agents.roles.meta_llm import LegalAnswer
from agents.speaker import RoleFailure
from environments.casebook.case import Case, Chunk, Question
from environments.casebook.choices import REFUSED, declines, read_choice
from environments.casebook.retrieval.ranking import cut_to_depth
from runs.legal.recipe import LegalRecipe
from runs.legal.rows import AnswerRow, Cell, RetrievedRow
from runs.side_by_side import side_by_side

__all__ = ["ask_for_answers", "cells_of", "score"]


def cells_of(recipe: LegalRecipe) -> list[Cell]:
    """The cells in the order in which they are asked."""
    return [
        Cell(model, context, retriever, depth)
        for model in recipe.models
        for retriever in recipe.retrievers
        for depth in recipe.depths
        for context in recipe.contexts
    ]


async def ask_for_answers(
    cases: Sequence[Case],
    retrieved: Sequence[RetrievedRow],
    recipe: LegalRecipe,
    *,
    clients: ModelClients,
    ledger: Ledger,
    on_answer: Callable[[], None] = lambda: None,
) -> list[AnswerRow]:
    """One answer for each cell and question, in that order. Within a cell many are asked at once."""
    found = {(row.question, row.context, row.retriever): row for row in retrieved}
    rows: list[AnswerRow] = []
    for cell in cells_of(recipe):
        casting = FixedCasting(clients, {"meta_llm": ModelSpec.parse(cell.model)}, recipe.parameters)

        async def ask(
            case: Case,
            chunks: Mapping[str, Chunk],
            question: Question,
            cell: Cell = cell,
            casting: FixedCasting = casting,
        ) -> AnswerRow:
            hits = cut_to_depth(found[question.id, cell.context, cell.retriever].hits, cell.depth)
            context = Context(
                stage="answers",
                role="meta_llm",
                model=cell.model,
                task=question.id,
                style=f"{cell.context} {cell.column}",
                conversation=cell.model,
            )
            passages = [chunks[hit.ref] for hit in hits]
            answer = await answer_once(
                question, passages, casting=casting, context=context, ledger=ledger, may_refuse=recipe.may_refuse
            )
            on_answer()
            return score(case, question, cell, passages, answer)

        rows += await side_by_side(
            ask(case, chunks, question)
            for case in cases
            for chunks in ({chunk.ref: chunk for chunk in case.chunks},)
            for question in case.questions
        )
    return rows


def score(
    case: Case, question: Question, cell: Cell, passages: Sequence[Chunk], answer: LegalAnswer | RoleFailure
) -> AnswerRow:
    """What came of it. A text that declines without the form asked for is a refusal too, not an error."""
    row = AnswerRow(
        case=case.id,
        question=question.id,
        model=cell.model,
        context=cell.context,
        retriever=cell.retriever,
        depth=cell.depth,
        passages=tuple(chunk.ref for chunk in passages),
        outcome="invalid",
    )
    if isinstance(answer, RoleFailure):
        if not answer.answered:
            return row.model_copy(update={"reason": f"endpoint: {answer.reason}"})
        outcome = "refused" if declines(answer.text) else "error"
        return row.model_copy(update={"outcome": outcome, "reason": answer.reason})
    said = {"rationale": answer.rationale, "citations": answer.citations}
    choice = read_choice(answer.answer, question.options)
    if choice is None:
        why = f"no option is called {answer.answer!r}"
        return row.model_copy(update={**said, "outcome": "error", "reason": why})
    if choice == REFUSED:
        return row.model_copy(update={**said, "outcome": "refused"})
    outcome = "correct" if choice == question.answer else "wrong"
    return row.model_copy(update={**said, "outcome": outcome, "choice": choice})
