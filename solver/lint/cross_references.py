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
    """

    provisions: Mapping[str, CrossReference]
    tools: Mapping[str, CrossReference]


def cross_reference(environment: Environment, regulation: Regulation, rules: Sequence[Rule]) -> CrossReferences:
    """The cross references of a rule set. Provisions of other regulations do not count."""
    cited = {rule.id: rule.provisions if rule.regulation == regulation.id else () for rule in rules}
    named = {rule.id: tuple(dict.fromkeys(atom.tool for atom in atoms_of([rule.parsed]))) for rule in rules}
    return CrossReferences(
        {one.citation: _linked(one.citation, cited, named) for one in regulation.provisions},
        {tool: _linked(tool, named, cited) for tool in environment.tools},
    )


def _linked(place: str, here: Mapping[str, Sequence[str]], there: Mapping[str, Sequence[str]]) -> CrossReference:
    rules = tuple(rule for rule, places in here.items() if place in places)
    return CrossReference(rules, tuple(dict.fromkeys(target for rule in rules for target in there[rule])))
