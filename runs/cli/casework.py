"""``lawtrace legal ingest`` and ``questions``: documents become cases, and cases get their questions."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.agents.casting import FixedCasting
from lawtrace.agents.clients.stack import ModelClients
from lawtrace.agents.conversations.mapping import Mapped, map_sections
from lawtrace.agents.conversations.reading_case import CaseReading, read_case
from lawtrace.agents.conversations.writing_questions import QuestionsWritten, write_questions
from lawtrace.agents.ledger import Context
from lawtrace.environments.casebook.case import AGENTS, Case
from lawtrace.environments.casebook.documents.parsing import parse_document
from lawtrace.environments.casebook.documents.parts import PART_LABELS, PARTS, check_order, load_parts, write_parts
from lawtrace.environments.casebook.documents.tree import Document
from lawtrace.environments.casebook.ingest import build_case
from lawtrace.environments.documents.reading import read_lines
from lawtrace.environments.errors import CannotCarryOut
from lawtrace.runs.cli.output import make_table, quieten, say, show, show_json
from lawtrace.runs.cli.talking import record_beside
from lawtrace.runs.files import read_rows, write_rows
from lawtrace.runs.legal.recipe import LegalRecipe, load_legal_recipe
from lawtrace.runs.record.store import Record
from lawtrace.runs.report.texts import counted
from lawtrace.runs.visibility import visible


def ingest(
    document: Annotated[Path, typer.Argument(help="A decision: .pdf (extra pdf), .html or .txt.")],
    out: Annotated[Path, typer.Option(help="The case to write (JSON lines).")],
    parts: Annotated[
        Path | None, typer.Option(help="A mapping file, corrected by a person, in place of the section mapper.")
    ] = None,
    recipe: Annotated[Path | None, typer.Option(help="A legal recipe: the models and prompts of the roles.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Turn a decision into a case: a tree of numbered paragraphs, sorted into parts, in pieces that can be cited."""
    quieten()
    options = load_legal_recipe(recipe) if recipe else LegalRecipe()
    tree = parse_document(read_lines(document))
    with record_beside(out, f"ingest {document.name}") as record:
        if parts is not None:
            ranges = load_parts(parts)
            doubts = tuple(check_order(ranges))
        else:
            mapped = asyncio.run(_map(tree, document.stem, options, record))
            if mapped.failure is not None:
                raise CannotCarryOut(
                    f"{document}: the section mapper found no mapping ({mapped.failure}); give one with --parts"
                )
            ranges, doubts = mapped.parts, mapped.doubts
        reading = asyncio.run(_read(build_case(document.stem, tree, ranges), options, record))
    case = reading.case
    write_rows(out, [case])
    mapping = out.with_suffix(".parts.toml")
    write_parts(ranges, mapping)
    counts = {part: len(case.part(part)) for part in PARTS}
    chunks = {agent: sum(chunk.agent == agent for chunk in case.chunks) for agent in AGENTS}
    notes = [*tree.doubts, *doubts, *reading.failures, *(f"left out: {reason}" for reason in reading.refused)]
    if as_json:
        show_json(
            {
                "case": case.id,
                "paragraphs": len(tree.paragraphs()),
                "parts": {**counts},
                "chunks": {**chunks},
                "doubts": [*notes],
                "out": str(out),
                "mapping": str(mapping),
            }
        )
        return
    table = make_table("part", "paragraphs", "from", "to", title=f"{case.id}: {len(tree.paragraphs())} paragraphs")
    for given in ranges:
        refs = [paragraph.ref for paragraph in tree.paragraphs()]
        size = refs.index(given.last) - refs.index(given.first) + 1
        table.add_row(PART_LABELS[given.part], str(size), visible(given.first), visible(given.last))
    show(table)
    show("Pieces: " + ", ".join(f"{count} of {agent}" for agent, count in chunks.items()))
    for note in notes:
        say(f"look at: {visible(note)}")
    say(f"Written: {out}, and the mapping to correct: {mapping}")


async def _map(tree: Document, name: str, options: LegalRecipe, record: Record) -> Mapped:
    async with legal_casting(options, record) as casting:
        return await map_sections(
            tree,
            casting=casting,
            context=Context(stage="ingest", role="section_mapper", task=name),
            ledger=record,
            most_rounds=options.conversation.rounds,
        )


async def _read(case: Case, options: LegalRecipe, record: Record) -> CaseReading:
    async with legal_casting(options, record) as casting:
        return await read_case(
            case,
            casting=casting,
            context=Context(stage="reading", role="facts"),
            ledger=record,
            most_rounds=options.conversation.rounds,
        )


def questions(
    case: Annotated[Path, typer.Argument(help="A file of cases, from `lawtrace legal ingest`.")],
    out: Annotated[Path, typer.Option(help="The cases with their questions (JSON lines).")],
    recipe: Annotated[Path | None, typer.Option(help="A legal recipe: the models and prompts of the roles.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Write questions from the findings of each case; code keeps those that stand alone and give nothing away."""
    quieten()
    options = load_legal_recipe(recipe) if recipe else LegalRecipe()
    cases = read_rows(case, Case)

    async def write(record: Record) -> list[QuestionsWritten]:
        async with legal_casting(options, record) as casting:
            return [
                await write_questions(
                    one,
                    casting=casting,
                    context=Context(stage="questions", role="question_writer"),
                    ledger=record,
                    most_rounds=options.conversation.rounds,
                )
                for one in cases
            ]

    with record_beside(out, f"questions {case.name}") as record:
        written = asyncio.run(write(record))
    write_rows(out, [one.case for one in written])
    notes = [note for one in written for note in (*one.failures, *(f"left out: {reason}" for reason in one.refused))]
    count = sum(len(one.case.questions) for one in written)
    if as_json:
        show_json({"cases": len(written), "questions": count, "left_out": [*notes], "out": str(out)})
    else:
        left_out = sum(len(one.refused) for one in written)
        show(f"{counted(count, 'question')} on {counted(len(written), 'case')}; {left_out} left out.")
        for note in notes:
            say(visible(note))
        say(f"Written: {out}")
    raise typer.Exit(0 if count else 1)


@asynccontextmanager
async def legal_casting(recipe: LegalRecipe, record: Record) -> AsyncGenerator[FixedCasting]:
    """The roles as the legal recipe casts them, each call recorded; what the record holds is not asked again."""
    async with ModelClients(
        record, settings=recipe.call_settings(), open_replay=Record.open, earlier=record
    ) as clients:
        yield FixedCasting(clients, recipe.roles.specs(), recipe.parameters, recipe.prompts.prompts())
