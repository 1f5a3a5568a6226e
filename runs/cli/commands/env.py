"""The commands on environments."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from lawtrace.runs.cli.implementation import implemented_by
from lawtrace.runs.cli.options import JsonOption
from lawtrace.schemas.choices import ShieldMode, Style

app = typer.Typer(help="List, show, check and serve environments.", no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(metavar="E", help="Built-in environment, or a folder.")]


@app.command("list")
@implemented_by("lawtrace.runs.cli.env_list:list_environments")
def list_command(
    as_json: JsonOption = False,
) -> None:
    """List the built-in environments, and their rules by kind."""


@app.command("serve")
@implemented_by("lawtrace.runs.cli.env_serve:serve")
def serve_command(
    name: NameArgument,
    task: Annotated[str | None, typer.Option(help="FILE#ID: task that gives initial state and request.")] = None,
    style: Annotated[Style | None, typer.Option(help="Instruction style; default: the first of the task.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the initial state without a task.")] = 1,
    transport: Annotated[Literal["stdio", "http"], typer.Option(help="Transport for clients.")] = "stdio",
    host: Annotated[str, typer.Option(help="For http. Other than loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="For http; 0 picks a free port.")] = 8766,
    calls: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of calls.")] = 1000,
    shield: Annotated[ShieldMode, typer.Option(help="Warn about or refuse calls that break a rule.")] = "off",
    out: Annotated[Path, typer.Option(help="Output folder. Keep it from the agent.")] = Path("served"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object as the last line, once clients can connect to http.")
    ] = False,
) -> None:
    """Serve an environment over MCP and judge the calls.

    One server is one session: all clients share its state. Start a new server for a new attempt.
    """


@app.command("from-tools")
@implemented_by("lawtrace.runs.cli.env_from_tools:from_tools")
def from_tools_command(
    schemas: Annotated[
        list[str],
        typer.Argument(help="JSON of OpenAI, Anthropic, MCP, ...; FILE.py; FILE.py:CLASS; package.module:CLASS."),
    ],
    out: Annotated[Path, typer.Option(help="Folder of the environment.")],
    force: Annotated[bool, typer.Option("--force", help="Replace the tools there; keep policy and rules.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make an environment for audits from tool schemas.

    Python is read, never run. What the schemas leave open is listed.
    """


@app.command("show")
@implemented_by("lawtrace.runs.cli.env:show_environment")
def show_command(
    name: NameArgument,
    as_json: JsonOption = False,
) -> None:
    """Show tools, rules and provisions, linked to each other."""


@app.command("check")
@implemented_by("lawtrace.runs.cli.env:check_environment")
def check_command(
    name: NameArgument,
    as_json: JsonOption = False,
) -> None:
    """Check a declaration, its rules and its initial states.

    Exit code 1 if there are findings. Questions left undecided are listed, and are not findings.
    """
