"""Options that several commands take."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from lawtrace.environments.errors import InputError

if TYPE_CHECKING:
    from lawtrace.runs.recipe import CallOptions

RulesOption = Annotated[Path | None, typer.Option("--rules", help="Rule file; default: the curated set.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]

EnvironmentOption = Annotated[
    str,
    typer.Option("--env", help="Built-in environment, or a folder such as ./airline (runs its Python)."),
]

EnvironmentFolderOption = Annotated[
    str | None,
    typer.Option("--env", help="Folder of an environment that is not built in (runs its Python)."),
]
"""For commands that read the environment's name from a file; that name alone never causes code to run."""


SignatureOption = Annotated[Path, typer.Option("--signature", help="Predicates: lines such as pay(card:string).")]
TimeUnitOption = Annotated[str, typer.Option("--time-unit", help="Unit of timestamps and bare bounds: 1s, 1h, 1d.")]
OutOption = Annotated[Path, typer.Option("--out", help="Output file (JSON lines).")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace the output file if it exists.")]
BudgetOption = Annotated[
    list[str] | None,
    typer.Option("--budget", help="Limit model use, such as money=2.5 or tokens=100000. Repeatable."),
]

Asked = TypeVar("Asked", bound="CallOptions")


def with_budget(recipe: Asked, budgets: list[str] | None) -> Asked:
    """The recipe with these budgets instead of its own. Raises InputError."""
    from lawtrace.runs.recipe import BudgetOptions  # takes as long as all else in a command's options
    from lawtrace.runs.recipe_file import with_values

    asked: dict[str, object] = {}
    for budget in budgets or ():
        name, equals, amount = budget.partition("=")
        if not equals or name.strip() not in BudgetOptions.model_fields:
            raise InputError(
                f"--budget {budget!r}: write NAME=AMOUNT with NAME one of {', '.join(BudgetOptions.model_fields)}"
            )
        asked[f"budget.{name.strip()}"] = amount.strip()
    return with_values(recipe, asked, "--budget")


SandboxOption = Annotated[
    str | None,
    typer.Option("--sandbox", help="Override the recipe's sandbox: bwrap, docker or docker:IMAGE."),
]
