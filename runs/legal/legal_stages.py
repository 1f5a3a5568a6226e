"""The stages of a legal run: cases, retrieval, and answers to every question in every cell of the grid."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import groupby, product
from pathlib import Path

from lawtrace.agents.concurrency import gather
from lawtrace.agents.event_log import EventLog
from lawtrace.agents.legal.embedding_endpoint import endpoint_encoder
from lawtrace.agents.legal.legal_team import answer_as_team
from lawtrace.agents.legal.meta_llm import LegalAnswer, answer_once
from lawtrace.agents.legal.role_calls import RoleCalls
from lawtrace.agents.models.stack import ModelClients
from lawtrace.agents.participants import RoleFailure
from lawtrace.environments.legal.case import Agent, Case, Chunk, Question, context_name, parse_context
from lawtrace.environments.legal.choice_parser import REFUSED, parse_choice, parse_text
from lawtrace.environments.legal.dataset import LegalDataset, load_dataset
from lawtrace.environments.legal.retrieval.embedding import CachedEncoder, Encoder, MiniLM, Pooling
from lawtrace.environments.legal.retrieval.ranking import cut_to_depth, rank_case
from lawtrace.environments.legal.retrieval.retrievers import make_ranker
from lawtrace.environments.progress import NoProgress, StageProgress
from lawtrace.runs.legal.legal_files import (
    ANSWERS,
    CASES,
    DATASET_ISSUES,
    RETRIEVED,
    AnswerRow,
    DatasetIssues,
    GridCell,
    RetrievedRow,
)
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.runner import Runner, open_store
from lawtrace.runs.stages.stage import Made, Stage
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_store import AnyFile, Products, StageStore
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.model_spec import ModelSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class LegalContext:
    """The shared context of the stages of a legal run."""

    recipe: LegalRecipe
    dataset: LegalDataset
    clients: ModelClients
    event_log: EventLog
    progress: StageProgress
    encoder: Callable[[Pooling], Encoder]

    def recipe_key(self, *fields: str) -> dict[str, object]:
        """The part of the stage key for fields of the recipe."""
        return {field: getattr(self.recipe, field) for field in fields}


async def _copy_cases(context: LegalContext, _: Products) -> Made:
    dataset = context.dataset
    issues = DatasetIssues(problems=dataset.problems, missing=dataset.missing)
    return Made().add(DATASET_ISSUES, [issues]).add(CASES, dataset.cases)


async def _retrieve(context: LegalContext, products: Products) -> Made:
    cases, recipe = products[CASES], context.recipe
    with context.progress.stage("retrieval", len(cases) * len(recipe.retrievers)) as step:
        rows = await asyncio.to_thread(retrieve, cases, recipe, encoder=context.encoder, on_case=step)
    return Made().add(RETRIEVED, rows)


async def _answer(context: LegalContext, products: Products) -> Made:
    """Ask each prompt once, of each model at each trial: the prompts of cells differ in the chunks and their order
    only. Teams retrieve by themselves, and each is asked."""
    cases, team = products[CASES], context.recipe.pipeline == "decomposed"
    units = _units(cases, context.recipe, () if team else products[RETRIEVED])
    first: dict[object, AnswerRow] = {}
    asked_in = [
        first.setdefault(number if team else (unit.model, unit.question, unit.trial, unit.passages), unit)
        for number, unit in enumerate(units)
    ]
    maker = _AnswerMaker(context, cases)
    made: list[AnswerRow] = []
    with context.progress.stage("answers", len(first), lambda: str(context.clients.spent)) as step:
        for _, of_cell in groupby(first.values(), lambda unit: unit.cell):
            made += await gather([maker.make(unit, step) for unit in of_cell])
    given = dict(zip(map(id, first.values()), made, strict=True))
    rows = [_for_cell(given[id(asker)], unit.cell) for asker, unit in zip(asked_in, units, strict=True)]
    return Made(complete=not any(row.outcome == "invalid" for row in rows)).add(ANSWERS, rows)


def _answers_need(context: LegalContext) -> tuple[AnyFile, ...]:
    return (CASES, RETRIEVED) if context.recipe.pipeline == "once" else (CASES,)


def _answers_depend(context: LegalContext) -> Mapping[str, object]:
    fields = ("models", "contexts", "retrievers", "depths", "trials", "pipeline", "may_refuse")
    if context.recipe.pipeline == "once":
        return {**context.recipe_key(*fields), **context.recipe.roles_key("meta_llm")}
    team = context.recipe.team_roles()
    return {**context.recipe_key(*fields, "decomposition", "embedding"), **context.recipe.roles_key(*team)}


LEGAL_STAGES: tuple[Stage[LegalContext, LegalContext], ...] = (
    Stage(
        name="cases",
        produces=(DATASET_ISSUES, CASES),
        depends=lambda context: {"cases": context.dataset.cases, "problems": list(map(str, context.dataset.problems))},
        run=_copy_cases,
    ),
    Stage(
        name="retrieval",
        produces=(RETRIEVED,),
        needs=lambda _: (CASES,),
        depends=lambda context: {
            **context.recipe_key("contexts", "retrievers", "depths", "share", "embedding"),
            # `--reuse` takes no file of an earlier version
            "rows": RetrievedRow.model_fields["schema_version"].default,
        },
        run=_retrieve,
    ),
    Stage(name="answers", produces=(ANSWERS,), needs=_answers_need, depends=_answers_depend, run=_answer),
)


def grid_cells(recipe: LegalRecipe) -> list[GridCell]:
    """The cells in the order of their answers."""
    axes = product(recipe.models, recipe.retrievers, recipe.depths, recipe.contexts)
    return [GridCell(model, context, retriever, depth) for model, retriever, depth, context in axes]


def _units(cases: Sequence[Case], recipe: LegalRecipe, retrieved: Sequence[RetrievedRow]) -> list[AnswerRow]:
    """A row without an answer for each cell, question and trial, with the passages that were retrieved for it."""
    hits = {(row.question, row.retriever): row.hits for row in retrieved}
    return [
        AnswerRow(
            case=case.id,
            question=question.id,
            **asdict(cell),
            trial=trial,
            passages=tuple(hit.ref for hit in cut_to_depth(hits[question.id, cell.retriever][cell.context], cell.depth))
            if hits
            else (),
            outcome="invalid",
        )
        for cell in grid_cells(recipe)
        for case in cases
        for question in case.questions
        for trial in range(recipe.trials)
    ]


def _for_cell(row: AnswerRow, cell: GridCell) -> AnswerRow:
    """The answer in a cell with the prompt of another, which was asked."""
    if row.cell == cell:
        return row
    return row.model_copy(update={**asdict(cell), "asked_in": row.cell.unit})


class _AnswerMaker:
    """Makes the answers of a recipe."""

    def __init__(self, context: LegalContext, cases: Sequence[Case]) -> None:
        self._context, self._recipe = context, context.recipe
        self._models = {
            model: self._recipe.role_models(context.clients, meta_llm=model) for model in self._recipe.models
        }
        self._cases = {case.id: case for case in cases}
        self._questions = {(case.id, question.id): question for case in cases for question in case.questions}
        self._chunks = {(case.id, chunk.ref): chunk for case in cases for chunk in case.chunks}
        # No more teams work at once than calls may, so that some finish early.
        self._teams = asyncio.Semaphore(self._recipe.conversation.concurrency)

    async def make(self, unit: AnswerRow, on_answer: Callable[[], None]) -> AnswerRow:
        """The row with its answer."""
        question = self._questions[unit.case, unit.question]
        calls = RoleCalls(self._models[unit.model], unit.conversation, self._context.event_log)
        may_refuse = self._recipe.may_refuse
        if self._recipe.pipeline == "decomposed":
            async with self._teams:
                row = await self._ask_team(unit, question, calls)
        else:
            passages = [self._chunks[unit.case, ref] for ref in unit.passages]
            row = score_answer(unit, question, await answer_once(question, passages, calls, may_refuse=may_refuse))
        on_answer()
        return row

    async def _ask_team(self, unit: AnswerRow, question: Question, calls: RoleCalls) -> AnswerRow:
        case, ranker = self._cases[unit.case], make_ranker(unit.retriever, self._context.encoder)

        def search(agents: Sequence[Agent], texts: Sequence[str]) -> Sequence[Sequence[Chunk]]:
            found = rank_case(case, tuple(agents), texts, ranker, depth=unit.depth, share="total")
            return [[self._chunks[case.id, hit.ref] for hit in hits] for hits in found]

        team = await answer_as_team(
            case,
            question,
            parse_context(unit.context),
            search,
            calls,
            limits=self._recipe.decomposition,
            may_refuse=self._recipe.may_refuse,
        )
        shown = dict.fromkeys(ref for part in team.parts for ref in part.passages)
        asked = unit.model_copy(update={"passages": tuple(shown), "steps": team.parts})
        return score_answer(asked, question, team.answer)


def score_answer(unit: AnswerRow, question: Question, answer: LegalAnswer | RoleFailure) -> AnswerRow:
    """The row with an answer. A refusal in plain words, without the JSON asked for, is *refused*, not *error*."""
    if isinstance(answer, RoleFailure):
        if not answer.answered:
            return unit.model_copy(update={"reason": f"endpoint: {answer.reason}"})
        outcome = "refused" if answer.declined else "error"
        return unit.model_copy(update={"outcome": outcome, "reason": answer.reason})
    row = unit.model_copy(update={"rationale": answer.rationale, "citations": answer.citations})
    if question.kind == "free_text":
        choice, right = (answer.answer or "").strip(), parse_text(answer.answer, question)
    else:
        choice = parse_choice(answer.answer, question.options)
        right = REFUSED if choice == REFUSED else choice == question.answer
    if right == REFUSED:
        return row.model_copy(update={"outcome": "refused"})
    if choice is None:
        return row.model_copy(update={"outcome": "error", "reason": f"not an option: {answer.answer!r}"})
    return row.model_copy(update={"outcome": "correct" if right else "wrong", "choice": choice})


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

    Vectors of the local model are cached across runs, below ``XDG_CACHE_HOME`` (``~/.cache``); those of an endpoint
    are in the event log.
    """
    loop, named = asyncio.get_running_loop(), Path(os.environ.get("XDG_CACHE_HOME", ""))
    cache_home = named if named.is_absolute() else Path("~/.cache").expanduser()

    @cache
    def encoder(pooling: Pooling) -> Encoder:
        if recipe.embedding == "minilm":
            return CachedEncoder(MiniLM(pooling), cache_home / "lawtrace" / "vectors")
        place = Context(stage="retrieval", role="embedder")
        return endpoint_encoder(clients, ModelSpec.parse(recipe.embedding), place, loop)

    return encoder


@asynccontextmanager
async def open_legal_clients(recipe: LegalRecipe, event_log: EventLogFile) -> AsyncGenerator[ModelClients]:
    """The model clients of a run. Answers from before an interruption are not requested again."""
    resumed = any(True for _ in event_log.entries(kind="resumed"))
    async with ModelClients(
        event_log, settings=recipe, open_replay=EventLogFile.open, earlier=event_log if resumed else None
    ) as clients:
        yield clients


async def run_legal(
    recipe: LegalRecipe,
    folder: RunFolder,
    *,
    event_log: EventLogFile,
    dataset: LegalDataset,
    progress: StageProgress | None = None,
    reuse: Path | None = None,
) -> list[AnswerRow]:
    """Run all stages of a recipe and return the answers.

    Args:
        event_log: open for writing; answers from before an interruption are not requested again.
        reuse: the folder of another run; its files are used if their inputs are the same.
    """
    async with open_legal_clients(recipe, event_log) as clients:
        context = LegalContext(
            recipe=recipe,
            dataset=dataset,
            clients=clients,
            event_log=event_log,
            progress=progress or NoProgress(),
            encoder=encoders(recipe, clients),
        )
        runner = Runner(
            LEGAL_STAGES,
            context,
            folder=folder.path,
            store=StageStore(folder.path, event_log.entries(kind="stage")),
            event_log=event_log,
            reuse=None if reuse is None else open_store(reuse),
        )
        return (await runner.make(RETRIEVED, ANSWERS))[ANSWERS]


def load_cases_with_questions(path: Path) -> LegalDataset:
    """The dataset at the path. Raises InputError if it has no question."""
    dataset = load_dataset(path)
    if not any(case.questions for case in dataset.cases):
        raise InputError(f"{path}: no case has a question; `lawtrace legal twins CASE` writes them")
    return dataset


def load_recorded_dataset(run: Path, advice: str) -> LegalDataset:
    """The dataset that a run copied into its folder. Raises InputError with the advice if it stopped before that."""
    if not (run / CASES.name).exists():
        raise InputError(f"{run}: the run stopped before it copied its cases; {advice}")
    (issues,) = DATASET_ISSUES.read(run / DATASET_ISSUES.name)
    return replace(load_cases_with_questions(run / CASES.name), problems=issues.problems)
