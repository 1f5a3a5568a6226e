"""Stages: needed files, produced files, dependencies and the function that runs."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from lawtrace.agents.event_log import EventLog
from lawtrace.agents.models.stack import ModelClients
from lawtrace.agents.role_models import ConfiguredRoleModels
from lawtrace.agents.roles import RoleName
from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.errors import InputError, LawtraceError, OperationalError
from lawtrace.environments.sandbox import Jail
from lawtrace.prompts.loader import Prompts
from lawtrace.runs.recipe import Recipe
from lawtrace.runs.store.stage_store import AnyFile, Products, StageFile

Row = TypeVar("Row", bound=BaseModel)
Context = TypeVar("Context")


class EmptyStageError(InputError):
    """A stage produced no result that the next one can use."""


class NoResponseError(OperationalError):
    """A stage has no result because no model answered."""


class StageProgress(Protocol):
    """Receives the progress of stages."""

    def stage(self, name: str, total: int | None) -> AbstractContextManager[Callable[[], None]]:
        """Begin a stage; the caller calls the yielded function after each step."""
        ...


class NoProgress:
    """No-op progress."""

    def stage(self, name: str, total: int | None) -> AbstractContextManager[Callable[[], None]]:
        return nullcontext(lambda: None)


@dataclass(slots=True)
class Made:
    """The result of a stage.

    Attributes:
        complete: False if a model did not answer. The files are written, but the store does not offer them, so the
            stage runs again when the run is resumed.
        error: why no other stage can use it, or None.
    """

    rows: dict[str, Sequence[BaseModel]] = field(default_factory=dict[str, Sequence[BaseModel]])
    complete: bool = True
    error: LawtraceError | None = None

    def add(self, file: StageFile[Row], rows: Sequence[Row]) -> "Made":
        self.rows[file.name] = rows
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage(Generic[Context]):
    """One stage of a pipeline.

    Attributes:
        produces: the files it writes.
        needs: the files it reads, which may depend on the recipe.
        depends: what else its result depends on: the part of the recipe, models, prompts, parameters.
        run: computes the rows of its files.
    """

    name: str
    produces: tuple[AnyFile, ...]
    needs: Callable[[Context], tuple[AnyFile, ...]] = lambda context: ()
    depends: Callable[[Context], Mapping[str, object]]
    run: Callable[[Context, Products], Awaitable[Made]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageContext:
    """The shared context of the stages over tasks.

    Attributes:
        jail: for reference programs and baselines; the limits for models under test do not apply to them.
        folder: the folder of the run, for messages.
        variant: the name of the variant; None without an ablation.
        resumed: how many times the run was resumed.
        document_doubts: uncertainties of the reader of the regulation's document.
    """

    recipe: Recipe
    domain: Domain
    clients: ModelClients
    role_models: ConfiguredRoleModels
    prompts: Prompts
    event_log: EventLog
    jail: Jail
    progress: StageProgress
    folder: Path
    variant: str | None = None
    resumed: int = 0
    document_doubts: tuple[str, ...] = ()

    def environment_key(self) -> dict[str, object]:
        """The part of the stage key for the environment."""
        return {
            "environment": self.domain.environment.name,
            "declaration": self.domain.digest,
            "tools": self.recipe.tools,
        }

    def roles_key(self, *roles: RoleName) -> dict[str, object]:
        """The part of the stage key for these roles: what their answers depend on besides the requests."""
        return {
            "models": {role: str(self.recipe.models.spec(role)) for role in roles},
            "prompts": {role: self.prompts[role].hash for role in roles},
            "parameters": self.recipe.parameters,
        }
