"""The recipe of a legal run: the grid of contexts, retrievers, depths and Meta-LLMs (M 5.1).

Defaults: the grid of the published scripts, which retrieve three chunks, and the model ``offline``. Unknown keys are
errors.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast, get_args

from pydantic import AfterValidator, Field, create_model, model_validator

from lawtrace.agents.legal import LegalRole
from lawtrace.agents.legal.decomposition import AGENT_ROLES, DecompositionLimits
from lawtrace.agents.legal.embedding_endpoint import EMBEDDERS
from lawtrace.agents.legal.scripted.legal_offline_roles import LEGAL_OFFLINE_ROLES
from lawtrace.agents.models.stack import ModelClients
from lawtrace.agents.role_models import RoleModels
from lawtrace.environments.legal.case import CONTEXTS, Context, context_name, parse_context
from lawtrace.environments.legal.retrieval.ranking import DepthShare
from lawtrace.environments.legal.retrieval.retrievers import RetrieverName
from lawtrace.prompts.loader import prompts_of
from lawtrace.runs.recipe_file import read_prompt_files, read_recipe
from lawtrace.schemas.call_options import CallOptions, PromptOptions, RoleModel
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.model_spec import ModelSpec
from lawtrace.schemas.recipe import distinct

META_LLM_TEAM_ROLES: tuple[LegalRole, ...] = ("decomposer", "atomicity_judge", "sufficiency_judge", "integrator")
META_LLM_ROLES: tuple[LegalRole, ...] = ("meta_llm", *META_LLM_TEAM_ROLES)
"""The roles that the Meta-LLM takes, in a team and in all."""

ROLES_WITH_MODELS: tuple[LegalRole, ...] = tuple(role for role in get_args(LegalRole) if role not in META_LLM_ROLES)
"""The roles that prepare cases and questions, and the agents that answer parts of a question.

``application`` writes the chunks of a case, ``application_agent`` answers from them; likewise ``common_sense``.
"""


def _context(text: str) -> str:
    return context_name(parse_context(text))


def _encoder(text: str) -> str:
    try:
        if text == "minilm" or ModelSpec.parse(text).provider in (*EMBEDDERS, "replay"):
            return text
    except InputError as error:
        raise ValueError(str(error)) from error
    raise ValueError(f"{text!r} has no embeddings; use minilm or an endpoint such as openai:MODEL")


def _depths(values: tuple[int, ...]) -> tuple[int, ...]:
    if list(values) != sorted(set(values)):
        raise ValueError("depths must be in ascending order without repeats")
    return values


ContextName = Annotated[str, AfterValidator(_context)]


def _with_models(roles: Mapping[str, str]) -> Mapping[str, str]:
    for role in roles.keys() - set(ROLES_WITH_MODELS):
        raise ValueError(
            f"unknown role {role!r}; the roles are {', '.join(ROLES_WITH_MODELS)}; those of the Meta-LLM have the "
            "models of the key `models`"
        )
    return roles


_PROMPT_OF_ROLE: Any = dict.fromkeys(get_args(LegalRole), (str | None, None))


class LegalPrompts(create_model("PromptOfEachRole", __base__=PromptOptions, **_PROMPT_OF_ROLE)):
    """A prompt file for each role."""

    published = frozenset({"application", "common_sense", "meta_llm"})


class LegalRecipe(CallOptions):
    """The recipe of a legal run.

    Attributes:
        cases: the dataset, a folder or file relative to the recipe; an option of the command overrides it.
        share: whether a depth counts chunks in total or for each agent.
        models: the Meta-LLMs.
        trials: times that each question is asked in each cell; a temperature makes them differ.
        embedding: the source of embeddings: ``minilm`` (extra ``embed``) or an endpoint.
        pipeline: ``once``: the Meta-LLM answers from the chunks retrieved for the question (M 5.1); ``decomposed``: it
            leads a team of agents that answer parts of the question (M Algorithms 1 and 2).
        roles: the model of each role but the Meta-LLM's. One is ``offline`` if it is named so, or if no role that works
            with it has a model (`check_roles`).
        prompts: prompt files of the user, by role.
        may_refuse: whether the prompt offers to decline, if it can: the published prompt of the Meta-LLM cannot.
    """

    role_names = get_args(LegalRole)

    schema_version: Literal["lawtrace.legal_recipe/1"] = "lawtrace.legal_recipe/1"
    cases: Path | None = None
    name: str = Field(default="legal", pattern=r"^[\w-][\w.-]*$")
    seed: int = 1
    contexts: Annotated[tuple[ContextName, ...], Field(min_length=1), AfterValidator(distinct)] = tuple(
        context_name(context) for context in CONTEXTS
    )
    retrievers: Annotated[tuple[RetrieverName, ...], Field(min_length=1), AfterValidator(distinct)] = (
        "bm25",
        "embedding",
    )
    depths: Annotated[
        tuple[Annotated[int, Field(ge=1, le=1000)], ...], Field(min_length=1), AfterValidator(_depths)
    ] = (3,)
    share: DepthShare = "total"
    models: Annotated[tuple[RoleModel, ...], Field(min_length=1), AfterValidator(distinct)] = ("offline",)
    trials: Annotated[int, Field(ge=1, le=100)] = 1
    embedding: Annotated[str, AfterValidator(_encoder)] = "minilm"
    may_refuse: bool = True
    pipeline: Literal["once", "decomposed"] = "once"
    decomposition: DecompositionLimits = DecompositionLimits()
    roles: Annotated[Mapping[str, RoleModel], AfterValidator(_with_models)] = {}
    prompts: LegalPrompts = LegalPrompts()

    @model_validator(mode="after")
    def _released_embedding_needs_minilm(self) -> Self:
        if "released_embedding" in self.retrievers and self.embedding != "minilm":
            raise ValueError("released_embedding needs embedding = 'minilm': it uses the [CLS] vector")
        return self

    @model_validator(mode="after")
    def _team_has_models(self) -> Self:
        if self.pipeline == "decomposed":
            try:
                self.check_roles(*self.team_roles())
            except InputError as error:
                raise ValueError(str(error)) from error
        return self

    def check_roles(self, *roles: LegalRole) -> None:
        """Raises InputError if one of these roles, which work together, has no model beside one that has."""
        named = {f"roles.{role}": self.roles.get(role) for role in roles if role not in META_LLM_ROLES}
        if len(named) < len(roles):
            unnamed = "offline" if "models" in self.model_fields_set else None
            named["models"] = next((model for model in self.models if model != "offline"), unnamed)
        model = next(((key, model) for key, model in named.items() if model not in {None, "offline"}), None)
        without = [key for key, model in named.items() if model is None]
        if model and without:
            raise InputError(
                f"{', '.join(without)}: no model is named beside {model[0]} = {model[1]!r}; name one for each, or "
                "'offline' for no model"
            )

    def role_specs(self) -> dict[str, ModelSpec]:
        """The model of each role but the Meta-LLM's."""
        return {role: ModelSpec.parse(self.roles.get(role, "offline")) for role in ROLES_WITH_MODELS}

    def role_models(self, clients: ModelClients, meta_llm: str | None = None) -> RoleModels:
        """The model behind each role; ``meta_llm`` takes the roles that the Meta-LLM of a cell has."""
        models = self.role_specs()
        if meta_llm is not None:
            models |= dict.fromkeys(META_LLM_ROLES, ModelSpec.parse(meta_llm))
        return RoleModels(clients, models, self.parameters, prompts_of(self.prompts), LEGAL_OFFLINE_ROLES)

    @property
    def offers_refusal(self) -> bool:
        """Whether the prompt that gives the answer offers to decline."""
        role = "meta_llm" if self.pipeline == "once" else "integrator"
        return self.may_refuse and "may_refuse" in prompts_of(self.prompts)[role].inputs

    def team_roles(self) -> tuple[LegalRole, ...]:
        """The roles of a team: those of the Meta-LLM, and the agents that are active in some context."""
        active = {agent for context in self.parsed_contexts() for agent in context}
        return (*META_LLM_TEAM_ROLES, *(role for agent, role in AGENT_ROLES.items() if agent in active))

    def answering_roles(self) -> dict[str, str]:
        """Each role that answers questions -> its model, or the Meta-LLMs that take turns in it."""
        roles = self.team_roles() if self.pipeline == "decomposed" else ("meta_llm",)
        models = self.role_specs()
        return {role: str(models[role]) if role in models else ", ".join(self.models) for role in roles}

    def roles_key(self, *roles: LegalRole) -> dict[str, object]:
        """The part of a stage key for these roles: model, prompt, parameters. The Meta-LLMs are in ``models``."""
        prompts, models = prompts_of(self.prompts), self.role_specs()
        return {
            "models of roles": {role: str(models[role]) for role in roles if role in models},
            "prompts": {role: prompts[role].hash for role in roles},
            "parameters": self.parameters,
        }

    def parsed_contexts(self) -> tuple[Context, ...]:
        return tuple(parse_context(name) for name in self.contexts)


def check_prompts(prompts: LegalPrompts) -> None:
    """Fill each prompt that replaces one of ours with texts, as a run does. Raises InputError for one that does not
    fit."""
    chosen = prompts_of(prompts)
    for role in chosen.overrides:
        prompt = chosen[role]
        prompt.fill(**dict.fromkeys((*prompt.inputs, *prompt.unused), ""))


def recorded_recipe(recorded: object) -> LegalRecipe:
    """The recipe in the event log of a run. Earlier versions recorded every role, and three roles and a field more."""
    fields = cast("dict[str, dict[str, object]]", recorded)
    gone = {"facts", "rules", "question_writer"}
    named = {
        key: {role: of for role, of in fields.get(key, {}).items() if of is not None and role not in gone}
        for key in ("roles", "prompts")
    }
    return LegalRecipe.model_validate({**{key: of for key, of in fields.items() if key != "probe_citations"}, **named})


def load_legal_recipe(path: Path) -> LegalRecipe:
    """Read a legal recipe with its prompt files. Raises InputError, also for a prompt with other inputs than ours."""
    recipe = read_recipe(path, LegalRecipe)
    prompts = read_prompt_files(recipe.prompts, path.resolve().parent)
    check_prompts(prompts)
    cases = None if recipe.cases is None else path.resolve().parent / recipe.cases
    return recipe.model_copy(update={"prompts": prompts, "cases": cases})
