"""Encoding of the environment for Z3: cone of influence, knowledge of the caller, pending events.

Only tables that decide, directly or through effects, what can be called, known or shown are encoded (the cone of
influence). Knowledge and pending events are the symbolic counterparts of `lawtrace.solver.planner.search_state` and
`lawtrace.solver.planner.transition_system` for calls that are not chosen yet.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from lawtrace.environments.runtime.simulation import CandidateRows
from lawtrace.environments.spec.agenda import Happening
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import Result
from lawtrace.environments.spec.expressions import Term
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.terms import tables_of
from lawtrace.environments.spec.tools import FromTrace, Tool
from lawtrace.environments.spec.types import Value
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.logic.terms import RESULT
from lawtrace.solver.monitoring.first_order import FirstOrderRule
from lawtrace.solver.predicates import fields_read
from lawtrace.solver.search.smt.symbolic_logic import SymbolicLogic


def observed_results(rules: Iterable[Automaton | FirstOrderRule]) -> frozenset[tuple[str, str]]:
    """The results that rules read, each as tool and name."""
    read = {field for rule in rules if rule.formula is not None for field in fields_read(rule.formula)}
    return frozenset((tool, str(field.path[1])) for tool, field in read if field.path[0] == RESULT and field.path[1:])


def tools_in_cone(environment: Environment, observed: Collection[tuple[str, str]]) -> dict[str, Tool]:
    """The tools without effects and results that no precondition, knowledge or rule depends on.

    `observed`: the results that rules read, see `observed_results`.
    """
    shown = _results_shown(environment, observed)
    cone = cone_of_influence(environment, _terms_shown(shown))
    return {
        name: replace(
            tool,
            effects=tuple(effect for effect in tool.effects if effect.entity.table in cone),
            results=tuple(
                result
                for result in tool.results
                if any(result is other for other in (*tool.revealing_results, *shown[name]))
            ),
        )
        for name, tool in environment.tools.items()
    }


def agenda_in_cone(environment: Environment, observed: Collection[tuple[str, str]]) -> tuple[Happening, ...]:
    """The agenda without what no precondition, knowledge or rule depends on."""
    cone = cone_of_influence(environment, _terms_shown(_results_shown(environment, observed)))
    agenda = (happening.restricted(cone) for happening in environment.agenda)
    return tuple(happening for happening in agenda if happening.entity.table in cone)


def _results_shown(environment: Environment, observed: Collection[tuple[str, str]]) -> dict[str, list[Result]]:
    """For each tool the results that rules read."""
    return {
        name: [result for result in tool.results if (name, result.name) in observed]
        for name, tool in environment.tools.items()
    }


def _terms_shown(shown: Mapping[str, Sequence[Result]]) -> list[Term]:
    return [term for results in shown.values() for result in results for term in result.terms()]


def cone_of_influence(environment: Environment, shown: Sequence[Term] = ()) -> frozenset[str]:
    """The tables that decide, directly or through effects, what can be called, known and shown."""
    cone = set[str]().union(*map(tables_of, shown))
    for tool in environment.tools.values():
        conditions = [*tool.refusals]
        for result in tool.revealing_results:
            cone.add(result.entity.table)
            conditions += result.terms()
        cone = cone.union(*map(tables_of, conditions))
    before: set[str] = set()
    while before != cone:
        before = set(cone)
        for tool in environment.tools.values():
            for effect in tool.effects:
                if effect.entity.table in cone:
                    cone = cone.union(*map(tables_of, effect.terms()))
        for happening in environment.agenda:
            # Its rows can be deleted or reordered by others of the agenda, so all effects on the cone count.
            for effect in happening.effects:
                if effect.entity.table in cone:
                    cone = cone.union([happening.entity.table], *map(tables_of, effect.terms()))
    return frozenset(cone)


Knowledge = Mapping[str, Mapping[str, Value]]
"""Which rows the caller knows: for each table one truth for each key, of initial and created rows."""


def initial_knowledge(environment: Environment, initial: State) -> Knowledge:
    return {
        table: {str(row.values[entity.key]): False for row in initial.rows(table)}
        for table, entity in environment.entities.items()
    }


def is_known(logic: SymbolicLogic, truths: Mapping[str, Value], key: Value) -> Value:
    """Whether the caller knows the row of a table with that key."""
    return logic.any([logic.all([known, logic.equal(key, word)]) for word, known in truths.items()])


def knowledge_after(
    logic: SymbolicLogic,
    before: Knowledge,
    tools: Iterable[Tool],
    acts: Mapping[str, Value],
    results: Mapping[str, Mapping[str, Value | CandidateRows]],
) -> Knowledge:
    """The knowledge after a call of one of the tools."""
    after = {table: dict(truths) for table, truths in before.items()}
    for tool in tools:
        for result in tool.revealing_results:
            found, truths = results[tool.name][result.name], after[result.entity.table]
            if not isinstance(found, CandidateRows):  # the key of a new row
                truths[found] = acts[tool.name]
                continue
            hidden = [logic.negate(listed) for listed, _ in found.listed]
            none_after = _all_up_to(logic, hidden[::-1])[::-1]
            none_before = _all_up_to(logic, hidden)
            for place, (listed, row) in enumerate(found.listed):
                key = str(row.values[result.entity.key])
                alone = logic.all([acts[tool.name], listed, none_before[place], none_after[place + 1]])
                truths[key] = logic.any([truths.get(key, False), alone])
    return after


def _all_up_to(logic: SymbolicLogic, truths: Sequence[Value]) -> list[Value]:
    """The conjunction of the first ones, for each number of them, from none to all."""
    return [*accumulate(truths, lambda before, truth: logic.all([before, truth]), initial=True)]


def pending_after(
    environment: Environment, logic: SymbolicLogic, before: Mapping[str, Value], acts: Mapping[str, Value]
) -> Mapping[str, Value]:
    """Which events are pending after a call of one of the tools, by name."""
    tools = environment.tools.items()
    recording = [name for name, tool in tools if any(isinstance(p.source, FromTrace) for p in tool.parameters)]
    kept = [logic.negate(acts.get(name, False)) for name in recording]
    after: dict[str, Value] = {}
    for event, pending in before.items():
        emitted = logic.any([pending, *(acts.get(name, False) for name, tool in tools if tool.emits == event)])
        after[event] = logic.all([emitted, *kept])
    return after
