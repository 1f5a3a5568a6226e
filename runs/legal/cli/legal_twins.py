"""``lawtrace legal twins``: twin questions about cases, with their proofs."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.agents.legal import LegalRole
from lawtrace.agents.legal.role_calls import RoleCalls
from lawtrace.environments.legal.case import Case, PreparedCase
from lawtrace.runs.cli.options import ForceOption
from lawtrace.runs.cli.output_files import check_output
from lawtrace.runs.cli.stage_runs import open_stage_log
from lawtrace.runs.legal.cli.legal_check import shortcuts_table
from lawtrace.runs.legal.cli.options import RecipeOption
from lawtrace.runs.legal.legal_recipe import LegalRecipe, load_legal_recipe
from lawtrace.runs.legal.legal_stages import open_legal_clients
from lawtrace.runs.legal.twins.make_twins import CaseFacts, check_case_facts, without_text, write_twins
from lawtrace.runs.legal.twins.shortcuts import measure_shortcuts, twins_in
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.text import counted, visible
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import read_rows, write_rows
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.log_entries import Context


def ask_twins(
    case: Annotated[Path, typer.Argument(help="A file of cases, from `lawtrace legal ingest`.")],
    out: Annotated[Path, typer.Option(help="The cases with twin questions (JSON lines).")],
    facts: Annotated[Path | None, typer.Option(help="Corrected facts; replace the fact finder.")] = None,
    without: Annotated[
        bool, typer.Option("--without-text", help="Leave out the text of decisions, to share the file.")
    ] = False,
    recipe: RecipeOption = None,
    force: ForceOption = False,
) -> CommandResult:
    """Write pairs of questions that differ in one fact."""
    command = f"twins {case.name}"
    check_output(out, command=command, force=force)
    options = load_legal_recipe(recipe) if recipe else LegalRecipe()
    cases = read_rows(case, Case)
    given = check_case_facts(read_rows(facts, CaseFacts), cases, facts) if facts else {}
    found_by: tuple[LegalRole, ...] = () if facts else ("fact_finder",)
    options.check_roles(*found_by, "twin_writer", "twin_evaluator", "twin_reader")
    if found_by and options.role_specs()["fact_finder"].provider == "offline":
        raise InputError(
            "a model finds the facts of a decision: set roles.fact_finder in a recipe (--recipe), or give --facts FILE"
        )

    async def write(event_log: EventLogFile) -> tuple[list[CaseFacts], list[PreparedCase]]:
        async with open_legal_clients(options, event_log) as clients:
            context = Context(stage="twins", role="fact_finder")
            calls = RoleCalls(options.role_models(clients), context, event_log, options.conversation.rounds)
            return await write_twins(cases, given, options.seed, calls)

    with open_stage_log(out, command) as event_log:
        found, written = asyncio.run(write(event_log))
    cases = [without_text(one.case, its) if without else one.case for one, its in zip(written, found, strict=True)]
    write_rows(out, cases)
    facts_file = facts or out.with_suffix(".facts")
    if facts is None:
        write_rows(facts_file, found)
    notes = [f"left out: {reason}" for one in written for reason in one.refused]
    pairs = twins_in(cases)
    shortcuts = measure_shortcuts(pairs)
    read = sum(bool(one.twin and one.twin.read_by) for twins in pairs for one in twins)
    sentence = (
        f"{counted(2 * len(pairs), 'question')} in {counted(len(pairs), 'pair')} on {counted(len(written), 'case')}, "
        f"{read} of them read by a second reader."
    )
    return CommandResult(
        {
            "cases": len(written),
            "questions": 2 * len(pairs),
            "read": read,
            "shortcuts": {**shortcuts},
            "left_out": notes,
            "facts": str(facts_file),
        },
        (*(Note(visible(note)) for note in notes), *shortcuts_table(pairs), sentence),
        out,
        exit_code=0 if pairs else 1,
    )
