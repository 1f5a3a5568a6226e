"""``lawtrace legal import``: turn questions of another benchmark into cases."""

from pathlib import Path

import typer

from lawtrace.environments.legal.question_sets import read_task_table
from lawtrace.environments.regulations.files import read_text
from lawtrace.runs.cli.output import print_json, print_note, print_result
from lawtrace.runs.cli.output_files import check_output
from lawtrace.runs.report.text import counted, visible
from lawtrace.runs.store.stage_files import write_rows


def import_task(*, task: Path, out: Path, instruction: Path | None, exact: bool, force: bool, as_json: bool) -> None:
    """Write the questions of a task as a case. Exit code 1 if rows were left out."""
    check_output(out, command=f"import {task.name}", force=force)
    given = None if instruction is None else read_text(instruction)
    cases, problems = read_task_table(task, instruction=given, match="exact" if exact else "normalized")
    write_rows(out, cases)
    kinds: dict[str, int] = {}
    for question in (question for case in cases for question in case.questions):
        kinds[question.kind] = kinds.get(question.kind, 0) + 1
    if as_json:
        print_json({"questions": {**kinds}, "problems": [str(problem) for problem in problems], "out": str(out)})
    else:
        print_result(
            f"{counted(sum(kinds.values()), 'question')}: {', '.join(f'{n} {kind}' for kind, n in kinds.items())}"
        )
        for problem in problems:
            print_note(f"left out: {visible(str(problem))}")
        print_note(f"Written: {out}")
    if problems:
        raise typer.Exit(1)
