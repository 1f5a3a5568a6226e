"""``lawtrace env serve``: the tools of an environment for any agent that speaks MCP, while the judge watches."""

import difflib
import importlib.util
import os
import secrets
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Annotated, Literal

import typer

from lawtrace.environments.catalogue import is_folder, load_setting
from lawtrace.environments.errors import CannotCarryOut, InputError
from lawtrace.environments.folder import Setting
from lawtrace.runs.cli.output import quieten, say, show_json
from lawtrace.runs.serving.watched import Assignment, Watched
from lawtrace.runs.stages.rows import TaskRow
from lawtrace.runs.tasks import read_tasks
from lawtrace.solver.masking import Style
from lawtrace.solver.rules import check_rules, load_rules
from lawtrace.solver.shield import ShieldMode

TOKEN = "LAWTRACE_TOKEN"  # noqa: S105 (the name of a variable)


def serve(
    name: Annotated[str, typer.Argument(metavar="E", help="A built-in environment, or a folder of your own.")],
    task: Annotated[
        str | None, typer.Option(help="FILE#ID: the task whose initial state and request to serve.")
    ] = None,
    style: Annotated[Style | None, typer.Option(help="Which instruction of the task; by default its first.")] = None,
    seed: Annotated[int, typer.Option(help="Without a task: the seed of the initial state.")] = 1,
    transport: Annotated[Literal["stdio", "http"], typer.Option(help="How clients connect.")] = "stdio",
    host: Annotated[str, typer.Option(help="For http. Away from loopback, clients must send a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="For http; 0 takes a free one.")] = 8766,
    calls: Annotated[int, typer.Option(min=1, max=10_000, help="How many calls are taken.")] = 1000,
    shield: Annotated[ShieldMode, typer.Option(help="Let the monitors warn about calls, or refuse them.")] = "off",
    out: Annotated[Path, typer.Option(help="The folder for events and verdict. Keep it from the agent.")] = Path(
        "served"
    ),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object as the last line, once clients can connect to http.")
    ] = False,
) -> None:
    """Serve the tools over the Model Context Protocol; the monitors watch, and a verdict is written after every call.

    One server is one session: all of its clients act in the same world. A new attempt is a new server.
    """
    quieten()
    setting = load_setting(name)
    _require_extra()
    from lawtrace.runs.listening import is_loopback
    from lawtrace.runs.serving.server import make_server
    from lawtrace.runs.serving.transports import serve_http, serve_stdio

    assignment = replace(_assignment(setting, name, task, style, seed), calls=calls, shield=shield)
    watched = Watched(assignment, _fresh(out))
    server = make_server(watched)
    if transport == "stdio":
        # Standard error may end up before the agent, so nothing of the judge is said there.
        serve_stdio(server)
    else:
        token = os.environ.get(TOKEN) or (None if is_loopback(host) else secrets.token_urlsafe(24))
        if token is not None and not os.environ.get(TOKEN):
            say(f"Clients must send: Authorization: Bearer {token}   (set {TOKEN} to choose it)")
        with suppress(KeyboardInterrupt):
            serve_http(
                server,
                host=host,
                port=port,
                token=token,
                on_ready=lambda address: say(
                    f"Listening at {address}; events and verdict are in {out}. Stop with Ctrl-C."
                ),
            )
    if as_json:
        show_json({"calls": len(watched.attempt.events), "out": str(out)})


def _assignment(setting: Setting, name: str, task: str | None, style: Style | None, seed: int) -> Assignment:
    environment = setting.environment
    if task is None:
        rules = load_rules(setting.rules_file)
        check_rules(rules, environment, setting.regulation)
        initial = environment.populate(Random(seed))
        return Assignment(setting, initial, rules, f"{environment.name}-seed-{seed}")
    row = _task(task, name if is_folder(name) else None)
    if row.environment != environment.name:
        raise InputError(f"--task {task}: it is about the environment {row.environment!r}, not {environment.name!r}")
    chosen = style or row.styles[0]
    if chosen not in row.instructions:
        raise InputError(f"--task {task}: it has no {chosen} instruction; it has {', '.join(row.instructions)}")
    return Assignment(setting, row.initial(environment), row.rules, row.id, row, chosen)


def _task(named: str, env: str | None) -> TaskRow:
    """The task that FILE#ID names."""
    path, _, wanted = named.rpartition("#")
    if not path:
        raise InputError(f"--task {named}: write FILE#ID, the file of tasks and the id of one of them")
    tasks, _ = read_tasks(Path(path), env)
    found = next((task for task in tasks if task.id == wanted), None)
    if found is None:
        nearest = difflib.get_close_matches(wanted, [task.id for task in tasks], 1) or [tasks[0].id]
        raise InputError(f"{path}: there is no task {wanted!r}; did you mean {nearest[0]!r}?")
    return found


def _fresh(out: Path) -> Path:
    """A folder for this session alone: an earlier one is evidence, and is not written over."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out}: holds something already; give each session a folder of its own with --out")
    return out


def _require_extra() -> None:
    if importlib.util.find_spec("mcp") is None:
        raise CannotCarryOut("the tool server needs the extra 'mcp': pip install 'lawtrace[mcp]'")
