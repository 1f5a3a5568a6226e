"""Abstract transition system of an environment, built by running calls in the simulator.

From a search state with a given abstract state (`lawtrace.solver.planner.abstract_state`), the simulator runs one
representative of each kind of call (`lawtrace.solver.planner.argument_choices`). So effects, knowledge and conditions
have one meaning here and in the environment. The representative search state is one that few calls and small numbers
reach from one of a few initial states.

Values derived from the call history alone, such as the pending events, are explored apart, once, as a small automaton.
Its states are the abstracted values: the value itself where a rule observes it, else only whether there is one. Its
letters are the kinds of calls. The effect of a kind of call is found by running one, after a history that supplies a
value.

A refusal that depends on data outside the abstraction, such as an amount, excludes no call: another search state with
the same abstract state may have more money. So the transition system allows calls that the environment may refuse. A
plan is checked call by call (`lawtrace.solver.planner.instantiation`).
docs/decisions/0016-facts-by-execution.md says what may be excluded wrongly.

Plans use one search state for each abstract state, so that they can be instantiated. Claims of impossibility use the
*over-approximation*, which also explores search states that have more rows than the abstraction counts. There the
caller may take any row of a list, as models do.
"""

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.expressions import Term
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.terms import arguments_of, tables_of
from lawtrace.environments.spec.tools import FromTrace, Tool
from lawtrace.environments.spec.types import Value
from lawtrace.schemas.events import Event
from lawtrace.solver.logic.conditions import Condition, condition_fields, condition_parts, subconditions
from lawtrace.solver.planner.abstract_state import AbstractState, RowRule, StateAbstraction
from lawtrace.solver.planner.argument_choices import ArgumentChooser
from lawtrace.solver.planner.search_state import (
    CallChoice,
    SearchState,
    apply_call,
    initial_search_state,
    with_listed_rows,
)
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
                for part in subconditions(condition)
                if not condition_parts(part)
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


def _is_entangled(
    environment: Environment, tool: Tool, derived: Collection[str], predicates: ObservedPredicates
) -> bool:
    """Whether a term combines a derived argument with the state, writes it to a table that some term reads, or shows
    it to a rule. (No tool reads the audit log, so writing there does not count.)
    """
    tools = environment.tools.values()
    read = set[str]().union(*(tables_of(term) for other in tools for term in other.terms))
    read |= {result.entity.table for other in tools for result in other.lookups}
    effects = [term for effect in tool.effects if effect.entity.table in read for term in effect.terms()]
    shown = (
        [term for result in tool.results for term in result.terms()] if predicates.observes_result(tool.name) else []
    )
    together = [term for term in tool.refusals if tables_of(term)]
    return any(not arguments_of(term).isdisjoint(derived) for term in (*effects, *shown, *together))


INITIAL_STATE_SAMPLES = 24
"""How many initial states are sampled to find the initial abstract states."""
CALL_ATTEMPTS = 6
"""How often a tool is tried in a search state where no call of it completes; user values are sampled anew."""


MAX_STATES: Final = 400
"""How many abstract states there may be before rows lose their classes."""
MAX_EFFORT: Final = 400_000
"""How many rows may be looked at in order to classify rows; beyond that, rows have no classes."""


class TooManyStatesError(Exception):
    """There are too many abstract states with classes of rows, or too many rows to classify.

    Attributes:
        states: how many were found.
    """

    def __init__(self, states: int) -> None:
        super().__init__()
        self.states: Final = states


class TransitionSystem:
    """The reachable abstract states and the calls between them.

    Attributes:
        initial_states: the numbers of the abstract states in which a trace can begin.
        labels: the kinds of calls.
        derived: the abstraction of derived values, and how calls change it.
        transitions: for each abstract state the calls from there: number of the label, and next abstract state.
    """

    def __init__(
        self,
        environment: Environment,
        predicates: ObservedPredicates,
        *,
        overapproximate: bool = False,
        classes: bool = True,
        row_rule: RowRule | None = None,
        most: int = MAX_STATES,
    ) -> None:
        """
        Args:
            overapproximate: also explore search states that have more rows than the abstraction counts, and let the
                caller take any row of a list.
            classes: whether abstract states keep classes of rows.
            row_rule: a rule whose states belong to these classes, and which no call breaks.
            most: how many abstract states with classes there may be.

        Raises TooManyStatesError, but not without classes.
        """
        self._classes = classes
        self._most = most
        self._environment = environment
        self._overapproximate = overapproximate
        self._predicates = predicates
        self.abstraction = StateAbstraction(environment, predicates, classes=classes, row_rule=row_rule)
        self.argument_chooser = ArgumentChooser(environment, predicates, self.abstraction.classify_rows)
        self.derived = DerivedValues(environment, predicates)
        self.labels: list[CallLabel] = []
        self._label_numbers: dict[CallLabel, int] = {}
        self._numbers: dict[tuple[AbstractState, object], int] = {}
        self._transitions: list[dict[tuple[int, int], None]] = []
        self._search_states: list[tuple[int, SearchState, frozenset[str] | None]] = []
        self._beyond_caps: list[set[tuple[str, object]]] = []
        self._permissive = _without_abstracted_refusals(environment, self.abstraction.abstracted_refusals)
        self._random = Random(f"{environment.name}/facts")
        states = [environment.populate(self._random) for _ in range(INITIAL_STATE_SAMPLES)]
        # Abstract states have no time, so the exploration must not end with the session.
        starts = (replace(self.initial_search_state(state), end=sys.maxsize) for state in states)
        self.initial_states = tuple(dict.fromkeys(map(self._reached, starts)))
        self._explore()
        self.abstraction.end_exploration()
        self.transitions = [tuple(transitions) for transitions in self._transitions]

    def initial_search_state(self, state: State) -> SearchState:
        """The search state before the first call."""
        search_state = initial_search_state(self._environment, state)
        if not self.abstraction.classifies_rows:
            return search_state
        if self._overapproximate:
            keys = {table: entity.key for table, entity in self._environment.entities.items()}
            rows = {table: frozenset(row.values[key] for row in state.rows(table)) for table, key in keys.items()}
            return replace(search_state, findable=rows)
        return replace(search_state, findable=self.argument_chooser.findable_rows(search_state, Random(0)))

    def state_number(self, search_state: SearchState) -> int | None:
        """The number of the abstract state of a search state; None if it was never reached."""
        return self._numbers.get(self._abstract(search_state))

    def label_number(self, event: Event) -> int | None:
        """The number of the label of a completed call; None if no explored call had it."""
        return self._label_numbers.get(self.derived.label(event))

    def _abstract(self, search_state: SearchState) -> tuple[AbstractState, object]:
        derived = self.derived.abstract(search_state.events) if self.derived.affects_state else None
        return self.abstraction.abstract(search_state), derived

    def _reached(self, search_state: SearchState) -> int:
        """The number of the abstract state of a search state, which is queued for exploration if it adds something.

        The first search state of each abstract state is explored. In an over-approximation, so is each one with more
        rows than the earlier ones, for the tools that touch these tables: if three guests are known and two are
        counted, two are left after one is removed.
        """
        abstract = self._abstract(search_state)
        number = self._numbers.setdefault(abstract, len(self._numbers))
        beyond_caps = self.abstraction.beyond_caps(search_state) if self._overapproximate else set[tuple[str, object]]()
        tables = None
        if self._classes and (number == self._most or self.abstraction.effort > MAX_EFFORT):
            raise TooManyStatesError(len(self._numbers))
        if number == len(self._transitions):
            self._transitions.append({})
            self._beyond_caps.append(set())
        else:
            tables = frozenset(table for table, _ in beyond_caps - self._beyond_caps[number])
        if tables is None or tables:
            self._beyond_caps[number] |= beyond_caps
            self._search_states.append((number, search_state, tables))
        return number

    def _explore(self) -> None:
        """Breadth first with the tools without derived arguments, then with the others; repeated until nothing is
        new."""
        tools = self._environment.tools.values()
        groups = [[tool for tool in tools if self.derived.is_derived(tool) is derived] for derived in (False, True)]
        explored = [0, 0]
        while explored != (
            explored := [self._explore_from(*arguments) for arguments in zip(groups, explored, strict=True)]
        ):
            pass

    def _explore_from(self, tools: Sequence[Tool], first: int) -> int:
        """Run the calls of some tools from each search state from number ``first`` on. Returns how many states are
        explored.
        """
        if any(self.derived.enabling_history(tool, self._search_states[0][1]) is None for tool in tools):
            return first
        for index, (number, search_state, tables) in enumerate(self._search_states):  # the list grows during the loop
            if index >= first:
                for tool in tools:
                    if tables is None or tables & self.abstraction.touched_tables[tool.name]:
                        self._call(number, search_state, tool)
        return len(self._search_states)

    def _call(self, number: int, search_state: SearchState, tool: Tool) -> None:
        history = self.derived.enabling_history(tool, search_state)
        assert history is not None
        before = replace(search_state, events=history)
        for _ in range(CALL_ATTEMPTS):
            completed = False
            choices = self.argument_chooser.representatives(before, tool, self._random, any_row=self._overapproximate)
            for choice in choices:
                after = apply_call(self._environment, before, choice) or apply_call(self._permissive, before, choice)
                if after is None or self._breaks_row_rule(after):
                    continue
                completed = True
                if self._overapproximate:
                    after = with_listed_rows(after, tool)
                label = self.derived.label(after.events[-1])
                if label not in self._label_numbers:
                    self._label_numbers[label] = len(self.labels)
                    self.labels.append(label)
                    self.derived.add_label(before, choice, after.events[-1])
                self._transitions[number][self._label_numbers[label], self._reached(after)] = None
            if completed:
                break

    def _breaks_row_rule(self, after: SearchState) -> bool:
        row_rule = self.abstraction.row_rule
        return row_rule is not None and row_rule.is_broken(after.events)


def _without_abstracted_refusals(
    environment: Environment, abstracted_refusals: Mapping[str, Sequence[Term]]
) -> Environment:
    """The environment without the refusals that depend on abstracted data: with the same abstract state, another
    account may have enough money.
    """

    def is_kept(tool: Tool, term: Term | None) -> bool:
        return all(term is not other for other in abstracted_refusals[tool.name])

    tools = {
        name: replace(
            tool,
            raises=tuple(r if is_kept(tool, r.when) else replace(r, when=None) for r in tool.raises),
            fails=tuple(failure for failure in tool.fails if is_kept(tool, failure.when)),
        )
        for name, tool in environment.tools.items()
    }
    return replace(environment, tools=tools)


@lru_cache(maxsize=64)
def transition_system(
    environment: Environment, predicates: ObservedPredicates, *, overapproximate: bool = False
) -> TransitionSystem:
    """The transition system; without classes of rows where there would be too many states."""
    try:
        return TransitionSystem(environment, predicates, overapproximate=overapproximate)
    except TooManyStatesError:
        return TransitionSystem(environment, predicates, overapproximate=overapproximate, classes=False)
