"""``lawtrace env``: which environments there are, what one declares, and what is wrong with it."""

import json
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from lawtrace.agents.scripted.phrase_check import check_phrases
from lawtrace.environments.domains.loader import BUILT_IN_DOMAINS, Domain, load_domain
from lawtrace.environments.events import Json
from lawtrace.environments.runtime.documentation import document
from lawtrace.runs.cli.env_serve import serve
from lawtrace.runs.cli.output import ProgressBars, make_table, print_json, print_result
from lawtrace.solver.lint.cross_references import CrossReferences, cross_reference
from lawtrace.solver.lint.declarations import DeclarationIssue, lint_declaration
from lawtrace.solver.rules import Rule, check_rules, load_rules

app = typer.Typer(
    help="Environments: list them, show what one declares, check it.", no_args_is_help=True, add_completion=False
)

NONE = "none"


@app.command("list")
def list_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Which environments there are."""
    settings = [load_domain(name) for name in BUILT_IN_DOMAINS]
    if as_json:
        print_json({"environments": [setting.environment.name for setting in settings]})
        return
    table = make_table("environment", "title", "tools", "regulation")
    for setting in settings:
        environment = setting.environment
        table.add_row(environment.name, environment.title, str(len(environment.tools)), setting.regulation.title)
    print_result(table)


app.command("serve")(serve)


@app.command("show")
def show_command(
    name: Annotated[str, typer.Argument(metavar="E", help="A built-in environment, or a folder of your own.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """What an environment declares: its tools, its rules and the provisions they rest on, both ways."""
    setting = load_domain(name)
    rules = load_rules(setting.rules_file)
    check_rules(rules, setting.environment, setting.regulation)
    references = cross_reference(setting.environment, setting.regulation, rules)
    if as_json:
        print_json(_shown(setting, rules, references))
        return
    print_result(_tools(setting, references))
    print_result(_rules(rules))
    print_result(_provisions(setting, references))


@app.command("check")
def check_command(
    name: Annotated[str, typer.Argument(metavar="E", help="A built-in environment, or a folder of your own.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """What is wrong or suspicious in a declaration, its rules and its initial states, each with a remedy.

    Exit code 1 where there is a finding.
    """
    setting = load_domain(name)
    rules = load_rules(setting.rules_file)
    check_rules(rules, setting.environment, setting.regulation)
    with ProgressBars().stage(f"looking through {setting.environment.name}", None):
        flaws = lint_declaration(setting.environment, rules, setting.regulation)
        flaws = flaws or tuple(check_phrases(setting.environment, rules))
    if as_json:
        found: list[Json] = [flaw.model_dump(mode="json") for flaw in flaws]
        print_json({"environment": setting.environment.name, "findings": found})
    else:
        print_result(_flaws(flaws) if flaws else f"Nothing found against {setting.environment.name}.")
    raise typer.Exit(1 if flaws else 0)


def _flaws(flaws: Sequence[DeclarationIssue]) -> Table:
    table = make_table("place", "what, remedy, proof")
    for flaw in flaws:
        proof = f"\n{flaw.proof}" if flaw.proof else ""
        table.add_row(
            Text(flaw.place), Text.assemble(flaw.what, "\n", ("Remedy: ", "dim"), flaw.remedy, (proof, "dim"))
        )
    return table


def _shown(setting: Domain, rules: Sequence[Rule], references: CrossReferences) -> dict[str, Json]:
    return {
        "documentation": document(setting.environment),
        "rules": [json.loads(rule.model_dump_json()) for rule in rules],
        "provisions": {
            citation: {"rules": [*linked.rules], "tools": [*linked.targets]}
            for citation, linked in references.provisions.items()
        },
        "tools": {
            tool: {"rules": [*linked.rules], "provisions": [*linked.targets]}
            for tool, linked in references.tools.items()
        },
    }


def _tools(setting: Domain, references: CrossReferences) -> Table:
    table = make_table("tool", "what it takes, who speaks of it", title="Tools")
    for tool in setting.environment.tools.values():
        kinds = [word for word, holds in (("compliance", tool.compliance), ("critical", tool.critical)) if holds]
        linked = references.tools[tool.name]
        table.add_row(
            tool.name,
            _lines(
                parameters=setting.environment.signatures[tool.name],
                event=[tool.emits] if tool.emits else (),
                kind=kinds,
                rules=linked.rules or [NONE],
                provisions=linked.targets or [NONE],
            ),
        )
    return table


def _rules(rules: Sequence[Rule]) -> Table:
    table = make_table("rule", "formula, what it rests on", title="Rules")
    for rule in rules:
        table.add_row(
            rule.id,
            _lines(
                formula=[rule.formula],
                provisions=rule.provisions or [NONE],
                derived=[rule.derived] if rule.derived else (),
                reason=[rule.rationale] if rule.rationale else (),
            ),
        )
    return table


def _provisions(setting: Domain, references: CrossReferences) -> Table:
    table = make_table("provision", "what it says, what rests on it", title=setting.regulation.title)
    for citation, linked in references.provisions.items():
        words = setting.regulation.by_citation[citation].whole()
        resting = _lines(rules=linked.rules or [NONE], tools=linked.targets)
        table.add_row(Text(citation), Text.assemble(words, "\n", resting))
    return table


def _lines(**said: Sequence[str]) -> Text:
    """One line for each thing that there is something to say of; as text, since formulas hold brackets."""
    lines = [(f"{name}: ", ", ".join(words)) for name, words in said.items() if words]
    return Text("\n").join(Text.assemble((name, "dim"), words) for name, words in lines)
