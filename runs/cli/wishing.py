"""The flags that say what traces are wished to be like, shared by the commands that synthesise."""

from typing import Annotated

import typer

from lawtrace.environments.errors import InputError
from lawtrace.runs.recipe_file import checked
from lawtrace.solver.demands import Wishes

Require = Annotated[list[str] | None, typer.Option(help="A tool that every trace calls. Repeatable.")]
Forbid = Annotated[list[str] | None, typer.Option(help="A tool that no trace calls. Repeatable.")]
Pairs = Annotated[
    list[str] | None,
    typer.Option("--pair", help="A target pair, FIRST,SECOND: every trace has one of them adjacent. Repeatable."),
]
Compliance = Annotated[
    tuple[float, float] | None,
    typer.Option(help="The least and the greatest share of a trace's calls that are compliance steps."),
]
Distance = Annotated[int, typer.Option(min=0, help="At how many places any two traces call different tools, at least.")]


def wishes_of(
    require: list[str] | None,
    forbid: list[str] | None,
    pairs: list[str] | None,
    compliance: tuple[float, float] | None,
    distance: int,
) -> Wishes:
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
    return checked(Wishes, raw, "wishes")
