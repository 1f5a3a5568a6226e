import pytest

from lawtrace.schemas.errors import InputError
from lawtrace.schemas.model_spec import BASELINE_POLICIES, ModelParameters, ModelSpec


@pytest.mark.parametrize(
    "text",
    [
        "openai:gpt-5-mini",
        "openai:org/a:free",
        "ollama:qwen3:4b",
        "replay:logs/a",
        "replay:logs/a#openai:x",
        "offline",
        *(f"baseline:{policy}" for policy in BASELINE_POLICIES),
    ],
)
def test_spec_round_trip(text: str) -> None:
    spec = ModelSpec.parse(text)
    assert str(spec) == text
    assert ModelSpec.parse(str(spec)) == spec
    assert spec.is_scripted == text.startswith(("offline", "baseline"))


def test_model_names_with_colons_and_replay_of_one_model() -> None:
    assert ModelSpec.parse("ollama:qwen3:4b").name == "qwen3:4b"
    assert ModelSpec.parse("replay:logs/a#openai:x") == ModelSpec("replay", "logs/a", "openai:x")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("opnai:gpt-5-mini", "did you mean 'openai'"),
        ("ofline", "did you mean 'offline'"),
        ("literal", "did you mean 'baseline:literal'"),
        ("baseline:idle", "unknown baseline policy"),
        ("baseline", "baseline:literal"),
        ("gpt-5-mini", "write 'openai:gpt-5-mini'"),
        ("openai:", "needs a name"),
        ("replay", "replay:logs/RUN"),
        ("offline:x", "takes no name"),
        ("autogen_ext.models.openai.OpenAIChatCompletionClient:x", "unknown provider"),
        ("", "names no provider"),
    ],
)
def test_invalid_spec_error_says_what_to_write(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        ModelSpec.parse(text)


def test_invalid_parameters_are_rejected() -> None:
    with pytest.raises(ValueError, match="max_tokens"):
        ModelParameters(max_tokens=0)
