"""The job of a stage whose units are divided among workers: its recipe, the files that it needs, and a function."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Generic, Self

from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.models.stack import ModelClients
from lawtrace.environments.domains.loader import is_folder
from lawtrace.environments.events import Json
from lawtrace.environments.sandbox import Jail, choose_backend
from lawtrace.runs.recipe import Recipe
from lawtrace.runs.stages.cluster_jobs import CallRecords, Given, ModelAccess, Product
from lawtrace.runs.stages.contexts import stage_context
from lawtrace.runs.stages.resolve import checked_recipe_environment
from lawtrace.runs.stages.stage import StageContext
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import file_digest
from lawtrace.runs.store.stage_store import AnyFile, Products

Prepare = Callable[[StageContext, Products, ExitStack], Callable[[Given], Awaitable[Product]]]
"""Prepares a worker for a stage: from context and inputs to what makes a unit. A function of a module, since other
processes load it by its name; the stack is closed when the worker ends."""


@dataclass(frozen=True, slots=True)
class StageJob(Generic[Given, Product]):
    """What workers make the units of a stage of. No key of an endpoint is in it.

    Attributes:
        recipe: as JSON, with the environment's folder as an absolute path.
        files: the stage files that units need, with their content.
    """

    recipe: Json
    files: tuple[tuple[AnyFile, bytes], ...]
    prepare: Prepare[Given, Product]
    variant: str | None = None

    @classmethod
    def of(
        cls, context: StageContext, products: Products, needs: Sequence[AnyFile], prepare: Prepare[Given, Product]
    ) -> Self:
        """The job of a stage in a run. ``needs``: the files that units need, as far as the run has them."""
        files: list[tuple[AnyFile, bytes]] = []
        with TemporaryDirectory() as temporary:
            for file in needs:
                if file in products:
                    path = Path(temporary) / file.name
                    file.write(path, products[file])
                    files.append((file, path.read_bytes()))
        recipe = context.recipe.model_dump(mode="json")
        environment = recipe["environment"]
        if is_folder(environment):
            recipe["environment"] = str(Path(environment).resolve())
        return cls(recipe, tuple(files), prepare, context.variant)

    def open(self, access: ModelAccess | None, stack: ExitStack) -> Callable[[Given], Awaitable[Product]]:
        """See `lawtrace.runs.stages.cluster_jobs.Job`."""
        folder = Path(stack.enter_context(TemporaryDirectory())) if access is None else access.folder
        event_log = MemoryEventLog() if access is None else access.event_log
        recipe = Recipe.model_validate(self.recipe)
        context = stage_context(
            recipe,
            checked_recipe_environment(recipe),
            clients=ModelClients(event_log) if access is None else access.clients,
            event_log=event_log,
            jail=Jail(backend=choose_backend(recipe.sandbox)),
            folder=folder,
            variant=self.variant,
        )
        return self.prepare(context, self._products(folder), stack)

    def _products(self, folder: Path) -> Products:
        products = Products()
        for file, content in self.files:
            path = folder / file.name
            path.write_bytes(content)
            products.put(file, file.read(path), file_digest(path))
        return products


def call_records(context: StageContext) -> CallRecords:
    """Where a stage of a run keeps the calls of its workers."""
    assert isinstance(context.event_log, EventLogFile)
    return CallRecords(context.event_log, context.clients, context.recipe.call_settings())
