"""One way through the stages: a recipe without an ablation, or one variant of a recipe with one.

Each stage takes what the one before it wrote and writes a file that the next one reads. Nothing goes back.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from lawtrace.agents.aside import aside
from lawtrace.agents.casting import FixedCasting
from lawtrace.agents.clients.spec import ModelSpec
from lawtrace.agents.clients.stack import ModelClients
from lawtrace.agents.ledger import Ledger, StageFinished
from lawtrace.agents.roles import RoleName
from lawtrace.agents.tracing import span
from lawtrace.environments.errors import CannotCarryOut, InputError
from lawtrace.environments.folder import Setting
from lawtrace.environments.jail import Jail, Jails, Limits, choose_walls
from lawtrace.runs.files import digest, write_rows
from lawtrace.runs.findings import Baseline, DeletionCheck, ExtractionScore, Findings
from lawtrace.runs.grading.judge import judge
from lawtrace.runs.grading.verdict import VerdictRow
from lawtrace.runs.layout import RunFolder
from lawtrace.runs.recipe import Recipe
from lawtrace.runs.settings import curated_rules, gold_rules, setting_of_recipe
from lawtrace.runs.sharing import MadeFrom, Shared
from lawtrace.runs.stages.attempt import ask_for_attempts, run_answers
from lawtrace.runs.stages.baseline import BaselineRow, ask_for_baseline, measure_baseline, run_baseline
from lawtrace.runs.stages.build import Built, build_tasks
from lawtrace.runs.stages.deletions import check_deletions
from lawtrace.runs.stages.denied import in_families
from lawtrace.runs.stages.extract import Extracted, extract, score_extraction
from lawtrace.runs.stages.rows import AttemptRow, TaskRow, TraceRow
from lawtrace.runs.stages.synthesize import synthesize_rows
from lawtrace.runs.trails import write_trail
from lawtrace.runs.variants import Variant
from lawtrace.solver.mutations import Strength, measure_strength
from lawtrace.solver.rules import Rule, load_rules

Made = TypeVar("Made")


class NothingLeft(InputError):
    """A stage left nothing for the next one to work on."""


class NobodyAnswered(CannotCarryOut):
    """No role answered, so a stage has nothing to show."""


class Progress(Protocol):
    """Where a run tells how far it is."""

    def stage(self, name: str, total: int | None) -> AbstractContextManager[Callable[[], None]]:
        """A stage begins; call what it gives once for each step done."""
        ...


class Silent:
    """Progress that nobody watches."""

    def stage(self, name: str, total: int | None) -> AbstractContextManager[Callable[[], None]]:
        return nullcontext(lambda: None)


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a way came to."""

    folder: RunFolder
    tasks: Sequence[TaskRow]
    attempts: Sequence[AttemptRow]
    verdicts: Sequence[VerdictRow]
    findings: Findings


@dataclass(frozen=True, slots=True)
class House:
    """What all ways of a run have in common.

    Attributes:
        own_jail: for reference programs, which are ours: the limits for models do not apply to them.
        finished: stage file, relative to the run's folder -> its digest when the run was interrupted.
    """

    root: RunFolder
    ledger: Ledger
    clients: ModelClients
    own_jail: Jail
    progress: Progress
    finished: Mapping[str, str]
    shared: Shared


class Way:
    """One way. Each method is a stage; `walk` calls them in order.

    Attributes:
        made_by: stage -> number of the variant that it was computed for.
    """

    def __init__(self, variant: Variant, folder: RunFolder, house: House) -> None:
        self.recipe: Recipe = variant.recipe
        self.folder = folder
        self.house = house
        self.made_by: dict[str, int] = {}
        self.setting: Setting = setting_of_recipe(variant.recipe)
        self._number = variant.number
        self._name = variant.name or None
        self._words = variant.recipe.prompts.prompts()
        self._casting = FixedCasting(
            house.clients, variant.recipe.models.specs(), variant.recipe.parameters, self._words
        )

    async def walk(self) -> RunResult:
        """All stages, to the verdicts. Raises NothingLeft or NobodyAnswered if one of them has nothing to show."""
        rules, score = await self.rules()
        baseline = await self.baseline(rules)
        built = await self.tasks(rules, await self.traces(rules))
        if not built.tasks:
            reasons = ", ".join(f"{reason} ({number} times)" for reason, number in built.dropped.items())
            unanswered = all(reason.endswith(": failure") for reason in built.dropped)
            kind = NobodyAnswered if unanswered else NothingLeft
            raise kind(f"no task was accepted: {reasons}; see `lawtrace messages {self.house.root.path}`")
        deletions, strength = await self.oracle_strength(rules, built)
        attempts = await self.attempts(built.tasks)
        verdicts = await self.verdicts(built.tasks, attempts)
        findings = Findings(
            funnel=built.funnel(), deletions=deletions, strength=strength, extraction=score, baseline=baseline
        )
        write_rows(self.folder.findings, [findings])
        return RunResult(self.folder, built.tasks, attempts, verdicts, findings)

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
        self._wrote(self.folder.trail, write_trail(self.folder.trail, extraction.trail))
        self._wrote(self.folder.extracted_rules, write_rows(self.folder.extracted_rules, extraction.rules))
        chosen = list(extraction.rules) if options.source == "extracted" else curated
        if options.source == "extracted" and extraction.failure is not None:
            raise NobodyAnswered(f"the rules could not be extracted: {extraction.failure}")
        if not chosen:
            raise NothingLeft(
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

    async def _extraction(self) -> Extracted:
        recipe = self.recipe
        roles: list[RoleName] = ["scope_aligner", "verifiability_refiner", "tool_mapper", "policy_extractor"]
        if recipe.conversation.critic:  # without one it does not matter who would have played it
            roles.append("ltl_critic")

        async def make() -> Extracted:
            with self.house.progress.stage(
                "rules from the regulation", len(self.setting.regulation.provisions)
            ) as step:
                return await extract(
                    self.setting,
                    casting=self._casting,
                    ledger=self.house.ledger,
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
                return await aside(
                    lambda: synthesize_rows(
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

        asked = {"rules": digest(self.folder.rules), "tasks": options, "seed": recipe.seed}
        rows = await self._once("traces", {**self._world(), **asked}, make)
        self._wrote(self.folder.traces, write_rows(self.folder.traces, rows))
        return rows

    async def baseline(self, rules: Sequence[Rule]) -> Baseline | None:
        """What a model covers that writes as many programs under the same rules; None where the recipe names none."""
        recipe, model = self.recipe, self.recipe.models.trace_writer
        if model is None:
            return None
        count, length = recipe.tasks.count, recipe.tasks.length
        name = self.house.clients.name_of(ModelSpec.parse(model), "trace_writer")

        async def make() -> list[BaselineRow]:
            with self.house.progress.stage("programs by the model", count) as step:
                written = await ask_for_baseline(
                    self.setting,
                    rules,
                    model,
                    length=length,
                    count=count,
                    seed=recipe.seed,
                    clients=self.house.clients,
                    parameters=recipe.parameters,
                    ledger=self.house.ledger,
                    prompts=self._words,
                    variant=self._name,
                    on_program=step,
                )
            rows = await aside(
                lambda: run_baseline(self.setting, rules, name, written.programs, self.house.own_jail, seed=recipe.seed)
            )
            if written.failure is not None:
                self._wrote(self.folder.baseline, write_rows(self.folder.baseline, rows))
                raise NobodyAnswered(
                    f"only {len(rows)} of {count} programs of the baseline were written: {written.failure}"
                )
            return rows

        asked = {"rules": digest(self.folder.rules), "count": count, "length": length, "seed": recipe.seed}
        rows = await self._once("baseline", {**self._world(), **asked, **self._cast("trace_writer")}, make)
        self._wrote(self.folder.baseline, write_rows(self.folder.baseline, rows))
        return measure_baseline(self.setting, rows, model=name, length=length)

    async def tasks(self, rules: Sequence[Rule], traces: Sequence[TraceRow]) -> Built:
        recipe, conversation = self.recipe, self.recipe.conversation

        async def make() -> Built:
            with self.house.progress.stage("tasks", recipe.tasks.count) as step:
                built = await build_tasks(
                    self.setting.environment,
                    rules,
                    traces,
                    count=recipe.tasks.count,
                    casting=self._casting,
                    ledger=self.house.ledger,
                    jail=self.house.own_jail,
                    most_rounds=conversation.rounds,
                    concurrency=conversation.concurrency,
                    evaluator=conversation.evaluator,
                    variant=self._name,
                    on_task=step,
                )
            environment, families, jail = self.setting.environment, recipe.tasks.families, self.house.own_jail
            return await aside(lambda: in_families(environment, built, families, jail))

        talk = {"rounds": conversation.rounds, "evaluator": conversation.evaluator}
        asked = {
            "rules": digest(self.folder.rules),
            "traces": digest(self.folder.traces),
            "count": recipe.tasks.count,
            "families": recipe.tasks.families,
        }
        roles: list[RoleName] = ["instruction_generator", "independent_reader"]
        if conversation.evaluator:
            roles.append("masking_evaluator")
        built = await self._once("tasks", {**self._world(), **talk, **asked, **self._cast(*roles)}, make)
        self._wrote(self.folder.tasks, write_rows(self.folder.tasks, built.tasks))
        return built

    async def oracle_strength(self, rules: Sequence[Rule], built: Built) -> tuple[DeletionCheck, Strength]:
        """How much the verdicts notice: of compliance calls deleted from programs, of changes to traces."""
        environment, jail = self.setting.environment, self.house.own_jail
        ordinary = [task for task in built.tasks if task.family == "ordinary"]
        traces = [(row.id, row.trace(environment)) for row in built.references]

        async def make() -> tuple[DeletionCheck, Strength]:
            return await aside(
                lambda: (check_deletions(environment, ordinary, jail), measure_strength(environment, rules, traces))
            )

        asked = {"rules": digest(self.folder.rules), "tasks": digest(self.folder.tasks)}
        return await self._once("oracle_strength", {**self._world(), **asked}, make)

    async def attempts(self, tasks: Sequence[TaskRow]) -> list[AttemptRow]:
        recipe = self.recipe
        options = recipe.attempts.model_copy(update={"models": recipe.attempts.contenders})
        total = len(options.models) * len(options.styles) * len(tasks) * options.trials

        async def make() -> list[AttemptRow]:
            with self.house.progress.stage("answers", total) as step:
                answers = await ask_for_attempts(
                    self.setting,
                    tasks,
                    options,
                    clients=self.house.clients,
                    parameters=recipe.parameters,
                    ledger=self.house.ledger,
                    prompts=self._words,
                    variant=self._name,
                    on_answer=step,
                )
            environment, regulation = self.setting.environment, self.setting.regulation
            with self.house.progress.stage("programs in the jail", total) as step:
                jails = Jails(Limits(seconds=options.seconds), choose_walls(recipe.sandbox))

                def run() -> list[AttemptRow]:
                    with jails:
                        return run_answers(environment, tasks, answers, jails, step, regulation=regulation)

                return await aside(run)

        asked = {"tasks": digest(self.folder.tasks), "attempts": options}
        words = {name: self._words[name].hash for name in ("executor_system", "executor_tools_system", "executor_user")}
        settings = {"parameters": recipe.parameters, "prompts": words}
        rows = await self._once("attempts", {**self._world(), **asked, **settings}, make)
        self._wrote(self.folder.attempts, write_rows(self.folder.attempts, rows))
        return rows

    async def verdicts(self, tasks: Sequence[TaskRow], attempts: Sequence[AttemptRow]) -> list[VerdictRow]:
        by_id = {task.id: task for task in tasks}
        environment = self.setting.environment
        rows = await aside(lambda: [judge(environment, by_id[attempt.task], attempt) for attempt in attempts])
        self._wrote(self.folder.verdicts, write_rows(self.folder.verdicts, rows))
        return rows

    async def _once(self, stage: str, made_from: MadeFrom, make: Callable[[], Awaitable[Made]]) -> Made:
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
        if path in {self.folder.rules, self.folder.traces} and before is not None and before != digest(path):
            # No answer of a model takes part in these, so nothing but a changed declaration or rule explains it.
            raise InputError(
                f"{path} came out different from what it was before the run was interrupted: what it is made from has "
                "changed since; start a new run"
            )
        file = self._within_run(path)
        self.house.ledger.record(StageFinished(stage=path.stem, file=file, sha256=digest(path), rows=rows))
