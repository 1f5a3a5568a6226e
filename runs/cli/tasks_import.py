"""``lawtrace tasks import``: import published tasks."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.environments.sandbox import Jail, choose_backend
from lawtrace.runs.cli.options import JsonOption, OutOption, SandboxOption
from lawtrace.runs.cli.output import print_grouped, print_note, print_outcome, print_problems
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.ingest.logisafetybench import import_tasks
from lawtrace.runs.ingest.published_domains import PublishedDomainName
from lawtrace.runs.stages.pipeline import TASKS


def import_command(
    source: Annotated[str, typer.Argument(help="Source format: logisafetybench.")],
    directory: Annotated[Path, typer.Argument(help="Folder of the data, as published or flat.")],
    domain: Annotated[PublishedDomainName, typer.Option(help="Published domain.")] = "bank_manager",
    sandbox: SandboxOption = None,
    out: OutOption = Path("tasks.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Import published tasks.

    Imports instructions, states and rules; repairs and runs the reference programs.
    """
    if source != "logisafetybench":
        raise typer.BadParameter(f"unknown source {source!r}; use logisafetybench")
    with Jail(backend=choose_backend(sandbox or "bwrap")) as jail, ProgressBars().stage("tasks", None) as step:
        imported = import_tasks(directory, domain, jail, step)
    TASKS.write(out, imported.tasks)
    notes = [(task.id, note) for task in imported.tasks for note in task.notes]
    if not as_json:
        for line in imported.empty:
            print_note(f"  {line}")
        print_grouped(notes)
    print_outcome(
        {
            "tasks": len(imported.tasks),
            "empty": [*imported.empty],
            "invalid": [str(problem) for problem in imported.problems],
            "notes": [f"{task}: {note}" for task, note in notes],
        },
        f"{len(imported.tasks)} paired tasks imported, {len(imported.empty)} rows empty as published, "
        f"{len(imported.problems)} invalid.",
        as_json=as_json,
        out=out,
    )
    print_problems(imported.problems)
    raise typer.Exit(1 if imported.problems else 0)
