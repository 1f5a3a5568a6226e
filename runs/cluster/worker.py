"""A worker: makes attempts, and writes its own part of the event log."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from lawtrace.agents.event_log import Context, Entry, ModelCalled, RoleFailed
from lawtrace.agents.model_spec import RecordedModel
from lawtrace.agents.models.stack import ModelClients
from lawtrace.environments.domains.loader import is_folder
from lawtrace.environments.errors import LawtraceError
from lawtrace.environments.events import Json
from lawtrace.environments.sandbox import Jail, choose_backend
from lawtrace.runs.cluster.grants import Ask, RemoteGrants, RemoteSlots
from lawtrace.runs.recipe import Recipe
from lawtrace.runs.runner import stage_context
from lawtrace.runs.stages.attempts_stage import AttemptMaker, AttemptUnit
from lawtrace.runs.stages.pipeline import HABITS, TASKS, attempt_jails, attempt_maker, planned_units
from lawtrace.runs.stages.resolve import checked_recipe_environment
from lawtrace.runs.stages.stage import StageContext
from lawtrace.runs.store.event_log_file import EventLogFile, utc_now
from lawtrace.runs.store.stage_files import file_digest
from lawtrace.runs.store.stage_store import AnyFile, Products

WORKERS = "workers"
"""The folder in that of the run with the event logs of its workers."""

NEEDED: tuple[AnyFile, ...] = (TASKS, HABITS)

TimedEntry = tuple[str, Entry]


@dataclass(frozen=True, slots=True)
class AttemptJob:
    """What workers make attempts of: the recipe and the tasks. No key of an endpoint is in it.

    Attributes:
        recipe: as JSON.
        files: name -> content of the stage files that attempts need.
        folder: absolute; the workers' event logs are in it.
    """

    recipe: Json
    files: Mapping[str, bytes]
    folder: Path
    variant: str | None

    @classmethod
    def of(cls, context: StageContext, products: Products, folder: Path) -> Self:
        """The job of a stage."""
        files: dict[str, bytes] = {}
        with TemporaryDirectory() as temporary:
            for file in NEEDED:
                if file in products:
                    path = Path(temporary) / file.name
                    file.write(path, products[file])
                    files[file.name] = path.read_bytes()
        recipe = context.recipe.model_dump(mode="json")
        return cls({**recipe, "environment": _absolute(recipe["environment"])}, files, folder, context.variant)

    def products(self, folder: Path) -> Products:
        """The rows of the files, which are written to a folder."""
        products = Products()
        for file in NEEDED:
            if file.name in self.files:
                path = folder / file.name
                path.write_bytes(self.files[file.name])
                products.put(file, file.read(path), file_digest(path))
        return products


def _absolute(environment: str) -> str:
    return str(Path(environment).resolve()) if is_folder(environment) else environment


@dataclass(frozen=True, slots=True)
class MadeAttempt:
    """The attempt of a unit as JSON, and the entries of its conversation."""

    row: str
    entries: list[TimedEntry]


@dataclass(frozen=True, slots=True)
class UnitFailed:
    """Why a run cannot go on, such as a budget that is used up: the name of the error and its message."""

    kind: str
    text: str


class Worker:
    """Makes attempts in one process.

    Args:
        name: the folder of its event log; unique in the run.
        ask: calls the grant office.
    """

    def __init__(self, job: AttemptJob, name: str, ask: Ask) -> None:
        self._job, self._name, self._ask = job, name, ask
        self._open = ExitStack()
        self._known = KnownAnswers()
        self._units: dict[str, AttemptUnit] = {}
        self._maker: AttemptMaker | None = None

    def start(self) -> str | None:
        """Open event log and jails; return why the worker cannot work, or None."""
        job = self._job
        try:
            with ExitStack() as opening:
                folder, recipe = job.folder / WORKERS / self._name, Recipe.model_validate(job.recipe)
                event_log = opening.enter_context(EventLogFile.create(folder, recipe={"stage": "worker"}))
                self._log = UnitLog(event_log)
                clients = ModelClients(
                    self._log,
                    settings=recipe.call_settings(),
                    open_replay=EventLogFile.open,
                    earlier=self._known,
                    grants=RemoteGrants(self._ask),
                    slots=RemoteSlots(self._ask),
                )
                context = stage_context(
                    recipe,
                    checked_recipe_environment(recipe),
                    clients=clients,
                    event_log=self._log,
                    jail=Jail(backend=choose_backend(recipe.sandbox)),
                    folder=folder,
                    variant=job.variant,
                )
                jails = opening.enter_context(attempt_jails(context))
                products = job.products(folder)
                self._maker = attempt_maker(context, products, jails)
                self._units = {unit.key: unit for unit in planned_units(context, products)}
                self._open = opening.pop_all()
        except LawtraceError as error:
            return str(error)
        return None

    async def make(self, key: str, known: Sequence[Entry]) -> MadeAttempt | UnitFailed:
        """Make the attempt of a unit. ``known``: the answers of its conversation from before an interruption."""
        assert self._maker is not None
        self._known.add(known)
        try:
            attempt = await self._maker.make(self._units[key])
        except LawtraceError as error:
            return UnitFailed(type(error).__name__, str(error))
        await self._log.flush()
        return MadeAttempt(attempt.model_dump_json(), self._log.take(key))

    def close(self) -> None:
        """Close event log and jails."""
        self._open.close()


class UnitLog:
    """An event log that keeps the entries of each conversation until they are taken.

    Every entry is committed to the worker's own file first.
    """

    def __init__(self, file: EventLogFile) -> None:
        self._file = file
        self._by_conversation: dict[str, list[TimedEntry]] = {}

    def record(self, entry: Entry) -> None:
        self._file.record(entry)
        context = getattr(entry, "context", None)
        if isinstance(context, Context):
            kept = self._by_conversation.setdefault(context.conversation_id, [])
            kept.append((utc_now().isoformat(), entry))

    async def flush(self) -> None:
        await self._file.flush()

    def take(self, conversation: str) -> list[TimedEntry]:
        """The entries of a conversation; they are forgotten."""
        return self._by_conversation.pop(conversation, [])


class KnownAnswers:
    """The answers of interrupted units (`lawtrace.agents.models.replay.ReplaySource`)."""

    written_by = version("lawtrace")

    def __init__(self) -> None:
        self._answers: dict[tuple[str | int | None, ...], ModelCalled | RoleFailed] = {}

    def add(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if isinstance(entry, ModelCalled | RoleFailed) and entry.request_hash is not None:
                key = _place(entry.context, entry.request_hash, entry.occurrence)
                if isinstance(entry, ModelCalled) or key not in self._answers:
                    self._answers[key] = entry

    def answer(self, context: Context, request_hash: str, occurrence: int) -> ModelCalled | RoleFailed | None:
        return self._answers.get(_place(context, request_hash, occurrence))

    def models(self, role: str) -> Sequence[RecordedModel]:
        return ()

    def calls(self, role: str) -> Iterator[ModelCalled]:
        return iter(())

    def answered(self) -> Iterator[ModelCalled]:
        return iter(())

    def requests_sent(self) -> int:
        return 0

    def close(self) -> None:
        """Does nothing: the answers are in memory."""


def _place(context: Context, request_hash: str, occurrence: int | None) -> tuple[str | int | None, ...]:
    of = (context.stage, context.role, context.task, context.unit, context.style, context.tested_model)
    return (*of, request_hash, occurrence)
