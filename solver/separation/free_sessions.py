"""Sessions of tools that have schemas and no declaration of what they do: any calls are possible, and results are made
up, of the values that the rules tell apart. Nothing is carried out. Messages are events like calls.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Final

from lawtrace.environments.spec.clock import DEFAULT_START
from lawtrace.environments.spec.state import State
from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.schemas.events import Event, Json
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.events.vocabulary import Vocabulary
from lawtrace.solver.search.problem import Budget
from lawtrace.solver.separation.sessions import RuleValues, Script, ScriptedCall, chosen_parts, holding, moved_call

MOST_TRIED: Final = 400
"""How many representative events are compared with what a call is to be."""
LESS: Final = 0.3
"""How often a call is taken for which not all that is wanted holds."""


class FreeSampler:
    """Draws calls and messages of tools without state, with the same methods as a `SessionSampler`."""

    def __init__(self, rules: Sequence[Rule], tools: Mapping[str, ToolSchema]) -> None:
        """`rules`: all that judge a session."""
        self._vocabulary: Final = Vocabulary(rules, tools)
        self._known: Final[dict[object, Sequence[Event]]] = {}

    def state(self, _: int) -> State:
        return State()

    def varied(self, state: State, _: RuleValues, __: Random) -> State:
        return state

    def later(self, script: Script, values: RuleValues, random: Random) -> Script | None:
        """See `SessionSampler.later`."""
        events, end = script.made_up()
        return moved_call(script, values.times(events, DEFAULT_START, end), random)

    def meet(
        self,
        script: Script,
        place: int,
        goals: Sequence[s.Atom],
        _: RuleValues,
        random: Random,
        bound: dict[str, Json],
        budget: Budget,
    ) -> Script | None:
        """See `SessionSampler.meet`."""
        parts = [part for goal in goals for part in chosen_parts(goal.condition, random)]
        events, _end = script.made_up()
        now = (events[place - 1].time if place else None) or DEFAULT_START
        possible = self._events(goals[0].tool, events, now)
        if not possible or not budget.spend():
            return None
        tried = random.sample(possible, min(MOST_TRIED, len(possible)))
        found = [(holding(parts, event, bound), event) for event in tried]
        (own, held), event = max(found, key=lambda one: one[0][1])
        if held < len(parts) and random.random() >= LESS:
            return None
        bound.update(own)
        made = ScriptedCall(event.tool, event.arguments, made=event)
        return replace(script, calls=(*script.calls[:place], made, *script.calls[place:]))

    def _events(self, tool: str, events: Sequence[Event], now: int) -> Sequence[Event]:
        """The representative events of a tool, with values of other events."""
        live = self._vocabulary.live((), events)
        at = now if self._vocabulary.computes else None
        key = tool, at, frozenset((group, repr(known)) for group, known in live.items())
        if key not in self._known:
            self._known[key] = self._vocabulary.events([tool], live, now).events
        return self._known[key]
