"""What follows from the calls so far and from nothing else, such as the events that still wait to be recorded.

It is no fact of the world, so it is found once for all of the world: as a small automaton. Its states are what is
remembered of the derived values (something is there, or what it is, where a rule looks at it), its letters the kinds of
calls. How a kind of call changes it is found by making one.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from lawtrace.environments.events import Event
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.terms import Term, arguments_of, tables_of
from lawtrace.environments.spec.tools import FromTrace, Tool
from lawtrace.environments.spec.types import Value
from lawtrace.solver.ltlf import Condition
from lawtrace.solver.ltlf.conditions import condition_fields, condition_parts
from lawtrace.solver.planner.search_state import CallChoice, SearchState, apply_call
from lawtrace.solver.predicates import ObservedPredicates

DerivedAbstraction = tuple[object, ...]
History = tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class CallLabel:
    """A kind of completed call, as rules can tell calls apart.

    Attributes:
        met: which of the conditions on the tool the call meets (a bit mask, see
        `lawtrace.solver.predicates.ObservedPredicates`), those left
            out that look at a derived argument: what they say follows from the calls before.
        beside: which comparisons in those left out hold that look at something else.
    """

    tool: str
    satisfied: int
    other_comparisons: int = 0


class DerivedValues:
    """What is remembered of derived values, and how the kinds of calls change it. State 0 is that of no calls.

    Attributes:
        entangled: whether what a call does to the world, or to values that quantified rules follow, may depend on what
            its derived arguments are, and not only on their being there. Then they are facts of the world as well.
        after: ``after[state][label]`` is the next state and all conditions that the call meets; None where nobody makes
            such a call, since there is nothing to derive an argument from. Labels are numbered as they are learnt.
    """

    def __init__(self, environment: Environment, predicates: ObservedPredicates) -> None:
        self._environment = environment
        self._predicates = predicates
        parameters = {
            tool.name: {p.name: p.source for p in tool.parameters if isinstance(p.source, FromTrace)}
            for tool in environment.tools.values()
        }
        self._parameters = {name: sources for name, sources in parameters.items() if sources}
        self._derived_conditions = {
            name: [
                (number, condition)
                for number, condition in enumerate(predicates.conditions.get(name, ()))
                if _reads_any(condition, sources)
            ]
            for name, sources in self._parameters.items()
        }
        self.affects_state = any(
            _is_entangled(environment, environment.tools[name], sources, predicates)
            for name, sources in self._parameters.items()
        )
        self._numbers: dict[DerivedAbstraction, int] = {self.abstract(()): 0}
        self._histories: list[History] = [()]
        self._examples: list[tuple[SearchState, CallChoice, Event]] = []
        self.transitions: list[list[tuple[int, int] | None]] = [[]]

    def is_derived(self, tool: Tool) -> bool:
        """Whether a call of the tool takes a derived argument."""
        return tool.name in self._parameters

    def abstract(self, events: History) -> DerivedAbstraction:
        """What is remembered of the values after these calls."""
        abstraction: list[object] = []
        for tool, sources in self._parameters.items():
            for name, source in sources.items():
                value = source.function(self._environment.tools, events)
                abstraction.append(frozenset(value) if self._predicates.observes_argument(tool, name) else bool(value))
        return tuple(abstraction)

    def label(self, event: Event) -> CallLabel:
        """The kind of a completed call."""
        satisfied, other_comparisons = self._predicates.satisfied(event), 0
        sources = self._parameters.get(event.tool, ())
        for number, condition in self._derived_conditions.get(event.tool, ()):
            satisfied &= ~(1 << number)
            for part in _comparisons(condition):
                other_comparisons = other_comparisons * 2 + (not _reads_any(part, sources) and part.holds(event))
        return CallLabel(event.tool, satisfied, other_comparisons)

    def enabling_history(self, tool: Tool, search_state: SearchState) -> History | None:
        """Calls after which a tool can be called in a situation, so that there is something to derive its arguments
        from; None as long as none are known."""
        if self.affects_state or not self.is_derived(tool):
            return search_state.events
        return next((events for events in self._histories if all(self._values(tool, events).values())), None)

    def add_label(self, search_state: SearchState, choice: CallChoice, event: Event) -> None:
        """One more label: a call that has it, with the situation in which it was made."""
        self._examples.append((search_state, choice, event))
        for state, row in enumerate(self.transitions):  # grows while it is read
            for label in range(len(row), len(self._examples)):
                row.append(self._transition(self._histories[state], label))

    def _transition(self, history: History, label: int) -> tuple[int, int] | None:
        search_state, choice, event = self._examples[label]
        if self.is_derived(choice.tool):
            values = self._values(choice.tool, history)
            if not all(values.values()):
                return None
            choice = replace(choice, values={**choice.values, **values})
            after = apply_call(self._environment, replace(search_state, events=history), choice, self._predicates)
            if after is not None:
                event = after.events[-1]
            elif self.affects_state:  # elsewhere in the world it may not be refused
                event = replace(event, arguments=choice.encoded())
            else:
                return None
        abstraction = self.abstract((*history, event))
        if abstraction not in self._numbers:
            self._numbers[abstraction] = len(self._histories)
            self._histories.append((*history, event))
            self.transitions.append([])
        return self._numbers[abstraction], self._predicates.satisfied(event)

    def _values(self, tool: Tool, events: History) -> dict[str, Value]:
        sources = self._parameters[tool.name].items()
        return {name: source.function(self._environment.tools, events) for name, source in sources}


def _reads_any(condition: Condition, arguments: Collection[str]) -> bool:
    return any(place.path[0] in arguments for place in condition_fields(condition))


def _comparisons(condition: Condition) -> Iterator[Condition]:
    parts = condition_parts(condition)
    if not parts:
        yield condition
    for part in parts:
        yield from _comparisons(part)


def _is_entangled(
    environment: Environment, tool: Tool, derived: Collection[str], predicates: ObservedPredicates
) -> bool:
    """Whether some term puts a derived argument together with the state, writes it where some term reads, or shows it
    to a rule; or whether a quantified rule follows it. (The audit log, which no tool reads, is none of this.)"""
    tools = environment.tools.values()
    read = set[str]().union(*(tables_of(term) for other in tools for term in _all_terms(other)))
    read |= {result.entity.table for other in tools for result in other.lookups}
    effects = [term for effect in tool.effects if effect.entity.table in read for term in effect.terms()]
    shown = (
        [term for result in tool.results for term in result.terms()] if predicates.observes_result(tool.name) else []
    )
    together = [term for term in tool.refusals if tables_of(term)]
    observed = [
        atom.condition
        for automaton in predicates.quantified
        for atom in automaton.atoms
        if atom.tool == tool.name and atom.condition is not None
    ]
    return any(not arguments_of(term).isdisjoint(derived) for term in (*effects, *shown, *together)) or any(
        _reads_any(condition, derived) for condition in observed
    )


def _all_terms(tool: Tool) -> list[Term]:
    parts = (*tool.effects, *tool.results)
    return [*tool.refusals, *(term for part in parts for term in part.terms())]
