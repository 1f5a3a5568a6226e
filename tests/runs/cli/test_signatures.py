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


def _imported(*lines: list[str]) -> set[str]:
    code = f"""
import sys
from lawtrace.runs.cli import main
for words in {list(lines)}:
    sys.argv = ["lawtrace", *words]
    try:
        main()
    except SystemExit:
        pass
print()
print(*sys.modules)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return set(ended.stdout.splitlines()[-1].split())


def test_lists_of_commands_and_mistyped_names_import_no_command() -> None:
    modules = {_found(words).target.split(":")[0] for words in COMMANDS}
    loaded = _imported(*([*words, end] for words in GROUPS for end in ("--help", "chek")))
    assert not loaded & (HEAVY | modules)
    assert not any(name.startswith(("lawtrace.agents", "lawtrace.solver.", "lawtrace.runs.stages")) for name in loaded)


def test_help_of_a_command_imports_its_module_alone() -> None:
    modules = {_found(words).target.split(":")[0] for words in COMMANDS}
    assert _imported(["env", "list", "--help"]) & modules == {"lawtrace.runs.cli.env"}
    assert _imported(["traces", "coverage", "--help"]) & modules == {"lawtrace.runs.cli.traces_coverage"}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_list_of_commands_shows_the_first_line_of_help(words: tuple[str, ...]) -> None:
    command = _found(words)
    module, name = command.target.split(":")
    documented = inspect.getdoc(getattr(import_module(module), name)) or ""
    assert documented.split("\n\n")[0].replace("\n", " ") == command.help


FRAMEWORKS = {"autogen_core", "matplotlib", "numpy", "openai", "pandas", "pyarrow", "scipy"}


@pytest.mark.parametrize(
    ("commands", "unneeded"),
    [
        (["env list"], FRAMEWORKS | {"jinja2", "z3"}),
        (
            [
                "run --dry-run",
                "run recipes/payments.toml --dry-run",
                "messages nowhere",
                "compare nowhere elsewhere",
                "report nowhere",
            ],
            FRAMEWORKS | {"z3"},
        ),
        (["rules check --rules nowhere"], FRAMEWORKS),
    ],
)
def test_commands_import_only_what_they_need(commands: list[str], unneeded: set[str]) -> None:
    assert not _imported(*(words.split() for words in commands)) & unneeded


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_accepts_json_and_names_its_values(words: tuple[str, ...], lawtrace: Shell) -> None:
    code, out, _ = lawtrace(*words, "--help")
    assert (code, "--json" in out) == (0, True)
    assert not re.search(r"--[\w-]+ <(list\[|float,)", out)
