"""Options that several commands take."""

from typing import Annotated, TypeVar

import typer

from lawtrace.environments.errors import InputError
from lawtrace.environments.sandbox import Backend, choose_backend
from lawtrace.runs.recipe import BudgetOptions, CallOptions
from lawtrace.runs.recipe_file import validate_options
from lawtrace.solver.planner.trace_spec import TraceConstraints

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
"""For commands that read from a file which environment it is about, but run nothing on the file's word."""


Asked = TypeVar("Asked", bound=CallOptions)

BudgetOption = Annotated[
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
    return recipe.model_copy(update={"budget": validate_options(BudgetOptions, asked, "--budget")})


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
    int, typer.Option(min=0, help="At how many places any two traces call different tools, at least.")
]


def trace_constraints(
    require: list[str] | None,
    forbid: list[str] | None,
    pairs: list[str] | None,
    compliance: tuple[float, float] | None,
    distance: int,
) -> TraceConstraints:
    """The wishes that the flags express. Raises InputError naming the flag."""
    split = [tuple(part.strip() for part in pair.split(",")) for pair in pairs or ()]
    for pair, text in zip(split, pairs or (), strict=True):
        if len(pair) != 2 or not all(pair):
            raise InputError(f"--pair {text!r}: two tools with a comma between them are expected, as in First,Second")
    raw = {
        "require": tuple(require or ()),
        "forbid": tuple(forbid or ()),
        "pairs": tuple(split),
        "compliance": compliance,
        "distance": distance,
    }
    return validate_options(TraceConstraints, raw, "wishes")


SandboxOption = Annotated[
    str,
    typer.Option(
        "--sandbox",
        help="Sandbox for programs: bwrap, docker or docker:IMAGE.",
    ),
]


def open_sandbox(sandbox: str) -> Backend:
    """Return the sandbox backend of that name."""
    return choose_backend(sandbox)
