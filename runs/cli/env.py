"""``lawtrace env``: which environments there are, and what one declares."""

import json
from typing import Annotated

import typer
from rich.table import Table

from environments.catalogue import BUILT_IN, Setting, load_setting
from environments.documentation import document
from environments.events import Json
from runs.cli.output import make_table, show, show_json
from solver.rules import Rule, load_rules

__all__ = ["app"]

app = typer.Typer(help="Environments: list them, show what one declares.", no_args_is_help=True)


@app.command("list")
def list_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Which environments there are."""
    settings = [load_setting(name) for name in BUILT_IN]
    if as_json:
        show_json({"environments": [setting.environment.name for setting in settings]})
        return
    table = make_table("environment", "title", "tools", "regulation")
    for setting in settings:
        environment = setting.environment
        table.add_row(environment.name, environment.title, str(len(environment.tools)), setting.regulation.title)
    show(table)


@app.command("show")
def show_command(
    name: Annotated[str, typer.Argument(help="The environment.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """What an environment declares: tools, rules and provisions, both ways."""
    setting = load_setting(name)
    rules = load_rules(setting.rules_file)
    if as_json:
        documentation: Json = document(setting.environment)
        rows: list[Json] = [json.loads(rule.model_dump_json()) for rule in rules]
        show_json({"documentation": documentation, "rules": rows})
        return
    show(_tools(setting, rules))
    show(_provisions(setting, rules))


def _tools(setting: Setting, rules: tuple[Rule, ...]) -> Table:
    table = make_table("tool", "parameters", "event", "kind", "rules that speak of it", title="Tools")
    for tool in setting.environment.tools.values():
        kinds = [word for word, holds in (("compliance", tool.compliance), ("critical", tool.critical)) if holds]
        table.add_row(
            tool.name,
            ", ".join(setting.environment.signatures[tool.name]),
            tool.emits or "",
            ", ".join(kinds),
            ", ".join(rule.id for rule in rules if tool.name in _tools_of(rule)),
        )
    return table


def _provisions(setting: Setting, rules: tuple[Rule, ...]) -> Table:
    table = make_table("provision", "what it says", "rules", "tools", title=setting.regulation.title)
    for provision in setting.regulation.provisions:
        resting = [rule for rule in rules if provision.citation in rule.provisions]
        tools = dict.fromkeys(tool for rule in resting for tool in _tools_of(rule))
        table.add_row(provision.citation, provision.whole(), ", ".join(rule.id for rule in resting), ", ".join(tools))
    return table


def _tools_of(rule: Rule) -> list[str]:
    return list(dict.fromkeys(atom.tool for atom in rule.automaton.atoms))
