import tomllib

import pytest
from pydantic import ValidationError

from lawtrace.schemas.errors import InputError
from lawtrace.schemas.model_spec import BASELINE_POLICIES, ModelParameters, ModelSpec, Parameters


@pytest.mark.parametrize(
    "text",
    [
        "openai:gpt-5-mini",
        "openai:org/a:free",
        "openai:a@http://localhost:8001/v1",
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


def test_parameters_of_a_model_and_of_a_role() -> None:
    written = """
        [parameters]
        temperature = 0.0
        top_p = 0.9
        [parameters.models."openai:a"]
        temperature = 1.0
        reasoning_effort = "high"
        [parameters.roles.masking_evaluator]
        top_p = 0.1
    """
    parameters = Parameters.model_validate(tomllib.loads(written)["parameters"])
    one, other = ModelSpec.parse("openai:a@http://localhost:1/v1"), ModelSpec.parse("openai:b")
    assert parameters.of(one, "executor").model_dump(exclude_none=True) == {
        "temperature": 1.0,
        "top_p": 0.9,
        "reasoning_effort": "high",
    }
    assert parameters.of(other, "masking_evaluator").model_dump(exclude_none=True) == {"temperature": 0.0, "top_p": 0.1}
    assert Parameters.model_validate(parameters.model_dump()) == parameters


def test_a_misspelt_parameter_is_not_sent_as_one_of_the_endpoint() -> None:
    with pytest.raises(ValidationError, match="unknown key 'temprature'; did you mean 'temperature'"):
        Parameters.model_validate({"temprature": 0.0})
