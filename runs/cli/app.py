"""The grammar of the command line: which verbs there are, and where each is.

A verb's module is imported when the verb is called: what one command needs (AutoGen, Z3, scipy, matplotlib) no other
command, and no ``--help``, waits for.
"""

from importlib import import_module
from importlib.metadata import version
from typing import Annotated, cast

import typer
from typer.core import TyperCommand, TyperGroup

from lawtrace.runs.plugins import plugin_commands

# Each verb: where it is, and the line that the help shows.
COMMANDS = {
    "run": ("run:run", "Walk the whole way from a regulation to verdicts and a report."),
    "resume": ("run:resume", "Go on with an interrupted run; nothing that was answered is asked again."),
    "report": ("report:report", "Write the report of each run again, and print its table."),
    "compare": ("compare:compare", "Which attempts flipped between two runs, and why."),
    "messages": ("messages:messages", "Read the conversations of a run."),
    "view": ("view:view", "Look at runs in the browser: conversations, verdicts and what caused them."),
    "audit": ("audit:audit_command", "Judge conversations that already happened."),
    "doctor": ("doctor:doctor", "Which sandboxes work, which endpoints answer, which versions are here."),
    "attempt": ("attempt:attempt", "Put a model to each task."),
    "grade": ("grade:grade", "Judge programs in the jail: goal reached, rules kept?"),
    "env": ("env:app", "Environments: list them, show what one declares, check it."),
    "rules": ("rules:app", "Rules: draw them from a regulation, check them."),
    "ltlf": ("ltlf:app", "LTLf: verdicts on traces, and automata."),
    "traces": ("traces:app", "Traces: synthesise compliant ones, see what they can cover."),
    "tasks": ("tasks:app", "Tasks: build, check and release them, import published ones."),
    **{name: (command.target, command.help) for name, command in plugin_commands()},
}


class _LazyCommands(TyperGroup):
    """Lists every verb by its line of help, and loads the one that is called."""

    def resolve_command(  # pyright: ignore[reportIncompatibleMethodOverride] -- the context's own class is private
        self, ctx: typer.Context, args: list[str]
    ) -> tuple[str, TyperCommand | TyperGroup, list[str]]:
        verb, _, rest = super().resolve_command(ctx, args)
        return str(verb), _load(str(verb)), rest


def _load(verb: str) -> TyperCommand | TyperGroup:
    module, name = COMMANDS[verb][0].split(":")
    found = getattr(import_module(module if "." in module else f"lawtrace.runs.cli.{module}"), name)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False)
        alone.command(verb)(found)
        found = alone
    found.rich_markup_mode = app.rich_markup_mode
    command = cast("TyperCommand | TyperGroup", typer.main.get_command(found))
    command.name = verb
    if isinstance(command, TyperGroup):
        for part in command.commands.values():  # the whole line: by default it is cut off at 45 characters
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
) -> None:
    """Measures whether an LLM that calls tools keeps the regulations that nobody repeated to it."""


def _placeholder() -> None:
    """Stands for a verb in the list of verbs; `_LazyCommands` puts the real one in its place."""


for _name, (_place, _line) in COMMANDS.items():
    app.command(_name, short_help=_line)(_placeholder)
