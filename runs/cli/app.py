"""The command line: every command with its options and help.

A command's function is imported when the command runs (`lawtrace.runs.cli.implementation`).
"""

from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.commands import attempts, env, ltlf, rules, runs, tasks, traces
from lawtrace.runs.cli.logs import LogFormat, LogLevel, configure_logs
from lawtrace.runs.plugins import plugin_commands

WIDEST_HELP = 120
"""Columns of a help text on a terminal that is wider."""

COMMANDS = {
    "run": runs.run,
    "resume": runs.resume,
    "report": runs.report,
    "compare": runs.compare,
    "messages": runs.messages,
    "view": runs.view,
    "audit": attempts.audit,
    "guard": attempts.guard,
    "doctor": attempts.doctor,
    "attempt": attempts.attempt,
    "grade": attempts.grade,
    "merge": attempts.merge,
}
GROUPS = {"env": env.app, "rules": rules.app, "ltlf": ltlf.app, "traces": traces.app, "tasks": tasks.app}

app = typer.Typer(
    name="lawtrace",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST_HELP},
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
    log_level: Annotated[LogLevel | None, typer.Option(help="The lowest level of logged events.")] = None,
    log_file: Annotated[Path | None, typer.Option(help="Append logged events to this file.")] = None,
    log_format: Annotated[LogFormat | None, typer.Option(help="Format of logged events.")] = None,
) -> None:
    """Measure whether tool-calling LLM agents comply with regulations they are not reminded of."""
    configure_logs(log_level, log_file, log_format)


def _show_whole_help_lines(of: typer.Typer) -> None:
    """List each command with its whole first line of help; the default cuts it at 45 characters."""
    for command in of.registered_commands:
        command.short_help = " ".join((command.callback.__doc__ or "").split("\n\n")[0].split())
    for group in of.registered_groups:
        if group.typer_instance is not None:
            _show_whole_help_lines(group.typer_instance)


for _name, _command in COMMANDS.items():
    app.command(_name)(_command)
for _name, _group in GROUPS.items():
    app.add_typer(_group, name=_name)
for _name, _plugged in plugin_commands():
    _module, _attribute = _plugged.target.split(":")
    app.add_typer(getattr(import_module(_module), _attribute), name=_name)
_show_whole_help_lines(app)
