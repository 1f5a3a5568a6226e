"""Abstract transition system of an environment, built by running calls in the simulator.

From a search state with a given abstract state (`lawtrace.solver.planner.abstract_state`), the simulator runs one
representative of each kind of call (`lawtrace.solver.planner.argument_choices`). So effects, knowledge and conditions
have one meaning here and in the environment. The representative search state is one that few calls and small numbers
reach from one of a few initial states.

Values derived from the call history (`lawtrace.solver.planner.derived_values`) are handled apart: a call that takes a
derived argument is run once, after a history that supplies one.

A refusal that depends on data outside the abstraction, such as an amount, excludes no call: another search state with
the same abstract state may have more money. So the transition system allows calls that the environment may refuse. A
plan is checked call by call (`lawtrace.solver.planner.instantiation`).
docs/decisions/0016-facts-by-execution.md says what may be excluded wrongly.

Plans use one search state for each abstract state, so that they can be instantiated. Claims of impossibility use the
*over-approximation*, which also explores search states that have more rows than the abstraction counts.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.expressions import Term
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import Tool
from lawtrace.schemas.events import Event
from lawtrace.solver.planner.abstract_state import AbstractState, RowRule, StateAbstraction
from lawtrace.solver.planner.argument_choices import ArgumentChooser
from lawtrace.solver.planner.derived_values import CallLabel, DerivedValues
from lawtrace.solver.planner.search_state import SearchState, apply_call, initial_search_state
from lawtrace.solver.predicates import ObservedPredicates

INITIAL_STATE_SAMPLES = 24
"""How many initial states are sampled to find the initial abstract states."""
CALL_ATTEMPTS = 6
"""How often a tool is tried in a search state where no call of it completes; user values are sampled anew."""


MAX_STATES: Final = 400
"""How many abstract states there may be before rows lose their classes."""
MAX_EFFORT: Final = 400_000
"""How many rows may be looked at in order to classify rows; beyond that, rows have no classes."""


class TooManyStatesError(Exception):
    """There are too many abstract states with classes of rows, or too many rows to classify."""


@dataclass(frozen=True, slots=True)
class AbstractTransition:
    """A call by the number of its label, and the abstract state that it leads to."""

    label: int
    target: int


class TransitionSystem:
    """The reachable abstract states and the calls between them.

    Attributes:
        initial_states: the numbers of the abstract states in which a trace can begin.
        labels: the kinds of calls.
        derived: the abstraction of derived values, and how calls change it.
        transitions: for each abstract state the calls from there.
    """

    def __init__(
        self,
        environment: Environment,
        predicates: ObservedPredicates,
        *,
        overapproximate: bool = False,
        classes: bool = True,
        row_rule: RowRule | None = None,
    ) -> None:
        """
        Args:
            overapproximate: also explore search states that have more rows than the abstraction counts.
            classes: whether abstract states keep classes of rows.
            row_rule: a rule whose states belong to these classes, and which no call breaks.

        Raises TooManyStatesError, but not without classes.
        """
        self._classes = classes
        self._environment = environment
        self._overapproximate = overapproximate
        self._predicates = predicates
        self.abstraction = StateAbstraction(environment, predicates, classes=classes, row_rule=row_rule)
        self.argument_chooser = ArgumentChooser(environment, predicates, self.abstraction.classify_rows)
        self.derived = DerivedValues(environment, predicates)
        tools = environment.tools.values()
        self._unchanging = frozenset(
            tool.name for tool in tools if not self.derived.affects_state and self.abstraction.leaves_unchanged(tool)
        )
        self.labels: list[CallLabel] = []
        self._label_numbers: dict[CallLabel, int] = {}
        self._numbers: dict[tuple[AbstractState, object], int] = {}
        self._transitions: list[dict[AbstractTransition, None]] = []
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
        return replace(search_state, findable=self.argument_chooser.findable_rows(search_state, Random(0)))

    def state_number(self, search_state: SearchState) -> int | None:
        """The number of the abstract state of a search state; None if it was never reached."""
        return self._numbers.get(self._abstract(search_state))

    def is_unchanged_by(self, tool: str) -> bool:
        """Whether a call of the tool leaves the abstract state as it is."""
        return tool in self._unchanging

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
        if self._classes and (number == MAX_STATES or self.abstraction.effort > MAX_EFFORT):
            raise TooManyStatesError
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
            for choice in self.argument_chooser.representatives(before, tool, self._random):
                after = apply_call(self._environment, before, choice) or apply_call(self._permissive, before, choice)
                if after is None or self._breaks_row_rule(after):
                    continue
                completed = True
                label = self.derived.label(after.events[-1])
                if label not in self._label_numbers:
                    self._label_numbers[label] = len(self.labels)
                    self.labels.append(label)
                    self.derived.add_label(before, choice, after.events[-1])
                self._transitions[number][AbstractTransition(self._label_numbers[label], self._reached(after))] = None
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


def transition_system(
    environment: Environment, predicates: ObservedPredicates, *, overapproximate: bool = False
) -> TransitionSystem:
    """The transition system, cached for each environment and set of predicates."""
    return _cached_transition_system(_CacheKey(environment, predicates, predicates.cache_key), overapproximate)


@dataclass(frozen=True, slots=True)
class _CacheKey:
    environment: Environment
    predicates: ObservedPredicates
    identity: tuple[object, ...]

    def __hash__(self) -> int:
        return hash((self.environment, self.identity))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _CacheKey) and self.environment is other.environment and self.identity == other.identity
        )


@lru_cache(maxsize=64)
def _cached_transition_system(spec: _CacheKey, overapproximate: bool) -> TransitionSystem:
    try:
        return TransitionSystem(spec.environment, spec.predicates, overapproximate=overapproximate)
    except TooManyStatesError:
        return TransitionSystem(spec.environment, spec.predicates, overapproximate=overapproximate, classes=False)
