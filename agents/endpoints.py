"""Which endpoints answer: what ``lawtrace doctor`` asks."""

from collections.abc import Mapping

from openai import AzureOpenAI, OpenAI

from lawtrace.agents.clients.addresses import Access, access_to, missing_package
from lawtrace.agents.clients.faults import explain, is_from_endpoint
from lawtrace.agents.clients.spec import ENDPOINTS, EndpointProvider
from lawtrace.environments.errors import InputError

PATIENCE_SECONDS = 3.0

_SET_UP_BY: Mapping[EndpointProvider, tuple[str, ...]] = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "azure": ("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
}
"""One of these makes a provider worth asking."""

_ADDRESSED_BY: Mapping[EndpointProvider, str] = {"ollama": "OLLAMA_BASE_URL", "llamacpp": "LLAMACPP_BASE_URL"}
"""Servers of one's own are asked in any case: without the variable, at the address where they usually are."""


def check_endpoints(environment: Mapping[str, str]) -> dict[str, str]:
    """For each provider: whether it answers, or what is missing, in a few words.

    Asks for the list of models, which costs nothing.
    """
    return {provider: _state(provider, environment) for provider in ENDPOINTS}


def _state(provider: EndpointProvider, environment: Mapping[str, str]) -> str:
    variables = _SET_UP_BY.get(provider, ())
    if variables and not any(environment.get(name) for name in variables):
        needed = f"; {trouble}" if (trouble := missing_package(provider)) else ""
        return f"not set up: {_none_of(variables)}{needed}"
    try:
        access = access_to(provider, environment)
    except InputError as error:
        return f"not set up: {error}"
    try:
        names = _models(provider, access)
    except (AttributeError, TypeError, ValueError):  # the packages take any answer for a list of models
        return f"does not answer at {access.address} as such an endpoint does; check the address (most end in /v1)"
    except Exception as error:
        if not is_from_endpoint(error):
            raise
        if (variable := _ADDRESSED_BY.get(provider)) and not environment.get(variable):
            return f"not set up: nothing answers at {access.address}, its usual address; {variable} names another"
        return f"does not answer at {access.address}: {explain(error)[:240]}"
    return f"answers, with {len(names)} models: {', '.join(names[:5])}"


def _none_of(variables: tuple[str, ...]) -> str:
    return f"{variables[0]} is not set" if len(variables) == 1 else f"neither {' nor '.join(variables)} is set"


def _models(provider: EndpointProvider, access: Access) -> list[str]:
    if provider == "anthropic":
        from anthropic import Anthropic  # an extra

        with Anthropic(
            base_url=access.address, api_key=access.key, timeout=PATIENCE_SECONDS, max_retries=0
        ) as anthropic:
            return [model.id for model in anthropic.models.list()]
    if provider == "azure":
        client: OpenAI = AzureOpenAI(
            azure_endpoint=access.address,
            api_key=access.key,
            api_version=access.api_version,
            timeout=PATIENCE_SECONDS,
            max_retries=0,
        )
    else:
        client = OpenAI(base_url=access.address, api_key=access.key, timeout=PATIENCE_SECONDS, max_retries=0)
    with client:
        return [model.id for model in client.models.list()]
