"""``lawtrace rules provenance``: show the provenance of extracted rules."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lawtrace.agents.conversations.provenance import PROVISION_STATUS_LABELS, ExtractionProvenance
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.store.provenance_file import FUNNEL_STEPS, provenance_path, read_provenance
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.findings import ExtractionFunnel


def show_provenance(
    file: Annotated[Path, typer.Argument(help="Rule file, or its extraction log.")],
    rule: Annotated[str | None, typer.Option(help="Show one rule and its messages.")] = None,
    provision: Annotated[str | None, typer.Option(help="Show one provision (by citation) and its messages.")] = None,
) -> CommandResult:
    """Show the provenance of extracted rules.

    Shows the funnel and the fate of each provision, or the messages about one provision or rule.
    """
    provenance = read_provenance(file if file.name.endswith(".provenance.jsonl") else provenance_path(file))
    if rule is not None:
        shown = _rule(provenance, rule)
    elif provision is not None:
        shown = _provision(provenance, provision)
    else:
        shown = _overview(provenance)
    return CommandResult(
        {
            "funnel": provenance.funnel.model_dump(),
            "provisions": {row.citation: row.fate.fate for row in provenance.provisions},
            "rules": {row.rule.id: row.status for row in provenance.rules},
        },
        shown,
    )


def _overview(provenance: ExtractionProvenance) -> Iterator[RenderableType]:
    yield funnel_table(provenance.funnel)
    if "offline" in provenance.head.models.values():
        yield provenance.funnel.baseline_sentence
    fates = ((row.citation, row.fate) for row in provenance.provisions)
    rows = ((citation, f"{PROVISION_STATUS_LABELS[fate.fate]}: {fate.because}") for citation, fate in fates)
    yield make_table(("provision", "result"), rows)


def funnel_table(funnel: ExtractionFunnel) -> Table:
    return make_table(("step", "remaining"), ((label, getattr(funnel, step)) for step, label in FUNNEL_STEPS.items()))


def _rule(provenance: ExtractionProvenance, name: str) -> Iterator[Text]:
    row = next((row for row in provenance.rules if row.rule.id == name), None)
    if row is None:
        names = ", ".join(row.rule.id for row in provenance.rules)
        raise InputError(f"the extraction log has no rule {name!r}; it has {names or 'none'}")
    yield Text(f"{row.rule.id} ({row.status}): {row.rule.formula}")
    merged = (other for other in provenance.rules if name in other.into)
    for quote in dict.fromkeys(quote for one in (row, *merged) for quote in one.quotes):
        stands = "quote found in the text" if quote.checked else "quote NOT found in the text"
        yield Text(f"{quote.citation}: “{quote.words}” ({stands})")
    yield Text(f"provisions: {'; '.join(row.rule.provisions)}")
    if row.because:
        yield Text(f"reason: {row.because}")
    for ground in row.grounds:
        yield Text(f"{ground.part}: “{ground.words}” ({ground.because})")
    for check in row.checks:
        yield Text(f"checked: {check}")
    yield from _messages(provenance, row.piece)


def _provision(provenance: ExtractionProvenance, citation: str) -> Iterator[Text]:
    row = next((row for row in provenance.provisions if row.citation == citation), None)
    if row is None:
        raise InputError(f"the extraction log has no provision {citation!r}; `lawtrace rules provenance` lists them")
    yield Text(f"{row.citation}: {row.words}")
    yield Text(f"{PROVISION_STATUS_LABELS[row.fate.fate]}: {row.fate.because}")
    if row.fate.scope:
        yield Text(f"scope: {row.fate.scope}")
    yield from _messages(provenance, row.piece)


def _messages(provenance: ExtractionProvenance, piece: int) -> Iterator[Text]:
    for message in provenance.by_batch[piece].messages:
        yield Text(f"\n{message.role}:", style="bold")
        yield Text(message.content)
