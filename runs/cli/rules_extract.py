"""``lawtrace rules extract``: extract rules, with their provenance."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from lawtrace.agents.conversations.provenance import ExtractionProvenance
from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.regulations.documents import read_published_law
from lawtrace.environments.regulations.regulation import Regulation, load_regulation
from lawtrace.runs.cli.recipe_flags import MODEL_CALLS, RecipeFlags, recipe_flags, stage_recipe
from lawtrace.runs.cli.rules_check import rule_table
from lawtrace.runs.cli.rules_evaluate import extract_offline_baseline
from lawtrace.runs.cli.rules_provenance import funnel_table
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.sections import make_extraction_report
from lawtrace.runs.report.text import percent
from lawtrace.runs.runner import Session
from lawtrace.runs.stages.artifacts import EXTRACTED_RULES, PROVENANCE
from lawtrace.runs.stages.rules_stage import ExtractionScore, score_extraction
from lawtrace.runs.store.provenance_file import provenance_of, provenance_path
from lawtrace.runs.store.stage_store import Products
from lawtrace.runs.web.export import export_report
from lawtrace.schemas.errors import OperationalError
from lawtrace.solver.rules import Rule, load_rules

RESTATED = ".toml"
_MOST_WARNINGS = 5


@recipe_flags(*MODEL_CALLS, "seed")
def extract(
    flags: RecipeFlags,
    document: Annotated[
        Path | None, typer.Argument(help="Regulation, published or restated (TOML); default: the environment's.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Output rule file; log and page go next to it.")] = Path("rules.jsonl"),
) -> CommandResult:
    """Extract rules from a regulation, with their provenance.

    Exit code 1 if provisions are left unprocessed; run the command again to continue with them.
    """
    if document is not None:
        read: dict[str, object] = {"rules.regulation": "text", "regulation.files": (document,)}
        if document.suffix.lower() == RESTATED:
            read = {"rules.regulation": "restated"}
        flags = replace(flags, values={**flags.values, **read})
    inputs = stage_recipe(flags, simulated=False)
    options, domain = inputs.recipe, inputs.domain
    if document is not None and document.suffix.lower() == RESTATED:
        domain = domain.with_regulation(load_regulation(document))

    async def work(session: Session) -> Products:
        runner = session.runner(replace(inputs, domain=domain))
        return await runner.make(EXTRACTED_RULES, PROVENANCE, incomplete=True)

    command = f"rules extract {document or options.environment}"
    written = provenance_path(out), out.with_suffix(".html")
    products = run_stages(options, out, command, work, *written, force=flags.force, sandbox=False)
    rules, provenance = products[EXTRACTED_RULES], provenance_of(products[PROVENANCE])
    unread = provenance.unread
    if unread and len(unread) == len(provenance.provisions) and provenance.head.stopped is None:
        raise OperationalError(
            f"no provision could be read, nothing written; run the command again: {unread[0].fate.because}"
        )
    EXTRACTED_RULES.write(out, rules)
    PROVENANCE.write(provenance_path(out), provenance.lines())
    export_report(make_extraction_report(provenance), out.with_suffix(".html"))
    return _result(domain, tuple(rules), provenance, out)


def read_regulation(document: Path, domain: Domain) -> Regulation:
    """The regulation in a document of any supported form, cited as the rules of the environment cite it."""
    if document.suffix.lower() == RESTATED:
        return load_regulation(document)
    return read_published_law([document], domain.regulation.by_citation).regulation


def _result(domain: Domain, rules: tuple[Rule, ...], provenance: ExtractionProvenance, out: Path) -> CommandResult:
    gold = load_rules(domain.gold_file)
    score = score_extraction(rules, gold, provenance)
    return CommandResult(
        {
            "rules": len(rules),
            "out": str(out),
            "precision": score.precision,
            "recall": score.recall,
            "funnel": provenance.funnel.model_dump(),
            "unread": len(provenance.unread),
        },
        _shown(domain, rules, provenance, score, gold, out),
        exit_code=1 if provenance.unread else 0,
    )


def _shown(
    domain: Domain,
    rules: tuple[Rule, ...],
    provenance: ExtractionProvenance,
    score: ExtractionScore,
    gold: tuple[Rule, ...],
    out: Path,
) -> Iterator[RenderableType]:
    for row in provenance.rules:
        if row.status in {"dropped", "invalid"}:
            yield Note(f"{row.status} {row.rule.id}: {row.because}")
        elif row.status == "merged":
            yield Note(f"merged {row.rule.id} into {', '.join(row.into)}")
    for warning in provenance.head.parse_warnings[:_MOST_WARNINGS]:
        yield Note(f"check the document: {warning}")
    if len(provenance.head.parse_warnings) > _MOST_WARNINGS:
        yield Note(
            f"check the document: {len(provenance.head.parse_warnings) - _MOST_WARNINGS} more warnings are on the page"
        )
    yield funnel_table(provenance.funnel)
    yield rule_table(rules)
    yield score.sentence
    if any(model != "offline" for model in provenance.head.models.values()) and score.curated is not None:
        beside = score_extraction(extract_offline_baseline(domain, provenance), gold, provenance)
        rates = f"precision {percent(beside.precision)}, recall {percent(beside.recall)}"
        yield f"Offline baseline, same text: {rates}."
    offline = [role.replace("_", " ") for role, model in provenance.head.models.items() if model == "offline"]
    if offline:
        yield f"Deterministic baseline used instead of a model for: {', '.join(offline)}."
    if provenance.funnel.not_understood:
        yield Note(f"`lawtrace rules provenance {out}` says why provisions are not understood.")
    if provenance.unread:
        yield Note(
            f"{len(provenance.unread)} provisions are incomplete; run the command again to continue. "
            f"{provenance.unread[0].fate.because}"
        )
    yield Note(f"Written: {out}, {provenance_path(out)}, {out.with_suffix('.html')}")
