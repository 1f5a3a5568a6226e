"""Recipes: the description of a run. File, flags and the copy in the event log share one typed model.

    environment = "banking"
    seed = 1

    [tasks]
    count = 40
    length = 8

    [models]
    instruction_generator = "openai:gpt-5-mini"

    [attempts]
    models = ["openai:gpt-5", "baseline:literal"]

    [ablation]
    "attempts.shield" = ["off", "refuse"]

Unknown keys are errors. Missing keys have the defaults below, which need no API key and no network.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from lawtrace.schemas.call_options import CallOptions, ModelUnderTest, OptionalModel, PromptOptions, RoleModel
from lawtrace.schemas.choices import (
    BEHAVIOURS,
    ROLES,
    STYLES,
    ActingMode,
    Behaviour,
    Feedback,
    RegulationForm,
    RoleName,
    ShieldMode,
    Style,
    TaskMode,
    TaskVariant,
)
from lawtrace.schemas.events import Json
from lawtrace.schemas.model_spec import BASELINE_POLICIES, ENDPOINTS, ModelSpec
from lawtrace.schemas.models import StrictModel
from lawtrace.schemas.tool_conversation import AttemptLimits
from lawtrace.schemas.trace_options import ANY_DIFFICULTY, NO_CONSTRAINTS, Difficulty, TraceConstraints

Name = TypeVar("Name", bound=str)


def distinct(values: tuple[Name, ...]) -> tuple[Name, ...]:
    if len(set(values)) != len(values):
        raise ValueError("duplicate name; use trials to repeat a model")
    return values


RegulationSource = Literal["text", "restated"]


def _as_tuple(value: object) -> object:
    return (value,) if isinstance(value, str | Path) else value


class RegulationOptions(StrictModel):
    """The law as published. ``files``: its documents, and folders of them
    (`lawtrace.environments.regulations.published_law`). ``sha256``: the digest of all of them; the event log of a run
    always has it."""

    files: Annotated[tuple[Path, ...], BeforeValidator(_as_tuple)] = ()
    sha256: str | None = None


class RuleOptions(StrictModel):
    """Where the rules come from. ``regulation``: write rules from the documents of the law, or from the restatement of
    the environment; ``provisions``: those of one group, by their citations or how these begin; else every article.

    ``formalizers``: the models that write rules, each for itself; without any, the ``policy_extractor`` alone, and
    without a model for that role no rules are written. ``annotators``: the models that judge sessions on which these
    rules differ; ``answers``: the judgments of people (JSON lines). ``feedback``: what the authors of rules get back.
    """

    source: Literal["curated", "extracted"] = "curated"
    file: Path | None = None
    """The user's rule file; replaces the curated set."""
    sha256: str | None = None
    """The digest of that file. A recipe may pin it; the event log of a run always does."""
    regulation: RegulationSource = "restated"
    provisions: tuple[str, ...] = ()
    formalizers: Annotated[tuple[RoleModel, ...], AfterValidator(distinct)] = ()
    annotators: Annotated[tuple[RoleModel, ...], AfterValidator(distinct)] = ()
    answers: Path | None = None
    feedback: Feedback = "traces"


PART_SIZE = 100
MOST_SPARE = 20


class DocketOptions(StrictModel):
    """How hard dockets are. ``matters``: how many each has. ``slack``: by what share a session is longer than the
    shortest schedule that was found."""

    matters: int = Field(default=6, ge=3, le=20)
    slack: float = Field(default=0.3, ge=0, le=10)


DEFAULT_DOCKET = DocketOptions()


class TaskOptions(StrictModel):
    """The tasks of ``file`` (a task file, a release or a run), of these only ``ids`` and the first ``limit``; without a
    file, the number of tasks to build, and their traces. ``sha256``: of the file; the event log of a run has it.

    ``spare``: additional traces that replace rejected candidates; by default as many as ``count``, and at most
    `MOST_SPARE`. ``part_size``: traces that are chosen with regard to each other; parts are independent, so a cluster
    or shards can divide them.

    ``trace_mode``: None for contrast pairs where the environment declares facts, else ``tasks``. Of contrast pairs both
    sides count as tasks, and their length follows from the request, as it does of requests with a safe harbour.
    ``constraints`` on traces: required tools and pairs, share of compliance steps, distance between traces.
    ``difficulty``: bounds on contrast pairs; ``docket``: on dockets.
    ``variants``: of recorded recipes; there is one.
    """

    file: Path | None = Field(default=None, exclude_if=lambda value: value is None)
    sha256: str | None = Field(default=None, exclude_if=lambda value: value is None)
    ids: Annotated[tuple[str, ...], AfterValidator(distinct)] = Field(default=(), exclude_if=lambda value: not value)
    limit: int | None = Field(default=None, ge=1, exclude_if=lambda value: value is None)
    count: int = Field(default=40, ge=1, le=10_000)
    spare: int = Field(default=MOST_SPARE, ge=0, le=10_000)
    part_size: int = Field(default=PART_SIZE, ge=1, le=20_000)
    length: int = Field(default=8, ge=2, le=400)
    trace_mode: TaskMode | None = None
    variants: Annotated[tuple[TaskVariant, ...], Field(min_length=1), AfterValidator(distinct)] = ("authorized",)
    constraints: TraceConstraints = NO_CONSTRAINTS
    difficulty: Difficulty = ANY_DIFFICULTY
    docket: DocketOptions = Field(default=DEFAULT_DOCKET, exclude_if=lambda value: value == DEFAULT_DOCKET)

    @model_validator(mode="after")
    def _spare_no_more_than_wanted(self) -> Self:
        if "spare" not in self.model_fields_set:
            object.__setattr__(self, "spare", min(self.count, MOST_SPARE))  # which leaves it unset
        return self


BASELINES = tuple(f"baseline:{name}" for name in BASELINE_POLICIES)
"""The baseline policies, as model specs."""
HABIT = "baseline:habit"


def without_habit(models: Sequence[str]) -> tuple[str, ...]:
    """The models other than `baseline:habit`."""
    return tuple(model for model in models if model != HABIT)


class DialogueOptions(StrictModel):
    """``behaviours``: what users do besides answering; the seed chooses one of them for each request, or none."""

    behaviours: Annotated[tuple[Behaviour, ...], AfterValidator(distinct)] = BEHAVIOURS


class AttemptOptions(StrictModel):
    """The models under test, how they act, and what they are told.

    ``baselines``: the baseline policies (`BASELINES`) are run as well.
    ``mode``: each model writes one program, or calls tools turn by turn, without or with a user who answers
    (docs/acting.md). ``shield``: monitors check each call and warn of, or refuse, a call after which a rule cannot be
    kept. ``hints``: the documentation says when to call the compliance tools. ``target_state``: the goal prompt
    contains the target state, as the published one does. These three give help that users do not give, and are off.
    ``regulation``: what the prompt contains of the law: the documents of the user, the restatement, the name, nothing.
    ``regulation_words``: None for the whole text; otherwise the provisions that apply to the task or to the other side
    of its contrast pair, and others drawn by the seed, up to this many words. ``manual``: whether the prompt contains
    the manual of the owner of the tools, if there is one; its rules are judged only then.
    """

    models: Annotated[tuple[ModelUnderTest, ...], Field(min_length=1), AfterValidator(distinct)] = BASELINES
    baselines: bool = True
    mode: ActingMode = "program"
    shield: ShieldMode = "off"
    styles: Annotated[tuple[Style, ...], Field(min_length=1), AfterValidator(distinct)] = STYLES
    trials: int = Field(default=1, ge=1, le=100)
    hints: bool = False
    target_state: bool = False
    regulation: RegulationForm = "restated"
    regulation_words: int | None = Field(default=None, ge=0)
    manual: bool = Field(default=True, exclude_if=lambda value: value)
    seconds: float = Field(default=10.0, gt=0, le=600)
    """Wall-clock limit of a program, in seconds."""
    tools: AttemptLimits = AttemptLimits()
    dialogue: DialogueOptions = DialogueOptions()

    @property
    def shows_documents(self) -> bool:
        """Whether prompts contain the documents of the law or their titles."""
        return self.regulation in {"text", "named"}

    @property
    def all_models(self) -> tuple[str, ...]:
        """All models under test: the named ones, then the remaining baselines."""
        return tuple(dict.fromkeys([*self.models, *(BASELINES if self.baselines else ())]))

    @property
    def named(self) -> Self:
        """The options with all models under test named."""
        return self.model_copy(update={"models": self.all_models, "baselines": False})

    @model_validator(mode="after")
    def _check_own_agents_call_tools(self) -> Self:
        if self.mode != "tools" and (own := [model for model in self.models if model.startswith("python:")]):
            raise ValueError(f"{own[0]} calls tools and writes no program, and it hears no user; use mode 'tools'")
        return self

    @model_validator(mode="after")
    def _check_warnings_are_read(self) -> Self:
        if self.shield == "warn" and self.mode == "program":
            raise ValueError(
                "shield 'warn' needs mode 'tools': a program is complete before it runs, so warnings are not read; "
                "'refuse' works in both"
            )
        return self

    @model_validator(mode="after")
    def _check_values_are_not_given(self) -> Self:
        if self.target_state and self.mode == "dialogue":
            raise ValueError("target_state gives away what the user of a dialogue tells only when asked; leave it out")
        return self


READING_ROLES: tuple[RoleName, ...] = ("masking_evaluator", "independent_reader")
"""The roles that read what the instruction generator writes."""


class RoleModelOptions(StrictModel):
    """The model of each role. Without a ``policy_extractor`` no rules are written; the ``ltl_critic`` defaults to its
    model. The two roles that read instructions default to that of the ``instruction_generator``, because their offline
    versions only understand what its offline version writes. ``trace_writer`` writes the model-written baseline (P
    Table 2); without a model there is no baseline. ``user`` words what the users of dialogues say; without a model they
    use the words of the script."""

    policy_extractor: OptionalModel = None
    ltl_critic: OptionalModel = None
    instruction_generator: RoleModel = "offline"
    masking_evaluator: RoleModel | None = None
    independent_reader: RoleModel | None = None
    trace_writer: OptionalModel = None
    user: OptionalModel = None

    @model_validator(mode="after")
    def _check_readers(self) -> Self:
        writer = self.instruction_generator
        blind = [role for role in READING_ROLES if getattr(self, role) == "offline"]
        if blind and ModelSpec.parse(writer).provider in ENDPOINTS:
            raise ValueError(
                f"{blind[0]} = 'offline' understands only what the offline generator writes, not {writer!r}; "
                "omit the key to use the same model, or name another"
            )
        return self

    def spec(self, role: RoleName) -> ModelSpec:
        """The model of a role."""
        return self.specs()[role]

    def specs(self) -> dict[str, ModelSpec]:
        """The model of each role; those that may be without one only if they are set."""
        named: dict[str, str | None] = self.model_dump()
        named["ltl_critic"] = self.ltl_critic or self.policy_extractor
        named |= {role: named[role] or self.instruction_generator for role in READING_ROLES}
        return {role: ModelSpec.parse(model) for role, model in named.items() if model is not None}


class RolePromptOptions(PromptOptions):
    """The prompts of the roles of a run over tasks."""

    published = frozenset(
        {"executor_system", "executor_user", "instruction_generator", "masking_evaluator", "policy_extractor"}
    )

    policy_extractor: str | None = None
    ltl_critic: str | None = None
    annotator: str | None = None
    instruction_generator: str | None = None
    masking_evaluator: str | None = None
    independent_reader: str | None = None
    trace_writer: str | None = None
    user: str | None = None
    executor_system: str | None = None
    executor_tools_system: str | None = None
    executor_user: str | None = None


class Recipe(CallOptions):
    """A whole run."""

    role_names = ROLES

    schema_version: Literal["lawtrace.recipe/1"] = "lawtrace.recipe/1"
    name: str = Field(default="quickstart", pattern=r"^[\w-][\w.-]*$")
    environment: str = "banking"
    """A built-in environment, or the folder of another one, relative to the recipe (``./airline``)."""
    declaration: str | None = None
    """The digest of the environment's folder. A recipe may pin it; the event log of a run always does."""
    tools: Literal["all"] | Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(distinct)] = "all"
    """The tools that are offered; the compliance tools always are."""
    seed: int = 1
    sandbox: Literal["bwrap"] = "bwrap"
    """The sandbox of programs."""
    regulation: RegulationOptions = RegulationOptions()
    rules: RuleOptions = RuleOptions()
    tasks: TaskOptions = TaskOptions()
    models: RoleModelOptions = RoleModelOptions()
    prompts: RolePromptOptions = RolePromptOptions()
    attempts: AttemptOptions = AttemptOptions()
    ablation: Mapping[str, tuple[Json, ...]] = {}
    """Key of this recipe (``attempts.shield``) -> its values; see `lawtrace.runs.variants`."""

    @property
    def formalizers(self) -> tuple[str, ...]:
        """The models that write rules."""
        extractor = self.models.policy_extractor
        return self.rules.formalizers or (() if extractor is None else (extractor,))

    @model_validator(mode="after")
    def _check_formalizers(self) -> Self:
        if self.rules.source == "extracted" and not self.formalizers:
            raise ValueError(
                "rules.source = 'extracted' needs a model that writes rules: set models.policy_extractor, to "
                "'openai:NAME' or to a recording, 'replay:rts-exemptions'"
            )
        return self
