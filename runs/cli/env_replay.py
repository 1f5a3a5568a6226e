"""``lawtrace env replay``: carry out recorded calls in an environment and compare."""

from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.audit.replay import KINDS, Fidelity, replay
from lawtrace.runs.audit.sources.reading import find_files, read_transcripts
from lawtrace.runs.cli.options import NameArgument
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.text import percent, visible
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.solver.declarations.loader import load_domain

VERDICTS = ("equal", "different", "unknown")


def env_replay(
    name: NameArgument,
    sources: Annotated[list[Path], typer.Argument(help="Files or folders of recorded conversations.")],
    show: Annotated[int, typer.Option(min=0, help="How many differences to print.")] = 5,
) -> CommandResult:
    """Compare recorded calls with what the environment computes.

    What the record does not show is unknown, never different. Exit code 1 if anything differs.
    """
    domain = load_domain(name)
    if not domain.environment.simulated:
        raise InputError(f"{name}: has no tables, so calls cannot be carried out; declare some in environment.toml")
    found = replay(domain.environment, chain.from_iterable(map(read_transcripts, find_files(sources))))
    if not found.calls:
        raise InputError(f"no call of a tool of {domain.environment.name!r} is recorded there")
    tools = [tool for tool in domain.environment.tools if found.calls[tool]]
    equal, determined = found.share()
    shown = [
        make_table(("tool", "calls", *(f"{kind}: {'/'.join(VERDICTS)}" for kind in KINDS)), _rows(found, tools)),
        *(Note(visible(line)) for line in found.first_differences(show)),
        *(Note(f"Not declared: {visible(what)} ({number} times)") for what, number in found.undeclared.most_common(10)),
    ]
    share = f"{percent(equal / determined)} of {determined} determined fields are equal" if determined else "No field"
    counts: Json = {
        tool: {kind: {one: found.counts[tool, kind, one] for one in VERDICTS} for kind in KINDS} for tool in tools
    }
    return CommandResult(
        {
            "environment": domain.environment.name,
            "transcripts": found.transcripts,
            "unread": found.unread,
            "calls": dict(found.calls),
            "fields": counts,
            "equal": equal,
            "determined": determined,
            "undeclared": dict(found.undeclared),
            "differences": [asdict(one) for one in found.differences],
        },
        (*shown, f"{share}, in {found.transcripts} conversations; {found.unknown} unknown."),
        exit_code=1 if found.differences else 0,
    )


def _rows(found: Fidelity, tools: list[str]) -> list[tuple[str, ...]]:
    return [
        (
            tool,
            str(found.calls[tool]),
            *("/".join(str(found.counts[tool, kind, one]) for one in VERDICTS) for kind in KINDS),
        )
        for tool in tools
    ]
