"""Where each provider's endpoint is and what opens it: from the environment, and from nowhere else."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from lawtrace.agents.clients.spec import EndpointProvider, ModelSpec
from lawtrace.environments.errors import InputError

OPENAI_ADDRESS = "https://api.openai.com/v1"
_ANTHROPIC_ADDRESS = "https://api.anthropic.com"
_AZURE_VERSION = "2024-10-21"
_LOCAL: Mapping[EndpointProvider, tuple[str, str]] = {
    "ollama": ("OLLAMA_BASE_URL", "http://localhost:11434/v1"),
    "llamacpp": ("LLAMACPP_BASE_URL", "http://localhost:8080/v1"),
}
"""Servers of one's own: the variable with the address, and the address where they listen by default."""


@dataclass(frozen=True, slots=True)
class Access:
    """An endpoint. ``api_version`` is Azure's."""

    address: str
    key: str
    api_version: str | None = None


def access_to(provider: EndpointProvider, environment: Mapping[str, str], spec: ModelSpec | None = None) -> Access:
    """Address and key. Raises InputError naming the variable, or the package, that is missing."""
    who = f"model '{spec}'" if spec else f"provider {provider!r}"
    if trouble := missing_package(provider):
        raise InputError(f"{who}: {trouble}")
    if provider in _LOCAL:
        variable, address = _LOCAL[provider]
        return Access(environment.get(variable) or address, "none")
    if provider == "azure":
        address = environment.get("AZURE_OPENAI_ENDPOINT")
        if not address:
            raise InputError(f"{who} needs an address: set AZURE_OPENAI_ENDPOINT, and AZURE_OPENAI_API_KEY")
        api_version = environment.get("AZURE_OPENAI_API_VERSION") or _AZURE_VERSION
        return Access(address, _key(who, "AZURE_OPENAI_API_KEY", environment), api_version)
    if provider == "anthropic":
        address = environment.get("ANTHROPIC_BASE_URL") or _ANTHROPIC_ADDRESS
        return Access(address, _key(who, "ANTHROPIC_API_KEY", environment))
    address = environment.get("OPENAI_BASE_URL") or OPENAI_ADDRESS
    key = environment.get("OPENAI_API_KEY") or ("" if address == OPENAI_ADDRESS else "none")
    if not key:
        raise InputError(f"{who} needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL if a compatible server is meant")
    return Access(address, key)


def missing_package(provider: EndpointProvider) -> str | None:
    """What is to be installed before the provider can be asked; None if nothing is."""
    if provider != "anthropic":
        return None
    remedy = "pip install 'lawtrace[anthropic]'"
    try:
        major = int(version("anthropic").split(".")[0])
    except PackageNotFoundError:
        return f"the package anthropic is not installed: {remedy}"
    return f"the package anthropic is too new for AutoGen 0.7.5, which needs one below 1: {remedy}" if major else None


def _key(who: str, variable: str, environment: Mapping[str, str]) -> str:
    key = environment.get(variable)
    if not key:
        raise InputError(f"{who} needs a key: set {variable}")
    return key
