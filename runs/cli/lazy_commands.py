"""Commands that are imported when they are called, and the one place where their results are printed."""

import inspect
import os
import signal
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, NoReturn, cast

import typer
from typer._click import Context
from typer.core import TyperCommand, TyperGroup

from lawtrace.runs.bench_extra import require_bench
from lawtrace.runs.cli.options import JsonOption, set_parameters
from lawtrace.runs.plugins import Command, Group
from lawtrace.runs.report.command_result import CommandResult

CommandFunction = Callable[..., CommandResult | None]
"""Carries out a command and returns its result, or None if it has printed everything itself.

Its parameters are the options of the command. Only a function that prints before it ends has ``as_json`` among them."""


def lazy_commands(commands: Mapping[str, Command | Group]) -> dict[str, TyperCommand | TyperGroup]:
    """The commands and groups by name; no module of theirs is imported."""
    return {name: _lazy(name, command) for name, command in commands.items()}


def _lazy(name: str, command: Command | Group) -> TyperCommand | TyperGroup:
    if isinstance(command, Command):
        return LazyCommand(name, command)
    below = lazy_commands(command.commands)
    return TyperGroup(
        name=name,
        help=command.help,
        short_help=command.help,
        no_args_is_help=True,
        rich_markup_mode=None,
        commands=cast("dict[str, Any]", below),
    )


class LazyCommand(TyperCommand):
    """A command whose module is imported when the command line names it; a list of commands shows its line of help."""

    def __init__(self, name: str, command: Command) -> None:
        super().__init__(name=name, short_help=command.help, rich_markup_mode=None)
        self.target, self.bench = command.target, command.bench

    def loaded(self) -> TyperCommand:
        """The command with its options."""
        module, function = self.target.split(":")
        one = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        one.command(self.name)(with_result(getattr(import_module(module), function), bench=self.bench))
        return cast("TyperCommand", typer.main.get_command(one))

    def make_context(
        self, info_name: str | None, args: list[str], parent: Context | None = None, **extra: object
    ) -> Context:
        return self.loaded().make_context(info_name, args, parent=parent, **extra)


def with_result(function: CommandFunction, *, bench: bool = False) -> Callable[..., None]:
    """The function as a command: with ``--json`` as its last option, its result printed, and its exit code.

    With ``bench`` it is refused without the extra of that name.
    """
    parameters = [*inspect.signature(function).parameters.values()]
    prints = any(parameter.name == "as_json" for parameter in parameters)

    @wraps(function)
    def command(*, as_json: bool, **given: object) -> None:
        if bench:
            require_bench("this command")
        try:
            result = function(**given, as_json=as_json) if prints else function(**given)
        except KeyboardInterrupt as interrupt:
            _stop(str(interrupt) or "stopped; what was not finished was not written")
        if result is None:
            return
        from lawtrace.runs.cli.output import print_command_result

        print_command_result(result, as_json=as_json)
        raise typer.Exit(result.exit_code)

    if not prints:
        json = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=JsonOption)
        parameters.append(json)
    set_parameters(command, parameters)
    return command


def _stop(sentence: str) -> NoReturn:
    """End the process after Ctrl-C. It does not wait for threads, which may be in the middle of a search."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from lawtrace.runs.cli.output import print_error

    print_error(sentence)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(130)
