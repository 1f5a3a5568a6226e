"""Recipes: defaults and input errors."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from lawtrace.runs.recipe_checks import prepare_recipe
from lawtrace.runs.recipe_file import load_recipe, parse_settings, with_values
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.recipe import AttemptOptions, Recipe, TaskOptions
from lawtrace.schemas.trace_options import Difficulty
from lawtrace.solver.rules import Rule
from tests.support.bank_law import write_bank_law


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
[ablation]
"rules.file" = ["laws/mine.toml", "other.toml"]
"""
    recipe = load_recipe(write(tmp_path, text))
    assert recipe.environment == str(tmp_path / "airline")
    assert recipe.rules.file == tmp_path / "laws/mine.toml"
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


@pytest.mark.parametrize(
    ("value", "message"),
    [(True, "'text', 'restated', 'named' or 'none'"), ("all", "'text', 'restated', 'named' or 'none'")],
)
def test_the_form_of_the_regulation_is_a_word(value: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Recipe.model_validate({"attempts": {"regulation": value}})


def test_the_documents_of_the_law_are_named_and_pinned(tmp_path: Path) -> None:
    law = write_bank_law(tmp_path)
    path = tmp_path / "recipe.toml"
    path.write_text('[regulation]\nfiles = "law.txt"\n[attempts]\nregulation = "named"\n', encoding="utf-8")
    recipe = prepare_recipe(load_recipe(path)).recipe
    assert recipe.regulation.files == (law,)
    law.write_text("Article 1\nOther words.\n", encoding="utf-8")
    with pytest.raises(InputError, match="the documents of the law have changed"):
        prepare_recipe(recipe)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"attempts": {"regulation": "text"}}, r"attempts\.regulation = 'text' needs the documents"),
        ({"rules": {"regulation": "text"}}, r"rules\.regulation = 'text' needs the documents"),
        ({"regulation": {"files": "law.txt"}}, r"regulation\.files is not used"),
        ({"regulation": {"files": "none.txt"}}, r"none\.txt: cannot be read"),
        (
            {"regulation": {"files": "."}, "attempts": {"regulation": "text"}, "rules": {"file": "own.jsonl"}},
            r"not in law\.txt: Article 1\(2\)",
        ),
        (
            {
                "regulation": {"files": "law.txt"},
                "rules": {"regulation": "text", "source": "extracted"},
                "models": {"policy_extractor": "openai:some"},
            },
            r"extracted from another text \(rules\.regulation = 'text'\) than the models are shown",
        ),
        ({"rules": {"file": "own.jsonl"}}, r"not in the regulation of the environment \(PSD2\): law Article 1\(2\)"),
    ],
)
def test_a_run_stops_where_the_law_that_judges_is_not_the_law_that_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_bank_law(tmp_path)
    own = Rule(id="own", formula="G !PayBill", regulation="law", provisions=("Article 1(2)",))
    write_rows(tmp_path / "own.jsonl", [own])
    with pytest.raises(InputError, match=message):
        prepare_recipe(Recipe.model_validate(options))


def test_difficulty_is_for_contrast_pairs() -> None:
    recipe = Recipe(tasks=TaskOptions(difficulty=Difficulty(rules=3)))
    with pytest.raises(InputError, match=r"tasks\.difficulty is for contrast pairs"):
        prepare_recipe(recipe)
    assert prepare_recipe(recipe, "clinic").recipe.tasks.difficulty.rules == 3


def test_faults_are_told_in_plain_words(tmp_path: Path) -> None:
    def complaint(text: str) -> str:
        (tmp_path / "recipe.toml").write_text(text, encoding="utf-8-sig")  # as some editors save it
        with pytest.raises(InputError) as caught:
            load_recipe(tmp_path / "recipe.toml")
        return str(caught.value).removeprefix(f"{tmp_path / 'recipe.toml'}: ")

    assert complaint('tasks.count = "many"') == "tasks.count: must be a whole number, not 'many'"
    assert complaint("tasks.count = 0") == "tasks.count: must be at least 1, not 0"
    assert complaint("attempts.models = []") == "attempts.models: must have 1 or more items"
    assert complaint('attempts.mode = "chat"') == "attempts.mode: must be 'program', 'tools' or 'dialogue', not 'chat'"
    assert complaint('models.policy = "offline"').startswith("unknown key 'models.policy'; [models] has the keys ")


def test_keys_are_set_by_toml_values_and_else_by_texts() -> None:
    values = parse_settings(["tasks.count=2", 'attempts.models=["baseline:noop"]', "environment=telehealth"])
    recipe = with_values(Recipe(), values, "--set")
    assert (recipe.tasks.count, recipe.attempts.models, recipe.environment) == (2, ("baseline:noop",), "telehealth")


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("tasks.count", "write KEY=VALUE"),
        ("=2", "write KEY=VALUE"),
        ("tasks.cuont=2", "unknown key 'tasks.cuont'; did you mean 'count'"),
        ("seed.x=2", "'seed' is not a table of keys"),
        ("tasks.count=two", "tasks.count"),
    ],
)
def test_a_mistake_in_a_set_key_is_reported(setting: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        with_values(Recipe(), parse_settings([setting]), "--set")


def test_spare_traces_follow_the_count_unless_they_are_given() -> None:
    assert [Recipe(tasks=TaskOptions(count=count)).tasks.spare for count in (4, 20, 40)] == [4, 20, 20]
    assert with_values(Recipe(), {"tasks.count": 4}, "here").tasks.spare == 4
    given = with_values(Recipe(), {"tasks.spare": 9}, "here")
    assert with_values(given, {"tasks.count": 4, "seed": 3}, "here").tasks.spare == 9
    assert Recipe.model_validate(Recipe(tasks=TaskOptions(count=4)).model_dump(mode="json")).tasks.spare == 4
