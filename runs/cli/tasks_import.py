"""``lawtrace tasks import``: import published tasks."""

from pathlib import Path
from typing import Literal

import typer

from lawtrace.environments.sandbox import Jail, choose_backend
from lawtrace.runs.cli.output import print_grouped, print_note, print_outcome, print_problems
from lawtrace.runs.cli.output_files import check_output
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.published import published_evaluation
from lawtrace.runs.stages.artifacts import TASKS
from lawtrace.schemas.choices import PublishedDomainName


def import_published_tasks(
    *,
    source: Literal["logisafetybench"],
    directory: Path,
    domain: PublishedDomainName,
    sandbox: str | None,
    out: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Import published tasks, and write them."""
    import_tasks = published_evaluation("logisafetybench:import_tasks")
    check_output(out, force=force)
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
            "source": source,
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
