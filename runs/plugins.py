"""Plug-ins: sub-packages of `lawtrace.runs` that add commands and kinds of runs.

A plug-in is a sub-package with a module ``plugin`` that defines ``PLUGIN``. That module only names its commands and
run kinds (``"module:attribute"``), so listing the plug-ins imports nothing else. The core finds plug-ins by their
files and imports none of them by name: without the folder the command and the run kind do not exist.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import cast


@dataclass(frozen=True, slots=True)
class Command:
    """A command: ``target`` is ``module:function``, ``help`` the first line of the function's docstring, ``bench``
    whether it is refused without the extra `bench`."""

    target: str
    help: str
    bench: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Commands below one name."""

    help: str
    commands: "Mapping[str, Command | Group]"


@dataclass(frozen=True, slots=True)
class Plugin:
    """What a plug-in adds.

    Attributes:
        commands: top-level commands by name.
        run_kinds: ``schema_version`` of a recipe -> ``module:attribute`` of the
            `lawtrace.runs.report.run_kinds.RunKind` of its runs.
    """

    commands: Mapping[str, Command | Group] = field(default_factory=dict[str, "Command | Group"])
    run_kinds: Mapping[str, str] = field(default_factory=dict[str, str])


@cache
def plugins() -> tuple[Plugin, ...]:
    """All plug-ins, in the order of their names."""
    names = sorted(path.parent.name for path in Path(__file__).parent.glob("*/plugin.py"))
    return tuple(cast("Plugin", import_module(f"lawtrace.runs.{name}.plugin").PLUGIN) for name in names)


def plugin_commands() -> dict[str, Command | Group]:
    """The commands of all plug-ins by name."""
    return {name: command for plugin in plugins() for name, command in plugin.commands.items()}
