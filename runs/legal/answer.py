"""Retrieved pieces to answers: every cell of the grid, every question in it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lawtrace.agents.casting import FixedCasting
from lawtrace.agents.clients.spec import ModelSpec
from lawtrace.agents.clients.stack import ModelClients
from lawtrace.agents.conversations.answering import answer_once
from lawtrace.agents.conversations.decomposing import Limits, Part, Store, answer_as_team
from lawtrace.agents.ledger import Context, Ledger
from lawtrace.agents.roles import RoleName
from lawtrace.agents.roles.meta_llm import LegalAnswer
from lawtrace.agents.speaker import RoleFailure
from lawtrace.environments.casebook.case import Agent, Case, Chunk, Question, parse_context
from lawtrace.environments.casebook.choices import REFUSED, read_choice
from lawtrace.environments.casebook.retrieval.catalogue import make_ranker
from lawtrace.environments.casebook.retrieval.embedding import Encoder
from lawtrace.environments.casebook.retrieval.minilm import Pooling
from lawtrace.environments.casebook.retrieval.ranking import Ranker, cut_to_depth, rank_case
from lawtrace.runs.legal.recipe import LegalRecipe
from lawtrace.runs.legal.rows import AnswerRow, Cell, RetrievedRow, StepRow
from lawtrace.runs.side_by_side import side_by_side

_META: tuple[RoleName, ...] = ("meta_llm", "decomposer", "atomicity_judge", "integrator")
"""The seats that the Meta-LLM of a cell takes."""


def cells_of(recipe: LegalRecipe) -> list[Cell]:
    """The cells in the order in which they are asked."""
    return [
        Cell(model, context, retriever, depth)
        for model in recipe.models
        for retriever in recipe.retrievers
        for depth in recipe.depths
        for context in recipe.contexts
    ]


@dataclass(frozen=True, slots=True)
class Desk:
    """Where the questions of one cell are answered."""

    cell: Cell
    recipe: LegalRecipe
    casting: FixedCasting
    ledger: Ledger
    ranker: Ranker | None = None
    """Finds pieces for parts of a question; needed only where questions are decomposed."""
    stage: str = "answers"

    def context(self, question: Question) -> Context:
        return Context(
            stage=self.stage,
            role="meta_llm",
            model=self.cell.model,
            task=question.id,
            style=f"{self.cell.context} {self.cell.column}",
            conversation=self.cell.model,
        )

    async def once(self, case: Case, question: Question, passages: Sequence[Chunk]) -> AnswerRow:
        answer = await answer_once(
            question,
            passages,
            casting=self.casting,
            context=self.context(question),
            ledger=self.ledger,
            may_refuse=self.recipe.may_refuse,
        )
        return score(case, question, self.cell, [chunk.ref for chunk in passages], answer)

    async def as_team(self, case: Case, question: Question) -> AnswerRow:
        limits = Limits(self.recipe.decomposition.depth, self.recipe.decomposition.calls)
        team = await answer_as_team(
            case,
            question,
            parse_context(self.cell.context),
            self.store(case),
            casting=self.casting,
            context=self.context(question),
            ledger=self.ledger,
            limits=limits,
            may_refuse=self.recipe.may_refuse,
        )
        shown = dict.fromkeys(ref for part in team.parts for ref in part.passages)
        row = score(case, question, self.cell, list(shown), team.answer)
        return row.model_copy(update={"steps": tuple(_step(part) for part in team.parts)})

    def store(self, case: Case) -> Store:
        """Each agent's own pieces, ranked for a part's text."""
        chunks = {chunk.ref: chunk for chunk in case.chunks}

        def best(agent: Agent, text: str) -> tuple[Sequence[Chunk], float]:
            assert self.ranker is not None
            (hits,) = rank_case(case, (agent,), [text], self.ranker, depth=self.cell.depth, share="total")
            return [chunks[hit.ref] for hit in hits], hits[0].score if hits else float("-inf")

        return best


async def ask_for_answers(
    cases: Sequence[Case],
    retrieved: Sequence[RetrievedRow],
    recipe: LegalRecipe,
    *,
    clients: ModelClients,
    ledger: Ledger,
    encoder: Callable[[Pooling], Encoder],
    stage: str = "answers",
    known: Sequence[AnswerRow] = (),
    on_answer: Callable[[], None] = lambda: None,
) -> list[AnswerRow]:
    """One answer for each cell and question, in that order. Within a cell many are asked at once; what is ``known``
    stays as it is."""
    answered = {(row.cell, row.question): row for row in known}
    found = {(row.question, row.context, row.retriever): row for row in retrieved}
    chunks = {(case.id, chunk.ref): chunk for case in cases for chunk in case.chunks}
    rows: list[AnswerRow] = []
    for cell in cells_of(recipe):
        meta = ModelSpec.parse(cell.model)
        models: dict[RoleName, ModelSpec] = {**recipe.roles.specs(), **dict.fromkeys(_META, meta)}
        casting = FixedCasting(clients, models, recipe.parameters, recipe.prompts.prompts())
        desk = Desk(cell, recipe, casting, ledger, make_ranker(cell.retriever, encoder), stage)

        async def ask(case: Case, question: Question, desk: Desk = desk) -> AnswerRow:
            if earlier := answered.get((desk.cell, question.id)):
                row = earlier
            elif recipe.pipeline == "decomposed":
                row = await desk.as_team(case, question)
            else:
                hits = found[question.id, desk.cell.context, desk.cell.retriever].hits
                passages = [chunks[case.id, hit.ref] for hit in cut_to_depth(hits, desk.cell.depth)]
                row = await desk.once(case, question, passages)
            on_answer()
            return row

        rows += await side_by_side(ask(case, question) for case in cases for question in case.questions)
    return rows


def score(
    case: Case, question: Question, cell: Cell, passages: Sequence[str], answer: LegalAnswer | RoleFailure
) -> AnswerRow:
    """What came of it. A text that declines without the form asked for is a refusal too, not an error."""
    row = AnswerRow(
        case=case.id,
        question=question.id,
        model=cell.model,
        context=cell.context,
        retriever=cell.retriever,
        depth=cell.depth,
        passages=tuple(passages),
        outcome="invalid",
    )
    if isinstance(answer, RoleFailure):
        if not answer.answered:
            return row.model_copy(update={"reason": f"endpoint: {answer.reason}"})
        outcome = "refused" if answer.declined else "error"
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


def _step(part: Part) -> StepRow:
    return StepRow(
        task=part.task,
        depth=part.depth,
        ended=part.ended,
        wanted=part.wanted,
        agent=part.agent,
        passages=part.passages,
        found=part.found.answer if part.found else None,
        citations=part.found.citations if part.found else (),
    )
