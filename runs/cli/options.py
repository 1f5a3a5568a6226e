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
    typer.Option(
        "--env", help="The environment: a built-in one, or a folder of your own (./airline). Its Python runs."
    ),
]

EnvironmentFolderOption = Annotated[
    str | None,
    typer.Option("--env", help="The folder of the environment, where that is not a built-in one. Its Python runs."),
]
"""For commands that read the environment's name from a file; that name alone never causes code to run."""


RecipeOption = Annotated[
    Path | None, typer.Option("--recipe", help="A recipe (TOML); the other options override its values.")
]
EnvironmentOverride = Annotated[
    str | None,
    typer.Option("--env", help="The environment in place of the recipe's: a built-in one, or a folder (./airline)."),
]
RulesOption = Annotated[Path | None, typer.Option("--rules", help="A rule file; by default the curated set.")]
CountOption = Annotated[int | None, typer.Option("--count", min=1, help="How many; by default 40.")]
LengthOption = Annotated[int | None, typer.Option("--length", min=2, help="Calls in each trace; by default 8.")]
SeedOption = Annotated[int | None, typer.Option("--seed", help="The same seed gives the same bytes; by default 1.")]
OutOption = Annotated[Path, typer.Option("--out", help="The file to write (JSON lines).")]
BudgetOption = Annotated[
    list[str] | None,
    typer.Option("--budget", help="A limit on model use, such as money=2.5 or tokens=100000. Repeatable."),
]

Asked = TypeVar("Asked", bound=CallOptions)


def with_budget(recipe: Asked, budgets: list[str] | None) -> Asked:
    """The recipe with these budgets instead of its own. Raises InputError."""
    asked: dict[str, object] = {}
    for budget in budgets or ():
        name, equals, amount = budget.partition("=")
        if not equals or name.strip() not in BudgetOptions.model_fields:
            raise InputError(f"--budget {budget!r}: write it as tokens=100000; {', '.join(BudgetOptions.model_fields)}")
        asked[f"budget.{name.strip()}"] = amount.strip()
    return with_values(recipe, asked, "--budget")


RequireOption = Annotated[list[str] | None, typer.Option(help="A tool that every trace calls. Repeatable.")]
ForbidOption = Annotated[list[str] | None, typer.Option(help="A tool that no trace calls. Repeatable.")]
PairsOption = Annotated[
    list[str] | None,
    typer.Option("--pair", help="A target pair, FIRST,SECOND: every trace has one of them adjacent. Repeatable."),
]
ComplianceOption = Annotated[
    tuple[float, float] | None,
    typer.Option(help="The least and the greatest share of a trace's calls that are compliance steps."),
]
DistanceOption = Annotated[
    int | None, typer.Option(min=0, help="At how many places any two traces call different tools, at least.")
]


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
            raise InputError(f"--pair {text!r}: write two tools with a comma between them, as in First,Second")
    return {
        "tasks.wishes.require": tuple(require) if require else None,
        "tasks.wishes.forbid": tuple(forbid) if forbid else None,
        "tasks.wishes.pairs": tuple(split) or None,
        "tasks.wishes.compliance": compliance,
        "tasks.wishes.distance": distance,
    }


SandboxOption = Annotated[
    str | None,
    typer.Option("--sandbox", help="Where programs run, in place of the recipe's: bwrap, docker or docker:IMAGE."),
]
