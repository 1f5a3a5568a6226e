"""Variants of a recipe from the axes of an ablation, and input errors."""

from pathlib import Path

import pytest

from lawtrace.prompts.loader import prompts_of
from lawtrace.runs.recipe_file import load_recipe
from lawtrace.runs.variants import Variant, variants_of
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.schemas.recipe import Recipe
from lawtrace.schemas.trace_options import Difficulty

TERSE = """+++
id = "terse_user"
version = 1
inputs = ["variables", "instruction", "target_state"]
output = "text"
+++
{{ variables }} {{ target_state }} {{ instruction }}
"""


def variants(**axes: tuple[Json, ...]) -> tuple[Variant, ...]:
    return variants_of(Recipe(ablation={axis.replace("__", "."): values for axis, values in axes.items()}))


def test_a_recipe_without_an_ablation_is_its_only_variant() -> None:
    recipe = Recipe(seed=3)
    (only,) = variants_of(recipe)
    assert (only.recipe, only.name, only.number) == (recipe, "", 1)


def test_every_combination_is_a_recipe() -> None:
    found = variants(attempts__shield=("off", "refuse"), conversation__evaluator=(True, False))
    assert [(one.recipe.attempts.shield, one.recipe.conversation.evaluator) for one in found] == [
        ("off", True),
        ("off", False),
        ("refuse", True),
        ("refuse", False),
    ]
    assert [one.name for one in found] == [
        "shield=off, evaluator=on",
        "shield=off, evaluator=off",
        "shield=refuse, evaluator=on",
        "shield=refuse, evaluator=off",
    ]
    assert not any(one.recipe.ablation for one in found)


def test_models_of_a_role_tools_and_whole_environments_are_axes() -> None:
    (one, *_) = variants(models__ltl_critic=("openai:a", "openai:b"), tools=("all", ["PayBill", "SearchPayee"]))
    assert one.recipe.models.ltl_critic == "openai:a"
    assert one.name == "ltl_critic=openai:a, tools=all"
    assert [v.recipe.environment for v in variants(environment=("banking", "telehealth"))] == ["banking", "telehealth"]


def test_a_table_in_a_table_is_an_axis_of_whole_values() -> None:
    found = variants(tasks__difficulty=({}, {"changes": 1}, {"changes": 1, "calls": 8}))
    assert [one.recipe.tasks.difficulty for one in found] == [
        Difficulty(), Difficulty(changes=1), Difficulty(changes=1, calls=8),
    ]  # fmt: skip
    assert [one.name for one in found] == ["difficulty=defaults", "changes=1", "changes=1, calls=8"]


@pytest.mark.parametrize(
    ("axes", "complaint"),
    [
        ({"attempts__sheild": ("off", "refuse")}, "no such key"),
        ({"attempts__shield__off": ("off", "refuse")}, "no such key"),
        ({"attempts": (1, 2)}, "whole table"),
        ({"tasks__difficulty": ({"changes": 1}, {"chnges": 1})}, "tasks.difficulty"),
        ({"attempts__shield": ("off",)}, "two values or more"),
        ({"attempts__shield": ("off", "off")}, "each once"),
        ({"attempts__shield": ("off", "on")}, "attempts.shield"),
        ({"attempts__shield": ("off", "warn")}, "needs mode 'tools'"),
        ({"models__ltl_critic": ("openai:a", "os:system")}, "models.ltl_critic"),
        ({"sandbox": ("bwrap", "other")}, "how a run is carried out"),
        ({"conversation__concurrency": (1, 2)}, "how a run is carried out"),
        ({"environment": ("banking", "./mine")}, "only built-in"),
        ({"seed": tuple(range(300))}, "more than 256"),
    ],
)
def test_a_mistake_names_the_axis(axes: dict[str, tuple[Json, ...]], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        variants(**axes)


def test_prompt_files_are_read_with_the_recipe_and_named_by_id(tmp_path: Path) -> None:
    (tmp_path / "terse.md").write_text(TERSE, encoding="utf-8")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('[ablation]\n"prompts.executor_user" = ["ours", "terse.md"]\n', encoding="utf-8")
    loaded = load_recipe(recipe)
    (tmp_path / "terse.md").unlink()
    _, other = variants_of(Recipe.model_validate(loaded.model_dump(mode="json")))
    assert other.name == "executor_user=terse_user"
    assert prompts_of(other.recipe.prompts)["executor_user"].id == "terse_user"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (TERSE.replace("terse_user", "executor_user"), "give it another id"),
        (TERSE.replace('"text"', '"Draft"'), "must declare inputs"),
        (TERSE.replace("{{ variables }}", "").replace('"variables", ', ""), "must declare inputs"),
        (TERSE.replace('"variables", ', ""), "exactly the inputs"),
        ("no front matter", "the override of prompt"),
    ],
)
def test_invalid_prompt_overrides_are_rejected(text: str, complaint: str) -> None:
    recipe = Recipe.model_validate({"prompts": {"executor_user": text}})
    with pytest.raises(InputError, match=complaint):
        prompts_of(recipe.prompts).check()


def test_inputs_that_a_prompt_does_not_use_are_declared() -> None:
    text = TERSE.replace("{{ variables }}", "").replace('"variables", ', "")
    text = text.replace("output =", 'unused = ["variables"]\noutput =')
    prompt = prompts_of(Recipe.model_validate({"prompts": {"executor_user": text}}).prompts)["executor_user"]
    assert "variables" not in prompt.inputs
    assert prompt.fill(**dict.fromkeys([*prompt.inputs, "variables"], "x"))


def test_a_missing_prompt_file_is_reported(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('[prompts]\nexecutor_user = "nowhere.md"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"prompts\.executor_user.*nowhere\.md"):
        load_recipe(recipe)
