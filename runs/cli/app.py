"""The commands of ``lawtrace``, and the module of each.

A command's module is imported when the command is called, so that commands and ``--help`` do not wait for the imports
of other commands (AutoGen, Z3, scipy, matplotlib).
"""

from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal, cast

import typer
from typer.core import TyperCommand, TyperGroup

from lawtrace.runs.plugins import plugin_commands

# Command -> module:attribute, and the line in the help.
COMMANDS = {
    "run": ("run:run", "Run the full pipeline."),
    "resume": ("run:resume", "Continue an interrupted run."),
    "report": ("report:report", "Write the reports of runs again."),
    "compare": ("compare:compare", "Compare two runs or two models."),
    "messages": ("messages:messages", "Read the conversations of a run."),
    "view": ("view:view", "Browse runs in the browser."),
    "audit": ("audit:audit_command", "Judge recorded conversations against rules."),
    "doctor": ("doctor:doctor", "Check sandboxes, endpoints and versions."),
    "attempt": ("attempt:attempt", "Run a model on tasks."),
    "grade": ("grade:grade", "Judge programs or the attempts of a run."),
    "env": ("env:app", "List, show, check and serve environments."),
    "rules": ("rules:app", "Extract, check and review rules."),
    "ltlf": ("ltlf:app", "Evaluate formulas and show their automata."),
    "traces": ("traces:app", "Synthesise compliant traces and measure coverage."),
    "tasks": ("tasks:app", "Build, check, review, release and import tasks."),
    **{name: (command.target, command.help) for name, command in plugin_commands()},
}


class _LazyCommands(TyperGroup):
    """Lists all commands by their help line and loads the one that is called."""

    def resolve_command(  # pyright: ignore[reportIncompatibleMethodOverride] -- the context's own class is private
        self, ctx: typer.Context, args: list[str]
    ) -> tuple[str, TyperCommand | TyperGroup, list[str]]:
        name, _, rest = super().resolve_command(ctx, args)
        return str(name), _load(str(name)), rest


def _load(name: str) -> TyperCommand | TyperGroup:
    module, attribute = COMMANDS[name][0].split(":")
    found = getattr(import_module(module if "." in module else f"lawtrace.runs.cli.{module}"), attribute)
    if not isinstance(found, typer.Typer):
        single = typer.Typer(add_completion=False)
        single.command(name)(found)
        found = single
    found.rich_markup_mode = app.rich_markup_mode
    command = cast("TyperCommand | TyperGroup", typer.main.get_command(found))
    command.name = name
    if isinstance(command, TyperGroup):
        for part in command.commands.values():  # the whole line: the default cuts it at 45 characters
            part.short_help = part.short_help or (part.help or "").split("\n\n")[0].replace("\n", " ")
    return command


app = typer.Typer(
    name="lawtrace",
    cls=_LazyCommands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"lawtrace {version('lawtrace')}")
        raise typer.Exit


@app.callback()
def lawtrace(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"] | None, typer.Option(help="The lowest level of logged events.")
    ] = None,
    log_file: Annotated[Path | None, typer.Option(help="Append logged events to this file.")] = None,
    log_format: Annotated[Literal["console", "json"] | None, typer.Option(help="Format of logged events.")] = None,
) -> None:
    """Measure whether tool-calling LLM agents comply with regulations they are not reminded of."""
    from lawtrace.runs.cli.logs import configure_logs

    configure_logs(log_level, log_file, log_format)


def _placeholder() -> None:
    """An entry in the list of commands; `_LazyCommands` loads the command itself."""


for _name, (_target, _help) in COMMANDS.items():
    app.command(_name, short_help=_help)(_placeholder)
