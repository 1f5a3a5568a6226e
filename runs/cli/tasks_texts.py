"""``lawtrace tasks texts``: write the skeleton of a file of texts, or check one."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.cli.options import EnvironmentFolderOption
from lawtrace.runs.cli.output import print_note
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.stages.human_texts import EntryFinding, asked_requests, check_texts
from lawtrace.runs.store.stage_files import read_rows, write_lines
from lawtrace.runs.store.task_file import read_tasks, recorded_domain
from lawtrace.runs.store.text_file import entry_skeleton, read_texts, skeleton
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.task_rows import TraceRow
from lawtrace.solver.masking.requests import AskedRequest


def check_written_texts(
    file: Annotated[Path, typer.Argument(help="File of texts (TOML); written if missing.")],
    traces: Annotated[Path | None, typer.Option(help="Trace file (JSON lines) to write for.")] = None,
    tasks: Annotated[Path | None, typer.Option(help="Task file (JSON lines) to write for.")] = None,
    add: Annotated[bool, typer.Option("--add", help="Append empty entries for missing pairs.")] = False,
    env: EnvironmentFolderOption = None,
) -> CommandResult:
    """Check instructions written by hand.

    Without an existing file, write one to fill in, with the asked calls of each pair. Exit code 1 if a text has a
    defect or is missing.
    """
    environment, requests = _requests(traces, tasks, env)
    if not file.exists():
        write_lines(file, [skeleton(environment.name, requests).rstrip("\n")])
        sentence = f"{len(requests)} entries to write."
        return CommandResult({"entries": len(requests), "findings": []}, [sentence], file)
    texts = read_texts(file)
    if texts.environment != environment.name:
        raise InputError(
            f"{file}: its texts are for {texts.environment!r}, the requests are about {environment.name!r}"
        )
    missing = [name for name in requests if name not in texts.pairs]
    if add and missing:
        added = "".join(entry_skeleton(name, requests[name]) for name in missing)
        write_lines(file, [file.read_text(encoding="utf-8").rstrip("\n"), added.rstrip("\n")])
        print_note(f"Added: {len(missing)} entries")
    findings = check_texts(requests, texts)
    faulty = {found.entry for found in findings}
    good = sum(name not in faulty for name in texts.pairs)
    return CommandResult(
        {
            "entries": len(texts.pairs),
            "good": good,
            "missing": missing,
            "findings": [{"entry": one.entry, "style": one.style, **asdict(one.finding)} for one in findings],
        },
        (
            *_finding_notes(findings),
            *(Note(f"[{name}]\n  both: complete: no entry yet; --add appends one") for name in missing),
            f"{good} of {len(requests)} entries have no defect, {len(missing)} are missing.",
        ),
        exit_code=1 if findings or missing else 0,
    )


def _finding_notes(findings: Sequence[EntryFinding]) -> Iterator[Note]:
    entry = ""
    for found in findings:
        if found.entry != entry:
            yield Note(f"[{found.entry}]")
            entry = found.entry
        yield Note(f"  {found.style or 'both'}: {found.finding}")


def _requests(traces: Path | None, tasks: Path | None, env: str | None) -> tuple[Environment, dict[str, AskedRequest]]:
    """What is asked, by pair or task, and the environment. Raises InputError unless one of the files is given."""
    if tasks is not None and traces is None:
        rows, domain = read_tasks(tasks, env)
        return domain.environment, asked_requests(domain.environment, rows)
    if traces is None or tasks is not None:
        raise InputError("name what the texts are for: either --traces FILE or --tasks FILE")
    found = read_rows(traces, TraceRow)
    environment = recorded_domain(traces, "traces", found[0].environment, env).environment
    return environment, asked_requests(environment, found)
