"""The runner: runs the stages that produce the requested files.

`lawtrace run` requests verdicts and findings, a stage command the file of one stage. Files that the store has under the
same key are copied, so an interrupted run, the variants of an ablation and a run that reuses another one never repeat
work.
"""

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import KW_ONLY, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Generic, TypedDict, TypeVar, Unpack

from pydantic import BaseModel
from structlog.contextvars import bound_contextvars

from lawtrace.agents.event_log import EventLog
from lawtrace.agents.models.stack import ModelClients
from lawtrace.environments.logs import get_logger
from lawtrace.environments.progress import NoProgress, StageProgress
from lawtrace.environments.sandbox import Sandbox
from lawtrace.runs.stages.artifacts import ATTEMPTS, FINDINGS, TASKS, VERDICTS
from lawtrace.runs.stages.cluster_jobs import Cluster
from lawtrace.runs.stages.pipeline import run_targets, task_stages
from lawtrace.runs.stages.resolve import ResolvedRecipe
from lawtrace.runs.stages.stage import EmptyStageError, NoResponseError, Stage, StageContext, StageInputs, planned_keys
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import NOT_MADE, RunFolder
from lawtrace.runs.store.shards import WHOLE, Shard
from lawtrace.runs.store.stage_files import file_digest, write_rows
from lawtrace.runs.store.stage_store import AnyFile, Products, StageFile, StageStore, copy_file, stage_key
from lawtrace.runs.tasks import Task
from lawtrace.runs.variants import VariantRow
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.errors import InputError, SearchError
from lawtrace.schemas.findings import Findings
from lawtrace.schemas.log_entries import StageFinished
from lawtrace.schemas.recipe import Recipe
from lawtrace.schemas.verdict_rows import Verdict

log = get_logger(__name__)

Row = TypeVar("Row", bound=BaseModel)
Context = TypeVar("Context")


@dataclass(eq=False)
class Runner(Generic[Context]):
    """Runs stages in dependency order, each at most once.

    Attributes:
        folder: the output folder.
        store: the store of the run; its folder contains ``folder``.
        reuse: the store of another run; its files are used if the keys match.
        shard: the part that is made of the units of sharded stages.
        only_stored: stage -> why it is not run: its files must be in a store.
        keys: stage -> key of its files, for the stages run or found so far.
        whole_keys: stage -> key of its files without shards.
    """

    stages: Sequence[Stage[Context, Context]]
    context: Context
    _: KW_ONLY
    folder: Path
    store: StageStore
    event_log: EventLog
    reuse: StageStore | None = None
    shard: Shard = WHOLE
    only_stored: Mapping[str, str] = field(default_factory=dict[str, str])
    keys: dict[str, str] = field(init=False, default_factory=dict[str, str])
    whole_keys: dict[str, str] = field(init=False, default_factory=dict[str, str])
    products: Products = field(init=False, default_factory=Products)

    def __post_init__(self) -> None:
        self._producers = {file.name: stage for stage in self.stages for file in stage.produces}

    def give(self, file: StageFile[Row], rows: Sequence[Row]) -> None:
        """Use these rows for the file instead of running its stage."""
        self.products.put(file, rows, stage_key([row.model_dump(mode="json") for row in rows]))

    async def make(self, *targets: AnyFile, incomplete: bool = False) -> Products:
        """Make the files and their dependencies. ``incomplete``: the stage of a target may lack a usable result."""
        for target in targets:
            await self._make(target)
            if not incomplete:
                self._require(target)
        return self.products

    async def _make(self, file: AnyFile) -> None:
        if file in self.products:
            return
        stage = self._producers[file.name]
        needs = stage.needs(self.context)
        for need in needs:
            await self._make(need)
            self._require(need)
        inputs = {need.name: self.products.digest(need) for need in needs}
        key = stage_key(stage.name, version("lawtrace"), stage.depends(self.context), inputs)
        self.whole_keys[stage.name] = key
        if stage.sharded and not self.shard.is_whole:
            key = stage_key(key, str(self.shard))
        if not self._take(stage, key):
            await self._run(stage, key)
        self.keys[stage.name] = key

    def _require(self, file: AnyFile) -> None:
        """Raise the error of the stage that made the file, if it has one."""
        stage = self._producers.get(file.name)
        error = self.store.errors.get(self.keys.get(stage.name, "")) if stage is not None else None
        if error is not None:
            raise error

    def _take(self, stage: Stage[Context, Context], key: str) -> bool:
        """Copy the files from the store if it has them; return whether it has."""
        names = [file.name for file in stage.produces]
        found = self.store.find(key, names)
        if found is None and self.reuse is not None:
            found = self.reuse.find(key, names)
        if found is None:
            return False
        for file in stage.produces:
            path = self.folder / file.name
            copy_file(found[file.name], path)
            self._finish(stage, key, file, path, file.read(path), new=path != found[file.name])
        return True

    async def _run(self, stage: Stage[Context, Context], key: str) -> None:
        if stage.name in self.only_stored:
            raise InputError(self.only_stored[stage.name])
        started = time.monotonic()
        log.info("stage started", stage=stage.name)
        made = await stage.run(self.context, self.products)
        rows_made = {file.name: len(made.rows[file.name]) for file in stage.produces}
        log.info("stage ended", stage=stage.name, rows=rows_made, seconds=round(time.monotonic() - started, 3))
        if made.error is not None:
            self.store.errors[key] = made.error
        for file in stage.produces:
            path = self.folder / file.name
            rows = made.rows[file.name]
            file.write(path, rows)
            self._finish(stage, key, file, path, rows, complete=made.complete)

    def _finish(
        self,
        stage: Stage[Context, Context],
        key: str,
        file: AnyFile,
        path: Path,
        rows: Sequence[BaseModel],
        *,
        complete: bool = True,
        new: bool = True,
    ) -> None:
        sha256 = file_digest(path)
        self.products.put(file, rows, sha256)
        self.store.add(key, path, sha256)
        if not new:
            return
        place = path.relative_to(self.store.folder).as_posix()
        recorded = key if complete and key not in self.store.incomplete else ""
        if not complete:
            self.store.incomplete.add(key)
        self.event_log.record(StageFinished(stage=stage.name, key=recorded, file=place, sha256=sha256, rows=len(rows)))


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run over tasks: its recipe, its folder and its results."""

    recipe: Recipe
    folder: RunFolder
    tasks: Sequence[Task]
    attempts: Sequence[Attempt]
    verdicts: Sequence[Verdict]
    findings: Findings


@dataclass(frozen=True, slots=True)
class VariantResult:
    """One variant, and its run if it has one."""

    row: VariantRow
    result: RunResult | None


class SessionOptions(TypedDict, total=False):
    """How a run is carried out.

    Attributes:
        reuse: the folder of another run; its files are used if their inputs are the same.
        sandbox: start the sandbox first, so that no answer is paid for if programs cannot run.
        shard: the part that is made of the units of sharded stages, with its share of the budget; None for all.
        cluster: other processes that search for traces and execute answers.
        unanswered: key -> a file that lacks answers, and is used in this session nevertheless.
    """

    progress: StageProgress
    reuse: Path | None
    sandbox: bool
    shard: Shard | None
    cluster: Cluster | None
    unanswered: Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class Session:
    """An active run, or a shard of one: model clients, sandbox, event log and store."""

    folder: RunFolder
    event_log: EventLogFile
    clients: ModelClients
    sandbox: Sandbox
    store: StageStore
    reuse: StageStore | None
    resumed: int
    options: SessionOptions

    def runner(
        self,
        inputs: StageInputs,
        *,
        folder: RunFolder | None = None,
        variant: str | None = None,
        stages: Sequence[Stage[StageInputs, StageContext]] = (),
    ) -> Runner[StageContext]:
        """A runner of the task stages. ``stages`` are added, and replace those that make the same files."""
        shard = self.options.get("shard") or WHOLE
        context = StageContext(
            **inputs.parts,
            clients=self.clients,
            event_log=self.event_log,
            sandbox=self.sandbox,
            progress=self.options.get("progress") or NoProgress(),
            folder=self.folder.path,
            variant=variant,
            variant_folder=folder and folder.path,
            resumed=self.resumed,
            shard=shard,
            cluster=self.options.get("cluster"),
        )
        return Runner(
            (*task_stages(inputs), *stages),
            context,
            folder=(folder or self.folder).path,
            store=self.store,
            event_log=self.event_log,
            reuse=self.reuse,
            shard=shard,
            only_stored={} if shard.number == 1 else _left_to_shard_1(shard, context),
        )


def _left_to_shard_1(shard: Shard, inputs: StageInputs) -> dict[str, str]:
    """The stages that another shard does not make, because models of endpoints have a part in them -> why."""
    why = (
        "a model makes the stage {!r}, and each shard would get other answers; finish shard 1 first, and name its "
        "folder with --reuse"
    )
    stages = task_stages(inputs)
    planned = planned_keys(stages, inputs, run_targets(inputs))
    return {
        stage.name: f"shard {shard}: {why.format(stage.name)}"
        for stage in stages
        if stage.name in planned and not stage.sharded and any(calls.of_endpoint for calls in stage.calls(inputs))
    }


@asynccontextmanager
async def open_session(
    recipe: Recipe, event_log: EventLogFile, **options: Unpack[SessionOptions]
) -> AsyncGenerator[Session]:
    """Open the session of one run, in the folder of its event log. ``event_log``: open for writing; its answers are not
    requested again."""
    folder, resumed = RunFolder(event_log.path.parent), sum(1 for _ in event_log.entries(kind="resumed"))
    store, reuse = StageStore(folder.path, event_log.entries(kind="stage")), options.get("reuse")
    for key, path in options.get("unanswered", {}).items():
        store.add(key, path, file_digest(path))
        store.incomplete.add(key)
    async with ModelClients(
        event_log,
        settings=recipe.divided((options.get("shard") or WHOLE).count),
        open_replay=EventLogFile.open,
        earlier=event_log if resumed else None,
    ) as clients:
        sandbox = Sandbox()
        with sandbox if options.get("sandbox", True) else closing(sandbox), bound_contextvars(run=folder.path.name):
            other = None if reuse is None else open_store(reuse)
            yield Session(folder, event_log, clients, sandbox, store, other, resumed, options)


def open_store(run: Path) -> StageStore:
    """The store of another run."""
    with EventLogFile.open(run) as event_log:
        return StageStore(run, event_log.entries(kind="stage"))


@dataclass(frozen=True, slots=True)
class ShardResult:
    """The attempts of a shard of a run, with key and number of units of all shards.

    ``unanswered``: why a model did not answer, for each unit without an answer.
    """

    rows: Sequence[Attempt]
    key: str
    units: int
    unanswered: Sequence[str]


async def run_shard(
    resolved: ResolvedRecipe, event_log: EventLogFile, **options: Unpack[SessionOptions]
) -> ShardResult:
    """Make the attempts of a shard, and what they need. Shard 1 also makes what neither needs attempts nor is needed
    by them, such as the score of the extraction, so that a merge calls no model.

    Raises InputError if a model makes a stage that shard 1 must make; otherwise as `run_variants`.
    """
    async with open_session(resolved.recipe, event_log, **options) as session:
        runner = session.runner(resolved.inputs)
        beside = [file for file in run_targets(runner.context) if file not in (VERDICTS, FINDINGS)]
        await runner.make(*(beside if runner.context.shard.number == 1 else ()), ATTEMPTS)
        return shard_result(runner)


def shard_result(runner: Runner[StageContext]) -> ShardResult:
    """The attempts that the runner of a shard made."""
    from lawtrace.runs.stages.attempts_stage import planned_units

    units = planned_units(runner.context, runner.products)
    rows = runner.products[ATTEMPTS]
    unanswered = [row.invalid for row in rows if row.invalid is not None]
    return ShardResult(rows, runner.whole_keys["attempts"], len(units), unanswered)


async def run_variants(
    resolved: ResolvedRecipe, event_log: EventLogFile, **options: Unpack[SessionOptions]
) -> list[VariantResult]:
    """Run all variants in order, those of an ablation each in its own folder.

    A variant that ends early (no accepted task, no possible trace, no answer of a model) is a result of the ablation;
    the other variants still run. Without an ablation, raises EmptyStageError, NoResponseError or SearchError there.
    """
    results: list[VariantResult] = []
    first: dict[str, int] = {}
    rows = [
        VariantRow(
            number=one.number,
            name=one.name,
            changes=dict(one.changes),
            models=one.recipe.attempts.models,
            ended=NOT_MADE,
            made_by={},
        )
        for one, _ in resolved.variants
    ]
    async with open_session(resolved.recipe, event_log, **options) as session:
        folder = session.folder
        for place, (variant, inputs) in enumerate(resolved.variants):
            if resolved.recipe.ablation:  # so that a run that stops in this variant has a report
                write_rows(folder.variants, rows)
            files = folder.variant(variant.number) if resolved.recipe.ablation else folder
            runner = session.runner(inputs, folder=files, variant=variant.name or None)
            run, ended = None, None
            try:
                made = await runner.make(*run_targets(inputs))
                run = RunResult(inputs.recipe, files, made[TASKS], made[ATTEMPTS], made[VERDICTS], made[FINDINGS][0])
            except (EmptyStageError, NoResponseError, SearchError) as error:
                if not resolved.recipe.ablation:
                    raise
                ended = str(error)
            made_by = {stage: first.setdefault(key, variant.number) for stage, key in runner.keys.items()}
            made_of = {"ended": ended, "made_by": made_by, "declaration": runner.context.domain.digest}
            rows[place] = rows[place].model_copy(update=made_of)
            results.append(VariantResult(rows[place], run))
        if resolved.recipe.ablation:
            write_rows(folder.variants, rows)
    return results
