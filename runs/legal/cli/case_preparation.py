"""``lawtrace legal ingest`` and ``questions_command``: documents become cases, and cases get their questions."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.agents.event_log import Context
from lawtrace.agents.legal.knowledge_extraction import ExtractedKnowledge, extract_knowledge
from lawtrace.agents.legal.question_writer import GeneratedQuestions, write_questions
from lawtrace.agents.legal.section_mapper import SectionMapping, map_sections
from lawtrace.agents.models.stack import ModelClients
from lawtrace.agents.role_models import ConfiguredRoleModels
from lawtrace.environments.errors import OperationalError
from lawtrace.environments.legal.case import AGENTS, Case, build_case
from lawtrace.environments.legal.decision_files import read_lines
from lawtrace.environments.legal.document import Document
from lawtrace.environments.legal.document_parser import parse_document
from lawtrace.environments.legal.document_parts import DOCUMENT_PARTS, PART_LABELS, check_order, load_parts, write_parts
from lawtrace.runs.cli.output import make_table, print_json, print_note, print_result, silence_libraries
from lawtrace.runs.cli.stage_runs import open_stage_log
from lawtrace.runs.legal.legal_recipe import LegalRecipe, load_legal_recipe
from lawtrace.runs.report.text import counted, visible
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import read_rows, write_rows


def ingest_command(
    document: Annotated[Path, typer.Argument(help="A decision: .pdf (extra pdf), .html or .txt.")],
    out: Annotated[Path, typer.Option(help="The case to write (JSON lines).")],
    parts: Annotated[
        Path | None, typer.Option(help="A mapping file, corrected by a person, in place of the section mapper.")
    ] = None,
    recipe: Annotated[Path | None, typer.Option(help="A legal recipe: the models and prompts of the roles.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Turn a decision into a case: a tree of numbered paragraphs, sorted into parts, in pieces that can be cited."""
    silence_libraries()
    options = load_legal_recipe(recipe) if recipe else LegalRecipe()
    tree = parse_document(read_lines(document))
    with open_stage_log(out, f"ingest {document.name}") as event_log:
        if parts is not None:
            ranges = load_parts(parts)
            doubts = tuple(check_order(ranges))
        else:
            mapped = asyncio.run(_map(tree, document.stem, options, event_log))
            if mapped.failure is not None:
                raise OperationalError(
                    f"{document}: the section mapper found no mapping ({mapped.failure}); give one with --parts"
                )
            ranges, doubts = mapped.parts, mapped.doubts
        reading = asyncio.run(_read(build_case(document.stem, tree, ranges), options, event_log))
    case = reading.case
    write_rows(out, [case])
    mapping = out.with_suffix(".parts.toml")
    write_parts(ranges, mapping)
    counts = {part: len(case.part(part)) for part in DOCUMENT_PARTS}
    chunks = {agent: sum(chunk.agent == agent for chunk in case.chunks) for agent in AGENTS}
    notes = [*tree.doubts, *doubts, *reading.failures, *(f"left out: {reason}" for reason in reading.refused)]
    if as_json:
        print_json(
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
    print_result(table)
    print_result("Pieces: " + ", ".join(f"{count} of {agent}" for agent, count in chunks.items()))
    for note in notes:
        print_note(f"look at: {visible(note)}")
    print_note(f"Written: {out}, and the mapping to correct: {mapping}")


async def _map(tree: Document, name: str, options: LegalRecipe, event_log: EventLogFile) -> SectionMapping:
    async with legal_role_models(options, event_log) as role_models:
        return await map_sections(
            tree,
            role_models=role_models,
            context=Context(stage="ingest", role="section_mapper", task=name),
            event_log=event_log,
            most_rounds=options.conversation.rounds,
        )


async def _read(case: Case, options: LegalRecipe, event_log: EventLogFile) -> ExtractedKnowledge:
    async with legal_role_models(options, event_log) as role_models:
        return await extract_knowledge(
            case,
            role_models=role_models,
            context=Context(stage="reading", role="facts"),
            event_log=event_log,
            most_rounds=options.conversation.rounds,
        )


def questions_command(
    case: Annotated[Path, typer.Argument(help="A file of cases, from `lawtrace legal ingest`.")],
    out: Annotated[Path, typer.Option(help="The cases with their questions (JSON lines).")],
    recipe: Annotated[Path | None, typer.Option(help="A legal recipe: the models and prompts of the roles.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Write questions from the findings of each case; code keeps those that stand alone and give nothing away."""
    silence_libraries()
    options = load_legal_recipe(recipe) if recipe else LegalRecipe()
    cases = read_rows(case, Case)

    async def write(event_log: EventLogFile) -> list[GeneratedQuestions]:
        async with legal_role_models(options, event_log) as role_models:
            return [
                await write_questions(
                    one,
                    role_models=role_models,
                    context=Context(stage="questions", role="question_writer"),
                    event_log=event_log,
                    most_rounds=options.conversation.rounds,
                )
                for one in cases
            ]

    with open_stage_log(out, f"questions {case.name}") as event_log:
        written = asyncio.run(write(event_log))
    write_rows(out, [one.case for one in written])
    notes = [note for one in written for note in (*one.failures, *(f"left out: {reason}" for reason in one.refused))]
    count = sum(len(one.case.questions) for one in written)
    if as_json:
        print_json({"cases": len(written), "questions": count, "left_out": [*notes], "out": str(out)})
    else:
        left_out = sum(len(one.refused) for one in written)
        print_result(f"{counted(count, 'question')} on {counted(len(written), 'case')}; {left_out} left out.")
        for note in notes:
            print_note(visible(note))
        print_note(f"Written: {out}")
    raise typer.Exit(0 if count else 1)


@asynccontextmanager
async def legal_role_models(recipe: LegalRecipe, event_log: EventLogFile) -> AsyncGenerator[ConfiguredRoleModels]:
    """The roles as the legal recipe casts them, each call recorded; what the record holds is not asked again."""
    async with ModelClients(
        event_log, settings=recipe.call_settings(), open_replay=EventLogFile.open, earlier=event_log
    ) as clients:
        yield recipe.role_models(clients)
