"""One way through the stages: a recipe without an ablation, or one variant of a recipe with one.

Each stage takes what the one before it wrote and writes a file that the next one reads. Nothing goes back.
"""

import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Protocol, TypeVar

from lawtrace.agents.event_log import EventLog, StageFinished
from lawtrace.agents.model_spec import ENDPOINTS, ModelSpec
from lawtrace.agents.models.endpoints import access_to
from lawtrace.agents.models.stack import ModelClients
from lawtrace.agents.role_models import ConfiguredRoleModels
from lawtrace.agents.roles import RoleName
from lawtrace.agents.spans import span
from lawtrace.agents.worker_thread import run_in_worker_thread
from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.errors import InputError, OperationalError, SearchError
from lawtrace.environments.sandbox import Jail, JailPool, Limits, choose_backend
from lawtrace.runs.call_plan import CallPlan
from lawtrace.runs.recipe import CallOptions, Recipe
from lawtrace.runs.schemas.findings import DeletionCheck, ExtractionScore, Findings, ModelBaseline
from lawtrace.runs.schemas.task_rows import Attempt, Task, TraceRow
from lawtrace.runs.schemas.verdict_rows import Verdict
from lawtrace.runs.scoring.judge import judge
from lawtrace.runs.stages.attempts_stage import collect_answers, execute_answers
from lawtrace.runs.stages.denied_sessions import add_denied_sessions, deny_authorization
from lawtrace.runs.stages.model_baseline import BaselineRow, measure_baseline, run_baseline, write_baseline_programs
from lawtrace.runs.stages.oracle_strength import check_deletions
from lawtrace.runs.stages.resolve import checked_recipe_environment, curated_rules, gold_rules
from lawtrace.runs.stages.rules_stage import ExtractedRules, run_extraction, score_extraction
from lawtrace.runs.stages.tasks_stage import BuiltTasks, build_tasks
from lawtrace.runs.stages.traces_stage import synthesize_traces
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.provenance_file import write_provenance
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import file_digest, write_rows
from lawtrace.runs.store.stage_store import StageInputs, StageStore
from lawtrace.runs.variants import Variant, VariantRow, variants_of
from lawtrace.solver.coverage.mutations import MutationScore, measure_mutation_score
from lawtrace.solver.rules import Rule, check_rules, load_rules

Made = TypeVar("Made")


class EmptyStageError(InputError):
    """A stage left nothing for the next one to work on."""


class NoResponseError(OperationalError):
    """No role answered, so a stage has nothing to show."""


class StageProgress(Protocol):
    """Where a run tells how far it is."""

    def stage(self, name: str, total: int | None) -> AbstractContextManager[Callable[[], None]]:
        """A stage begins; call what it gives once for each step done."""
        ...


class NoProgress:
    """Progress that nobody watches."""

    def stage(self, name: str, total: int | None) -> AbstractContextManager[Callable[[], None]]:
        return nullcontext(lambda: None)


@dataclass(frozen=True, slots=True)
class Run:
    """What a way came to."""

    folder: RunFolder
    tasks: Sequence[Task]
    attempts: Sequence[Attempt]
    verdicts: Sequence[Verdict]
    findings: Findings


@dataclass(frozen=True, slots=True)
class RunContext:
    """What all ways of a run have in common.

    Attributes:
        own_jail: for reference programs, which are ours: the limits for models do not apply to them.
        finished: stage file, relative to the run's folder -> its digest when the run was interrupted.
    """

    root: RunFolder
    event_log: EventLog
    clients: ModelClients
    own_jail: Jail
    progress: StageProgress
    finished: Mapping[str, str]
    shared: StageStore


class PipelineRun:
    """One way. Each method is a stage; `run_recipe` calls them in order.

    Attributes:
        made_by: stage -> number of the variant that it was computed for.
    """

    def __init__(self, variant: Variant, folder: RunFolder, house: RunContext) -> None:
        self.recipe: Recipe = variant.recipe
        self.folder = folder
        self.house = house
        self.made_by: dict[str, int] = {}
        self.setting: Domain = checked_recipe_environment(variant.recipe)
        self._number = variant.number
        self._name = variant.name or None
        self._words = variant.recipe.prompts.prompts()
        self._casting = ConfiguredRoleModels(
            house.clients, variant.recipe.models.specs(), variant.recipe.parameters, self._words
        )

    async def walk(self) -> Run:
        """All stages, to the verdicts. Raises NothingLeft or NobodyAnswered if one of them has nothing to show."""
        rules, score = await self.rules()
        baseline = await self.baseline(rules)
        built = await self.tasks(rules, await self.traces(rules))
        if not built.tasks:
            reasons = ", ".join(f"{reason} ({number} times)" for reason, number in built.dropped.items())
            unanswered = all(reason.endswith(": failure") for reason in built.dropped)
            kind = NoResponseError if unanswered else EmptyStageError
            raise kind(f"no task was accepted: {reasons}; see `lawtrace messages {self.house.root.path}`")
        deletions, strength = await self.oracle_strength(rules, built)
        attempts = await self.attempts(built.tasks)
        verdicts = await self.verdicts(built.tasks, attempts)
        findings = Findings(
            funnel=built.funnel(), deletions=deletions, strength=strength, extraction=score, baseline=baseline
        )
        write_rows(self.folder.findings, [findings])
        return Run(self.folder, built.tasks, attempts, verdicts, findings)

    async def rules(self) -> tuple[list[Rule], ExtractionScore | None]:
        """The rules to judge by, and how the extracted ones compare with the gold rules (None: not measured)."""
        setting, options = self.setting, self.recipe.rules
        begun = self._begun_with_curated()
        curated = list(load_rules(self.folder.rules) if begun else curated_rules(self.recipe, setting))
        if not options.extract and options.source == "curated":
            self._wrote(self.folder.rules, write_rows(self.folder.rules, curated))
            return curated, None
        extraction = await self._extraction()
        if extraction.stopped_by is not None:  # the run stops with it, and can go on with a higher one
            raise extraction.stopped_by
        self._wrote(self.folder.trail, write_provenance(self.folder.trail, extraction.trail))
        self._wrote(self.folder.extracted_rules, write_rows(self.folder.extracted_rules, extraction.rules))
        chosen = list(extraction.rules) if options.source == "extracted" else curated
        if options.source == "extracted" and extraction.failure is not None:
            raise NoResponseError(f"the rules could not be extracted: {extraction.failure}")
        if not chosen:
            raise EmptyStageError(
                "the extraction left no valid rule; use rules.source = 'curated', or see why with "
                f"`lawtrace messages {self.house.root.path}`"
            )
        self._wrote(self.folder.rules, write_rows(self.folder.rules, chosen))
        if extraction.failure is not None:  # a conversation that broke off says nothing about the extractor
            return chosen, None
        gold = curated if self.recipe.rules.file else gold_rules(self.recipe, setting)
        return chosen, score_extraction(
            extraction.rules, gold, restated=setting.regulation.restated, trail=extraction.trail
        )

    async def _extraction(self) -> ExtractedRules:
        recipe = self.recipe
        roles: list[RoleName] = ["scope_aligner", "verifiability_refiner", "tool_mapper", "policy_extractor"]
        if recipe.conversation.critic:  # without one it does not matter who would have played it
            roles.append("ltl_critic")

        async def make() -> ExtractedRules:
            with self.house.progress.stage(
                "rules from the regulation", len(self.setting.regulation.provisions)
            ) as step:
                return await run_extraction(
                    self.setting,
                    role_models=self._casting,
                    event_log=self.house.event_log,
                    most_rounds=recipe.conversation.rounds,
                    critic=recipe.conversation.critic,
                    variant=self._name,
                    models={role: self._casting.name_of(role) for role in roles},
                    on_provision=step,
                )

        talk = {"rounds": recipe.conversation.rounds, "critic": recipe.conversation.critic}
        return await self._once("rules", {**self._world(), **talk, **self._cast(*roles)}, make)

    async def traces(self, rules: Sequence[Rule]) -> list[TraceRow]:
        recipe, options = self.recipe, self.recipe.tasks
        count = options.count + options.spare

        async def make() -> list[TraceRow]:
            with self.house.progress.stage("traces", count) as step:
                return await run_in_worker_thread(
                    lambda: synthesize_traces(
                        self.setting.environment,
                        rules,
                        profile=options.profile,
                        length=options.length,
                        count=count,
                        seed=recipe.seed,
                        wishes=options.wishes,
                        on_trace=step,
                    )
                )

        asked = {"rules": file_digest(self.folder.rules), "tasks": options, "seed": recipe.seed}
        rows = await self._once("traces", {**self._world(), **asked}, make)
        self._wrote(self.folder.traces, write_rows(self.folder.traces, rows))
        return rows

    async def baseline(self, rules: Sequence[Rule]) -> ModelBaseline | None:
        """What a model covers that writes as many programs under the same rules; None where the recipe names none."""
        recipe, model = self.recipe, self.recipe.models.trace_writer
        if model is None:
            return None
        count, length = recipe.tasks.count, recipe.tasks.length
        name = self.house.clients.name_of(ModelSpec.parse(model), "trace_writer")

        async def make() -> list[BaselineRow]:
            with self.house.progress.stage("programs by the model", count) as step:
                written = await write_baseline_programs(
                    self.setting,
                    rules,
                    model,
                    length=length,
                    count=count,
                    seed=recipe.seed,
                    clients=self.house.clients,
                    parameters=recipe.parameters,
                    event_log=self.house.event_log,
                    prompts=self._words,
                    variant=self._name,
                    on_program=step,
                )
            rows = await run_in_worker_thread(
                lambda: run_baseline(self.setting, rules, name, written.programs, self.house.own_jail, seed=recipe.seed)
            )
            if written.failure is not None:
                self._wrote(self.folder.baseline, write_rows(self.folder.baseline, rows))
                raise NoResponseError(
                    f"only {len(rows)} of {count} programs of the baseline were written: {written.failure}"
                )
            return rows

        asked = {"rules": file_digest(self.folder.rules), "count": count, "length": length, "seed": recipe.seed}
        rows = await self._once("baseline", {**self._world(), **asked, **self._cast("trace_writer")}, make)
        self._wrote(self.folder.baseline, write_rows(self.folder.baseline, rows))
        return measure_baseline(self.setting, rows, model=name, length=length)

    async def tasks(self, rules: Sequence[Rule], traces: Sequence[TraceRow]) -> BuiltTasks:
        recipe, conversation = self.recipe, self.recipe.conversation

        async def make() -> BuiltTasks:
            with self.house.progress.stage("tasks", recipe.tasks.count) as step:
                built = await build_tasks(
                    self.setting.environment,
                    rules,
                    traces,
                    count=recipe.tasks.count,
                    role_models=self._casting,
                    event_log=self.house.event_log,
                    jail=self.house.own_jail,
                    most_rounds=conversation.rounds,
                    concurrency=conversation.concurrency,
                    evaluator=conversation.evaluator,
                    variant=self._name,
                    on_task=step,
                )
            environment, families, jail = self.setting.environment, recipe.tasks.families, self.house.own_jail
            return await run_in_worker_thread(lambda: add_denied_sessions(environment, built, families, jail))

        talk = {"rounds": conversation.rounds, "evaluator": conversation.evaluator}
        asked = {
            "rules": file_digest(self.folder.rules),
            "traces": file_digest(self.folder.traces),
            "count": recipe.tasks.count,
            "families": recipe.tasks.families,
        }
        roles: list[RoleName] = ["instruction_generator", "independent_reader"]
        if conversation.evaluator:
            roles.append("masking_evaluator")
        built = await self._once("tasks", {**self._world(), **talk, **asked, **self._cast(*roles)}, make)
        self._wrote(self.folder.tasks, write_rows(self.folder.tasks, built.tasks))
        return built

    async def oracle_strength(self, rules: Sequence[Rule], built: BuiltTasks) -> tuple[DeletionCheck, MutationScore]:
        """How much the verdicts notice: of compliance calls deleted from programs, of changes to traces."""
        environment, jail = self.setting.environment, self.house.own_jail
        ordinary = [task for task in built.tasks if task.family == "ordinary"]
        traces = [(row.id, row.trace(environment)) for row in built.references]

        async def make() -> tuple[DeletionCheck, MutationScore]:
            return await run_in_worker_thread(
                lambda: (
                    check_deletions(environment, ordinary, jail),
                    measure_mutation_score(environment, rules, traces),
                )
            )

        asked = {"rules": file_digest(self.folder.rules), "tasks": file_digest(self.folder.tasks)}
        return await self._once("oracle_strength", {**self._world(), **asked}, make)

    async def attempts(self, tasks: Sequence[Task]) -> list[Attempt]:
        recipe = self.recipe
        options = recipe.attempts.model_copy(update={"models": recipe.attempts.all_models})
        total = len(options.models) * len(options.styles) * len(tasks) * options.trials

        async def make() -> list[Attempt]:
            with self.house.progress.stage("answers", total) as step:
                answers = await collect_answers(
                    self.setting,
                    tasks,
                    options,
                    clients=self.house.clients,
                    parameters=recipe.parameters,
                    event_log=self.house.event_log,
                    prompts=self._words,
                    variant=self._name,
                    on_answer=step,
                )
            environment, regulation = self.setting.environment, self.setting.regulation
            with self.house.progress.stage("programs in the jail", total) as step:
                jails = JailPool(Limits(seconds=options.seconds), choose_backend(recipe.sandbox))

                def run() -> list[Attempt]:
                    with jails:
                        return execute_answers(environment, tasks, answers, jails, step, regulation=regulation)

                return await run_in_worker_thread(run)

        asked = {"tasks": file_digest(self.folder.tasks), "attempts": options}
        words = {name: self._words[name].hash for name in ("executor_system", "executor_tools_system", "executor_user")}
        settings = {"parameters": recipe.parameters, "prompts": words}
        rows = await self._once("attempts", {**self._world(), **asked, **settings}, make)
        self._wrote(self.folder.attempts, write_rows(self.folder.attempts, rows))
        return rows

    async def verdicts(self, tasks: Sequence[Task], attempts: Sequence[Attempt]) -> list[Verdict]:
        by_id = {task.id: task for task in tasks}
        environment = self.setting.environment
        rows = await run_in_worker_thread(
            lambda: [judge(environment, by_id[attempt.task], attempt) for attempt in attempts]
        )
        self._wrote(self.folder.verdicts, write_rows(self.folder.verdicts, rows))
        return rows

    async def _once(self, stage: str, made_from: StageInputs, make: Callable[[], Awaitable[Made]]) -> Made:
        with span(f"stage {stage}", {"lawtrace.stage": stage, "lawtrace.variant": self._name or ""}):
            made, self.made_by[stage] = await self.house.shared.once(stage, made_from, self._number, make)
        return made

    def _world(self) -> dict[str, object]:
        """What every stage depends on."""
        return {"environment": self.recipe.environment, "declaration": self.setting.digest, "tools": self.recipe.tools}

    def _cast(self, *roles: RoleName) -> dict[str, object]:
        """What the answers of these roles depend on beside what they are asked."""
        models = {role: getattr(self.recipe.models, role) for role in roles}
        return {
            "models": models,
            "prompts": {role: self._words[role].hash for role in roles},
            "parameters": self.recipe.parameters,
        }

    def _begun_with_curated(self) -> bool:
        """Whether the run was begun with these curated rules, whatever has become of the file since."""
        return self.recipe.rules.source == "curated" and self._before(self.folder.rules) is not None

    def _before(self, path: Path) -> str | None:
        return self.house.finished.get(self._within_run(path))

    def _within_run(self, path: Path) -> str:
        return path.relative_to(self.house.root.path).as_posix()

    def _wrote(self, path: Path, rows: int) -> None:
        before = self._before(path)
        if path in {self.folder.rules, self.folder.traces} and before is not None and before != file_digest(path):
            # No answer of a model takes part in these, so nothing but a changed declaration or rule explains it.
            raise InputError(
                f"{path} came out different from what it was before the run was interrupted: what it is made from has "
                "changed since; start a new run"
            )
        file = self._within_run(path)
        self.house.event_log.record(StageFinished(stage=path.stem, file=file, sha256=file_digest(path), rows=rows))


@dataclass(frozen=True, slots=True)
class VariantResult:
    """What became of a variant: a result, or why there is none."""

    variant: Variant
    result: Run | None
    ended: str | None
    made_by: dict[str, int]

    def row(self) -> VariantRow:
        one = self.variant
        return VariantRow(
            number=one.number,
            name=one.name,
            changes=dict(one.changes),
            models=one.recipe.attempts.models,
            ended=self.ended,
            made_by=self.made_by,
        )


def check_inputs(recipe: Recipe) -> None:
    """What a run reads must be there and make sense before its folder is made. Raises InputError."""
    for variant in variants_of(recipe):
        setting, options = checked_recipe_environment(variant.recipe), variant.recipe.tasks
        check_rules(curated_rules(variant.recipe, setting), setting.environment, setting.regulation)
        variant.recipe.prompts.prompts().check()
        options.wishes.check(setting.environment)
        initial = setting.environment.populate(Random(variant.recipe.seed))
        if "denied" in options.families:
            deny_authorization(setting.environment, initial)
        check_prices(variant.recipe, models_of_recipe(variant.recipe))


def models_of_recipe(recipe: Recipe) -> list[str]:
    """The models that the recipe names, for roles and under test."""
    named: list[str | None] = [*recipe.models.model_dump().values(), *recipe.attempts.models]
    return [name for name in named if name is not None]


def check_prices(recipe: CallOptions, models: Iterable[str]) -> None:
    """A budget of money means nothing for a model without a price. Raises InputError naming the model."""
    if recipe.budget.money is None:
        return
    for model in dict.fromkeys(models):
        if ModelSpec.parse(model).provider in ENDPOINTS and model not in recipe.prices:
            raise InputError(f'budget.money: what does {model!r} cost? Give its price in [prices."{model}"]')


def check_access(plan: CallPlan) -> None:
    """Every model that will be asked has its address and key, or its record, before anything is begun and paid for.

    Raises InputError naming what is missing.
    """
    for line in plan.calls:
        spec = ModelSpec.parse(line.model)
        if spec.provider == "replay":
            EventLogFile.open(Path(spec.name)).close()
        elif spec.provider in ENDPOINTS:
            access_to(spec.provider, os.environ, spec)


async def run_recipe(
    recipe: Recipe,
    folder: RunFolder,
    *,
    record: EventLogFile,
    resumed: bool = False,
    progress: StageProgress | None = None,
) -> Run:
    """Walk the whole way and write every stage's file. With ``resumed``, what the record holds is not asked again.

    The recipe has no ablation.
    """
    (variant,) = variants_of(recipe)
    async with _run_context(recipe, folder, record, resumed=resumed, progress=progress) as house:
        return await PipelineRun(variant, folder, house).walk()


async def run_variants(
    recipe: Recipe,
    folder: RunFolder,
    *,
    record: EventLogFile,
    resumed: bool = False,
    progress: StageProgress | None = None,
) -> list[VariantResult]:
    """Walk the way of each variant, one after the other, each with its files in a folder of its own.

    A variant that leads nowhere (no task is accepted, no trace is possible, a role does not answer) is an outcome of
    the ablation, and the others go on.
    """
    results: list[VariantResult] = []
    async with _run_context(recipe, folder, record, resumed=resumed, progress=progress) as house:
        for variant in variants_of(recipe):
            way = PipelineRun(variant, folder.variant(variant.number), house)
            try:
                results.append(VariantResult(variant, await way.walk(), None, way.made_by))
            except (EmptyStageError, NoResponseError, SearchError) as error:
                results.append(VariantResult(variant, None, str(error), way.made_by))
    write_rows(folder.variants, (one.row() for one in results))
    return results


@asynccontextmanager
async def _run_context(
    recipe: Recipe, folder: RunFolder, record: EventLogFile, *, resumed: bool, progress: StageProgress | None
) -> AsyncGenerator[RunContext]:
    finished = {entry.file: entry.sha256 for entry in record.entries(kind="stage") if isinstance(entry, StageFinished)}
    earlier = record if resumed else None
    async with ModelClients(
        record, settings=recipe.call_settings(), open_replay=EventLogFile.open, earlier=earlier
    ) as clients:
        with Jail(walls=choose_backend(recipe.sandbox)) as jail:
            yield RunContext(folder, record, clients, jail, progress or NoProgress(), finished, StageStore())
