"""What is read with a command line: all commands, their options, and nothing of what carries them out."""

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest
import typer
from typer.core import TyperCommand, TyperGroup

from lawtrace.runs.cli.app import app
from tests.support.shell import Shell

HEAVY = {"autogen_core", "jinja2", "lark", "matplotlib", "numpy", "openai", "rich", "scipy", "z3"}


def _commands(group: TyperGroup, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], TyperCommand]]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from _commands(command, (*words, name))
        else:
            assert isinstance(command, TyperCommand)
            yield (*words, name), command


def _root() -> TyperGroup:
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    return root


COMMANDS = dict(_commands(_root()))


def _imported(code: str) -> set[str]:
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return set(ended.stdout.splitlines()[-1].split())


def test_help_and_mistyped_options_import_no_implementation() -> None:
    code = f"""
import sys
from lawtrace.runs.cli import main
for words in (["--help"], *({[*map(list, COMMANDS)]})):
    sys.argv = ["lawtrace", *words, *([] if words == ["--help"] else ["--modle", "x"])]
    try:
        main()
    except SystemExit as end:
        assert end.code == (0 if words == ["--help"] else 2), words
print()
print(*sys.modules)
"""
    loaded = _imported(code)
    assert not loaded & HEAVY
    assert not any(name.startswith(("lawtrace.agents", "lawtrace.solver.", "lawtrace.runs.stages")) for name in loaded)


FRAMEWORKS = {"autogen_core", "matplotlib", "numpy", "openai", "pandas", "pyarrow", "scipy"}


@pytest.mark.parametrize(
    ("words", "unneeded"),
    [
        ("env list", FRAMEWORKS | {"jinja2", "z3"}),
        ("run --dry-run", FRAMEWORKS | {"z3"}),
        ("run recipes/payments.toml --dry-run", FRAMEWORKS | {"z3"}),
        ("messages nowhere", FRAMEWORKS | {"z3"}),
        ("compare nowhere elsewhere", FRAMEWORKS | {"z3"}),
        ("report nowhere", FRAMEWORKS | {"z3"}),
        ("rules check --rules nowhere", FRAMEWORKS),
    ],
)
def test_a_command_imports_only_what_it_needs(words: str, unneeded: set[str]) -> None:
    code = f"""
import sys
from lawtrace.runs.cli import main
sys.argv = ["lawtrace", *{words.split()}]
try:
    main()
except SystemExit:
    pass
print()
print(*sys.modules)
"""
    assert not _imported(code) & unneeded


def _plain(annotation: object) -> object:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_and_its_implementation_have_the_same_parameters(words: tuple[str, ...]) -> None:
    callback: Any = COMMANDS[words].callback
    signature: Callable[..., None]
    signature, target = callback.implementation
    module, name = target.split(":")
    implementation = getattr(import_module(module), name)

    def types(of: Callable[..., None]) -> dict[str, object]:
        hints = get_type_hints(of, include_extras=True)
        return {parameter: _plain(hints[parameter]) for parameter in inspect.signature(of).parameters}

    assert types(implementation) == types(signature)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_accepts_json_and_names_its_values(words: tuple[str, ...], lawtrace: Shell) -> None:
    code, out, _ = lawtrace(*words, "--help")
    assert (code, "--json" in out) == (0, True)
    assert not re.search(r"--[\w-]+ <(list\[|float,)", out)


def test_help_is_as_wide_as_the_terminal(lawtrace: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert 90 < max(map(len, lawtrace("traces", "synthesize", "--help")[1].splitlines())) <= 100


def test_the_shell_can_complete_commands(lawtrace: Shell) -> None:
    assert "--show-completion" in lawtrace("--help")[1]
