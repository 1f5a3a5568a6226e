"""``lawtrace legal ingest``: turn a decision into a case."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.agents.event_log import Context
from lawtrace.agents.legal.knowledge_extraction import ExtractedKnowledge, extract_knowledge
from lawtrace.agents.legal.section_mapper import SectionMapping, map_sections
from lawtrace.environments.errors import OperationalError
from lawtrace.environments.legal.case import AGENTS, Case, build_case
from lawtrace.environments.legal.decision_files import read_lines
from lawtrace.environments.legal.document import Document
from lawtrace.environments.legal.document_parser import parse_document
from lawtrace.environments.legal.document_parts import DOCUMENT_PARTS, PART_LABELS, check_order, load_parts, write_parts
from lawtrace.runs.cli.output import make_table, print_json, print_note, print_result, silence_libraries
from lawtrace.runs.cli.stage_runs import open_stage_log
from lawtrace.runs.legal.legal_recipe import LegalRecipe, load_legal_recipe, open_legal_role_models
from lawtrace.runs.report.text import visible
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import write_rows


def ingest_command(
    document: Annotated[Path, typer.Argument(help="A decision: .pdf (extra pdf), .html or .txt.")],
    out: Annotated[Path, typer.Option(help="The case to write (JSON lines).")],
    parts: Annotated[Path | None, typer.Option(help="A corrected mapping file; replaces the section mapper.")] = None,
    recipe: Annotated[Path | None, typer.Option(help="A legal recipe: the models and prompts of the roles.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Turn a decision into a case with citable chunks."""
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
                    f"{document}: the section mapper failed ({mapped.failure}); give a mapping with --parts"
                )
            ranges, doubts = mapped.parts, mapped.doubts
        reading = asyncio.run(_read(build_case(document.stem, tree, ranges), options, event_log))
    case = reading.case
    write_rows(out, [case])
    mapping = out.with_suffix(".parts.toml")
    write_parts(ranges, mapping)
    counts = {part: len(case.paragraphs_of(part)) for part in DOCUMENT_PARTS}
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
    print_result("Chunks: " + ", ".join(f"{agent} {count}" for agent, count in chunks.items()))
    for note in notes:
        print_note(f"check: {visible(note)}")
    print_note(f"Written: {out}, mapping: {mapping}")


async def _map(tree: Document, name: str, options: LegalRecipe, event_log: EventLogFile) -> SectionMapping:
    async with open_legal_role_models(options, event_log) as role_models:
        return await map_sections(
            tree,
            role_models=role_models,
            context=Context(stage="ingest", role="section_mapper", task=name),
            event_log=event_log,
            most_rounds=options.conversation.rounds,
        )


async def _read(case: Case, options: LegalRecipe, event_log: EventLogFile) -> ExtractedKnowledge:
    async with open_legal_role_models(options, event_log) as role_models:
        return await extract_knowledge(
            case,
            role_models=role_models,
            context=Context(stage="reading", role="facts"),
            event_log=event_log,
            most_rounds=options.conversation.rounds,
        )
