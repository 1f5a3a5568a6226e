"""The whole way: regulation and tools -> rules -> traces -> tasks -> attempts -> verdicts -> report.

Each stage takes what the one before it wrote and writes a file that the next one reads. Nothing goes back.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Protocol

from agents.casting import FixedCasting
from agents.clients.stack import CallSettings, ModelClients
from agents.ledger import Ledger, StageFinished
from environments.catalogue import Setting
from environments.compliance import deny_authorization
from environments.errors import CannotCarryOut, InputError
from environments.jail import Jail, Jails, Limits, choose_walls
from runs.files import digest, write_rows
from runs.findings import Baseline, ExtractionScore, Findings
from runs.grading.judge import judge
from runs.grading.verdict import VerdictRow
from runs.layout import RunFolder
from runs.recipe import Recipe
from runs.record.store import Record
from runs.settings import setting_of_recipe
from runs.stages.attempt import ask_for_attempts, run_answers
from runs.stages.baseline import ask_for_baseline, measure_baseline, run_baseline
from runs.stages.build import Built, build_tasks
from runs.stages.deletions import check_deletions
from runs.stages.denied import in_families
from runs.stages.extract import extract, score_extraction
from runs.stages.rows import AttemptRow, TaskRow, TraceRow
from runs.stages.synthesize import synthesize_rows
from solver.mutations import measure_strength
from solver.rules import Rule, check_rules, load_rules

__all__ = ["Progress", "RunResult", "Silent", "check_inputs", "walk"]


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
    """What a run came to."""

    folder: RunFolder
    tasks: Sequence[TaskRow]
    attempts: Sequence[AttemptRow]
    verdicts: Sequence[VerdictRow]
    findings: Findings


class _Walk:
    """One run on its way. Each method is a stage; ``walk`` calls them in order."""

    def __init__(
        self,
        recipe: Recipe,
        folder: RunFolder,
        *,
        ledger: Ledger,
        clients: ModelClients,
        own_jail: Jail,
        jails: Jails,
        progress: Progress,
        finished: Mapping[str, str],
    ) -> None:
        self.recipe = recipe
        self.folder = folder
        self.ledger = ledger
        self.clients = clients
        self.own_jail = own_jail
        self.jails = jails
        self.progress = progress
        self.setting: Setting = setting_of_recipe(recipe)
        self._finished = finished
        self.casting = FixedCasting(clients, recipe.models.specs(), recipe.parameters)

    async def rules(self) -> tuple[list[Rule], ExtractionScore | None]:
        """The rules to judge by, and how the extracted ones compare with the curated set (None: not measured)."""
        setting, options = self.setting, self.recipe.rules
        curated = list(load_rules(self._curated_file()))
        check_rules(curated, setting.environment, setting.regulation)
        if not options.extract and options.source == "curated":
            self._wrote(self.folder.rules, write_rows(self.folder.rules, curated))
            return curated, None
        with self.progress.stage("rules from the regulation", None):
            extraction = await extract(
                setting, casting=self.casting, ledger=self.ledger, most_rounds=self.recipe.conversation.rounds
            )
        self._wrote(self.folder.extracted_rules, write_rows(self.folder.extracted_rules, extraction.rules))
        chosen = list(extraction.rules) if options.source == "extracted" else curated
        if options.source == "extracted" and extraction.failure is not None:
            raise CannotCarryOut(f"the rules could not be extracted: {extraction.failure}")
        if not chosen:
            raise InputError(
                "the extraction left no valid rule; use rules.source = 'curated', or see why with "
                f"`lawtrace messages {self.folder.path}`"
            )
        self._wrote(self.folder.rules, write_rows(self.folder.rules, chosen))
        if extraction.failure is not None:  # a conversation that broke off says nothing about the extractor
            return chosen, None
        return chosen, score_extraction(extraction.rules, curated, restated=setting.regulation.restated)

    def _curated_file(self) -> Path:
        """Where the curated rules are; on resuming, those that the run was begun with, whatever became of the file."""
        if self.recipe.rules.source == "curated" and self._finished.get(self.folder.rules.name) is not None:
            return self.folder.rules
        return self.recipe.rules.file or self.setting.rules_file

    def traces(self, rules: Sequence[Rule]) -> list[TraceRow]:
        options, environment = self.recipe.tasks, self.setting.environment
        count = options.count + options.spare
        with self.progress.stage("traces", count) as step:
            rows = synthesize_rows(
                environment,
                rules,
                profile=options.profile,
                length=options.length,
                count=count,
                seed=self.recipe.seed,
                wishes=options.wishes,
                on_trace=step,
            )
        self._wrote(self.folder.traces, write_rows(self.folder.traces, rows))
        return rows

    async def baseline(self, rules: Sequence[Rule]) -> Baseline | None:
        """What a model covers that writes as many programs under the same rules; None where the recipe names none."""
        recipe, model = self.recipe, self.recipe.models.trace_writer
        if model is None:
            return None
        with self.progress.stage("programs by the model", recipe.tasks.count) as step:
            written = await ask_for_baseline(
                self.setting,
                rules,
                model,
                length=recipe.tasks.length,
                count=recipe.tasks.count,
                seed=recipe.seed,
                clients=self.clients,
                parameters=recipe.parameters,
                ledger=self.ledger,
                on_program=step,
            )
        rows = run_baseline(self.setting, rules, model, written.programs, self.own_jail, seed=recipe.seed)
        self._wrote(self.folder.baseline, write_rows(self.folder.baseline, rows))
        if written.failure is not None:
            raise CannotCarryOut(
                f"only {len(rows)} of {recipe.tasks.count} programs of the baseline were written: {written.failure}"
            )
        return measure_baseline(self.setting, rows, model=model, length=recipe.tasks.length)

    async def tasks(self, rules: Sequence[Rule], traces: Sequence[TraceRow]) -> Built:
        conversation = self.recipe.conversation
        with self.progress.stage("tasks", self.recipe.tasks.count) as step:
            built = await build_tasks(
                self.setting.environment,
                rules,
                traces,
                count=self.recipe.tasks.count,
                casting=self.casting,
                ledger=self.ledger,
                jail=self.own_jail,
                most_rounds=conversation.rounds,
                concurrency=conversation.concurrency,
                on_task=step,
            )
        built = in_families(self.setting.environment, built, self.recipe.tasks.families, self.own_jail)
        self._wrote(self.folder.tasks, write_rows(self.folder.tasks, built.tasks))
        return built

    async def attempts(self, tasks: Sequence[TaskRow]) -> list[AttemptRow]:
        options = self.recipe.attempts
        options = options.model_copy(update={"models": options.contenders})
        total = len(options.models) * len(options.styles) * len(tasks) * options.trials
        with self.progress.stage("answers", total) as step:
            answers = await ask_for_attempts(
                self.setting,
                tasks,
                options,
                clients=self.clients,
                parameters=self.recipe.parameters,
                ledger=self.ledger,
                on_answer=step,
            )
        with self.progress.stage("programs in the jail", total) as step:
            rows = run_answers(
                self.setting.environment, tasks, answers, self.jails, step, regulation=self.setting.regulation
            )
        self._wrote(self.folder.attempts, write_rows(self.folder.attempts, rows))
        return rows

    def verdicts(self, tasks: Sequence[TaskRow], attempts: Sequence[AttemptRow]) -> list[VerdictRow]:
        by_id = {task.id: task for task in tasks}
        rows = [judge(self.setting.environment, by_id[attempt.task], attempt) for attempt in attempts]
        self._wrote(self.folder.verdicts, write_rows(self.folder.verdicts, rows))
        return rows

    def _wrote(self, path: Path, rows: int) -> None:
        before = self._finished.get(path.name)
        if path in {self.folder.rules, self.folder.traces} and before is not None and before != digest(path):
            # No answer of a model takes part in these, so nothing but a changed declaration or rule explains it.
            raise InputError(
                f"{path} came out different from what it was before the run was interrupted: what it is made from has "
                "changed since; start a new run"
            )
        self.ledger.record(StageFinished(stage=path.stem, file=path.name, sha256=digest(path), rows=rows))


def check_inputs(recipe: Recipe) -> None:
    """What a run reads must be there and make sense before its folder is made. Raises InputError."""
    setting = setting_of_recipe(recipe)
    check_rules(load_rules(recipe.rules.file or setting.rules_file), setting.environment, setting.regulation)
    recipe.tasks.wishes.check(setting.environment)
    if "denied" in recipe.tasks.families:
        deny_authorization(setting.environment, setting.environment.populate(Random(recipe.seed)))


async def walk(
    recipe: Recipe, folder: RunFolder, *, record: Record, resumed: bool = False, progress: Progress | None = None
) -> RunResult:
    """Walk the whole way and write every stage's file. With ``resumed``, what the record holds is not asked again."""
    settings = CallSettings(
        deadline_seconds=recipe.conversation.deadline_seconds, concurrency=recipe.conversation.concurrency
    )
    limits = Limits(seconds=recipe.attempts.seconds)
    finished = {entry.file: entry.sha256 for entry in record.entries(kind="stage") if isinstance(entry, StageFinished)}
    async with ModelClients(
        record, settings=settings, open_replay=Record.open, earlier=record if resumed else None
    ) as clients:
        # Reference programs are ours: the limits for models do not apply to them.
        walls = choose_walls(recipe.sandbox)
        with Jail(walls=walls) as own_jail, Jails(limits, walls) as jails:
            way = _Walk(
                recipe,
                folder,
                ledger=record,
                clients=clients,
                own_jail=own_jail,
                jails=jails,
                progress=progress or Silent(),
                finished=finished,
            )
            rules, score = await way.rules()
            baseline = await way.baseline(rules)
            built = await way.tasks(rules, way.traces(rules))
            if not built.tasks:
                reasons = ", ".join(f"{reason} ({number} times)" for reason, number in built.dropped.items())
                unanswered = all(reason.endswith(": failure") for reason in built.dropped)
                kind = CannotCarryOut if unanswered else InputError
                raise kind(f"no task was accepted: {reasons}; see `lawtrace messages {folder.path}`")
            attempts = await way.attempts(built.tasks)
            verdicts = way.verdicts(built.tasks, attempts)
            ordinary = [task for task in built.tasks if task.family == "ordinary"]
            deletions = check_deletions(way.setting.environment, ordinary, own_jail)
    traces = [(row.id, row.trace(way.setting.environment)) for row in built.references]
    strength = measure_strength(way.setting.environment, rules, traces)
    findings = Findings(
        funnel=built.funnel(), deletions=deletions, strength=strength, extraction=score, baseline=baseline
    )
    write_rows(folder.findings, [findings])
    return RunResult(folder, built.tasks, attempts, verdicts, findings)
