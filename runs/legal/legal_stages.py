"""The stages of a legal run: retrieval, and answers to every question in every cell of the grid."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

from lawtrace.agents.concurrency import gather
from lawtrace.agents.event_log import EventLog
from lawtrace.agents.legal.embedding_endpoint import EndpointEncoder, embedding_client
from lawtrace.agents.legal.legal_team import answer_as_team
from lawtrace.agents.legal.meta_llm import LegalAnswer, answer_once
from lawtrace.agents.legal.role_calls import RoleCalls
from lawtrace.agents.models.stack import ModelClients
from lawtrace.agents.participants import RoleFailure
from lawtrace.environments.legal.case import Agent, Case, Chunk, Question, context_name, parse_context
from lawtrace.environments.legal.choice_parser import REFUSED, parse_choice, parse_text
from lawtrace.environments.legal.retrieval.embedding import CachedEncoder, Encoder, MiniLM, Pooling
from lawtrace.environments.legal.retrieval.ranking import cut_to_depth, rank_case
from lawtrace.environments.legal.retrieval.retrievers import make_ranker
from lawtrace.runs.legal.legal_files import AnswerRow, GridCell, RetrievedRow
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.model_spec import ModelSpec


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
class AnswerUnit:
    """One answer that is to be made: to a question of a case, in a cell, at a trial. It depends on no other answer."""

    cell: GridCell
    case: str
    question: str
    trial: int

    @property
    def context(self) -> Context:
        """Its conversation."""
        return Context(
            stage="answers",
            role="meta_llm",
            model=self.cell.model,
            task=self.question,
            unit=self.cell.unit,
            tested_model=self.cell.model,
            trial=self.trial,
        )


def answer_units(cases: Sequence[Case], recipe: LegalRecipe) -> list[AnswerUnit]:
    """One unit for each cell, question and trial, in that order."""
    return [
        AnswerUnit(cell, case.id, question.id, trial)
        for cell in grid_cells(recipe)
        for case in cases
        for question in case.questions
        for trial in range(recipe.trials)
    ]


def copy_answer(row: AnswerRow, unit: AnswerUnit) -> AnswerRow:
    """The answer of a unit with the prompt of another, which was asked."""
    cell = unit.cell
    if row.cell == cell:
        return row
    changes = {"context": cell.context, "retriever": cell.retriever, "depth": cell.depth, "asked_in": row.cell.unit}
    return row.model_copy(update=changes)


class AnswerMaker:
    """Makes the answers of a recipe. ``retrieved``: for the pipeline ``once``."""

    def __init__(
        self,
        cases: Sequence[Case],
        retrieved: Sequence[RetrievedRow],
        recipe: LegalRecipe,
        *,
        clients: ModelClients,
        event_log: EventLog,
        encoder: Callable[[Pooling], Encoder],
    ) -> None:
        self._recipe, self._event_log, self._encoder = recipe, event_log, encoder
        self._models = {model: recipe.role_models(clients, meta_llm=model) for model in recipe.models}
        self._hits = {(row.question, row.retriever): row.hits for row in retrieved}
        self._cases = {case.id: case for case in cases}
        self._questions = {(case.id, question.id): question for case in cases for question in case.questions}
        self._chunks = {(case.id, chunk.ref): chunk for case in cases for chunk in case.chunks}
        # No more teams work at once than calls may, so that some finish early.
        self._teams = asyncio.Semaphore(recipe.conversation.concurrency)

    def askers(self, units: Sequence[AnswerUnit]) -> list[AnswerUnit]:
        """For each unit the first one with the same prompt, of the same model at the same trial: it alone is asked.

        The prompts of two cells differ in the chunks and their order only. Teams retrieve by themselves.
        """
        if self._recipe.pipeline == "decomposed":
            return [*units]
        first: dict[tuple[object, ...], AnswerUnit] = {}
        return [
            first.setdefault((unit.cell.model, unit.question, unit.trial, self._passages(unit)), unit) for unit in units
        ]

    async def make(self, unit: AnswerUnit) -> AnswerRow:
        """The answer of a unit."""
        case, question = self._cases[unit.case], self._questions[unit.case, unit.question]
        calls = RoleCalls(self._models[unit.cell.model], unit.context, self._event_log)
        if self._recipe.pipeline == "decomposed":
            async with self._teams:
                return await self._ask_team(unit, case, question, calls)
        refs = self._passages(unit)
        passages = [self._chunks[case.id, ref] for ref in refs]
        return score_answer(
            unit, question, refs, await answer_once(question, passages, calls, may_refuse=self._recipe.may_refuse)
        )

    async def _ask_team(self, unit: AnswerUnit, case: Case, question: Question, calls: RoleCalls) -> AnswerRow:
        ranker = make_ranker(unit.cell.retriever, self._encoder)

        def search(agents: Sequence[Agent], texts: Sequence[str]) -> Sequence[Sequence[Chunk]]:
            found = rank_case(case, tuple(agents), texts, ranker, depth=unit.cell.depth, share="total")
            return [[self._chunks[case.id, hit.ref] for hit in hits] for hits in found]

        team = await answer_as_team(
            case,
            question,
            parse_context(unit.cell.context),
            search,
            calls,
            limits=self._recipe.decomposition.limits(),
            may_refuse=self._recipe.may_refuse,
        )
        shown = dict.fromkeys(ref for part in team.parts for ref in part.passages)
        row = score_answer(unit, question, [*shown], team.answer)
        return row.model_copy(update={"steps": team.parts})

    def _passages(self, unit: AnswerUnit) -> tuple[str, ...]:
        """The references of the chunks that the prompt of a unit shows, in order."""
        hits = self._hits[unit.question, unit.cell.retriever][unit.cell.context]
        return tuple(hit.ref for hit in cut_to_depth(hits, unit.cell.depth))


async def ask_for_answers(
    maker: AnswerMaker, units: Sequence[AnswerUnit], on_answer: Callable[[], None] = lambda: None
) -> list[AnswerRow]:
    """The answer of each unit, in order. The questions of a cell are asked concurrently."""

    async def make(unit: AnswerUnit) -> AnswerRow:
        row = await maker.make(unit)
        on_answer()
        return row

    rows: list[AnswerRow] = []
    for _, of_cell in groupby(units, lambda unit: unit.cell):
        rows += await gather([make(unit) for unit in of_cell])
    return rows


def score_answer(
    unit: AnswerUnit, question: Question, passages: Sequence[str], answer: LegalAnswer | RoleFailure
) -> AnswerRow:
    """The row of an answer. A refusal in plain words, without the JSON asked for, is *refused*, not *error*."""
    cell = unit.cell
    row = AnswerRow(
        case=unit.case,
        question=question.id,
        model=cell.model,
        context=cell.context,
        retriever=cell.retriever,
        depth=cell.depth,
        trial=unit.trial,
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


def retrieve(
    cases: Sequence[Case],
    recipe: LegalRecipe,
    *,
    encoder: Callable[[Pooling], Encoder],
    on_case: Callable[[], None] = lambda: None,
) -> list[RetrievedRow]:
    """Rows by retriever, case and question. The query is the question without its options (M 5.1).

    An encoder may wait for the event loop, so call this from another thread.
    """
    rows: list[RetrievedRow] = []
    for name in recipe.retrievers:
        ranker = make_ranker(name, encoder)
        for case in cases:
            queries = [question.text for question in case.questions]
            found = {
                context_name(context): rank_case(
                    case, context, queries, ranker, depth=recipe.depths[-1], share=recipe.share
                )
                for context in recipe.parsed_contexts()
            }
            rows += [
                RetrievedRow(
                    case=case.id,
                    question=question.id,
                    retriever=name,
                    hits={context: hits[place] for context, hits in found.items()},
                )
                for place, question in enumerate(case.questions)
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
