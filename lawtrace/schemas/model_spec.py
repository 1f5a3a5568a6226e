"""Model specs, the names of models in a recipe: ``openai:gpt-5-mini``, ``ollama:qwen3``, ``replay:logs/run-1``.

The providers are a closed list. ``python:MODULE:FUNCTION`` is an agent of the user's own under test; it is imported and
called by the names of its parameters, which functions that were not written for it do not have.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, Self, get_args

from pydantic import ConfigDict, Field, model_validator

from lawtrace.schemas.errors import InputError
from lawtrace.schemas.models import StrictModel

EndpointProvider = Literal["openai", "azure", "anthropic", "ollama", "llamacpp"]
Provider = EndpointProvider | Literal["replay", "python", "offline", "baseline"]
BaselinePolicy = Literal["reference", "literal", "habit", "noop", "refuse"]

ENDPOINTS: tuple[EndpointProvider, ...] = get_args(EndpointProvider)
"""Providers reached over the network. Their specs name a model."""

EMBEDDERS: tuple[EndpointProvider, ...] = ("openai", "ollama", "llamacpp")
"""Providers that also return embedding vectors."""

BASELINE_POLICIES: tuple[BaselinePolicy, ...] = get_args(BaselinePolicy)
"""Scripted models under test, named ``baseline:reference`` and so on."""

_KNOWN = (*ENDPOINTS, "replay", "python", "offline", "baseline")
_EXAMPLE_NAMES = {"replay": "logs/RUN", "python": "MODULE:FUNCTION", "baseline": "literal"}


class ModelParameters(StrictModel):
    """What is sent to an endpoint besides messages and tools. Only what is set is sent, because endpoints refuse
    parameters they do not know. Any further key is the endpoint's own, such as ``top_p`` or ``reasoning_effort``.

    ``answers``: how a structured answer is requested. ``json`` turns the endpoint's JSON mode on, ``schema`` sends the
    JSON schema, ``text`` sends neither; answers are parsed in the same way. None is ``json`` where the endpoint has
    such a mode. ``headers``: of the HTTP request; ``"$NAME"`` stands for a variable of the environment, which is not
    stored.
    """

    model_config = ConfigDict(extra="allow")

    temperature: float | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, gt=0)
    seed: int | None = None
    answers: Literal["json", "schema", "text"] | None = None
    headers: Mapping[str, str] | None = None

    @model_validator(mode="after")
    def _no_misspelt_key(self) -> Self:
        for key in self.model_extra or {}:
            if meant := get_close_matches(key, type(self).model_fields, 1, cutoff=0.85):
                raise ValueError(f"unknown key {key!r}; did you mean {meant[0]!r}?")
        return self


class Parameters(ModelParameters):
    """The parameters of all models of a recipe.

    Attributes:
        models: those of single models, by spec, with or without the address.
        roles: those of single roles; they come before those of the model.
    """

    models: Mapping[str, ModelParameters] = Field(default={}, exclude_if=lambda value: not value)
    roles: Mapping[str, ModelParameters] = Field(default={}, exclude_if=lambda value: not value)

    def of(self, spec: "ModelSpec", role: str) -> ModelParameters:
        """The parameters of a model, in a role."""
        names = dict.fromkeys((f"{spec.provider}:{spec.name}", str(spec)))
        parts = [self, *(self.models[name] for name in names if name in self.models)]
        parts += [self.roles[role]] if role in self.roles else []
        given = [part.model_dump(exclude_none=True, exclude={"models", "roles"}) for part in parts]
        return ModelParameters(**{key: value for part in given for key, value in part.items()})


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """The model behind a role. ``str(spec)`` is what `parse` reads: ``openai:NAME@http://localhost:8001/v1`` is a model
    at an address of its own.

    Attributes:
        provider: the source of the answers.
        name: for an endpoint the model, for ``replay`` the run folder or the recording, for ``baseline`` the policy;
            empty for ``offline``.
        recorded: for ``replay``, the recorded model, by its spec or its name, if several played the role in that run
            (``replay:logs/run-1#openai:gpt-5-mini``).
        address: of the endpoint; None: the address of the provider in the environment.
    """

    provider: Provider
    name: str = ""
    recorded: str | None = None
    address: str | None = None

    @classmethod
    def parse(cls, text: str) -> "ModelSpec":
        """Raises `InputError` that names the nearest provider or what is missing."""
        provider, colon, name = text.strip().partition(":")
        if provider not in _KNOWN:
            raise InputError(_unknown_provider(text, provider, has_name=bool(colon)))
        if provider == "offline":
            if colon:
                raise InputError(f"model {text!r}: 'offline' takes no name; write 'offline'")
            return cls(provider)
        if not name:
            raise InputError(
                f"model {text!r}: {provider!r} needs a name; write '{provider}:{_EXAMPLE_NAMES.get(provider, 'MODEL')}'"
            )
        if provider == "baseline" and name not in BASELINE_POLICIES:
            raise InputError(f"model {text!r}: unknown baseline policy; known are {', '.join(BASELINE_POLICIES)}")
        if provider == "replay":
            directory, _, recorded = name.partition("#")
            return cls(provider, directory, recorded or None)
        name, at, address = name.partition("@http")
        if not name:
            raise InputError(f"model {text!r}: the name of the model is missing before '@'")
        if "@" in address:
            raise InputError(f"model '{provider}:{name}': leave user and password out of the address")
        return cls(provider, name, address=f"http{address}" if at else None)

    @property
    def baseline(self) -> BaselinePolicy | None:
        """The baseline policy; None for any other model."""
        return next(
            (policy for policy in BASELINE_POLICIES if self.provider == "baseline" and policy == self.name), None
        )

    @property
    def is_scripted(self) -> bool:
        """Whether the answers come from code, of this package or of the user, rather than from a model."""
        return self.provider in {"offline", "baseline", "python"}

    def __str__(self) -> str:
        text = f"{self.provider}:{self.name}" if self.name else self.provider
        return f"{text}#{self.recorded}" if self.recorded else f"{text}@{self.address}" if self.address else text


def _unknown_provider(text: str, provider: str, *, has_name: bool) -> str:
    if provider in BASELINE_POLICIES:
        return f"model {text!r} names no provider; did you mean 'baseline:{provider}'?"
    nearest = get_close_matches(provider, _KNOWN, n=1, cutoff=0.6 if not has_name else 0.0)
    if not nearest:
        return f"model {text!r} names no provider; write 'openai:{text}', or one of {', '.join(_KNOWN)}"
    return f"model {text!r}: unknown provider {provider!r}; did you mean {nearest[0]!r}? Known are {', '.join(_KNOWN)}"


@dataclass(frozen=True, slots=True)
class RecordedModel:
    """A model as a role used it in a recorded run."""

    model: str
    parameters: ModelParameters
