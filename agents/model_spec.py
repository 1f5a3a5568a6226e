"""What a model is called in a recipe: ``openai:gpt-5-mini``, ``ollama:qwen3``, ``replay:logs/run-1``, ``offline``.

A spec only names; what the name stands for is decided by this closed list, so a recipe can never import code.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from lawtrace.environments.errors import InputError

EndpointProvider = Literal["openai", "azure", "anthropic", "ollama", "llamacpp"]
BuiltIn = Literal["offline", "reference", "business", "idle", "refuse"]
Provider = EndpointProvider | Literal["replay"] | BuiltIn

ENDPOINTS: tuple[EndpointProvider, ...] = get_args(EndpointProvider)
"""Providers that are asked over the network; their specs name a model."""

BUILT_IN: tuple[BuiltIn, ...] = get_args(BuiltIn)
"""Providers that are functions of ours: the offline roles, and the built-in models under test."""

_KNOWN = (*ENDPOINTS, "replay", *BUILT_IN)


class ModelParameters(BaseModel):
    """How a model is to answer. Only what is set is sent: endpoints refuse parameters they do not know.

    ``answers``: how a typed answer is asked for. ``json`` turns the endpoint's JSON mode on, ``schema`` sends it the
    schema, ``text`` sends neither; whatever comes is read alike. None is ``json`` where an endpoint has such a mode.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: float | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, gt=0)
    seed: int | None = None
    answers: Literal["json", "schema", "text"] | None = None


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """The model behind a role. ``str(spec)`` is what `parse` reads.

    Attributes:
        provider: who answers.
        name: for an endpoint the model, for ``replay`` the directory of the run, empty for built-in models.
        recorded: for ``replay`` of a role that several models played in that run, the spec of the one meant
            (``replay:logs/run-1#openai:gpt-5-mini``).
    """

    provider: Provider
    name: str = ""
    recorded: str | None = None

    @classmethod
    def parse(cls, text: str) -> "ModelSpec":
        """Reads a spec; raises `InputError` that names the nearest provider or says what is missing."""
        provider, colon, name = text.strip().partition(":")
        if provider not in _KNOWN:
            raise InputError(_unknown(text, provider, has_name=bool(colon)))
        if provider in BUILT_IN:
            if colon:
                raise InputError(f"model {text!r}: {provider!r} is built in and takes no name; write {provider!r}")
            return cls(provider)
        if not name:
            example = "logs/RUN" if provider == "replay" else "MODEL"
            raise InputError(f"model {text!r}: {provider!r} needs a name; write '{provider}:{example}'")
        if provider == "replay":
            directory, _, recorded = name.partition("#")
            return cls(provider, directory, recorded or None)
        return cls(provider, name)

    @property
    def built_in(self) -> bool:
        return self.provider in BUILT_IN

    def __str__(self) -> str:
        text = f"{self.provider}:{self.name}" if self.name else self.provider
        return f"{text}#{self.recorded}" if self.recorded else text


def _unknown(text: str, provider: str, *, has_name: bool) -> str:
    nearest = get_close_matches(provider, _KNOWN, n=1, cutoff=0.6 if not has_name else 0.0)
    if not nearest:
        return f"model {text!r} names no provider; write 'openai:{text}', or one of {', '.join(_KNOWN)}"
    return f"model {text!r}: unknown provider {provider!r}; did you mean {nearest[0]!r}? Known are {', '.join(_KNOWN)}"
