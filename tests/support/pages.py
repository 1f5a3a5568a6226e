"""Documentation pages: commands, code blocks and links."""

import re
import shlex
from functools import cache
from pathlib import Path

import typer
from typer.core import TyperGroup

from lawtrace.runs.cli.app import app

__all__ = ["LEGAL", "PAGES", "ROOT", "blocks", "check_command", "commands", "links"]

ROOT = Path(__file__).parents[2]
LEGAL = ROOT / "docs" / "legal"
WRITTEN = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if LEGAL not in page.parents and not (page.parent / "manifest.json").exists()
]
PAGES = [ROOT / "README.md", *WRITTEN]
"""Every page except those of the legal benchmark, which can be removed, and those that a release was written with."""


def commands(page: Path) -> list[str]:
    """The lawtrace commands in indented lines and, in the README, in tables; without comments."""
    found: list[str] = []
    for line in page.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"    (?:\.venv/bin/)?lawtrace (?P<words>[^#]+)", line):
            found.append(match["words"].strip())
        if page.name == "README.md" and line.startswith("| "):
            found += re.findall(r"`lawtrace ([^`]+)`", line)
    return found


_command = cache(lambda: typer.main.get_command(app))


def check_command(words: str) -> None:
    """Parse a command as the command line does, without running it."""
    command, arguments = _command(), shlex.split(words)
    context = command.context_class(command)
    while isinstance(command, TyperGroup):
        _, rest, _ = command.make_parser(context).parse_args(arguments)  # without the options of the group
        _, found, arguments = command.resolve_command(context, rest)
        assert found is not None
        command = found
    command.make_context("lawtrace", list(arguments))


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks whose fence carries exactly this language."""
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def links(page: Path) -> list[str]:
    """The targets of links to files."""
    return re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
