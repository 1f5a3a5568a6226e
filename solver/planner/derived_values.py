"""Values derived from the call history alone, such as the pending events, as a small automaton.

They do not depend on the state of the environment, so they are explored once. The states of the automaton are the
abstracted values: the value itself where a rule observes it, else only whether there is one. Its letters are the kinds
of calls. The effect of a kind of call is found by running one.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.expressions import Term
from lawtrace.environments.spec.terms import arguments_of, tables_of
from lawtrace.environments.spec.tools import FromTrace, Tool
from lawtrace.environments.spec.types import Value
from lawtrace.schemas.events import Event
from lawtrace.solver.logic.conditions import Condition, condition_fields, condition_parts
from lawtrace.solver.planner.search_state import CallChoice, SearchState, apply_call
from lawtrace.solver.predicates import ObservedPredicates

DerivedAbstraction = tuple[object, ...]
History = tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class CallLabel:
    """A kind of completed call, as far as rules distinguish calls.

    Attributes:
        satisfied: bit mask of the satisfied conditions on the tool (see
            `lawtrace.solver.predicates.ObservedPredicates`), without conditions on derived arguments: these follow from
            the history.
        other_comparisons: which comparisons on other fields hold in the conditions left out.
    """

    tool: str
    satisfied: int
    other_comparisons: int = 0


class DerivedValues:
    """The abstraction of derived values and the effect of each kind of call on it. State 0 is the empty history.

    Attributes:
        affects_state: whether the effect of a call on the state may depend on the value of a derived argument, not only
            on its presence. Then derived values are part of the abstract state as well.
        transitions: ``transitions[state][label]`` is the next state and all conditions that the call satisfies; None if
            no argument can be derived for the call. Labels are numbered in the order of `add_label`.
    """

    def __init__(self, environment: Environment, predicates: ObservedPredicates) -> None:
        self._environment = environment
        self._predicates = predicates
        parameters = {
            tool.name: {p.name: p.source for p in tool.parameters if isinstance(p.source, FromTrace)}
            for tool in environment.tools.values()
        }
        self._parameters = {name: sources for name, sources in parameters.items() if sources}
        self._conditions = {
            name: [
                (1 << number, condition)
                for number, condition in enumerate(conditions)
                if not _reads_any(condition, self._parameters.get(name, ()))
            ]
            for name, conditions in predicates.conditions.items()
        }
        """For each tool the conditions that do not read derived arguments, each with its bit."""
        self._other_comparisons = {
            name: [
                None if _reads_any(part, sources) else part
                for condition in predicates.conditions.get(name, ())
                if _reads_any(condition, sources)
                for part in _comparisons(condition)
            ]
            for name, sources in self._parameters.items()
        }
        """For each tool the comparisons in the other conditions; None for those that read derived arguments."""
        self.affects_state = any(
            _is_entangled(environment, environment.tools[name], sources, predicates)
            for name, sources in self._parameters.items()
        )
        self._plain_labels = {name: CallLabel(name, 0) for name in environment.tools}
        self._numbers: dict[DerivedAbstraction, int] = {self.abstract(()): 0}
        self._histories: list[History] = [()]
        self._examples: list[tuple[SearchState, CallChoice, Event]] = []
        self.transitions: list[list[tuple[int, int] | None]] = [[]]

    def is_derived(self, tool: Tool) -> bool:
        """Whether the tool has a derived argument."""
        return tool.name in self._parameters

    def abstract(self, events: History) -> DerivedAbstraction:
        """The abstraction of the values after these calls."""
        abstraction: list[object] = []
        for tool, sources in self._parameters.items():
            for name, source in sources.items():
                value = source.function(self._environment.tools, events)
                abstraction.append(frozenset(value) if self._predicates.observes_argument(tool, name) else bool(value))
        return tuple(abstraction)

    def label(self, event: Event) -> CallLabel:
        """The label of a completed call."""
        conditions = self._conditions.get(event.tool)
        if conditions is None:
            return self._plain_labels[event.tool]
        satisfied, other_comparisons = sum([bit for bit, condition in conditions if condition.holds(event)]), 0
        for part in self._other_comparisons.get(event.tool, ()):
            other_comparisons = other_comparisons * 2 + (part is not None and part.holds(event))
        return CallLabel(event.tool, satisfied, other_comparisons)

    def enabling_history(self, tool: Tool, search_state: SearchState) -> History | None:
        """A history after which the tool's derived arguments exist; None if none is known yet."""
        if self.affects_state or not self.is_derived(tool):
            return search_state.events
        return next((events for events in self._histories if all(self._values(tool, events).values())), None)

    def add_label(self, search_state: SearchState, choice: CallChoice, event: Event) -> None:
        """Add a label, with an example call and the search state in which it was made."""
        self._examples.append((search_state, choice, event))
        for state, row in enumerate(self.transitions):  # the list grows during the loop
            for label in range(len(row), len(self._examples)):
                row.append(self._transition(self._histories[state], label))

    def _transition(self, history: History, label: int) -> tuple[int, int] | None:
        search_state, choice, event = self._examples[label]
        if self.is_derived(choice.tool):
            values = self._values(choice.tool, history)
            if not all(values.values()):
                return None
            choice = replace(choice, values={**choice.values, **values})
            after = apply_call(self._environment, replace(search_state, events=history), choice)
            if after is not None:
                event = after.events[-1]
            elif self.affects_state:  # another state may accept it
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
    """Whether a term combines a derived argument with the state, writes it to a table that some term reads, or shows
    it to a rule. (No tool reads the audit log, so writing there does not count.)
    """
    tools = environment.tools.values()
    read = set[str]().union(*(tables_of(term) for other in tools for term in _all_terms(other)))
    read |= {result.entity.table for other in tools for result in other.lookups}
    effects = [term for effect in tool.effects if effect.entity.table in read for term in effect.terms()]
    shown = (
        [term for result in tool.results for term in result.terms()] if predicates.observes_result(tool.name) else []
    )
    together = [term for term in tool.refusals if tables_of(term)]
    return any(not arguments_of(term).isdisjoint(derived) for term in (*effects, *shown, *together))


def _all_terms(tool: Tool) -> list[Term]:
    parts = (*tool.effects, *tool.results)
    return [*tool.refusals, *(term for part in parts for term in part.terms())]
