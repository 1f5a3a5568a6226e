"""``lawtrace env list``."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from rich.table import Table

from lawtrace.environments.domains.loader import BUILT_IN_DOMAINS, Domain, load_domain
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.solver.rules import Rule, RuleKind, load_rules

NOT_SORTED = "not sorted"


def list_environments() -> CommandResult:
    """List the built-in environments, and their rules by kind."""
    domains = [load_domain(name) for name in BUILT_IN_DOMAINS]
    kinds = {domain.environment.name: _kinds(load_rules(domain.rules_file)) for domain in domains}
    counts = {name: {**counted} for name, counted in kinds.items()}
    return CommandResult({"environments": [*kinds], "kinds": counts}, _tables(domains, kinds))


def _tables(domains: Sequence[Domain], kinds: Mapping[str, Counter[str]]) -> Iterator[Table]:
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
