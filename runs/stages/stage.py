"""Stages: needed files, produced files, dependencies and the function that runs."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel

from lawtrace.agents.event_log import EventLog
from lawtrace.environments.progress import NoProgress, StageProgress
from lawtrace.environments.regulations.published_law import PublishedLaw
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.sandbox import Sandbox
from lawtrace.prompts.loader import Prompts
from lawtrace.runs.scoring.judge import AttemptJudge
from lawtrace.runs.stages.cluster_jobs import Cluster
from lawtrace.runs.stages.regulation_prompt import Law
from lawtrace.runs.store.shards import WHOLE, Shard
from lawtrace.runs.store.stage_store import AnyFile, Products, StageFile, stage_key
from lawtrace.runs.tasks import Task
from lawtrace.schemas.choices import RoleName
from lawtrace.schemas.errors import InputError, LawtraceError, OperationalError
from lawtrace.schemas.model_spec import ENDPOINTS, ModelSpec
from lawtrace.schemas.recipe import Recipe
from lawtrace.solver.declarations.loader import Domain
from lawtrace.solver.rules import Rule

if TYPE_CHECKING:  # a plan of the calls waits for no client of a model
    from lawtrace.agents.models.stack import ModelClients
    from lawtrace.agents.role_models import RoleModels

Row = TypeVar("Row", bound=BaseModel)
Inputs = TypeVar("Inputs", contravariant=True)
Context = TypeVar("Context", contravariant=True)


class EmptyStageError(InputError):
    """A stage produced no result that the next one can use."""


class NoResponseError(OperationalError):
    """A stage has no result because no model answered."""


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


@dataclass(frozen=True, slots=True)
class RoleCalls:
    """Calls of the model of one role: expected if every answer is accepted at once, and at most."""

    role: str
    model: str
    expected: int
    most: int

    @property
    def of_endpoint(self) -> bool:
        return ModelSpec.parse(self.model).provider in ENDPOINTS


MAX_TRIES = 2
"""An unusable answer is requested once more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage(Generic[Inputs, Context]):
    """One stage of a pipeline. ``Inputs`` is the part of the context that is known before anything runs.

    Attributes:
        produces: the files it writes.
        needs: the files it reads, which may depend on the recipe.
        depends: what else its result depends on: the part of the recipe, models, prompts, parameters.
        run: computes the rows of its files.
        sharded: it makes the units of the context's shard only.
        calls: the calls of models that it plans.
    """

    name: str
    produces: tuple[AnyFile, ...]
    needs: Callable[[Inputs], tuple[AnyFile, ...]] = lambda _: ()
    depends: Callable[[Inputs], Mapping[str, object]]
    run: Callable[[Context, Products], Awaitable[Made]]
    sharded: bool = False
    calls: Callable[[Inputs], Iterable[RoleCalls]] = lambda _: ()


def planned_keys(
    stages: Sequence[Stage[Inputs, Context]], inputs: Inputs, targets: Sequence[AnyFile]
) -> dict[str, str]:
    """Stage -> key, for the stages that the targets need, before any file is made.

    A key is made as the runner makes it, with the key of the stage that makes a needed file in place of its digest.
    """
    producers = {file.name: stage for stage in stages for file in stage.produces}
    keys: dict[str, str] = {}

    def key_of(file: AnyFile) -> str:
        stage = producers[file.name]
        if stage.name not in keys:
            needed = {need.name: key_of(need) for need in stage.needs(inputs)}
            keys[stage.name] = stage_key(stage.name, stage.depends(inputs), needed)
        return keys[stage.name]

    for target in targets:
        key_of(target)
    return keys


@dataclass(frozen=True, slots=True, kw_only=True)
class StageInputs:
    """What the stages over tasks depend on: a recipe without ablation, and what it names, read once.

    Attributes:
        rules: the curated rules, limited to the offered tools.
        published: the documents of the law, if there are any.
        given: the tasks that the recipe names; empty: tasks are built.
    """

    recipe: Recipe
    domain: Domain
    rules: tuple[Rule, ...]
    prompts: Prompts
    published: PublishedLaw | None = None
    given: tuple[Task, ...] = ()

    @property
    def parts(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(StageInputs)}

    @property
    def law(self) -> Law:
        """The law as the models under test are given it."""
        given, restated = self.recipe.attempts, self.domain.regulation
        words, seed = given.regulation_words, self.recipe.seed
        return Law(given.regulation, restated, self.published, words, seed, given.manual)

    @property
    def extracted_regulation(self) -> Regulation:
        """What rules are extracted from."""
        if self.recipe.rules.regulation == "restated" or self.published is None:
            return self.domain.regulation
        return self.published.regulation

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


@dataclass(frozen=True, slots=True, kw_only=True)
class StageContext(StageInputs):
    """The shared context of the stages over tasks.

    Attributes:
        sandbox: for reference programs and baselines; the limits for models under test do not apply to them.
        folder: the folder of the run, for messages; ``variant_folder``: of the files of the variant, if there is one.
        variant: the name of the variant; None without an ablation.
        resumed: how many times the run was resumed.
        shard: the part of the units of sharded stages that is made.
        cluster: other processes, which search traces and execute programs; None: this process does.
        judge: of the attempts, shared by their stage and that of the verdicts.
    """

    clients: "ModelClients"
    event_log: EventLog
    sandbox: Sandbox
    folder: Path
    progress: StageProgress = field(default_factory=NoProgress)
    variant: str | None = None
    variant_folder: Path | None = None
    resumed: int = 0
    shard: Shard = WHOLE
    cluster: Cluster | None = None
    role_models: "RoleModels" = field(init=False)
    judge: AttemptJudge = field(init=False)

    def __post_init__(self) -> None:
        from lawtrace.agents.role_models import RoleModels

        recipe = self.recipe
        role_models = RoleModels(self.clients, recipe.models.specs(), recipe.parameters, self.prompts)
        object.__setattr__(self, "role_models", role_models)
        object.__setattr__(self, "judge", AttemptJudge(self.domain.environment, manual=recipe.attempts.manual))
