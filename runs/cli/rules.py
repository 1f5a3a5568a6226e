"""``lawtrace rules``: drawing rules from a regulation, and checking rule sets."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter
from rich.table import Table
from rich.text import Text

from lawtrace.environments.catalogue import load_setting
from lawtrace.environments.declaration import Environment
from lawtrace.environments.events import Json
from lawtrace.runs.cli.evaluating import evaluate_command
from lawtrace.runs.cli.extracting import extract_command, rule_table, trail_command
from lawtrace.runs.cli.options import WhichEnvironment
from lawtrace.runs.cli.output import Bars, make_table, show, show_json
from lawtrace.runs.cli.reviewing import review_rules
from lawtrace.runs.report.terminal import strength_table
from lawtrace.solver.analysis import Analysis, analyse
from lawtrace.solver.mutations import Strength, measure_strength
from lawtrace.solver.rules import Rule, check_rules, load_rules
from lawtrace.solver.synthesis import synthesize

_STRENGTH = TypeAdapter(Strength)

app = typer.Typer(help="Rules: draw them from a regulation, check them.", no_args_is_help=True, add_completion=False)


app.command("extract")(extract_command)
app.command("trail")(trail_command)
app.command("evaluate")(evaluate_command)
app.command("review")(review_rules)


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
        show(rule_table(chosen))
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
