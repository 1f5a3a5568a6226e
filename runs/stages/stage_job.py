"""The job of a stage whose units are divided among workers: its recipe, the files that it needs, and a function."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Generic, Self

from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.models.stack import ModelClients
from lawtrace.environments.regulations.published_law import all_files
from lawtrace.environments.sandbox import Sandbox
from lawtrace.runs.stages.cluster_jobs import Bundle, Given, Product
from lawtrace.runs.stages.resolve import resolve_recipe
from lawtrace.runs.stages.stage import StageContext
from lawtrace.runs.store.stage_files import file_digest
from lawtrace.runs.store.stage_store import AnyFile, Products
from lawtrace.schemas.events import Json
from lawtrace.schemas.recipe import Recipe
from lawtrace.solver.declarations.loader import environment_files, is_folder

Prepare = Callable[[StageContext, Products, ExitStack], Callable[[Given], Product]]
"""Prepares a worker for a stage: from context and inputs to what makes a unit. A function of a module, since other
processes load it by its name. The files of the job are gone after it; the stack is closed when the worker ends."""


@dataclass(frozen=True, slots=True)
class StageJob(Generic[Given, Product]):
    """What workers make the units of a stage of. No key of an endpoint is in it.

    Attributes:
        recipe: as JSON. Its paths of environment and law are those of the process that divides the job.
        files: the stage files that units need, with their content.
        environment: the folder of the environment; None if it is built in.
        law: the documents of the law.
    """

    recipe: Json
    files: tuple[tuple[AnyFile, bytes], ...]
    prepare: Prepare[Given, Product]
    variant: str | None = None
    environment: Bundle | None = None
    law: tuple[Bundle, ...] = ()

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
        recipe, environment = context.recipe, None
        if is_folder(recipe.environment):
            environment = Bundle.of(Path(recipe.environment), environment_files)
        law = tuple(Bundle.of(place, lambda folder: all_files([folder])) for place in recipe.regulation.files)
        return cls(recipe.model_dump(mode="json"), tuple(files), prepare, context.variant, environment, law)

    def open(self, stack: ExitStack) -> Callable[[Given], Product]:
        """See `lawtrace.runs.stages.cluster_jobs.Job`."""
        event_log = MemoryEventLog()
        with TemporaryDirectory() as temporary:  # not for the stack, since workers of Ray are killed
            folder = Path(temporary)
            recipe = self._unpacked(folder)
            context = StageContext(
                **resolve_recipe(recipe).inputs.parts,
                clients=ModelClients(event_log),
                event_log=event_log,
                sandbox=Sandbox(),
                folder=folder,
                variant=self.variant,
            )
            return self.prepare(context, self._products(folder), stack)

    def _unpacked(self, folder: Path) -> Recipe:
        """The recipe with the paths of the files that were sent with it."""
        recipe = Recipe.model_validate(self.recipe)
        law = tuple(files.unpack(folder / f"law-{number}") for number, files in enumerate(self.law))
        regulation = recipe.regulation.model_copy(update={"files": law})
        tasks = recipe.tasks.model_copy(update={"file": None})
        recipe = recipe.model_copy(update={"regulation": regulation, "tasks": tasks})
        if self.environment is None:
            return recipe
        return recipe.model_copy(update={"environment": str(self.environment.unpack(folder / "environment"))})

    def _products(self, folder: Path) -> Products:
        products = Products()
        for file, content in self.files:
            path = folder / file.name
            path.write_bytes(content)
            products.put(file, file.read(path), file_digest(path))
        return products
