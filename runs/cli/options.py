"""Options that several commands take."""

from typing import Annotated

import typer

WhichEnvironment = Annotated[
    str,
    typer.Option(
        "--env", help="The environment: a built-in one, or a folder of your own (./airline). Its Python runs."
    ),
]

WhereEnvironment = Annotated[
    str | None,
    typer.Option("--env", help="The folder of the environment, where that is not a built-in one. Its Python runs."),
]
"""For commands that read from a file which environment it is about, but run nothing on the file's word."""
