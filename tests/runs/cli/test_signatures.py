"""What is read with a command line: all commands with their options, and no more modules than it needs."""

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module

import pytest

from lawtrace.runs.cli.app import COMMANDS as ALL
from lawtrace.runs.plugins import Command, Group
from tests.support.shell import Shell

HEAVY = {"autogen_core", "jinja2", "lark", "matplotlib", "numpy", "openai", "rich", "scipy", "z3"}
"""All help pages of the core at 100 columns. To write it again: delete it, and run its test twice."""


def _commands(group: Mapping[str, Command | Group], words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, command in group.items():
        if isinstance(command, Group):
            yield from _commands(command.commands, (*words, name))
        else:
            yield (*words, name)


def _groups(group: Mapping[str, Command | Group], words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield words
    for name, command in group.items():
        if isinstance(command, Group):
            yield from _groups(command.commands, (*words, name))


def _found(words: tuple[str, ...]) -> Command:
    place: Command | Group = Group("", ALL)
    for word in words:
        assert isinstance(place, Group)
        place = place.commands[word]
    assert isinstance(place, Command)
    return place


COMMANDS = [*_commands(ALL)]
GROUPS = [*_groups(ALL)]
MODULES = {_found(words).target.split(":")[0] for words in COMMANDS}


FRAMEWORKS = {"autogen_core", "matplotlib", "numpy", "openai", "pandas", "pyarrow", "scipy"}
COMMAND_LINES = {
    "lists": [" ".join([*words, end]) for words in GROUPS for end in ("--help", "chek")],
    "help": ["env list --help"],
    "env": ["env list"],
    "planning and reading": [
        "run --dry-run",
        "run recipes/payments.toml --dry-run",
        "messages nowhere",
        "compare nowhere elsewhere",
        "report nowhere",
    ],
    "rules": ["rules check --rules nowhere"],
}
"""What one process runs, in this order."""


def _imported(*groups: list[str]) -> list[set[str]]:
    """For each group of command lines, the modules that are imported when it ends, also by those before it."""
    code = f"""
import sys
from lawtrace.runs.cli import main
for lines in {list(groups)}:
    for line in lines:
        sys.argv = ["lawtrace", *line.split()]
        try:
            main()
        except SystemExit:
            pass
    print()
    print("imported", *sys.modules)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    return [{*line.split()[1:]} for line in ended.stdout.splitlines() if line.startswith("imported ")]


@pytest.fixture(scope="module")
def imported() -> dict[str, set[str]]:
    return dict(zip(COMMAND_LINES, _imported(*COMMAND_LINES.values()), strict=True))


def test_lists_of_commands_and_mistyped_names_import_no_command(imported: dict[str, set[str]]) -> None:
    loaded = imported["lists"]
    assert not loaded & (HEAVY | MODULES)
    assert not any(name.startswith(("lawtrace.agents", "lawtrace.solver.", "lawtrace.runs.stages")) for name in loaded)


def test_help_of_a_command_imports_its_module_alone(imported: dict[str, set[str]]) -> None:
    assert imported["help"] & MODULES == {"lawtrace.runs.cli.env"}
    (loaded,) = _imported(["traces coverage --help"])
    assert loaded & MODULES == {"lawtrace.runs.cli.traces_coverage"}


@pytest.mark.parametrize(
    ("group", "unneeded"),
    [("env", FRAMEWORKS | {"jinja2", "z3"}), ("planning and reading", FRAMEWORKS | {"z3"}), ("rules", FRAMEWORKS)],
)
def test_commands_import_only_what_they_need(imported: dict[str, set[str]], group: str, unneeded: set[str]) -> None:
    assert not imported[group] & unneeded


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_list_of_commands_shows_the_first_line_of_help(words: tuple[str, ...]) -> None:
    command = _found(words)
    module, name = command.target.split(":")
    documented = inspect.getdoc(getattr(import_module(module), name)) or ""
    assert documented.split("\n\n")[0].replace("\n", " ") == command.help


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_accepts_json_and_names_its_values(words: tuple[str, ...], lawtrace: Shell) -> None:
    code, out, _ = lawtrace(*words, "--help")
    assert (code, "--json" in out) == (0, True)
    assert not re.search(r"--[\w-]+ <(list\[|float,)", out)
