"""The stages of a legal run for the generic runner: cases, retrieval, answers."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from lawtrace.agents.models.stack import ModelClients
from lawtrace.environments.legal.dataset import LegalDataset, load_dataset
from lawtrace.environments.legal.retrieval.embedding import Encoder, Pooling
from lawtrace.environments.progress import NoProgress, StageProgress
from lawtrace.runs.legal.legal_files import (
    ANSWERS,
    CASES,
    DATASET_ISSUES,
    RETRIEVED,
    AnswerRow,
    DatasetIssues,
    RetrievedRow,
)
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.legal.legal_stages import AnswerMaker, answer_units, ask_for_answers, copy_answer, encoders, retrieve
from lawtrace.runs.runner import Runner, open_store
from lawtrace.runs.stages.stage import Made, Stage
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_store import AnyFile, Products, StageStore
from lawtrace.schemas.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class LegalContext:
    """The shared context of the stages of a legal run."""

    recipe: LegalRecipe
    dataset: LegalDataset
    clients: ModelClients
    event_log: EventLogFile
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
    cases, recipe = products[CASES], context.recipe
    units = answer_units(cases, recipe)
    retrieved = products[RETRIEVED] if recipe.pipeline == "once" else ()
    clients, event_log = context.clients, context.event_log
    maker = AnswerMaker(cases, retrieved, recipe, clients=clients, event_log=event_log, encoder=context.encoder)
    askers = maker.askers(units)
    asked = [*dict.fromkeys(askers)]
    with context.progress.stage("answers", len(asked), lambda: str(context.clients.spent)) as step:
        made = await ask_for_answers(maker, asked, step)
    given_to = dict(zip(asked, made, strict=True))
    rows = [copy_answer(given_to[asker], unit) for asker, unit in zip(askers, units, strict=True)]
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
