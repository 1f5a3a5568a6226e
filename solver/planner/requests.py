"""Requests: ordinary calls with a purpose, as one user would ask for them in one message.

A request is one change or a few, each with the look-ups that its arguments need and no others. So every call serves
the goal: a look-up is made because a later call reads its result. Rows that are known are used again, so the calls of a
request are mostly about the same person and the same thing. A look-up that makes no sense for a row is one that its
tool refuses. Rules play no part here (`lawtrace.solver.planner.completion`).
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import FromLookup, Tool
from lawtrace.solver.planner.argument_choices import plain_chooser
from lawtrace.solver.planner.search_state import SearchState, apply_call, initial_search_state
from lawtrace.solver.traces import PlannedCall

REDRAWS = 24
"""How often the arguments of a call are drawn if it does not complete."""
OTHER_ROW = 0.2
"""How often another row is looked up although one is known."""


class RequestWriter:
    """Draws requests in one environment."""

    def __init__(self, environment: Environment) -> None:
        self._environment: Final = environment
        self._chooser: Final = plain_chooser(environment)
        ordinary = [tool for tool in environment.tools.values() if not tool.compliance]
        self._changes: Final = [
            tool for tool in ordinary if tool.name in environment.changing_tools and tool.name != environment.declines
        ]

    @property
    def changes(self) -> tuple[str, ...]:
        """The tools that a request can be about."""
        return tuple(tool.name for tool in self._changes)

    def draw(self, initial: State, tools: Sequence[str], random: Random) -> tuple[PlannedCall, ...] | None:
        """A request for these changes, and for another one where a change is possible only after it.

        None if no draw of a few leads anywhere.
        """
        for _ in range(REDRAWS):
            named = [self._environment.tools[name] for name in tools]
            calls = self._calls(named, initial_search_state(self._environment, initial), random)
            if calls is not None and _is_purposeful(calls):
                return calls
        return None

    def _calls(self, tools: Sequence[Tool], state: SearchState, random: Random) -> tuple[PlannedCall, ...] | None:
        calls: list[PlannedCall] = []
        for tool in tools:
            before = len(calls)
            following = self._call(tool, state, calls, random, frozenset())
            if following is None:
                del calls[before:]
                first = self._call(random.choice(self._changes), state, calls, random, frozenset())
                following = None if first is None else self._call(tool, first, calls, random, frozenset())
            if following is None:
                return None
            state = following
        return tuple(calls)

    def _call(
        self, tool: Tool, state: SearchState, calls: list[PlannedCall], random: Random, above: frozenset[str]
    ) -> SearchState | None:
        """The state after the call and the look-ups that it needs, which are added to the calls."""
        tables = dict.fromkeys(p.source.entity.table for p in tool.parameters if isinstance(p.source, FromLookup))
        for table in tables:
            if state.known.get(table) and random.random() >= OTHER_ROW:
                continue
            finders = [one for one in self._environment.finders[table] if not one.compliance and one.name not in above]
            if not finders:
                if state.known.get(table):
                    continue
                return None
            found = self._call(random.choice(finders), state, calls, random, above | {tool.name})
            if found is None:
                return None
            state = found
        for _ in range(REDRAWS):
            choice = self._chooser.sample(state, tool, random)
            if choice is None:
                return None
            after = apply_call(self._environment, state, choice)
            if after is not None:
                calls.append(PlannedCall(after.events[-1], dict(choice.origins)))
                return after
        return None


def _is_purposeful(calls: Sequence[PlannedCall]) -> bool:
    """Whether no call is made twice, and all calls are about the same rows: linked by the results that they read."""
    made = [(call.event.tool, repr(sorted(call.event.arguments.items()))) for call in calls]
    if len(set(made)) < len(made):
        return False
    group = list(range(len(calls)))
    for number, call in enumerate(calls):
        for source in call.sources:
            old, new = group[number], group[source]
            group = [new if one == old else one for one in group]
    return len(set(group)) == 1
