"""What the caller of an open trace knows, as truths for Z3: rows that were looked up, and events that wait.

The counterpart of `lawtrace.solver.situations` (rows) and `lawtrace.solver.derived` (events) for calls that are not
chosen yet.
"""

from collections.abc import Mapping

import z3

from lawtrace.environments.declaration import Environment
from lawtrace.environments.kinds import Value
from lawtrace.environments.simulation import Rows
from lawtrace.environments.state import State
from lawtrace.environments.tool import FromTrace, Tool
from lawtrace.solver.symbolic import SymbolicLogic


class Known:
    """Which rows the caller knows: one truth for each key, of the initial state or made since, growing step by step."""

    def __init__(self, environment: Environment, initial: State, logic: SymbolicLogic) -> None:
        self._logic = logic
        self._truths: dict[str, dict[str, Value]] = {
            table: {str(row.values[entity.key]): False for row in initial.rows(table)}
            for table, entity in environment.entities.items()
        }

    def includes(self, table: str, key: Value) -> Value:
        truths = self._truths[table].items()
        return self._logic.any([self._logic.all([known, self._logic.equal(key, word)]) for word, known in truths])

    def learn(
        self,
        tools: Mapping[str, Tool],
        acts: Mapping[str, z3.BoolRef],
        results: Mapping[str, Mapping[str, Value | Rows]],
    ) -> None:
        for name, tool in tools.items():
            for result in tool.teaching:
                found, truths = results[name][result.name], self._truths[result.entity.table]
                if not isinstance(found, Rows):  # the key of a new row
                    truths[found] = acts[name]
                    continue
                for place, (listed, row) in enumerate(found.listed):
                    key = str(row.values[result.entity.key])
                    others = [other for number, (other, _) in enumerate(found.listed) if number != place]
                    alone = self._logic.all([acts[name], listed, *map(self._logic.negate, others)])
                    truths[key] = self._logic.any([truths.get(key, False), alone])


class Pending:
    """Which events still wait to be recorded, by name."""

    def __init__(self, environment: Environment) -> None:
        tools = environment.tools.items()
        self._emitting = {
            event: [name for name, tool in tools if tool.emits == event] for event in environment.event_names
        }
        self._recording = [
            name for name, tool in tools if any(isinstance(p.source, FromTrace) for p in tool.parameters)
        ]
        self.waiting: dict[str, Value] = dict.fromkeys(environment.event_names, False)
        self.something: Value = False

    def follow(self, acts: Mapping[str, z3.BoolRef], logic: SymbolicLogic) -> None:
        kept = [logic.negate(acts[name]) for name in self._recording]
        for event, emitting in self._emitting.items():
            emitted = logic.any([self.waiting[event], *(acts[name] for name in emitting)])
            self.waiting[event] = logic.all([emitted, *kept])
        self.something = logic.any([*self.waiting.values()])
