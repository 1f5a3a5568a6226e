"""Options that several commands take."""

from pathlib import Path
from typing import Annotated, TypeVar

import typer

from lawtrace.environments.errors import InputError
from lawtrace.runs.recipe import BudgetOptions, CallOptions
from lawtrace.runs.recipe_file import with_values

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


RecipeOption = Annotated[
    Path | None, typer.Option("--recipe", help="Recipe (TOML); other options override its values.")
]
EnvironmentOverride = Annotated[
    str | None,
    typer.Option("--env", help="Override the recipe's environment: a built-in one or a folder."),
]
RulesOption = Annotated[Path | None, typer.Option("--rules", help="Rule file; default: the curated set.")]
CountOption = Annotated[int | None, typer.Option("--count", min=1, help="Number to make; default: 40.")]
LengthOption = Annotated[int | None, typer.Option("--length", min=2, help="Calls in each trace; default: 8.")]
SeedOption = Annotated[int | None, typer.Option("--seed", help="Random seed; default: 1.")]
OutOption = Annotated[Path, typer.Option("--out", help="Output file (JSON lines).")]
BudgetOption = Annotated[
    list[str] | None,
    typer.Option("--budget", help="Limit model use, such as money=2.5 or tokens=100000. Repeatable."),
]

Asked = TypeVar("Asked", bound=CallOptions)


def with_budget(recipe: Asked, budgets: list[str] | None) -> Asked:
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


RequireOption = Annotated[list[str] | None, typer.Option(help="Tool that every trace must call. Repeatable.")]
ForbidOption = Annotated[list[str] | None, typer.Option(help="Tool that no trace may call. Repeatable.")]
PairsOption = Annotated[
    list[str] | None,
    typer.Option("--pair", help="Require one of these adjacent pairs (FIRST,SECOND) per trace. Repeatable."),
]
ComplianceOption = Annotated[
    tuple[float, float] | None,
    typer.Option(help="Minimum and maximum share of compliance steps in a trace."),
]
DistanceOption = Annotated[int | None, typer.Option(min=0, help="Minimum positions where any two traces differ.")]


def trace_constraints(
    require: list[str] | None,
    forbid: list[str] | None,
    pairs: list[str] | None,
    compliance: tuple[float, float] | None,
    distance: int | None,
) -> dict[str, object]:
    """The recipe values set by the flags. Raises InputError with the flag."""
    split = [tuple(part.strip() for part in pair.split(",")) for pair in pairs or ()]
    for pair, text in zip(split, pairs or (), strict=True):
        if len(pair) != 2 or not all(pair):
            raise InputError(f"--pair {text!r}: write two tools separated by a comma, such as First,Second")
    return {
        "tasks.wishes.require": tuple(require) if require else None,
        "tasks.wishes.forbid": tuple(forbid) if forbid else None,
        "tasks.wishes.pairs": tuple(split) or None,
        "tasks.wishes.compliance": compliance,
        "tasks.wishes.distance": distance,
    }


SandboxOption = Annotated[
    str | None,
    typer.Option("--sandbox", help="Override the recipe's sandbox: bwrap, docker or docker:IMAGE."),
]
