"""Recipes: defaults and input errors."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from lawtrace.environments.errors import InputError
from lawtrace.runs.recipe import AttemptOptions, Recipe, TaskOptions
from lawtrace.runs.recipe_file import load_recipe
from lawtrace.runs.runner import prepare_recipe
from lawtrace.solver.planner.difficulty import Difficulty


def write(folder: Path, text: str) -> Path:
    path = folder / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_empty_recipe_is_the_quickstart(tmp_path: Path) -> None:
    assert load_recipe(write(tmp_path, "")) == Recipe()


def test_paths_are_relative_to_the_recipe(tmp_path: Path) -> None:
    text = """\
environment = "./airline"
[rules]
file = "laws/mine.toml"
[tasks]
texts = "texts"
[ablation]
"rules.file" = ["laws/mine.toml", "other.toml"]
"""
    recipe = load_recipe(write(tmp_path, text))
    assert recipe.environment == str(tmp_path / "airline")
    assert (recipe.rules.file, recipe.tasks.texts) == (tmp_path / "laws/mine.toml", tmp_path / "texts")
    assert recipe.ablation["rules.file"] == (str(tmp_path / "laws/mine.toml"), str(tmp_path / "other.toml"))


def test_a_recipe_round_trips_through_its_recorded_form() -> None:
    recipe = Recipe(seed=7)
    assert Recipe.model_validate(recipe.model_dump(mode="json")) == recipe


def test_every_run_includes_the_baselines() -> None:
    assert AttemptOptions(models=("openai:m", "baseline:noop")).all_models == (
        "openai:m", "baseline:noop", "baseline:reference", "baseline:literal", "baseline:habit", "baseline:refuse",
    )  # fmt: skip
    assert AttemptOptions(models=("openai:m",), baselines=False).all_models == ("openai:m",)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("sed = 3", r"unknown key 'sed'; did you mean 'seed'\?"),
        ("[tasks]\ncuont = 3", r"unknown key 'tasks.cuont'; did you mean 'count'\?"),
        ("[tasks]\ncount = 0", "tasks.count"),
        ("[attempts]\nmodels = ['opnai:gpt-5']", "did you mean 'openai'"),
        ("[models]\nltl_critic = 'os:system'", "models.ltl_critic"),
        ("seed = ", "not a TOML file"),
        ("[attempts]\nmodels = []", "attempts.models"),
        ("[attempts]\nmodels = ['baseline:noop', 'baseline:noop']", "duplicate name"),
        ("[attempts]\nmodels = ['offline']", "cannot be the model under test"),
        ("[models]\nmasking_evaluator = 'baseline:literal'", "cannot play a role"),
        ("name = '../outside'", "name"),
        ("[attempts]\nstyles = ['poem']", "attempts.styles"),
    ],
)
def test_a_mistake_is_reported_with_its_place(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as caught:
        load_recipe(write(tmp_path, text))
    assert "recipe.toml" in str(caught.value)


def test_a_missing_recipe_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.toml"):
        load_recipe(tmp_path / "nowhere.toml")


@pytest.mark.parametrize("value", [True, False, "none"])
def test_the_extent_of_the_regulation_is_a_word(value: object) -> None:
    with pytest.raises(ValidationError, match="applicable"):
        Recipe.model_validate({"attempts": {"regulation": value}})


def test_difficulty_is_for_contrast_pairs() -> None:
    recipe = Recipe(tasks=TaskOptions(difficulty=Difficulty(rules=3)))
    with pytest.raises(InputError, match=r"tasks\.difficulty is for contrast pairs"):
        prepare_recipe(recipe)
    assert prepare_recipe(recipe, "clinic").tasks.difficulty.rules == 3
