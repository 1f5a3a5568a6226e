"""``lawtrace legal ingest``: turn a decision into a case."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.agents.legal import LegalRole
from lawtrace.agents.legal.knowledge_extraction import extract_knowledge
from lawtrace.agents.legal.role_calls import RoleCalls
from lawtrace.agents.legal.section_mapper import map_sections
from lawtrace.environments.documents.decision_parser import read_decision
from lawtrace.environments.legal.case import AGENTS, PreparedCase, build_case
from lawtrace.environments.legal.document_checks import check_mapped, check_parsed
from lawtrace.environments.legal.document_parts import (
    DOCUMENT_PARTS,
    PART_LABELS,
    MappingFile,
    check_order,
    format_parts,
)
from lawtrace.environments.toml_file import read_toml_model
from lawtrace.runs.cli.options import ForceOption
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.cli.output_files import check_output
from lawtrace.runs.cli.stage_runs import open_stage_log
from lawtrace.runs.legal.cli.options import RecipeOption
from lawtrace.runs.legal.legal_recipe import LegalRecipe, load_legal_recipe
from lawtrace.runs.legal.legal_stages import open_legal_clients
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.text import visible
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.log_entries import Context

_ADVICE = (
    "The decision is not parsed as it should be. Correct the text, or the mapping and pass it with --parts; a fault "
    "that is right as it is goes into the list `accepted` of the mapping."
)


def ingest_decision(
    document: Annotated[Path, typer.Argument(help="A decision: .pdf (extra pdf), .html or .txt.")],
    out: Annotated[Path, typer.Option(help="The case to write (JSON lines).")],
    parts: Annotated[Path | None, typer.Option(help="A corrected mapping file; replaces the section mapper.")] = None,
    recipe: RecipeOption = None,
    force: ForceOption = False,
) -> CommandResult:
    """Turn a decision into a case with citable chunks."""
    command = f"ingest {document.name}"
    check_output(out, command=command, force=force)
    options = load_legal_recipe(recipe) if recipe else LegalRecipe()
    mapper: tuple[LegalRole, ...] = () if parts else ("section_mapper",)
    options.check_roles(*mapper, "application", "common_sense")
    tree = read_decision(document)
    given = None if parts is None else read_toml_model(parts, MappingFile)

    async def ingest(event_log: EventLogFile) -> PreparedCase:
        async with open_legal_clients(options, event_log) as clients:
            role_models, rounds = options.role_models(clients), options.conversation.rounds

            def calls(context: Context) -> RoleCalls:
                return RoleCalls(role_models, context, event_log, rounds)

            about_parts = calls(Context(stage="ingest", role="section_mapper", task=document.stem))
            ranges = given.parts if given else await map_sections(tree, about_parts)
            case = build_case(document.stem, tree, ranges)
            return await extract_knowledge(case, calls(Context(stage="reading", role="application")))

    with open_stage_log(out, command) as event_log:
        extracted = asyncio.run(ingest(event_log))
    case, ranges = extracted.case, extracted.case.parts
    accepted = () if given is None else given.accepted
    faults = [fault for fault in (*check_parsed(tree), *check_mapped(tree, ranges)) if fault not in accepted]
    mapping, text = out.with_suffix(".parts.toml"), format_parts(ranges, faults, accepted)
    if parts is None and not force and mapping.exists() and mapping.read_text(encoding="utf-8") != text:
        raise InputError(f"{mapping} has other parts; use them with --parts {mapping}, or --force to replace the file")
    write_rows(out, [case])
    mapping.write_text(text, encoding="utf-8")
    counts = {part: len(case.paragraphs_of(part)) for part in DOCUMENT_PARTS}
    chunks: dict[str, int] = {agent: sum(chunk.agent == agent for chunk in case.chunks) for agent in AGENTS}
    left_out = [f"left out: {reason}" for reason in extracted.refused]
    without = [role for role in ("application", "common_sense") if options.role_specs()[role].provider == "offline"]
    unread = [f"no model is named for {role}, so its agent has no passages" for role in without]
    notes = [*tree.parse_warnings, *check_order(ranges), *extracted.failures, *left_out, *unread]
    refs = [paragraph.ref for paragraph in tree.paragraphs()]
    rows = ((PART_LABELS[of.part], refs.index(of.last) - refs.index(of.first) + 1, of.first, of.last) for of in ranges)
    shown = (
        make_table(("part", "paragraphs", "from", "to"), rows, title=f"{case.id}: {len(refs)} paragraphs"),
        "Chunks: " + ", ".join(f"{agent} {count}" for agent, count in chunks.items()),
        *(Note(f"check: {visible(note)}") for note in notes),
        *(Note(f"FAULT: {visible(fault)}") for fault in faults),
    )
    return CommandResult(
        {
            "case": case.id,
            "paragraphs": len(refs),
            "parts": {**counts},
            "chunks": chunks,
            "faults": faults,
            "warnings": notes,
            "out": str(out),
            "mapping": str(mapping),
        },
        (*shown, *([Note(_ADVICE)] if faults else []), Note(f"Written: {out}, mapping: {mapping}")),
        exit_code=1 if faults else 0,
    )
