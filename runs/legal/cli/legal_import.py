"""``lawtrace legal import``: turn questions of another benchmark into cases."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.environments.documents.files import read_text
from lawtrace.environments.legal.case import TaskMetric
from lawtrace.environments.legal.question_sets import read_task_table
from lawtrace.runs.cli.options import ForceOption
from lawtrace.runs.cli.output_files import check_output
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.text import counted, visible
from lawtrace.runs.store.stage_files import write_rows


def import_task(
    task: Annotated[Path, typer.Argument(help="A task: a table (.tsv, .csv) or its folder.")],
    out: Annotated[Path, typer.Option(help="The case to write (JSON lines).")],
    instruction: Annotated[
        Path | None, typer.Option(help="Text with {{column}} names; default: base_prompt.txt.")
    ] = None,
    metric: Annotated[
        TaskMetric | None,
        typer.Option(help="Of the task; default: balanced_accuracy for labels, exact_match for texts."),
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Compare answers in words exactly.")] = False,
    force: ForceOption = False,
) -> CommandResult:
    """Turn a task of another benchmark into a case."""
    check_output(out, command=f"import {task.name}", force=force)
    given = None if instruction is None else read_text(instruction)
    cases, problems = read_task_table(task, instruction=given, match="exact" if exact else "normalized", metric=metric)
    write_rows(out, cases)
    kinds = Counter(question.kind for case in cases for question in case.questions)
    numbers = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
    examples = sum(len(case.chunks) for case in cases)
    left_out = (Note(f"left out: {visible(str(problem))}") for problem in problems)
    return CommandResult(
        {
            "questions": {**kinds},
            "examples": examples,
            "metric": cases[0].metric if cases else None,
            "problems": [str(problem) for problem in problems],
        },
        (f"{counted(sum(kinds.values()), 'question')}: {numbers}; {counted(examples, 'example')}.", *left_out),
        out,
        exit_code=1 if problems else 0,
    )
