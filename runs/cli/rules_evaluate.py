"""``lawtrace rules evaluate``: precision and recall of rule sets against gold."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lawtrace.environments.domains.loader import Domain, load_domain
from lawtrace.runs.cli.options import EnvironmentOption
from lawtrace.runs.cli.output import make_table, print_note
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.report.text import percent
from lawtrace.runs.scoring.rule_comparison import RuleScore, RuleSetComparison, compare_rule_sets
from lawtrace.runs.stages.rules_stage import rests_on, run_offline_extraction
from lawtrace.runs.store.provenance_file import ExtractionProvenance, provenance_path, read_provenance
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.solver.rules import Rule, check_rules, load_rules

OFFLINE_BASELINE = "offline baseline, same text"


@dataclass(frozen=True, slots=True)
class _RuleSet:
    """Rules with their provenance, if known."""

    file: Path
    rules: tuple[Rule, ...]
    provenance: ExtractionProvenance | None

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.provenance.head.models.values())) if self.provenance else ()

    def name(self, beside: Sequence[Path]) -> str:
        """The name in the table: the file's stem (its path if the stem is not unique) and its models."""
        shared = sum(file.stem == self.file.stem for file in beside) > 1
        called = str(self.file) if shared else self.file.stem
        return f"{called} ({', '.join(self.models)})" if self.models else called

    @property
    def drawn_by_model(self) -> bool:
        return any(model != "offline" for model in self.models)


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
    sets = [_read(file) for file in files]
    for one in sets if gold is None else ():
        if one.provenance is not None and not rests_on(golden, one.provenance.regulation()):
            raise InputError(
                f"{one.file}: there are no gold rules for the text that its rules were extracted from "
                f"({one.provenance.head.source}); name them with --gold"
            )
    for one in sets:
        check_rules(one.rules, domain.environment)
    scored = {one.name(files): compare_rule_sets(one.rules, golden) for one in sets}
    drawn = next((one.provenance for one in sets if one.drawn_by_model and one.provenance), None)
    if baseline and drawn is not None:
        scored[OFFLINE_BASELINE] = compare_rule_sets(extract_offline_baseline(domain, drawn), golden)
    first, *rest = ({"name": name, **_as_json(evaluation)} for name, evaluation in scored.items())
    details = (
        shown
        for name, evaluation in scored.items()
        if name != OFFLINE_BASELINE
        for shown in _details(name if len(sets) > 1 else "", evaluation)
    )
    return CommandResult({**first, "beside": rest}, (_scores(scored), *details))


def extract_offline_baseline(domain: Domain, provenance: ExtractionProvenance) -> tuple[Rule, ...]:
    """The rules that the offline roles extract from the same text."""
    print_note("Extracting the offline baseline from the same text.")
    with ProgressBars().stage("provisions", len(provenance.provisions)) as step:
        return asyncio.run(run_offline_extraction(domain, provenance.regulation(), on_provision=step)).rules


def _read(file: Path) -> _RuleSet:
    beside = provenance_path(file)
    return _RuleSet(file, load_rules(file), read_provenance(beside) if beside.exists() else None)


def _scores(scored: dict[str, RuleSetComparison]) -> Table:
    table = make_table("extracted by", "rules", "extracted", "gold", "precision", "recall")
    for name, evaluation in scored.items():
        lines = {"all": evaluation.rules, "elementary": evaluation.elementary, **evaluation.templates}
        for place, (kind, score) in enumerate(lines.items()):
            rates = (percent(score.precision), percent(score.recall))
            table.add_row(Text("" if place else name), kind, str(score.extracted), str(score.gold), *rates)
        table.add_section()
    return table


def _details(name: str, evaluation: RuleSetComparison) -> Iterator[RenderableType]:
    table = make_table("provision", "found", "missed", "cited", title=name or None)
    for line in evaluation.provisions:
        cited = "yes" if line.cited else "no"
        table.add_row(Text(line.citation), ", ".join(line.found), ", ".join(line.missed), cited)
    yield table


def _as_json(evaluation: RuleSetComparison) -> dict[str, Json]:
    def scored(score: RuleScore) -> dict[str, Json]:
        return {**score.model_dump(), "precision": score.precision, "recall": score.recall}

    templates: dict[str, Json] = {name: scored(score) for name, score in evaluation.templates.items()}
    rest = evaluation.model_dump(mode="json", include={"provisions", "missed", "surplus"})
    return {**scored(evaluation.rules), "elementary": scored(evaluation.elementary), "templates": templates, **rest}
