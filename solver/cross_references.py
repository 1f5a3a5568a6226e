"""What rests on what: from a provision to the rules and the tools they speak of, and from a tool back to the law."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lawtrace.environments.declaration import Environment
from lawtrace.environments.regulation import Regulation
from lawtrace.solver.rules import Rule


@dataclass(frozen=True, slots=True)
class Linked:
    """The rules at a place, in the order of the rule set, and where they lead: tools, or citations of provisions."""

    rules: tuple[str, ...]
    ends: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CrossReferences:
    """Both directions.

    Attributes:
        provisions: by citation, all of the regulation: the rules that rest on it, and the tools they speak of.
        tools: by name, all of the environment: the rules that speak of it, and the provisions they rest on.
        unruled: citations of the provisions that no rule rests on.
        unfounded: ids of the rules that rest on no provision of the regulation.
    """

    provisions: Mapping[str, Linked]
    tools: Mapping[str, Linked]
    unruled: tuple[str, ...]
    unfounded: tuple[str, ...]


def cross_reference(environment: Environment, regulation: Regulation, rules: Sequence[Rule]) -> CrossReferences:
    """Who rests on whom. A rule that cites another regulation rests on nothing of this one."""
    founded = {rule.id: rule.provisions if rule.regulation == regulation.id else () for rule in rules}
    speaking = {rule.id: tools_of(rule) for rule in rules}
    provisions = {
        provision.citation: _linked(speaking, [rule for rule, cited in founded.items() if provision.citation in cited])
        for provision in regulation.provisions
    }
    tools = {
        tool: _linked(founded, [rule for rule, spoken in speaking.items() if tool in spoken])
        for tool in environment.tools
    }
    return CrossReferences(
        provisions,
        tools,
        unruled=tuple(citation for citation, linked in provisions.items() if not linked.rules),
        unfounded=tuple(rule for rule, cited in founded.items() if not cited),
    )


def tools_of(rule: Rule) -> tuple[str, ...]:
    """The tools that a rule speaks of, in the order of its formula."""
    return tuple(dict.fromkeys(atom.tool for atom in rule.automaton.atoms))


def _linked(ends: Mapping[str, Sequence[str]], rules: Sequence[str]) -> Linked:
    return Linked(tuple(rules), tuple(dict.fromkeys(end for rule in rules for end in ends[rule])))
