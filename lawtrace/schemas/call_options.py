"""The parts of a recipe that are about calling models, for recipes of every kind."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self, get_args

from pydantic import AfterValidator, Field, model_validator

from lawtrace.schemas.errors import InputError, near_names
from lawtrace.schemas.log_entries import BudgetName
from lawtrace.schemas.model_spec import ModelSpec, Parameters
from lawtrace.schemas.models import StrictModel


def _check_model(text: str) -> str:
    try:
        ModelSpec.parse(text)
    except InputError as error:
        raise ValueError(str(error)) from error
    return text


def _check_model_under_test(text: str) -> str:
    if ModelSpec.parse(text).provider == "offline":
        raise ValueError(
            "offline cannot be the model under test; name an endpoint or a baseline such as baseline:literal"
        )
    return text


def _check_role_model(text: str) -> str:
    spec = ModelSpec.parse(text)
    if spec.is_scripted and spec.provider != "offline":
        raise ValueError(f"{text} cannot play a role; name an endpoint or offline")
    return text


def _check_role_needs_model(text: str) -> str:
    if ModelSpec.parse(text).is_scripted:
        raise ValueError("this role needs a model; name an endpoint or omit the key")
    return text


ModelUnderTest = Annotated[str, AfterValidator(_check_model), AfterValidator(_check_model_under_test)]
RoleModel = Annotated[str, AfterValidator(_check_model), AfterValidator(_check_role_model)]
OptionalModel = Annotated[str, AfterValidator(_check_model), AfterValidator(_check_role_needs_model)] | None


class ConversationOptions(StrictModel):
    """Options of the conversations. ``rounds``: maximum drafts of an instruction, or proposals of rules; three as
    published.

    ``evaluator``: the masking evaluator reviews each draft; the checks by code run in any case. ``concurrency``: calls
    in flight. ``requests_per_minute``: to one endpoint; None: no limit.
    """

    rounds: int = Field(default=3, ge=1, le=20)
    evaluator: bool = True
    concurrency: int = Field(default=8, ge=1, le=1000)
    requests_per_minute: float | None = Field(default=None, gt=0)
    deadline_seconds: float = Field(default=120.0, gt=0)


class BudgetOptions(StrictModel):
    """Limits on the use of endpoints by the whole run. None: no limit.

    ``messages``: calls. ``tokens``: of prompts and answers. ``seconds``: waiting for answers, summed over all
    conversations. ``money``: by the recipe's prices. A run that reaches a limit stops after the calls in flight.
    """

    messages: int | None = Field(default=None, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(default=None, gt=0)
    money: float | None = Field(default=None, gt=0)

    @property
    def limits(self) -> dict[BudgetName, float]:
        return {name: limit for name in get_args(BudgetName) if (limit := getattr(self, name)) is not None}


class Price(StrictModel):
    """Price of a million tokens of prompts and of answers."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)

    @model_validator(mode="before")
    @classmethod
    def _is_table(cls, given: object) -> object:
        if isinstance(given, int | float | str):
            raise ValueError(f"write {{ input = {given}, output = ... }}, the prices of a million tokens")
        return given

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        return (prompt_tokens * self.input + completion_tokens * self.output) / 1_000_000


class CallOptions(StrictModel):
    """Options for calling models, in recipes of every kind. ``prices``: by model spec.

    Attributes:
        role_names: the roles that a recipe of this kind has.
    """

    role_names: ClassVar[tuple[str, ...]] = ()

    conversation: ConversationOptions = ConversationOptions()
    parameters: Parameters = Parameters()
    budget: BudgetOptions = BudgetOptions()
    prices: Mapping[ModelUnderTest, Price] = {}

    @model_validator(mode="after")
    def _check_roles_of_parameters(self) -> Self:
        for role in sorted(self.parameters.roles.keys() - set(self.role_names)) if self.role_names else ():
            raise ValueError(f"parameters.roles: unknown role {role!r}{near_names(role, self.role_names)}")
        return self

    @property
    def call_options(self) -> "CallOptions":
        """These options without the other keys of a recipe."""
        return CallOptions.model_construct(**{name: getattr(self, name) for name in CallOptions.model_fields})

    def divided(self, parts: int) -> Self:
        """The limits of one of so many processes that know nothing of each other: its part of all but concurrency."""
        rate = self.conversation.requests_per_minute
        conversation = {"requests_per_minute": None if rate is None else rate / parts}
        budget = {
            name: limit // parts if isinstance(limit, int) else limit / parts
            for name, limit in self.budget.limits.items()
        }
        return self.model_copy(
            update={
                "conversation": self.conversation.model_copy(update=conversation),
                "budget": self.budget.model_copy(update=budget),
            }
        )


BUILT_IN_PROMPT = "ours"
"""Value in place of a prompt file: the built-in prompt."""


class PromptOptions(StrictModel):
    """The prompt of each role: ``ours``, ``published`` (the paper's, in our words) or a file of the user.

    The path of a file is relative to the recipe. It takes the same inputs, asks for the same answer, and has its own
    id. The event log holds the text in place of the file name.

    Attributes:
        source: the prompts of roles that are not named: ``ours``, or ``published`` where there is one.
        published: the roles that have a published prompt.
    """

    published: ClassVar[frozenset[str]] = frozenset()

    source: Literal["ours", "published"] = "ours"

    @model_validator(mode="after")
    def _published_prompts_exist(self) -> Self:
        roles = self.published
        wanted = [role for role, prompt in self._named().items() if prompt == "published" and role not in roles]
        if wanted or (self.source == "published" and not roles):
            without = f"{wanted[0]} has no published prompt" if wanted else "no role has a published prompt"
            raise ValueError(f"{without}; published are those of {', '.join(sorted(roles)) or 'no role'}")
        return self

    def replaced(self) -> dict[str, str]:
        """The roles with another prompt than ours: ``published``, or the text of a file."""
        chosen = dict.fromkeys(self.published, self.source) | self._named()
        return {role: chosen[role] for role in type(self).model_fields if chosen.get(role, "ours") != BUILT_IN_PROMPT}

    def _named(self) -> dict[str, str]:
        return self.model_dump(exclude={"source"}, exclude_none=True)
