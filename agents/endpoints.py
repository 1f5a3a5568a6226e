"""Which endpoints answer: what ``lawtrace doctor`` asks."""

from collections.abc import Mapping

from openai import OpenAI, OpenAIError

__all__ = ["check_endpoints"]

PATIENCE_SECONDS = 3.0


def check_endpoints(environment: Mapping[str, str]) -> dict[str, str]:
    """For each provider that the environment names an address or a key for: whether it answers, in a few words.

    Asks for the list of models, which costs nothing.
    """
    found: dict[str, str] = {}
    address, key = environment.get("OPENAI_BASE_URL"), environment.get("OPENAI_API_KEY")
    if address or key:
        found["openai"] = _ask(address or "https://api.openai.com/v1", key or "none")
    else:
        found["openai"] = "not set up: neither OPENAI_BASE_URL nor OPENAI_API_KEY is set"
    local = environment.get("OLLAMA_BASE_URL")
    found["ollama"] = _ask(local, "none") if local else "not set up: OLLAMA_BASE_URL is not set"
    return found


def _ask(address: str, key: str) -> str:
    try:
        with OpenAI(base_url=address, api_key=key, timeout=PATIENCE_SECONDS, max_retries=0) as client:
            names = [model.id for model in client.models.list()]
    except OpenAIError as error:
        return f"does not answer: {type(error).__name__}: {str(error)[:120]}"
    return f"answers, with {len(names)} models: {', '.join(names[:5])}"
