"""``lawtrace env``: list, show and check environments."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, get_args

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lawtrace.environments.domains.loader import BUILT_IN_DOMAINS, Domain, load_domain
from lawtrace.environments.runtime.documentation import document
from lawtrace.runs.cli.options import NameArgument
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.schemas.events import Json
from lawtrace.solver.lint.cross_references import CrossReferences, cross_reference
from lawtrace.solver.rules import Rule, RuleKind, check_rules, load_rules

if TYPE_CHECKING:
    from lawtrace.solver.lint.declarations import DeclarationIssue

NONE = "none"
NOT_SORTED = "not sorted"


def list_environments() -> CommandResult:
    """List the built-in environments, and their rules by kind."""
    domains = [load_domain(name) for name in BUILT_IN_DOMAINS]
    kinds = {domain.environment.name: _kinds(load_rules(domain.rules_file)) for domain in domains}
    counts = {name: {**counted} for name, counted in kinds.items()}
    return CommandResult({"environments": [*kinds], "kinds": counts}, _list_tables(domains, kinds))


def _list_tables(domains: Sequence[Domain], kinds: Mapping[str, Counter[str]]) -> Iterator[Table]:
    table = make_table("environment", "title", "tools", "rules", "facts", "regulation")
    for domain in domains:
        environment = domain.environment
        numbers = (len(environment.tools), kinds[environment.name].total(), len(environment.facts))
        table.add_row(environment.name, environment.title, *map(str, numbers), domain.regulation.title)
    yield table
    sorted_rules = [name for name, counted in kinds.items() if set(counted) != {NOT_SORTED}]
    by_kind = make_table("kind of rule", *sorted_rules)
    for kind in (*get_args(RuleKind), NOT_SORTED):
        if any(kinds[name][kind] for name in sorted_rules):
            by_kind.add_row(kind, *(str(kinds[name][kind]) for name in sorted_rules))
    yield by_kind


def _kinds(rules: Sequence[Rule]) -> Counter[str]:
    return Counter(rule.kind or NOT_SORTED for rule in rules)


def show_environment(name: NameArgument) -> CommandResult:
    """Show tools, rules and provisions, linked to each other."""
    domain = load_domain(name)
    rules = load_rules(domain.rules_file)
    check_rules(rules, domain.environment, domain.regulation)
    references = cross_reference(domain.environment, domain.regulation, rules)
    tables = (_tools(domain, references), _rules(rules), _provisions(domain, references))
    return CommandResult(_shown(domain, rules, references), tables)


def check_environment(name: NameArgument) -> CommandResult:
    """Check a declaration, its rules and its initial states.

    Exit code 1 if there are findings. Questions left undecided are listed, and are not findings.
    """
    from lawtrace.solver.lint.declarations import lint_declaration
    from lawtrace.solver.lint.recorded_tools import find_blind_spots

    domain = load_domain(name)
    rules = load_rules(domain.rules_file)
    check_rules(rules, domain.environment, domain.regulation)
    simulated = domain.environment.simulated
    with ProgressBars().stage(f"looking through {domain.environment.name}", None) as step:
        issues = lint_declaration(domain.environment, rules, domain.regulation, step)
        flaws = [issue for issue in issues if not issue.undecided]
        undecided = [issue for issue in issues if issue.undecided]
    unseen = () if simulated else find_blind_spots(domain.environment, rules)
    shown: list[RenderableType] = [_flaws(flaws) if flaws else f"No findings for {domain.environment.name}."]
    shown += [Text(f"Left undecided: {issue.what}.", style="dim") for issue in undecided]
    shown += ["What an audit cannot see:", *(Text(f"- {sentence}.") for sentence in unseen)] if unseen else []
    return CommandResult(
        {
            "environment": domain.environment.name,
            "findings": [asdict(flaw) for flaw in flaws],
            "undecided": [issue.what for issue in undecided],
            "unseen": [*unseen],
        },
        shown,
        exit_code=1 if flaws else 0,
    )


def _flaws(flaws: "Sequence[DeclarationIssue]") -> Table:
    table = make_table("place", "problem, remedy, proof")
    for flaw in flaws:
        proof = f"\n{flaw.proof}" if flaw.proof else ""
        table.add_row(
            Text(flaw.place), Text.assemble(flaw.what, "\n", ("Remedy: ", "dim"), flaw.remedy, (proof, "dim"))
        )
    return table


def _shown(domain: Domain, rules: Sequence[Rule], references: CrossReferences) -> dict[str, Json]:
    return {
        "documentation": document(domain.environment),
        "rules": [json.loads(rule.model_dump_json()) for rule in rules],
        "provisions": {
            name: {"rules": [*of.rules], "tools": [*of.targets]} for name, of in references.provisions.items()
        },
        "tools": {name: {"rules": [*of.rules], "provisions": [*of.targets]} for name, of in references.tools.items()},
    }


def _tools(domain: Domain, references: CrossReferences) -> Table:
    table = make_table("tool", "parameters, rules and provisions", title="Tools")
    for tool in domain.environment.tools.values():
        kinds = [word for word, holds in (("compliance", tool.compliance), ("critical", tool.critical)) if holds]
        linked = references.tools[tool.name]
        lines = _lines(
            parameters=domain.environment.signatures[tool.name],
            event=[tool.emits] if tool.emits else (),
            kind=kinds,
            rules=linked.rules or [NONE],
            provisions=linked.targets or [NONE],
        )
        table.add_row(tool.name, lines)
    return table


def _rules(rules: Sequence[Rule]) -> Table:
    table = make_table("rule", "formula, provisions", title="Rules")
    for rule in rules:
        lines = _lines(
            formula=[rule.formula],
            provisions=rule.provisions or [NONE],
            derived=[rule.derived] if rule.derived else (),
            reason=[rule.rationale] if rule.rationale else (),
        )
        table.add_row(rule.id, lines)
    return table


def _provisions(domain: Domain, references: CrossReferences) -> Table:
    table = make_table("provision", "text, rules and tools", title=domain.regulation.title)
    for citation, linked in references.provisions.items():
        words = domain.regulation.by_citation[citation].whole()
        resting = _lines(rules=linked.rules or [NONE], tools=linked.targets)
        table.add_row(Text(citation), Text.assemble(words, "\n", resting))
    return table


def _lines(**said: Sequence[str]) -> Text:
    """One line for each non-empty value, as Text because formulas contain brackets."""
    lines = [(f"{name}: ", ", ".join(words)) for name, words in said.items() if words]
    return Text("\n").join(Text.assemble((name, "dim"), words) for name, words in lines)
