"""Model specs, the names of models in a recipe: ``openai:gpt-5-mini``, ``ollama:qwen3``, ``replay:logs/run-1``.

The providers are a closed list, so a recipe can never import code.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, get_args

from pydantic import Field

from lawtrace.schemas.errors import InputError
from lawtrace.schemas.models import StrictModel

EndpointProvider = Literal["openai", "azure", "anthropic", "ollama", "llamacpp"]
Provider = EndpointProvider | Literal["replay", "offline", "baseline"]
BaselinePolicy = Literal["reference", "literal", "habit", "noop", "refuse"]

ENDPOINTS: tuple[EndpointProvider, ...] = get_args(EndpointProvider)
"""Providers reached over the network. Their specs name a model."""

EMBEDDERS: tuple[EndpointProvider, ...] = ("openai", "ollama", "llamacpp")
"""Providers that also return embedding vectors."""

BASELINE_POLICIES: tuple[BaselinePolicy, ...] = get_args(BaselinePolicy)
"""Scripted models under test, named ``baseline:reference`` and so on."""

_KNOWN = (*ENDPOINTS, "replay", "offline", "baseline")
_EXAMPLE_NAMES = {"replay": "logs/RUN", "baseline": "literal"}


class ModelParameters(StrictModel):
    """Sampling parameters. Only those that are set are sent, because endpoints refuse parameters they do not know.

    ``answers``: how a structured answer is requested. ``json`` turns the endpoint's JSON mode on, ``schema`` sends the
    JSON schema, ``text`` sends neither; answers are parsed in the same way. None is ``json`` where the endpoint has
    such a mode.
    """

    temperature: float | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, gt=0)
    seed: int | None = None
    answers: Literal["json", "schema", "text"] | None = None


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """The model behind a role. ``str(spec)`` is what `parse` reads.

    Attributes:
        provider: the source of the answers.
        name: for an endpoint the model, for ``replay`` the run folder or the recording, for ``baseline`` the policy;
            empty for ``offline``.
        recorded: for ``replay``, the recorded model, by its spec or its name, if several played the role in that run
            (``replay:logs/run-1#openai:gpt-5-mini``).
    """

    provider: Provider
    name: str = ""
    recorded: str | None = None

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
        return cls(provider, name)

    @property
    def baseline(self) -> BaselinePolicy | None:
        """The baseline policy; None for any other model."""
        return next(
            (policy for policy in BASELINE_POLICIES if self.provider == "baseline" and policy == self.name), None
        )

    @property
    def is_scripted(self) -> bool:
        """Whether the answers come from code of this package rather than from a model."""
        return self.provider in {"offline", "baseline"}

    def __str__(self) -> str:
        text = f"{self.provider}:{self.name}" if self.name else self.provider
        return f"{text}#{self.recorded}" if self.recorded else text


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
