"""Cases to the same cases as a balanced evaluation asks them, and what became of each restatement."""

from collections.abc import Callable, Sequence

from lawtrace.agents.casting import FixedCasting
from lawtrace.agents.clients.stack import ModelClients
from lawtrace.agents.conversations.restating import Restated, restate_question
from lawtrace.agents.ledger import Context, Ledger
from lawtrace.environments.casebook.balance import balance_question, choose_restated
from lawtrace.environments.casebook.case import Case, Question
from lawtrace.runs.legal.recipe import LegalRecipe
from lawtrace.runs.legal.rows import RestatedRow
from lawtrace.runs.side_by_side import side_by_side


async def restate_questions(
    cases: Sequence[Case],
    recipe: LegalRecipe,
    *,
    clients: ModelClients,
    ledger: Ledger,
    on_question: Callable[[], None] = lambda: None,
) -> list[RestatedRow]:
    """A row for each yes/no question, in their order. All are offered to the restater, so that refusals are counted
    over all of them; half of each answer's questions are drawn from what it could do."""
    casting = FixedCasting(clients, recipe.roles.specs(), recipe.parameters, recipe.prompts.prompts())

    async def restate(question: Question) -> Restated:
        restated = await restate_question(
            question,
            casting=casting,
            context=Context(stage="restating", role="restater"),
            ledger=ledger,
            most_rounds=recipe.conversation.rounds,
        )
        on_question()
        return restated

    offered = [(case, q) for case in cases for q in case.questions if q.kind == "yes_no"]
    restated = await side_by_side(restate(question) for _, question in offered)
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
