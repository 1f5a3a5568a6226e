"""``lawtrace guard``: an MCP proxy that enforces rules in front of an MCP server."""

import importlib.util
import json
import os
import secrets
import shlex
import shutil
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from lawtrace.environments.tool_schemas.outcomes import read_error_texts
from lawtrace.runs.cli.env_serve import TOKEN_VARIABLE
from lawtrace.runs.cli.output import print_note
from lawtrace.runs.network import is_loopback
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.schemas.choices import Fallback, GuardMode
from lawtrace.schemas.errors import InputError, LawtraceError, OperationalError
from lawtrace.schemas.events import Actor, known_parts
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.guard.decisions import Permission, PermissionRequest
from lawtrace.solver.guard.guard import Guard
from lawtrace.solver.rules import load_rules

CLIENT_TOKEN_VARIABLE = "LAWTRACE_GUARD_TOKEN"  # noqa: S105 (the name of a variable)


def guard(
    command: Annotated[
        list[str] | None, typer.Argument(metavar="-- <command>", help="Command that serves MCP on standard streams.")
    ] = None,
    url: Annotated[str | None, typer.Option(help="Address of an MCP server, instead of a command.")] = None,
    rules: Annotated[Path | None, typer.Option(help="Rule file; default: that of --env.")] = None,
    env: Annotated[
        str | None, typer.Option(help="Environment or folder whose regulation is cited (runs its Python).")
    ] = None,
    mode: Annotated[GuardMode, typer.Option(help="What happens to calls that break rules.")] = "refuse",
    fallback: Annotated[Fallback, typer.Option(help="What happens to calls that cannot be checked.")] = "refuse",
    on_arguable: Annotated[
        Fallback, typer.Option(help="What happens to calls that break rules under some readings of the law.")
    ] = "refuse",
    ask: Annotated[str | None, typer.Option(help="Command that permits a call by exit code 0.")] = None,
    ask_timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for its answer.")] = 300,
    principal: Annotated[str | None, typer.Option(help="On whose behalf calls are made: by.principal.")] = None,
    role: Annotated[str | None, typer.Option(help="In which role: by.role of rules.")] = None,
    principal_header: Annotated[
        str | None, typer.Option(metavar="<name>", help="For http: header with the principal of each session.")
    ] = None,
    role_header: Annotated[
        str | None, typer.Option(metavar="<name>", help="For http: header with the role of each session.")
    ] = None,
    error_texts: Annotated[
        list[str] | None,
        typer.Option("--error-text", metavar="<pattern>", help="Beginning of results that are errors. Repeatable."),
    ] = None,
    log: Annotated[Path, typer.Option(help="Log of calls and decisions, for an audit; appended to.")] = Path(
        "guard.jsonl"
    ),
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for an answer, or for progress.")] = 300,
    transport: Annotated[Literal["stdio", "http"], typer.Option(help="Transport for clients.")] = "stdio",
    host: Annotated[str, typer.Option(help="For http. Other than loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="For http; 0 picks a free port.")] = 8767,
) -> CommandResult:
    """Enforce rules in front of an MCP server.

    An MCP server that passes everything on to the server of the command or the address, except calls that rules do not
    allow. `LAWTRACE_TOKEN` is sent to the address as a bearer token; over http, clients send `LAWTRACE_GUARD_TOKEN`.
    """
    if bool(command) == (url is not None):
        raise InputError("name the MCP server: write its command after --, or its address as --url")
    if url is not None and not url.startswith(("http://", "https://")):
        raise InputError(f"--url {url}: expected an address that begins with http:// or https://")
    if (principal_header or role_header) and transport == "stdio":
        raise InputError("--principal-header and --role-header: need --transport http")
    domain = load_domain(env) if env is not None else None
    file = rules or (domain and domain.rules_file)
    if file is None:
        raise InputError("name the rules with --rules, or an environment that has some with --env")
    chosen = load_rules(file)
    for rule in chosen:
        try:
            _ = rule.compiled
        except LawtraceError as error:
            raise InputError(f"{file}: {error}") from error
    patterns = read_error_texts(error_texts, "--error-text")
    if importlib.util.find_spec("mcp") is None:
        raise OperationalError("the guard of MCP servers needs the extra 'mcp': pip install 'lawtrace[mcp]'")
    from lawtrace.runs.integrations.guarded_session import GuardedSession
    from lawtrace.runs.integrations.http_guard import ActorHeaders, serve_sessions
    from lawtrace.runs.integrations.mcp_guard import connector, serve_guard
    from lawtrace.solver.guard.log import GuardLog

    def tell(text: str) -> None:
        print_note(f"lawtrace guard: {text}")

    guards: dict[str, Guard] = {}
    always = Actor(principal, role)

    @contextmanager
    def begin(actor: Actor) -> Generator[GuardedSession]:
        conversation = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(4)}"
        with GuardLog(log, conversation) as opened:
            yield GuardedSession(
                chosen,
                opened,
                mode=mode,
                fallback=fallback,
                on_arguable=on_arguable,
                ask=None if ask is None else partial(_ask_command, shlex.split(ask), ask_timeout),
                ask_timeout=ask_timeout,
                principal=actor.principal,
                role=actor.role,
                error_texts=patterns,
                regulation=domain.regulation if domain else None,
                guards=guards,
                tell=tell,
            )

    connect = connector(command=command or [], url=url, token=os.environ.get(TOKEN_VARIABLE), timeout=timeout)
    if transport == "stdio":
        with begin(always) as session:
            serve_guard(session, connect, timeout)
        return CommandResult({**session.labels, "log": str(log)})
    if command and shutil.which(command[0]) is None:
        raise OperationalError(f"{command[0]}: cannot be started: there is no such command")
    given = os.environ.get(CLIENT_TOKEN_VARIABLE)
    token = given or (None if is_loopback(host) else secrets.token_urlsafe(24))
    if token != given:
        tell(f"clients must send: Authorization: Bearer {token}   (set {CLIENT_TOKEN_VARIABLE} to choose it)")
    actors = ActorHeaders(principal_header, role_header, always)
    serve_sessions(begin, connect, timeout=timeout, host=host, port=port, token=token, actors=actors, tell=tell)
    return CommandResult({"log": str(log)})


def _ask_command(command: list[str], timeout: float, question: PermissionRequest) -> Permission:
    """Run a command with the question on standard input; the first line that it prints is the reason."""
    call, finding = question.call, question.finding
    asked = {
        "tool": call.tool,
        "arguments": dict(call.arguments),
        "by": known_parts(call.by),
        "question": str(question),
    }
    given = json.dumps({**asked, "rules": finding.rules, "provisions": finding.provisions})
    ran = subprocess.run(command, input=given, capture_output=True, text=True, timeout=timeout, check=False)  # noqa: S603
    return Permission(ran.returncode == 0, words=ran.stdout.partition("\n")[0])
