"""Recipes: the file that describes a run. File, flags and the record's copy are one typed model.

    environment = "banking"
    seed = 1

    [tasks]
    count = 40
    length = 8

    [models]
    instruction_generator = "openai:gpt-5-mini"

    [attempts]
    models = ["openai:gpt-5", "business"]

    [ablation]
    "attempts.shield" = ["off", "refuse"]

Unknown keys are errors. What a recipe does not mention has the default below, which needs no key and no network.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from lawtrace.agents.clients.budget import Budget, Price
from lawtrace.agents.clients.spec import ModelParameters, ModelSpec
from lawtrace.agents.clients.stack import CallSettings
from lawtrace.agents.conversations.acting import ActingLimits
from lawtrace.agents.roles import RoleName
from lawtrace.agents.roles.executor import Briefing
from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Json
from lawtrace.environments.jail import choose_walls
from lawtrace.prompts.loader import OUR_PROMPTS, Prompts
from lawtrace.runs.cache_folder import answers_file
from lawtrace.runs.stages.rows import Family, Mode
from lawtrace.solver.demands import NO_WISHES, Wishes
from lawtrace.solver.masking import STYLES, Style
from lawtrace.solver.profiles import Profile
from lawtrace.solver.shield import ShieldMode

Name = TypeVar("Name", bound=str)


def _known_model(text: str) -> str:
    try:
        ModelSpec.parse(text)
    except InputError as error:
        raise ValueError(str(error)) from error
    return text


def _under_test(text: str) -> str:
    if ModelSpec.parse(text).provider == "offline":
        raise ValueError("offline plays roles and is no model under test; name an endpoint, or business")
    return text


def _in_a_role(text: str) -> str:
    spec = ModelSpec.parse(text)
    if spec.built_in and spec.provider != "offline":
        raise ValueError(f"{text} is a program under test and plays no role; name an endpoint, or offline")
    return text


def _known_sandbox(text: str) -> str:
    try:
        choose_walls(text)
    except InputError as error:
        raise ValueError(str(error)) from error
    return text


def distinct(values: tuple[Name, ...]) -> tuple[Name, ...]:
    if len(set(values)) != len(values):
        raise ValueError("the same name stands in it twice; use trials to try a model several times")
    return values


ModelUnderTest = Annotated[str, AfterValidator(_known_model), AfterValidator(_under_test)]
RoleModel = Annotated[str, AfterValidator(_known_model), AfterValidator(_in_a_role)]


class Options(BaseModel):
    """A part of a recipe: unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RuleOptions(Options):
    """Where the rules come from. ``extract`` holds the conversation of extractor and critic, whichever set is used."""

    source: Literal["curated", "extracted"] = "curated"
    file: Path | None = None
    """A rule file of the user's own; takes the place of the curated set."""
    extract: bool = True


class TaskOptions(Options):
    """How many tasks, and from which traces. ``spare`` traces stand by for candidates that nobody accepts.

    ``wishes``: tools and pairs that traces are to have, the share of compliance steps, how much traces differ.
    ``families``: ordinary tasks, denied sessions (their twins, in which authorization is refused), or both; ``count``
    pairs of each.
    """

    count: int = Field(default=40, ge=1, le=10_000)
    spare: int = Field(default=20, ge=0, le=10_000)
    length: int = Field(default=8, ge=2, le=400)
    profile: Profile = "tasks"
    families: Annotated[tuple[Family, ...], Field(min_length=1), AfterValidator(distinct)] = ("ordinary",)
    wishes: Wishes = NO_WISHES


class ConversationOptions(Options):
    """``rounds``: the most drafts of an instruction, or proposals of rules. Three is the published number.

    ``critic``: the LTL critic hears each proposal of rules. ``evaluator``: the masking evaluator hears each draft. What
    code checks is checked all the same.
    """

    rounds: int = Field(default=3, ge=1, le=20)
    critic: bool = True
    evaluator: bool = True
    concurrency: int = Field(default=8, ge=1, le=1000)
    deadline_seconds: float = Field(default=120.0, gt=0)


_LIMITS = ActingLimits()


class ToolOptions(Options):
    """What one attempt in tools mode may use; see `lawtrace.agents.conversations.acting.ActingLimits`."""

    turns: int = Field(default=_LIMITS.turns, ge=1)
    calls: int = Field(default=_LIMITS.calls, ge=1)
    tokens: int = Field(default=_LIMITS.tokens, ge=1)
    seconds: float = Field(default=_LIMITS.seconds, gt=0)

    def limits(self) -> ActingLimits:
        return ActingLimits(self.turns, self.calls, self.tokens, self.seconds)


BASELINES = ("reference", "business", "idle", "refuse")
"""The built-in programs under test: what each attempt can be held against."""


class AttemptOptions(Options):
    """The models under test, how they act, and what they are told.

    ``baselines``: the built-in programs (`BASELINES`) are put under test beside the models, as in every report.
    ``mode``: each model writes one program, or calls tools turn by turn (docs/acting.md). ``shield``: monitors in front
    of the tools warn of a call after which a rule cannot be kept, or refuse it. ``hints``: the documentation says when
    to call the compliance tools. ``target_state``: the goal prompt hands over the target state, as the published one
    does. These three give help that users do not, and are off. ``regulation``: the prompt has the regulation's text.
    """

    models: Annotated[tuple[ModelUnderTest, ...], Field(min_length=1), AfterValidator(distinct)] = BASELINES
    baselines: bool = True
    mode: Mode = "program"
    shield: ShieldMode = "off"
    styles: Annotated[tuple[Style, ...], Field(min_length=1), AfterValidator(distinct)] = STYLES
    trials: int = Field(default=1, ge=1, le=100)
    hints: bool = False
    target_state: bool = False
    regulation: bool = True
    seconds: float = Field(default=10.0, gt=0, le=600)
    """Wall-clock seconds that a program may run."""
    tools: ToolOptions = ToolOptions()

    @property
    def contenders(self) -> tuple[str, ...]:
        """Everything that is put under test: the models named, then the baselines that are not among them."""
        return tuple(dict.fromkeys([*self.models, *(BASELINES if self.baselines else ())]))

    def briefing(self, prompts: Prompts = OUR_PROMPTS) -> Briefing:
        """What the model under test is told."""
        return Briefing(regulation=self.regulation, hints=self.hints, shield=self.shield, prompts=prompts)

    @model_validator(mode="after")
    def _somebody_hears_a_warning(self) -> Self:
        if self.shield == "warn" and self.mode == "program":
            raise ValueError(
                "shield 'warn' needs mode 'tools': a program is written before it runs, and nobody reads a warning; "
                "'refuse' works in both"
            )
        return self


def _writes_traces(text: str) -> str:
    if ModelSpec.parse(text).built_in:
        raise ValueError("the model-written baseline is what a model does; name an endpoint, or leave it out")
    return text


class RoleModels(Options):
    """The model behind each role. The three that prepare provisions for the ``policy_extractor`` have its model unless
    they are named. ``trace_writer`` writes the baseline beside the search (P Table 2); without a model
    there is none."""

    scope_aligner: RoleModel | None = None
    verifiability_refiner: RoleModel | None = None
    tool_mapper: RoleModel | None = None
    policy_extractor: RoleModel = "offline"
    ltl_critic: RoleModel = "offline"
    instruction_generator: RoleModel = "offline"
    masking_evaluator: RoleModel = "offline"
    independent_reader: RoleModel = "offline"
    trace_writer: Annotated[str, AfterValidator(_known_model), AfterValidator(_writes_traces)] | None = None

    def specs(self) -> dict[RoleName, ModelSpec]:
        preparing: tuple[RoleName, ...] = ("scope_aligner", "verifiability_refiner", "tool_mapper")
        roles: tuple[RoleName, ...] = (
            "policy_extractor",
            "ltl_critic",
            "instruction_generator",
            "masking_evaluator",
            "independent_reader",
        )
        named: dict[RoleName, str] = {role: getattr(self, role) for role in roles}
        named |= {role: getattr(self, role) or self.policy_extractor for role in preparing}
        return {role: ModelSpec.parse(model) for role, model in named.items()}


class BudgetOptions(Options):
    """The most that a run may use of endpoints, all in all; what is not set is not limited.

    ``messages``: calls. ``tokens``: of prompts and answers. ``seconds``: of waiting for answers, added up over all
    conversations. ``money``: by the recipe's prices. A run that reaches one stops once what is in flight has come back.
    """

    messages: int | None = Field(default=None, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(default=None, gt=0)
    money: float | None = Field(default=None, gt=0)


class PriceOptions(Options):
    """Money for a million tokens of prompts and of answers."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)


class CallOptions(Options):
    """What a recipe of any kind says about calling models. ``prices`` by the model's spec. ``cache``: answers that were
    given before, in any run, are taken from the disk."""

    conversation: ConversationOptions = ConversationOptions()
    parameters: ModelParameters = ModelParameters()
    budget: BudgetOptions = BudgetOptions()
    prices: Mapping[ModelUnderTest, PriceOptions] = {}
    cache: bool = False

    def call_settings(self) -> CallSettings:
        prices = {model: Price(price.input, price.output) for model, price in self.prices.items()}
        limits = self.budget
        return CallSettings(
            deadline_seconds=self.conversation.deadline_seconds,
            concurrency=self.conversation.concurrency,
            budget=Budget(limits.messages, limits.tokens, limits.seconds, limits.money, prices),
            cache=answers_file() if self.cache else None,
        )


OURS = "ours"
"""In place of a prompt file: the one that comes with lawtrace."""


class OwnPrompts(Options):
    """The words for each role: a prompt file of the user's own, relative to the recipe. It takes the same inputs and
    asks for the same answer as ours, and has an id of its own. In a record, the whole text stands in place of the name.
    """

    def prompts(self) -> Prompts:
        return Prompts({role: text for role, text in self.model_dump().items() if text != OURS})


class RolePrompts(OwnPrompts):
    """The words for the roles of a run over tasks."""

    scope_aligner: str = OURS
    verifiability_refiner: str = OURS
    tool_mapper: str = OURS
    policy_extractor: str = OURS
    ltl_critic: str = OURS
    instruction_generator: str = OURS
    masking_evaluator: str = OURS
    independent_reader: str = OURS
    trace_writer: str = OURS
    executor_system: str = OURS
    executor_tools_system: str = OURS
    executor_user: str = OURS


class Recipe(CallOptions):
    """A whole run."""

    schema_version: Literal["lawtrace.recipe/1"] = "lawtrace.recipe/1"
    name: str = Field(default="quickstart", pattern=r"^[\w-][\w.-]*$")
    environment: str = "banking"
    """A built-in environment, or the folder of one of the user's own, relative to the recipe (``./airline``)."""
    declaration: str | None = None
    """The digest of the environment's folder. A recipe may pin it; the record of a run always does."""
    tools: Literal["all"] | Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(distinct)] = "all"
    """The tools of the environment that are offered, beside its compliance tools, which always are."""
    seed: int = 1
    sandbox: Annotated[str, AfterValidator(_known_sandbox)] = "bwrap"
    """What programs run behind: ``bwrap``, ``docker`` or ``docker:IMAGE``. The command line alone can say unprotected,
    so that nobody's recipe runs programs without walls on another's machine."""
    rules: RuleOptions = RuleOptions()
    tasks: TaskOptions = TaskOptions()
    models: RoleModels = RoleModels()
    prompts: RolePrompts = RolePrompts()
    attempts: AttemptOptions = AttemptOptions()
    ablation: Mapping[str, tuple[Json, ...]] = {}
    """Key of this recipe (``attempts.shield``) -> the values that it takes in turn; see `lawtrace.runs.variants`."""
