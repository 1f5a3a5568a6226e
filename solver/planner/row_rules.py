"""What a rule about single rows says of tool sequences.

    forall g: G(Delete(guest == g) -> ((!Grant(guest == g)) S Revoke(guest == g)))

excludes *search, revoke, grant, delete*: the one known guest has access again. The skeleton of the rule, which knows
tools alone, does not see that, and Z3 would have to find it for each such sequence anew. But few tools are about
guests. So the abstract transition system of these tools alone is explored, with the state of the rule as part of the
class of a row. A tool sequence is followed through it by sets of states, and is excluded where no state is left.
Abstract states of all tools with this class would be several times as many.
"""

from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import Entity
from lawtrace.environments.spec.terms import tables_of
from lawtrace.environments.spec.tools import FromLookup, FromTrace, Tool
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.logic.terms import RESULT
from lawtrace.solver.planner.abstract_state import RowRule
from lawtrace.solver.planner.transition_system import TooManyStatesError, TransitionSystem
from lawtrace.solver.predicates import ObservedPredicates


class RowRuleSequences:
    """The beginnings of tool sequences that a rule about single rows allows. Sets of states are numbered as they occur.

    Attributes:
        tools: those that matter.
    """

    def __init__(self, system: TransitionSystem) -> None:
        self.tools: Final = frozenset(label.tool for label in system.labels)
        self._targets: Final[list[dict[str, set[int]]]] = []
        for edges in system.transitions:
            self._targets.append({})
            for edge in edges:
                self._targets[-1].setdefault(system.labels[edge.label].tool, set()).add(edge.target)
        self._sets = [frozenset(system.initial_states)]
        self._numbers = {self._sets[0]: 0}
        self._after: dict[tuple[int, str], int | None] = {}

    def after(self, number: int, tool: str) -> int | None:
        """The set after a call of one of the tools; None if it is empty."""
        key = (number, tool)
        if key not in self._after:
            reached = frozenset(chain.from_iterable(self._targets[state].get(tool, ()) for state in self._sets[number]))
            if reached not in self._numbers:
                self._numbers[reached] = len(self._sets)
                self._sets.append(reached)
            self._after[key] = self._numbers[reached] if reached else None
        return self._after[key]


@lru_cache(maxsize=64)
def row_rule_sequences(environment: Environment, automaton: Automaton) -> RowRuleSequences | None:
    """The sequences that a rule with one variable allows, given its automaton.

    None if the variable does not stand for rows of one table, or there are too many abstract states.
    """
    entity = _entity(environment, automaton)
    if entity is None:
        return None
    tools = _tools_about(environment, automaton, entity)
    if any(isinstance(parameter.source, FromTrace) for tool in tools.values() for parameter in tool.parameters):
        return None
    part = replace(environment, tools=tools, declines=None)
    try:
        return RowRuleSequences(TransitionSystem(part, ObservedPredicates([]), row_rule=RowRule(automaton, entity)))
    except TooManyStatesError:
        return None


def _entity(environment: Environment, automaton: Automaton) -> Entity | None:
    """The entity whose keys are compared with the variable, as references of calls."""
    sources = [
        environment.tools[tool].parameter(str(place.path[0])).source
        for tool, fields in automaton.alphabet.bound_fields.items()
        if tool in environment.tools
        for place, _, _ in fields
        if place.path[0] != RESULT
    ]
    tables = {source.entity.table if isinstance(source, FromLookup) else None for source in sources}
    return environment.entities.get(next(iter(tables)) or "") if len(tables) == 1 else None


def _tools_about(environment: Environment, automaton: Automaton, entity: Entity) -> dict[str, Tool]:
    """The tools that the rule names, those that refer to rows of the table or show them, and all that write what these
    read.
    """
    tables, named = {entity.table}, {atom.tool for atom in automaton.atoms}
    chosen: dict[str, Tool] = {}
    while True:
        found = {
            name: tool
            for name, tool in environment.tools.items()
            if name in named or tool.written_tables & tables or entity.table in _tables_shown(tool)
        }
        if found.keys() == chosen.keys():
            return found
        chosen = found
        tables |= {table for tool in found.values() for term in tool.terms for table in tables_of(term)}
        tables |= set(chain.from_iterable(map(_tables_shown, found.values())))


def _tables_shown(tool: Tool) -> set[str]:
    """The tables whose rows a call refers to or shows."""
    sources = [parameter.source for parameter in tool.parameters]
    referred = {source.entity.table for source in sources if isinstance(source, FromLookup)}
    return referred | {result.entity.table for result in tool.revealing_results}
