"""``lawtrace tasks texts``: write the skeleton of a file of texts, or check one."""

from pathlib import Path

import typer

from lawtrace.environments.domains.loader import BUILT_IN_DOMAINS, load_domain
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.cli.output import print_note, print_outcome
from lawtrace.runs.stages.written_texts import check_texts, requests_of_tasks, requests_of_traces
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.runs.store.text_file import entry_skeleton, read_texts, skeleton
from lawtrace.schemas.errors import InputError, OperationalError
from lawtrace.schemas.task_rows import TraceRow
from lawtrace.solver.masking.requests import AskedRequest


def check_written_texts(
    *, file: Path, traces: Path | None, tasks: Path | None, add: bool, env: str | None, as_json: bool
) -> None:
    """Check the texts, or write a file of empty ones."""
    environment, requests = _requests(traces, tasks, env)
    if not file.exists():
        _write(file, skeleton(environment.name, requests))
        print_outcome(
            {"entries": len(requests), "findings": []},
            f"{len(requests)} entries to write.",
            as_json=as_json,
            out=file,
        )
        return
    texts = read_texts(file)
    if texts.environment != environment.name:
        raise InputError(
            f"{file}: its texts are for {texts.environment!r}, the requests are about {environment.name!r}"
        )
    missing = [name for name in requests if name not in texts.pairs]
    if add and missing:
        added = "".join(entry_skeleton(name, requests[name]) for name in missing)
        _write(file, file.read_text(encoding="utf-8").rstrip("\n") + "\n" + added)
        print_note(f"Added: {len(missing)} entries")
    findings = check_texts(requests, texts)
    if not as_json:
        entry = ""
        for found in findings:
            if found.entry != entry:
                print_note(f"[{found.entry}]")
                entry = found.entry
            print_note(f"  {found.style or 'both'}: {found.finding}")
        for name in missing:
            print_note(f"[{name}]\n  both: complete: no entry yet; --add appends one")
    faulty = {found.entry for found in findings}
    good = sum(name not in faulty for name in texts.pairs)
    print_outcome(
        {
            "entries": len(texts.pairs),
            "good": good,
            "missing": missing,
            "findings": [
                {
                    "entry": found.entry,
                    "style": found.style,
                    "check": found.finding.check,
                    "detail": found.finding.detail,
                    "words": found.finding.words,
                }
                for found in findings
            ],
        },
        f"{good} of {len(requests)} entries have no defect, {len(missing)} are missing.",
        as_json=as_json,
    )
    raise typer.Exit(1 if findings or missing else 0)


def _requests(traces: Path | None, tasks: Path | None, env: str | None) -> tuple[Environment, dict[str, AskedRequest]]:
    """What is asked, by pair or task, and the environment. Raises InputError unless one of the files is given."""
    if tasks is not None and traces is None:
        rows, domain = read_tasks(tasks, env)
        return domain.environment, requests_of_tasks(domain.environment, rows)
    if traces is None or tasks is not None:
        raise InputError("name what the texts are for: either --traces FILE or --tasks FILE")
    found = read_rows(traces, TraceRow)
    name = found[0].environment
    if env is None and name not in BUILT_IN_DOMAINS:
        raise InputError(f"{traces}: its traces are about {name!r}, which is not built in; say where: --env ./{name}")
    environment = load_domain(env or name).environment
    if {row.environment for row in found} != {environment.name}:
        raise InputError(f"{traces}: its traces are about {name!r}, not about {environment.name!r}")
    return environment, requests_of_traces(environment, found)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise OperationalError(f"{file}: cannot be written: {error.strerror}") from error
