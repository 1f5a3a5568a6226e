"""``lawtrace rules evaluate``: precision and recall of rule sets against gold."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from lawtrace.agents.conversations.provenance import ExtractionProvenance
from lawtrace.environments.domains.loader import Domain, load_domain
from lawtrace.runs.cli.options import EnvironmentOption
from lawtrace.runs.cli.output import make_table, print_note
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.report.text import percent
from lawtrace.runs.scoring.rule_comparison import RuleScore, RuleSetComparison, compare_rule_sets
from lawtrace.runs.stages.rules_stage import rests_on, run_offline_extraction
from lawtrace.runs.store.provenance_file import provenance_path, read_provenance
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.solver.rules import Rule, check_rules, load_rules

OFFLINE_BASELINE = "offline baseline, same text"


def evaluate(
    files: Annotated[list[Path], typer.Argument(help="Rule files to score side by side.")],
    gold: Annotated[Path | None, typer.Option(help="Gold rules; default: the published, else the curated set.")] = None,
    env: EnvironmentOption = "banking",
    baseline: Annotated[bool, typer.Option(help="Also score the offline baseline on the same text.")] = True,
) -> CommandResult:
    """Score rule sets against gold rules.

    A gold rule is found if an extracted rule has an equivalent automaton. Rules on time, several objects or sums
    must be written the same.
    """
    domain = load_domain(env)
    golden = load_rules(gold or domain.gold_file)
    check_rules(golden, domain.environment)
    sets = {file: load_rules(file) for file in files}
    logs = {file: read_provenance(log) for file in files if (log := provenance_path(file)).exists()}
    for file, log in logs.items() if gold is None else ():
        if not rests_on(golden, log.regulation()):
            raise InputError(
                f"{file}: there are no gold rules for the text that its rules were extracted from "
                f"({log.head.source}); name them with --gold"
            )
    for rules in sets.values():
        check_rules(rules, domain.environment)
    scored = {_name(file, files, logs.get(file)): compare_rule_sets(rules, golden) for file, rules in sets.items()}
    by_model = (log for log in logs.values() if any(model != "offline" for model in log.head.models.values()))
    if baseline and (log := next(by_model, None)) is not None:
        scored[OFFLINE_BASELINE] = compare_rule_sets(extract_offline_baseline(domain, log), golden)
    first, *rest = ({"name": name, **_as_json(evaluation)} for name, evaluation in scored.items())
    details = (
        _details(name if len(sets) > 1 else "", evaluation)
        for name, evaluation in scored.items()
        if name != OFFLINE_BASELINE
    )
    return CommandResult({**first, "beside": rest}, (_scores(scored), *details))


def _name(file: Path, files: Sequence[Path], log: ExtractionProvenance | None) -> str:
    """The name in the table: the file's stem (its path if the stem is not unique) and its models."""
    called = str(file) if sum(other.stem == file.stem for other in files) > 1 else file.stem
    return f"{called} ({', '.join(dict.fromkeys(log.head.models.values()))})" if log else called


def extract_offline_baseline(domain: Domain, provenance: ExtractionProvenance) -> tuple[Rule, ...]:
    """The rules that the offline roles extract from the same text."""
    print_note("Extracting the offline baseline from the same text.")
    with ProgressBars().stage("provisions", len(provenance.provisions)) as step:
        return asyncio.run(run_offline_extraction(domain, provenance.regulation(), on_provision=step)).accepted


def _scores(scored: dict[str, RuleSetComparison]) -> Table:
    rows = list[Sequence[object]]()
    for name, evaluation in scored.items():
        lines = {"all": evaluation.rules, "elementary": evaluation.elementary, **evaluation.templates}
        for place, (kind, score) in enumerate(lines.items()):
            rates = (percent(score.precision), percent(score.recall))
            rows.append(("" if place else name, kind, score.extracted, score.gold, *rates))
        rows.append(())
    return make_table(("extracted by", "rules", "extracted", "gold", "precision", "recall"), rows)


def _details(name: str, evaluation: RuleSetComparison) -> Table:
    rows = (
        (line.citation, ", ".join(line.found), ", ".join(line.missed), "yes" if line.cited else "no")
        for line in evaluation.provisions
    )
    return make_table(("provision", "found", "missed", "cited"), rows, title=name or None)


def _as_json(evaluation: RuleSetComparison) -> dict[str, Json]:
    def scored(score: RuleScore) -> dict[str, Json]:
        return {**score.model_dump(), "precision": score.precision, "recall": score.recall}

    templates: dict[str, Json] = {name: scored(score) for name, score in evaluation.templates.items()}
    rest = evaluation.model_dump(mode="json", include={"provisions", "missed", "surplus"})
    return {**scored(evaluation.rules), "elementary": scored(evaluation.elementary), "templates": templates, **rest}
