"""Endpoint addresses and keys, read from environment variables only; and the check of endpoints for ``lawtrace
doctor``."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from lawtrace.agents.models.transport_errors import describe_error, is_endpoint_error
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.model_spec import ENDPOINTS, EndpointProvider, ModelSpec

OPENAI_ADDRESS = "https://api.openai.com/v1"
_ANTHROPIC_ADDRESS = "https://api.anthropic.com"
_AZURE_VERSION = "2024-10-21"
_LOCAL: Mapping[EndpointProvider, tuple[str, str]] = {
    "ollama": ("OLLAMA_BASE_URL", "http://localhost:11434/v1"),
    "llamacpp": ("LLAMACPP_BASE_URL", "http://localhost:8080/v1"),
}
"""Local servers: the variable with the address, and the default address."""


@dataclass(frozen=True, slots=True)
class Access:
    """An endpoint. ``api_version`` is Azure's."""

    address: str
    key: str
    api_version: str | None = None


def access_to(provider: EndpointProvider, environment: Mapping[str, str], spec: ModelSpec | None = None) -> Access:
    """The address and key of a provider. Raises InputError that names the missing variable or package."""
    who = f"model '{spec}'" if spec else f"provider {provider!r}"
    if trouble := missing_package(provider):
        raise InputError(f"{who}: {trouble}")
    if provider in _LOCAL:
        variable, address = _LOCAL[provider]
        return Access(_address(variable, environment) or address, "none")
    if provider == "azure":
        address = _address("AZURE_OPENAI_ENDPOINT", environment)
        if not address:
            raise InputError(f"{who} needs an address: set AZURE_OPENAI_ENDPOINT, and AZURE_OPENAI_API_KEY")
        api_version = environment.get("AZURE_OPENAI_API_VERSION") or _AZURE_VERSION
        return Access(address, _key(who, "AZURE_OPENAI_API_KEY", environment), api_version)
    if provider == "anthropic":
        address = _address("ANTHROPIC_BASE_URL", environment) or _ANTHROPIC_ADDRESS
        return Access(address, _key(who, "ANTHROPIC_API_KEY", environment))
    address = _address("OPENAI_BASE_URL", environment) or OPENAI_ADDRESS
    key = environment.get("OPENAI_API_KEY") or ("" if address == OPENAI_ADDRESS else "none")
    if not key:
        raise InputError(f"{who} needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL if a compatible server is meant")
    return Access(address, key)


def _address(variable: str, environment: Mapping[str, str]) -> str | None:
    """The address in a variable; None if it is not set. Raises InputError unless it is one of HTTP."""
    address = environment.get(variable)
    if address and not address.startswith(("http://", "https://")):
        raise InputError(f"{variable}={address}: write the whole address, such as http://localhost:8000/v1")
    return address


def missing_package(provider: EndpointProvider) -> str | None:
    """The package that must be installed first; None if none is missing."""
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


CHECK_TIMEOUT_SECONDS = 3.0

_REQUIRED_VARIABLES: Mapping[EndpointProvider, tuple[str, ...]] = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "azure": ("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
}
"""A provider is checked if one of these is set."""


def check_endpoints(environment: Mapping[str, str]) -> dict[str, str]:
    """The state of each provider: whether it answers, or what is missing.

    Asks for the list of models, which costs nothing.
    """
    return {provider: _endpoint_status(provider, environment) for provider in ENDPOINTS}


def _endpoint_status(provider: EndpointProvider, environment: Mapping[str, str]) -> str:
    variables = _REQUIRED_VARIABLES.get(provider, ())
    if variables and not any(environment.get(name) for name in variables):
        needed = f"; {trouble}" if (trouble := missing_package(provider)) else ""
        return f"not set up: {_missing_variables(variables)}{needed}"
    try:
        access = access_to(provider, environment)
    except InputError as error:
        return f"not set up: {error}"
    try:
        names = _model_names(provider, access)
    except (AttributeError, TypeError, ValueError):  # the packages take any answer for a list of models
        return f"does not answer at {access.address} as such an endpoint does; check the address (most end in /v1)"
    except Exception as error:
        if not is_endpoint_error(error):
            raise
        if provider in _LOCAL and not environment.get(variable := _LOCAL[provider][0]):
            return f"not set up: nothing answers at {access.address}, its usual address; {variable} names another"
        return f"does not answer at {access.address}: {describe_error(error)[:240]}"
    return f"answers, with {len(names)} models: {', '.join(names[:5])}"


def _missing_variables(variables: tuple[str, ...]) -> str:
    return f"{variables[0]} is not set" if len(variables) == 1 else f"neither {' nor '.join(variables)} is set"


def _model_names(provider: EndpointProvider, access: Access) -> list[str]:
    if provider == "anthropic":
        from anthropic import Anthropic  # an extra

        with Anthropic(
            base_url=access.address, api_key=access.key, timeout=CHECK_TIMEOUT_SECONDS, max_retries=0
        ) as anthropic:
            return [model.id for model in anthropic.models.list()]
    from openai import AzureOpenAI, OpenAI  # takes half a second

    if provider == "azure":
        client: OpenAI = AzureOpenAI(
            azure_endpoint=access.address,
            api_key=access.key,
            api_version=access.api_version,
            timeout=CHECK_TIMEOUT_SECONDS,
            max_retries=0,
        )
    else:
        client = OpenAI(base_url=access.address, api_key=access.key, timeout=CHECK_TIMEOUT_SECONDS, max_retries=0)
    with client:
        return [model.id for model in client.models.list()]
