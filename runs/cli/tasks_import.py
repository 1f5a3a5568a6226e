"""``lawtrace tasks import``: import published tasks."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from lawtrace.environments.sandbox import Sandbox
from lawtrace.runs.cli.options import ForceOption, OutOption
from lawtrace.runs.cli.output import grouped_notes, problem_notes
from lawtrace.runs.cli.output_files import check_output
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.published import published_evaluation
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.stages.artifacts import TASKS
from lawtrace.schemas.choices import PublishedDomainName


def import_published_tasks(
    source: Annotated[Literal["logisafetybench"], typer.Argument(help="Source format.")],
    directory: Annotated[Path, typer.Argument(help="Folder of the data, as published or flat.")],
    domain: Annotated[PublishedDomainName, typer.Option(help="Published domain.")] = "bank_manager",
    out: OutOption = Path("tasks.jsonl"),
    force: ForceOption = False,
) -> CommandResult:
    """Import published tasks.

    Imports instructions, states and rules; repairs and runs the reference programs.
    """
    import_tasks = published_evaluation("logisafetybench:import_tasks")
    check_output(out, force=force)
    with Sandbox() as sandbox, ProgressBars().stage("tasks", None) as step:
        imported = import_tasks(directory, domain, sandbox, step)
    TASKS.write(out, imported.tasks)
    notes = [(task.id, note) for task in imported.tasks for note in task.notes]
    sentence = (
        f"{len(imported.tasks)} paired tasks imported, {len(imported.empty)} rows empty as published, "
        f"{len(imported.problems)} invalid."
    )
    return CommandResult(
        {
            "source": source,
            "tasks": len(imported.tasks),
            "empty": [*imported.empty],
            "invalid": [str(problem) for problem in imported.problems],
            "notes": [f"{task}: {note}" for task, note in notes],
        },
        (*(Note(f"  {line}") for line in imported.empty), *grouped_notes(notes), sentence),
        out,
        notes=problem_notes(imported.problems),
        exit_code=1 if imported.problems else 0,
    )
