"""``lawtrace env serve``: serve the tools of an environment over MCP and judge the session."""

import importlib.util
import os
import secrets
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Annotated, Literal

import typer

from lawtrace.runs.cli.options import NameArgument
from lawtrace.runs.cli.output import print_json, print_note
from lawtrace.runs.cli.output_files import check_folder
from lawtrace.runs.integrations.judged_session import JudgedSession, SessionSetup
from lawtrace.runs.store.task_file import find_tasks, read_tasks
from lawtrace.schemas.choices import ShieldMode, Style
from lawtrace.schemas.errors import InputError, OperationalError
from lawtrace.solver.declarations.loader import Domain, load_domain
from lawtrace.solver.rules import check_rules, load_rules

TOKEN_VARIABLE = "LAWTRACE_TOKEN"  # noqa: S105 (the name of a variable)


def serve(
    name: NameArgument,
    tasks: Annotated[Path | None, typer.Option(metavar="<path>", help="Task file, release or run.")] = None,
    task: Annotated[str | None, typer.Option(metavar="<id>", help="Task that gives initial state and request.")] = None,
    style: Annotated[Style | None, typer.Option(help="Instruction style; default: the first of the task.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the initial state without a task.")] = 1,
    transport: Annotated[Literal["stdio", "http"], typer.Option(help="Transport for clients.")] = "stdio",
    host: Annotated[str, typer.Option(help="For http. Other than loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="For http; 0 picks a free port.")] = 8766,
    calls: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of calls.")] = 1000,
    shield: Annotated[ShieldMode, typer.Option(help="Warn about or refuse calls that break a rule.")] = "off",
    out: Annotated[Path, typer.Option(help="Output folder. Keep it from the agent.")] = Path("served"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object as the last line, once clients can connect to http.")
    ] = False,
) -> None:
    """Serve an environment over MCP and judge the calls.

    One server is one session: all clients share its state. Start a new server for a new attempt.
    """
    domain = load_domain(name)
    if importlib.util.find_spec("mcp") is None:
        raise OperationalError("the tool server needs the extra 'mcp': pip install 'lawtrace[mcp]'")
    from lawtrace.runs.integrations.mcp_server import make_server, serve_http, serve_stdio
    from lawtrace.runs.network import is_loopback

    setup = replace(_session_setup(domain, name, tasks, task, style, seed), calls=calls, shield=shield)
    check_folder(out)  # an earlier session is evidence
    watched = JudgedSession(setup, out)
    server = make_server(watched)
    if transport == "stdio":
        # The agent may see standard error, so no verdict is printed there.
        serve_stdio(server)
    else:
        token = os.environ.get(TOKEN_VARIABLE) or (None if is_loopback(host) else secrets.token_urlsafe(24))
        if token is not None and not os.environ.get(TOKEN_VARIABLE):
            print_note(f"Clients must send: Authorization: Bearer {token}   (set {TOKEN_VARIABLE} to choose it)")
        with suppress(KeyboardInterrupt):
            serve_http(
                server,
                host=host,
                port=port,
                token=token,
                on_ready=lambda address: print_note(
                    f"Listening at {address}; events and verdict are in {out}. Stop with Ctrl-C."
                ),
            )
    if as_json:
        print_json({"calls": len(watched.attempt.events), "out": str(out)})


def _session_setup(
    domain: Domain, name: str, tasks: Path | None, task: str | None, style: Style | None, seed: int
) -> SessionSetup:
    environment = domain.environment
    if (tasks is None) != (task is None):
        raise InputError("--tasks FILE and --task ID go together: the file, and which of its tasks")
    if tasks is None or task is None:
        rules = load_rules(domain.rules_file)
        check_rules(rules, environment, domain.regulation)
        initial = environment.populate(Random(seed))
        return SessionSetup(domain, initial, rules, f"{environment.name}-seed-{seed}")
    row = find_tasks(read_tasks(tasks, name)[0], task, tasks)[0]
    chosen = style or row.styles[0]
    if chosen not in row.instructions:
        raise InputError(f"--task {task}: no {chosen} instruction; choose one of {', '.join(row.instructions)}")
    return SessionSetup(domain, row.initial(environment), row.rules, row.id, row, chosen)
