"""Applies the flags of a command line to a recipe."""

from collections.abc import Sequence
from typing import TypeVar

from lawtrace.runs.cli.recipe_flags import RecipeFlags
from lawtrace.runs.recipe_checks import prepare_recipe
from lawtrace.runs.recipe_file import load_recipe, parse_settings, with_values
from lawtrace.runs.stages.stage import StageInputs
from lawtrace.schemas.call_options import BudgetOptions, CallOptions
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.recipe import Recipe, RegulationOptions

Asked = TypeVar("Asked", bound=CallOptions)


def override(flags: RecipeFlags, recipe: Recipe) -> Recipe:
    """The recipe with the values of the flags. Raises InputError naming the key.

    A key that the recipe varies cannot be overridden: each variant has its own value.
    """
    settings = parse_settings(flags.settings)
    given = {*settings, *flags.values, *(["environment"] if flags.env else [])}
    if varied := sorted(given & recipe.ablation.keys()):
        raise InputError(f"command line: {varied[0]}: the recipe varies it in [ablation]; change the recipe")
    if "regulation.files" in flags.values:  # a digest in the recipe is that of other documents
        recipe = recipe.model_copy(update={"regulation": RegulationOptions()})
    return override_calls(flags, recipe)


def override_calls(flags: RecipeFlags, recipe: Asked) -> Asked:
    """A recipe of any kind with the values of the flags. Raises InputError naming the key."""
    recipe = with_values(recipe, parse_settings(flags.settings), "--set")
    return with_budget(with_values(recipe, flags.values, "command line"), flags.budget)


def stage_recipe(flags: RecipeFlags, env: str | None = None, *, simulated: bool = True) -> StageInputs:
    """The resolved recipe of a stage command, checked as `lawtrace run` does; ``env``: the environment without --env.

    ``simulated``: the stage simulates calls.

    Raises InputError.
    """
    recipe = load_recipe(flags.recipe) if flags.recipe else Recipe()
    recipe = override(flags, recipe.model_copy(update={"ablation": {}}))
    return prepare_recipe(recipe, flags.env or env, whole_run=False, simulated=simulated).inputs


def with_budget(recipe: Asked, budgets: Sequence[str] | None) -> Asked:
    """The recipe with these budgets instead of its own. Raises InputError."""
    asked: dict[str, object] = {}
    for budget in budgets or ():
        name, equals, amount = budget.partition("=")
        if not equals or name.strip() not in BudgetOptions.model_fields:
            raise InputError(
                f"--budget {budget!r}: write NAME=AMOUNT with NAME one of {', '.join(BudgetOptions.model_fields)}"
            )
        asked[f"budget.{name.strip()}"] = amount.strip()
    return with_values(recipe, asked, "--budget")
