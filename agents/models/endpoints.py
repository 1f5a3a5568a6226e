"""Endpoint addresses and keys, read from environment variables only; and the check of endpoints for ``lawtrace
doctor``."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from urllib.parse import urlsplit

from lawtrace.agents.models.transport_errors import describe_error, is_endpoint_error
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.model_spec import ENDPOINTS, EndpointProvider, ModelSpec

OPENAI_ADDRESS = "https://api.openai.com/v1"
_AZURE_VERSION = "2024-10-21"
KEYS = "LAWTRACE_API_KEYS"
"""The variable with the keys of addresses that model specs name: ``https://host/v1=KEY``, with spaces between."""


@dataclass(frozen=True, slots=True)
class _Provider:
    """The variables with the address and the key of a provider, and its default address. A local server has no key."""

    variable: str
    address: str
    key: str = ""


_PROVIDERS: Mapping[EndpointProvider, _Provider] = {
    "openai": _Provider("OPENAI_BASE_URL", OPENAI_ADDRESS, "OPENAI_API_KEY"),
    "azure": _Provider("AZURE_OPENAI_ENDPOINT", "", "AZURE_OPENAI_API_KEY"),
    "anthropic": _Provider("ANTHROPIC_BASE_URL", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    "ollama": _Provider("OLLAMA_BASE_URL", "http://localhost:11434/v1"),
    "llamacpp": _Provider("LLAMACPP_BASE_URL", "http://localhost:8080/v1"),
}


@dataclass(frozen=True, slots=True)
class Access:
    """An endpoint. ``api_version`` is Azure's. ``trusted``: its address comes from the user's environment, or is in
    `KEYS`; a recipe, which may come from another person, names any other."""

    address: str
    key: str
    api_version: str
    trusted: bool = True

    @property
    def shown(self) -> str:
        """The address without credentials."""
        return without_credentials(self.address)


def without_credentials(address: str) -> str:
    """An address without a user's name and password."""
    return re.sub(r"//[^/?#]*@", "//", address)


def access_to(provider: EndpointProvider, environment: Mapping[str, str], spec: ModelSpec | None = None) -> Access:
    """The address and key of a provider. Raises InputError that names the missing variable or package."""
    who = f"model '{spec}'" if spec else f"provider {provider!r}"
    if trouble := missing_package(provider):
        raise InputError(f"{who}: {trouble}")
    known = _PROVIDERS[provider]
    address = environment.get(known.variable) or known.address
    version = environment.get("AZURE_OPENAI_API_VERSION") or _AZURE_VERSION
    if spec and spec.address and spec.address.rstrip("/") != address.rstrip("/"):
        keys = _keys_of_addresses(environment)
        place = _origin(spec.address)
        return Access(spec.address, keys.get(place) or "none", version, trusted=place in keys)
    if not address:
        raise InputError(f"{who} needs an address: set {known.variable}, and {known.key}")
    if not address.startswith(("http://", "https://")):
        shown = without_credentials(f"//{address}").removeprefix("//")
        raise InputError(f"{known.variable}={shown}: write the whole address, such as http://localhost:8000/v1")
    needs_no_key = not known.key or (provider == "openai" and address != OPENAI_ADDRESS)
    key = environment.get(known.key) or ("none" if needs_no_key else "")
    if not key:
        compatible = ", or OPENAI_BASE_URL if a compatible server is meant" if provider == "openai" else ""
        raise InputError(f"{who} needs a key: set {known.key}{compatible}")
    return Access(address, key, version)


def _keys_of_addresses(environment: Mapping[str, str]) -> dict[str, str]:
    """Origin -> key, from `KEYS`. Raises InputError, which shows no key."""
    keys: dict[str, str] = {}
    for number, entry in enumerate(environment.get(KEYS, "").split(), start=1):
        address, sign, key = entry.partition("=")
        if not sign or not address.startswith(("http://", "https://")):
            raise InputError(f"{KEYS}: entry {number}: write ADDRESS=KEY, such as https://gateway.example/v1=KEY")
        keys[_origin(address)] = key
    return keys


def _origin(address: str) -> str:
    """Scheme, host and port of an address."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.lower()}"


def missing_package(provider: EndpointProvider) -> str | None:
    """The package that must be installed first; None if none is missing."""
    if provider != "anthropic":
        return None
    remedy = "pip install 'lawtrace[anthropic]'"
    try:
        major = int(installed_version("anthropic").split(".")[0])
    except PackageNotFoundError:
        return f"the package anthropic is not installed: {remedy}"
    return f"the package anthropic is too new for AutoGen 0.7.5, which needs one below 1: {remedy}" if major else None


CHECK_TIMEOUT_SECONDS = 3.0
SHOWN_NAMES = 20


def check_endpoints(environment: Mapping[str, str]) -> dict[str, str]:
    """The state of each provider: whether it answers, or what is missing.

    Asks for the list of models, which costs nothing.
    """
    return {provider: _endpoint_status(provider, environment) for provider in ENDPOINTS}


def _endpoint_status(provider: EndpointProvider, environment: Mapping[str, str]) -> str:
    known = _PROVIDERS[provider]
    if known.key and not (environment.get(known.variable) or environment.get(known.key)):
        needed = f"; {trouble}" if (trouble := missing_package(provider)) else ""
        return f"not set up: neither {known.variable} nor {known.key} is set{needed}"
    try:
        access = access_to(provider, environment)
    except InputError as error:
        return f"not set up: {error}"
    try:
        names = _model_names(provider, access)
    except (AttributeError, TypeError, ValueError):  # the packages take any answer for a list of models
        return f"does not answer at {access.shown} as such an endpoint does; check the address (most end in /v1)"
    except Exception as error:
        if not is_endpoint_error(error):
            raise
        if not known.key and not environment.get(known.variable):
            return f"not set up: nothing answers at {access.shown}, its usual address; {known.variable} names another"
        return f"does not answer at {access.shown}: {describe_error(error)[:240].replace(access.address, access.shown)}"
    more = f", and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return f"answers, with {len(names)} models: {', '.join(names[:SHOWN_NAMES])}{more}"


def unlisted_model(spec: ModelSpec, environment: Mapping[str, str]) -> str | None:
    """A warning if an endpoint has a list of models without this one; None if it has it, or gives no list.

    Azure's list is of models, not of deployments; llama.cpp's server answers to any name.
    """
    if spec.provider not in ENDPOINTS or spec.provider in {"azure", "llamacpp"}:
        return None
    try:
        names = _model_names(spec.provider, access_to(spec.provider, environment, spec))
    except Exception:  # noqa: BLE001 (whatever is wrong, the calls themselves will say)
        return None
    if not names or any(name in (spec.name, f"{spec.name}:latest") for name in names):
        return None
    nearest = get_close_matches(spec.name, names, 3, 0.3) or names[:3]
    return f"{spec}: the endpoint lists no such model; it has {', '.join(nearest)}"


def _model_names(provider: EndpointProvider, access: Access) -> list[str]:
    if provider == "anthropic":
        from anthropic import Anthropic  # an extra

        anthropic = Anthropic(base_url=access.address, api_key=access.key)
        with anthropic.with_options(timeout=CHECK_TIMEOUT_SECONDS, max_retries=0) as client:
            return [model.id for model in client.models.list()]
    from openai import AzureOpenAI, OpenAI  # takes half a second

    if provider == "azure":
        openai: OpenAI = AzureOpenAI(azure_endpoint=access.address, api_key=access.key, api_version=access.api_version)
    else:
        openai = OpenAI(base_url=access.address, api_key=access.key)
    with openai.with_options(timeout=CHECK_TIMEOUT_SECONDS, max_retries=0) as client:
        return [model.id for model in client.models.list()]
