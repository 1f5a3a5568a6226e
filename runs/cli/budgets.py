"""``--budget NAME=AMOUNT``: what a run may use of models, from the command line."""

from typing import Annotated, TypeVar

import typer

from lawtrace.environments.errors import InputError
from lawtrace.runs.recipe import BudgetOptions, CallOptions
from lawtrace.runs.recipe_file import checked

Asked = TypeVar("Asked", bound=CallOptions)

WhichBudget = Annotated[
    list[str] | None,
    typer.Option("--budget", help="The most that the run may use, such as money=2.5, tokens=100000. Repeatable."),
]


def with_budget(recipe: Asked, budgets: list[str] | None) -> Asked:
    """The recipe with these budgets in place of its own. Raises InputError."""
    if not budgets:
        return recipe
    asked: dict[str, object] = recipe.budget.model_dump()
    for budget in budgets:
        name, equals, amount = budget.partition("=")
        if not equals:
            raise InputError(f"--budget {budget!r}: write it as tokens=100000")
        asked[name.strip()] = amount.strip()
    return recipe.model_copy(update={"budget": checked(BudgetOptions, asked, "--budget")})
