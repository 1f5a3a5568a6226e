"""``lawtrace rules extract`` and ``rules provenance``: extract rules, and show their provenance."""

from dataclasses import replace
from pathlib import Path

import typer
from rich.table import Table
from rich.text import Text

from lawtrace.agents.conversations.provenance import PROVISION_STATUS_LABELS
from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.regulations.documents import read_published_law
from lawtrace.environments.regulations.regulation import Regulation, load_regulation
from lawtrace.runs.cli.output import make_table, print_json, print_note, print_result
from lawtrace.runs.cli.recipe_flags import RecipeFlags
from lawtrace.runs.cli.recipe_overrides import stage_recipe
from lawtrace.runs.cli.rules_check import rule_table
from lawtrace.runs.cli.rules_evaluate import extract_offline_baseline
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.report.sections import make_extraction_report
from lawtrace.runs.report.text import percent
from lawtrace.runs.runner import Session
from lawtrace.runs.stages.artifacts import EXTRACTED_RULES, PROVENANCE
from lawtrace.runs.stages.resolve import load_recipe_environment
from lawtrace.runs.stages.rules_stage import score_extraction
from lawtrace.runs.store.provenance_file import (
    FUNNEL_STEPS,
    ExtractionProvenance,
    provenance_of,
    provenance_path,
    read_provenance,
    write_provenance,
)
from lawtrace.runs.store.stage_store import Products
from lawtrace.runs.web.export import export_report
from lawtrace.schemas.errors import InputError, OperationalError
from lawtrace.schemas.events import Json
from lawtrace.schemas.findings import ExtractionFunnel
from lawtrace.solver.rules import Rule, load_rules

RESTATED = ".toml"
_MOST_WARNINGS = 5


def extract(flags: RecipeFlags, *, document: Path | None, out: Path, as_json: bool) -> None:
    """Extract rules, and write them with their provenance."""
    if document is not None:
        flags = replace(flags, values={**flags.values, **_extracted_from(document)})
    options = stage_recipe(flags, simulated=False)
    domain = load_recipe_environment(options)
    if document is not None and document.suffix.lower() == RESTATED:
        domain = domain.with_regulation(load_regulation(document))

    async def work(session: Session) -> Products:
        runner = session.runner(options, domain=domain)
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
    write_provenance(provenance_path(out), provenance)
    export_report(make_extraction_report(provenance), out.with_suffix(".html"))
    _print_extraction(domain, tuple(rules), provenance, out, as_json=as_json)
    raise typer.Exit(1 if unread else 0)


def _extracted_from(document: Path) -> dict[str, object]:
    """The values of a recipe whose rules are extracted from the document."""
    if document.suffix.lower() == RESTATED:
        return {"rules.regulation": "restated"}
    return {"rules.regulation": "text", "regulation.files": (document,)}


def read_regulation(document: Path, domain: Domain) -> Regulation:
    """The regulation in a document of any supported form, cited as the rules of the environment cite it."""
    if document.suffix.lower() == RESTATED:
        return load_regulation(document)
    return read_published_law([document], domain.regulation.by_citation).regulation


def show_provenance(*, file: Path, rule: str | None, provision: str | None, as_json: bool) -> None:
    """Print the funnel and the fate of each provision, or the messages about one provision or rule."""
    provenance = read_provenance(file if file.name.endswith(".provenance.jsonl") else provenance_path(file))
    if as_json:
        fates: dict[str, Json] = {row.citation: row.fate.fate for row in provenance.provisions}
        statuses: dict[str, Json] = {row.rule.id: row.status for row in provenance.rules}
        print_json({"funnel": provenance.funnel.model_dump(), "provisions": fates, "rules": statuses})
        return
    if rule is not None:
        _show_rule(provenance, rule)
    elif provision is not None:
        _show_provision(provenance, provision)
    else:
        print_result(funnel_table(provenance.funnel))
        if "offline" in provenance.head.models.values():
            print_result(provenance.funnel.baseline_sentence)
        table = make_table("provision", "result")
        for row in provenance.provisions:
            table.add_row(Text(row.citation), Text(f"{PROVISION_STATUS_LABELS[row.fate.fate]}: {row.fate.because}"))
        print_result(table)


def funnel_table(funnel: ExtractionFunnel) -> Table:
    table = make_table("step", "remaining")
    for step, label in FUNNEL_STEPS.items():
        table.add_row(label, str(getattr(funnel, step)))
    return table


def _print_extraction(
    domain: Domain, rules: tuple[Rule, ...], provenance: ExtractionProvenance, out: Path, *, as_json: bool
) -> None:
    gold = load_rules(domain.gold_file)
    score = score_extraction(rules, gold, provenance)
    if as_json:
        result: dict[str, Json] = {"rules": len(rules), "out": str(out)}
        result |= {"precision": score.precision, "recall": score.recall}
        print_json({**result, "funnel": provenance.funnel.model_dump(), "unread": len(provenance.unread)})
        return
    for row in provenance.rules:
        if row.status in {"dropped", "invalid"}:
            print_note(f"{row.status} {row.rule.id}: {row.because}")
        elif row.status == "merged":
            print_note(f"merged {row.rule.id} into {', '.join(row.into)}")
    for warning in provenance.head.parse_warnings[:_MOST_WARNINGS]:
        print_note(f"check the document: {warning}")
    if len(provenance.head.parse_warnings) > _MOST_WARNINGS:
        print_note(
            f"check the document: {len(provenance.head.parse_warnings) - _MOST_WARNINGS} more warnings are on the page"
        )
    print_result(funnel_table(provenance.funnel))
    print_result(rule_table(rules))
    print_result(score.sentence)
    if any(model != "offline" for model in provenance.head.models.values()) and score.curated is not None:
        beside = score_extraction(extract_offline_baseline(domain, provenance), gold, provenance)
        rates = f"precision {percent(beside.precision)}, recall {percent(beside.recall)}"
        print_result(f"Offline baseline, same text: {rates}.")
    offline = [role.replace("_", " ") for role, model in provenance.head.models.items() if model == "offline"]
    if offline:
        print_result(f"Deterministic baseline used instead of a model for: {', '.join(offline)}.")
    if provenance.funnel.not_understood:
        print_note(f"`lawtrace rules provenance {out}` says why provisions are not understood.")
    if provenance.unread:
        print_note(
            f"{len(provenance.unread)} provisions are incomplete; run the command again to continue. "
            f"{provenance.unread[0].fate.because}"
        )
    print_note(f"Written: {out}, {provenance_path(out)}, {out.with_suffix('.html')}")


def _show_rule(provenance: ExtractionProvenance, name: str) -> None:
    row = next((row for row in provenance.rules if row.rule.id == name), None)
    if row is None:
        names = ", ".join(row.rule.id for row in provenance.rules)
        raise InputError(f"the extraction log has no rule {name!r}; it has {names or 'none'}")
    print_result(Text(f"{row.rule.id} ({row.status}): {row.rule.formula}"))
    merged = (other for other in provenance.rules if name in other.into)
    for quote in dict.fromkeys(quote for one in (row, *merged) for quote in one.quotes):
        stands = "quote found in the text" if quote.checked else "quote NOT found in the text"
        print_result(Text(f"{quote.citation}: “{quote.words}” ({stands})"))
    print_result(Text(f"provisions: {'; '.join(row.rule.provisions)}"))
    if row.because:
        print_result(Text(f"reason: {row.because}"))
    for ground in row.grounds:
        print_result(Text(f"{ground.part}: “{ground.words}” ({ground.because})"))
    for check in row.checks:
        print_result(Text(f"checked: {check}"))
    _show_said(provenance, row.piece)


def _show_provision(provenance: ExtractionProvenance, citation: str) -> None:
    row = next((row for row in provenance.provisions if row.citation == citation), None)
    if row is None:
        raise InputError(f"the extraction log has no provision {citation!r}; `lawtrace rules provenance` lists them")
    print_result(Text(f"{row.citation}: {row.words}"))
    print_result(Text(f"{PROVISION_STATUS_LABELS[row.fate.fate]}: {row.fate.because}"))
    if row.fate.scope:
        print_result(Text(f"scope: {row.fate.scope}"))
    _show_said(provenance, row.piece)


def _show_said(provenance: ExtractionProvenance, piece: int) -> None:
    for message in provenance.by_batch[piece].messages:
        print_result(Text(f"\n{message.role}:", style="bold"))
        print_result(Text(message.content))
