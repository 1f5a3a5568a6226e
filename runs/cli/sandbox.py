"""The option ``--sandbox``, and the red line for those who go without one."""

from collections.abc import Iterable
from typing import Annotated

import typer

from lawtrace.environments.events import Json
from lawtrace.environments.jail import UNPROTECTED, Walls, choose_walls
from lawtrace.runs.cli.output import complain

WhichSandbox = Annotated[
    str,
    typer.Option(
        "--sandbox",
        help="What programs run behind: bwrap, docker or docker:IMAGE. Or unprotected: nothing, at your risk.",
    ),
]


def walls_for(sandbox: str) -> Walls:
    """The walls of that name; going without is said in red before anything runs."""
    walls = choose_walls(sandbox)
    if sandbox == UNPROTECTED:
        complain(
            "PROGRAMS RUN UNPROTECTED: they can read and change your files, use the network and end your processes"
        )
    return walls


def warn_of_sandboxes(sandboxes: Iterable[Json]) -> None:
    """Say in red that programs of an earlier run had no walls around them."""
    if UNPROTECTED in sandboxes:
        complain("the programs of this record RAN UNPROTECTED")
