"""The stages of a legal run: retrieval, and answers to every question in every cell of the grid."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lawtrace.agents.concurrency import gather
from lawtrace.agents.event_log import Context, EventLog
from lawtrace.agents.legal.decomposition import CompletedPart, Search
from lawtrace.agents.legal.embedding_endpoint import EndpointEncoder, embedding_client
from lawtrace.agents.legal.legal_team import answer_as_team
from lawtrace.agents.legal.meta_llm import LegalAnswer, answer_once
from lawtrace.agents.legal.role_calls import RoleCalls
from lawtrace.agents.model_spec import ModelSpec
from lawtrace.agents.models.stack import ModelClients
from lawtrace.agents.participants import RoleFailure
from lawtrace.agents.role_models import ConfiguredRoleModels
from lawtrace.environments.legal.case import Agent, Case, Chunk, Question, context_name, parse_context
from lawtrace.environments.legal.choice_parser import REFUSED, parse_choice, parse_text
from lawtrace.environments.legal.retrieval.embedding import CachedEncoder, Encoder, MiniLM, Pooling
from lawtrace.environments.legal.retrieval.ranking import Ranker, cut_to_depth, rank_case
from lawtrace.environments.legal.retrieval.retrievers import make_ranker
from lawtrace.runs.legal.legal_files import AnswerRow, GridCell, PartRow, RetrievedRow
from lawtrace.runs.legal.legal_recipe import LegalRecipe


def grid_cells(recipe: LegalRecipe) -> list[GridCell]:
    """The cells in the order of their answers."""
    return [
        GridCell(model, context, retriever, depth)
        for model in recipe.models
        for retriever in recipe.retrievers
        for depth in recipe.depths
        for context in recipe.contexts
    ]


@dataclass(frozen=True, slots=True)
class CellRunner:
    """Answers the questions of one cell.

    ``ranker`` finds chunks for parts of questions; only the decomposed pipeline needs it.
    """

    cell: GridCell
    recipe: LegalRecipe
    role_models: ConfiguredRoleModels
    event_log: EventLog
    ranker: Ranker | None = None
    stage: str = "answers"

    def calls(self, question: Question, trial: int) -> RoleCalls:
        context = Context(
            stage=self.stage,
            role="meta_llm",
            model=self.cell.model,
            task=question.id,
            unit=f"{self.cell.context} {self.cell.column}",
            tested_model=self.cell.model,
            trial=trial,
        )
        return RoleCalls(self.role_models, context, self.event_log)

    async def once(self, case: Case, question: Question, passages: Sequence[Chunk], trial: int = 0) -> AnswerRow:
        """Answer from these passages with one call."""
        may_refuse = self.recipe.may_refuse
        answer = await answer_once(question, passages, self.calls(question, trial), may_refuse=may_refuse)
        return score_answer(case, question, self.cell, [chunk.ref for chunk in passages], answer, trial)

    async def decomposed(self, case: Case, question: Question, trial: int = 0) -> AnswerRow:
        """Let the team answer."""
        team = await answer_as_team(
            case,
            question,
            parse_context(self.cell.context),
            self.search(case),
            self.calls(question, trial),
            limits=self.recipe.decomposition.limits(),
            may_refuse=self.recipe.may_refuse,
        )
        shown = dict.fromkeys(ref for part in team.parts for ref in part.passages)
        row = score_answer(case, question, self.cell, list(shown), team.answer, trial)
        return row.model_copy(update={"steps": tuple(map(_part_row, team.parts))})

    def search(self, case: Case) -> Search:
        """The best chunks of some agents for each text."""
        chunks = {chunk.ref: chunk for chunk in case.chunks}

        def best(agents: Sequence[Agent], texts: Sequence[str]) -> Sequence[Sequence[Chunk]]:
            assert self.ranker is not None
            found = rank_case(case, tuple(agents), texts, self.ranker, depth=self.cell.depth, share="total")
            return [[chunks[hit.ref] for hit in hits] for hits in found]

        return best


async def ask_for_answers(
    cases: Sequence[Case],
    retrieved: Sequence[RetrievedRow],
    recipe: LegalRecipe,
    *,
    clients: ModelClients,
    event_log: EventLog,
    encoder: Callable[[Pooling], Encoder],
    on_answer: Callable[[], None] = lambda: None,
) -> list[AnswerRow]:
    """One answer for each cell, question and trial, in that order.

    The questions of a cell are asked concurrently. No more teams work at once than calls may, so that some finish
    early.
    """
    teams = asyncio.Semaphore(recipe.conversation.concurrency)
    found = {(row.question, row.context, row.retriever): row for row in retrieved}
    chunks = {(case.id, chunk.ref): chunk for case in cases for chunk in case.chunks}
    rows: list[AnswerRow] = []
    for cell in grid_cells(recipe):
        role_models = recipe.role_models(clients, meta_llm=cell.model)
        runner = CellRunner(cell, recipe, role_models, event_log, make_ranker(cell.retriever, encoder))

        async def ask(case: Case, question: Question, trial: int, runner: CellRunner = runner) -> AnswerRow:
            if recipe.pipeline == "decomposed":
                async with teams:
                    row = await runner.decomposed(case, question, trial)
            else:
                hits = found[question.id, runner.cell.context, runner.cell.retriever].hits
                passages = [chunks[case.id, hit.ref] for hit in cut_to_depth(hits, runner.cell.depth)]
                row = await runner.once(case, question, passages, trial)
            on_answer()
            return row

        rows += await gather(
            ask(case, question, trial)
            for case in cases
            for question in case.questions
            for trial in range(recipe.trials)
        )
    return rows


def score_answer(
    case: Case,
    question: Question,
    cell: GridCell,
    passages: Sequence[str],
    answer: LegalAnswer | RoleFailure,
    trial: int = 0,
) -> AnswerRow:
    """The row of an answer. A refusal in plain words, without the JSON asked for, is *refused*, not *error*."""
    row = AnswerRow(
        case=case.id,
        question=question.id,
        model=cell.model,
        context=cell.context,
        retriever=cell.retriever,
        depth=cell.depth,
        trial=trial,
        passages=tuple(passages),
        outcome="invalid",
    )
    if isinstance(answer, RoleFailure):
        if not answer.answered:
            return row.model_copy(update={"reason": f"endpoint: {answer.reason}"})
        outcome = "refused" if answer.declined else "error"
        return row.model_copy(update={"outcome": outcome, "reason": answer.reason})
    given = {"rationale": answer.rationale, "citations": answer.citations}
    if question.kind == "free_text":
        right = parse_text(answer.answer, question)
        if right == REFUSED:
            return row.model_copy(update={**given, "outcome": "refused"})
        said = (answer.answer or "").strip()
        return row.model_copy(update={**given, "outcome": "correct" if right else "wrong", "choice": said})
    choice = parse_choice(answer.answer, question.options)
    if choice is None:
        why = f"not an option: {answer.answer!r}"
        return row.model_copy(update={**given, "outcome": "error", "reason": why})
    if choice == REFUSED:
        return row.model_copy(update={**given, "outcome": "refused"})
    outcome = "correct" if choice == question.answer else "wrong"
    return row.model_copy(update={**given, "outcome": outcome, "choice": choice})


def _part_row(part: CompletedPart) -> PartRow:
    return PartRow(
        task=part.task,
        depth=part.depth,
        ended=part.ended,
        wanted=part.wanted,
        agent=part.agent,
        passages=part.passages,
        found=part.answer.answer if part.answer else None,
        citations=part.answer.citations if part.answer else (),
    )


def retrieve(
    cases: Sequence[Case],
    recipe: LegalRecipe,
    *,
    encoder: Callable[[Pooling], Encoder],
    on_case: Callable[[], None] = lambda: None,
) -> list[RetrievedRow]:
    """Rows by retriever, case, context and question. The query is the question without its options (M 5.1).

    An encoder may wait for the event loop, so call this from another thread.
    """
    rows: list[RetrievedRow] = []
    for name in recipe.retrievers:
        ranker = make_ranker(name, encoder)
        for case in cases:
            queries = [question.text for question in case.questions]
            for context in recipe.parsed_contexts():
                found = rank_case(case, context, queries, ranker, depth=recipe.depths[-1], share=recipe.share)
                rows += [
                    RetrievedRow(
                        case=case.id, question=question.id, context=context_name(context), retriever=name, hits=hits
                    )
                    for question, hits in zip(case.questions, found, strict=True)
                ]
            on_case()
    return rows


def encoders(recipe: LegalRecipe, clients: ModelClients) -> Callable[[Pooling], Encoder]:
    """The encoder for a pooling, made on first use. Call it inside the event loop of the clients.

    Vectors of the local model are cached across runs; those of an endpoint are in the event log.
    """
    loop = asyncio.get_running_loop()

    @cache
    def encoder(pooling: Pooling) -> Encoder:
        if recipe.embedding == "minilm":
            return CachedEncoder(MiniLM(pooling), _vector_cache())
        spec = ModelSpec.parse(recipe.embedding)
        client = embedding_client(clients, spec, Context(stage="retrieval", role="embedder"))
        return EndpointEncoder(client, recipe.embedding, loop)

    return encoder


def _vector_cache() -> Path:
    """The folder of cached vectors, below ``XDG_CACHE_HOME`` (``~/.cache``)."""
    home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (home if home.is_absolute() else Path("~/.cache").expanduser()) / "lawtrace" / "vectors"
