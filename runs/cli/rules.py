"""``lawtrace rules``: drawing rules from a regulation, and checking rule sets."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter
from rich.table import Table
from rich.text import Text

from agents.conversations.extracting import Extraction
from environments.catalogue import load_setting
from environments.declaration import Environment
from environments.errors import CannotCarryOut
from environments.events import Json
from environments.regulation import load_regulation
from runs.cli.options import WhichEnvironment
from runs.cli.output import Bars, make_table, quieten, say, show, show_json
from runs.cli.talking import record_beside, role_clients
from runs.files import write_rows
from runs.recipe import Recipe, load_recipe
from runs.record.store import Record
from runs.report.terminal import strength_table
from runs.stages.extract import extract, score_extraction
from solver.analysis import Analysis, analyse
from solver.mutations import Strength, measure_strength
from solver.rules import Rule, check_rules, load_rules
from solver.synthesis import synthesize

__all__ = ["app"]

_STRENGTH = TypeAdapter(Strength)

app = typer.Typer(help="Rules: draw them from a regulation, check them.", no_args_is_help=True)


@app.command("extract")
def extract_command(
    document: Annotated[Path | None, typer.Argument(help="A regulation (TOML); by default the environment's.")] = None,
    env: WhichEnvironment = "banking",
    out: Annotated[Path, typer.Option(help="The rule file to write (JSON lines).")] = Path("rules.jsonl"),
    recipe: Annotated[Path | None, typer.Option(help="A recipe that names the models of the roles.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Hold the conversation of policy extractor and LTL critic, and write the rules that stand."""
    quieten()
    options = load_recipe(recipe) if recipe else Recipe()
    setting = load_setting(env)
    if document is not None:
        setting = setting.with_regulation(load_regulation(document))

    async def hold(record: Record) -> Extraction:
        async with role_clients(options, record) as casting:
            with Bars().stage("rules from the regulation", None):
                return await extract(setting, casting=casting, ledger=record, most_rounds=options.conversation.rounds)

    with record_beside(out, "rules extract") as record:
        extraction = asyncio.run(hold(record))
    for proposed, why in extraction.dropped:
        say(f"dropped {proposed.id}: {why}")
    if extraction.failure is not None:
        raise CannotCarryOut(f"the conversation broke off, so nothing was written: {extraction.failure}")
    rules = extraction.rules
    write_rows(out, rules)
    score = score_extraction(rules, load_rules(setting.rules_file), restated=setting.regulation.restated)
    if as_json:
        show_json({"rules": len(rules), "out": str(out), "precision": score.precision, "recall": score.recall})
        return
    show(_rule_table(rules))
    source = "our own restatement" if score.restated else "the document given"
    precision = "-" if score.precision is None else f"{score.precision:.0%}"
    recall = "-" if score.recall is None else f"{score.recall:.0%}"
    show(f"Against the curated set: precision {precision}, recall {recall} (scored on {source}).")
    say(f"Written: {out}")


@app.command("check")
def check_command(
    env: WhichEnvironment = "banking",
    rules: Annotated[Path | None, typer.Option(help="A rule file; by default the curated set.")] = None,
    mutate: Annotated[int, typer.Option(min=0, help="So many traces are spoilt, to see what the rules notice.")] = 0,
    seed: Annotated[int, typer.Option(help="Of those traces.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Check that rules parse, name what there is, can be kept together, leave every tool in reach, and are needed.

    With --mutate, compliant traces are synthesised and spoilt by one change at a time.

    Exit code 1 where there is a finding, or a question that was not decided.
    """
    setting = load_setting(env)
    chosen = load_rules(rules or setting.rules_file)
    check_rules(chosen, setting.environment, setting.regulation)
    analysis = analyse(setting.environment, chosen)
    strength = _measure(setting.environment, chosen, mutate, seed) if mutate else None
    if as_json:
        result = analysis.model_dump(mode="json", include={"findings", "breaking", "calling", "assumptions"})
        spoilt: dict[str, Json] = {"strength": _STRENGTH.dump_python(strength, mode="json")} if strength else {}
        show_json({"rules": len(chosen), **result, **spoilt})
    else:
        show(_rule_table(chosen))
        if analysis.breaking:
            show(_witness_table(analysis))
        show(_finding_table(analysis) if analysis.findings else "Nothing found against them.")
        for assumption in analysis.assumptions:
            show(Text(assumption, style="dim"))
        if strength:
            show(strength_table(strength))
            for survivor in strength.survivors:
                show(Text(f"{survivor.trace}: {survivor.change}: {survivor.why}", style="dim"))
    raise typer.Exit(1 if analysis.findings else 0)


def _measure(environment: Environment, rules: tuple[Rule, ...], count: int, seed: int) -> Strength:
    traces = synthesize(environment, rules, count=count, length=8, seed=seed)
    with Bars().stage("spoilt traces", None):
        return measure_strength(environment, rules, [(f"trace {n}", trace) for n, trace in enumerate(traces, 1)])


def _rule_table(rules: tuple[Rule, ...]) -> Table:
    table = make_table("rule", "formula", "template", "provisions", "states")
    for rule in rules:
        states = len(rule.automaton.verdicts)
        # Text, because a formula may hold brackets, which are markup in a plain string.
        table.add_row(rule.id, Text(rule.formula), rule.template, Text(", ".join(rule.provisions)), str(states))
    return table


def _witness_table(analysis: Analysis) -> Table:
    """What each rule is there for, to be looked at by people: does the rule forbid what it should?"""
    table = make_table("rule", "a trace that breaks it and no other rule")
    for rule, witness in analysis.breaking.items():
        table.add_row(rule, Text(", ".join(witness.steps) or "(no call at all)"))
    return table


def _finding_table(analysis: Analysis) -> Table:
    table = make_table("found", "what, and why")
    for finding in analysis.findings:
        table.add_row(finding.kind, Text.assemble(finding.message, "\n", (finding.proof, "dim")))
    return table
