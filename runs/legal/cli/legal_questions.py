"""``lawtrace legal questions``: write questions from the findings of cases."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.environments.legal.case import Case, PreparedCase
from lawtrace.runs.cli.options import ForceOption
from lawtrace.runs.cli.output_files import check_output
from lawtrace.runs.cli.stage_runs import open_stage_log
from lawtrace.runs.legal.cli.options import RecipeOption
from lawtrace.runs.legal.legal_files import CASES
from lawtrace.runs.legal.legal_recipe import LegalRecipe, load_legal_recipe
from lawtrace.runs.legal.preparation import QUESTIONS, open_preparation
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.text import counted, visible
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import read_rows, write_rows


def write_questions(
    case: Annotated[Path, typer.Argument(help="A file of cases, from `lawtrace legal ingest`.")],
    out: Annotated[Path, typer.Option(help="The cases with their questions (JSON lines).")],
    recipe: RecipeOption = None,
    force: ForceOption = False,
) -> CommandResult:
    """Write questions from the findings of each case."""
    command = f"questions {case.name}"
    check_output(out, command=command, force=force)
    options = load_legal_recipe(recipe) if recipe else LegalRecipe()
    cases = read_rows(case, Case)

    async def write(event_log: EventLogFile) -> list[PreparedCase]:
        async with open_preparation(options, event_log) as runner:
            runner.give(CASES, cases)
            return (await runner.make(QUESTIONS))[QUESTIONS]

    with open_stage_log(out, command) as event_log:
        written = asyncio.run(write(event_log))
    write_rows(out, [one.case for one in written])
    notes = [note for one in written for note in (*one.failures, *(f"left out: {reason}" for reason in one.refused))]
    count = sum(len(one.case.questions) for one in written)
    left_out = sum(len(one.refused) for one in written)
    sentence = f"{counted(count, 'question')} on {counted(len(written), 'case')}; {left_out} left out."
    return CommandResult(
        {"cases": len(written), "questions": count, "left_out": notes},
        (sentence, *(Note(visible(note)) for note in notes)),
        out,
        exit_code=0 if count else 1,
    )
