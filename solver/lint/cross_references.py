"""Cross references between provisions, rules and tools, in both directions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.solver.logic.syntax import atoms_of
from lawtrace.solver.rules import Rule


@dataclass(frozen=True, slots=True)
class CrossReference:
    """The rules at one place, in the order of the rule set, and what they refer to: tools, or citations of
    provisions."""

    rules: tuple[str, ...]
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CrossReferences:
    """Both directions.

    Attributes:
        provisions: by citation, for all provisions of the regulation: the rules that cite it and their tools.
        tools: by name, for all tools of the environment: the rules that name it and their provisions.
        provisions_without_rules: citations that no rule cites.
        rules_without_provisions: ids of rules that cite no provision of the regulation.
    """

    provisions: Mapping[str, CrossReference]
    tools: Mapping[str, CrossReference]
    provisions_without_rules: tuple[str, ...]
    rules_without_provisions: tuple[str, ...]


def cross_reference(environment: Environment, regulation: Regulation, rules: Sequence[Rule]) -> CrossReferences:
    """The cross references of a rule set. Provisions of other regulations do not count."""
    founded = {rule.id: rule.provisions if rule.regulation == regulation.id else () for rule in rules}
    speaking = {rule.id: tools_of_rule(rule) for rule in rules}
    provisions = {
        provision.citation: _cross_reference(
            speaking, [rule for rule, cited in founded.items() if provision.citation in cited]
        )
        for provision in regulation.provisions
    }
    tools = {
        tool: _cross_reference(founded, [rule for rule, spoken in speaking.items() if tool in spoken])
        for tool in environment.tools
    }
    return CrossReferences(
        provisions,
        tools,
        provisions_without_rules=tuple(citation for citation, linked in provisions.items() if not linked.rules),
        rules_without_provisions=tuple(rule for rule, cited in founded.items() if not cited),
    )


def tools_of_rule(rule: Rule) -> tuple[str, ...]:
    """The tools that a rule names, in alphabetical order."""
    return tuple(dict.fromkeys(atom.tool for atom in atoms_of([rule.parsed])))


def _cross_reference(ends: Mapping[str, Sequence[str]], rules: Sequence[str]) -> CrossReference:
    return CrossReference(tuple(rules), tuple(dict.fromkeys(end for rule in rules for end in ends[rule])))
