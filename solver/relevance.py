"""What of a declaration can matter: the tables that decide what is called, known or shown, directly or through effects.

The rest (a log that no tool reads) is left out of the questions to Z3: the cone of influence.
"""

from collections.abc import Sequence
from dataclasses import replace

from lawtrace.environments.declaration import Environment
from lawtrace.environments.results import RowsResult
from lawtrace.environments.terms import Term, tables_of
from lawtrace.environments.tool import Tool
from lawtrace.solver.interest import Interest


def relevant_tools(environment: Environment, interest: Interest) -> dict[str, Tool]:
    """The tools without what no precondition, no knowledge and no rule depends on (cone of influence)."""
    shown = {
        name: [result for result in tool.results if not isinstance(result, RowsResult)]
        if interest.looks_at_result(name)
        else []
        for name, tool in environment.tools.items()
    }
    cone = relevant_tables(
        environment, [term for results in shown.values() for result in results for term in result.terms()]
    )
    return {
        name: replace(
            tool,
            effects=tuple(effect for effect in tool.effects if effect.entity.table in cone),
            results=tuple(
                result for result in tool.results if any(result is other for other in (*tool.teaching, *shown[name]))
            ),
        )
        for name, tool in environment.tools.items()
    }


def relevant_tables(environment: Environment, shown: Sequence[Term] = ()) -> frozenset[str]:
    """The tables that decide, directly or through effects, what can be called, what is known and what is shown."""
    cone = set[str]().union(*map(tables_of, shown))
    for tool in environment.tools.values():
        conditions = [*tool.refusals]
        for result in tool.teaching:
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
    return frozenset(cone)
