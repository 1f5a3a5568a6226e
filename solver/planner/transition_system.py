"""Facts of the world and how calls lead from one to the next, found by making the calls.

From a situation that has certain facts (`lawtrace.solver.planner.abstract_state`), each kind of call of each tool
(`lawtrace.solver.planner.argument_choices`) is run
by the simulator. So effects, knowledge and conditions have one meaning here and in the world. The situation is one that
is reached with few calls and small numbers, from one of a few initial states of the environment.

What follows from the calls so far alone (`lawtrace.solver.planner.derived_values`) is kept apart: a call that takes
something derived is made once, with calls before it after which there is something.

A refusal that depends on what the facts leave out, such as an amount, excludes no call: another situation with the same
facts may have more money. So the graph allows what the world may refuse, and is a plan: whoever carries it out checks
each step (`lawtrace.solver.planner.instantiation`). What it may exclude wrongly, see
docs/decisions/0016-facts-by-execution.md.
A plan goes by one situation for each facts, so that walks can be carried out. What is claimed to be impossible goes by
the *generous* graph, which also follows situations in which there is more than the facts count.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

from lawtrace.environments.events import Event
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.terms import Term
from lawtrace.environments.spec.tools import Tool
from lawtrace.solver.planner.abstract_state import AbstractState, StateAbstraction
from lawtrace.solver.planner.argument_choices import ArgumentChooser
from lawtrace.solver.planner.derived_values import CallLabel, DerivedValues
from lawtrace.solver.planner.search_state import SearchState, apply_call, initial_search_state
from lawtrace.solver.predicates import ObservedPredicates

INITIAL_STATE_SAMPLES = 24
"""How many initial states are looked at to know with which facts a trace can begin."""
CALL_ATTEMPTS = 6
"""How often a tool is tried in a situation in which no call of it completes; what the user says is drawn anew."""


@dataclass(frozen=True, slots=True)
class AbstractTransition:
    """A kind of call, by the number of its label, and the facts it leads to."""

    label: int
    target: int


class TransitionSystem:
    """The facts of the world that can be reached, and the calls between them.

    Attributes:
        starts: the numbers of the facts with which a trace can begin.
        labels: the kinds of calls.
        derived: what is remembered of derived values, and how calls of each label change it.
        edges: for each number of facts the calls from there.
        keeping: for each number whether all values of quantified rules are satisfied.
    """

    def __init__(
        self, environment: Environment, predicates: ObservedPredicates, *, overapproximate: bool = False
    ) -> None:
        """`generous`: whether situations in which there is more than the facts count are followed, too."""
        self._environment = environment
        self._overapproximate = overapproximate
        self._predicates = predicates
        self.abstraction = StateAbstraction(environment, predicates)
        self.argument_chooser = ArgumentChooser(environment, predicates, self.abstraction.classify_rows)
        self.derived = DerivedValues(environment, predicates)
        self.labels: list[CallLabel] = []
        self._label_numbers: dict[CallLabel, int] = {}
        self._numbers: dict[tuple[AbstractState, object], int] = {}
        self._transitions: list[dict[AbstractTransition, None]] = []
        self.instances_kept: list[bool] = []
        self._search_states: list[tuple[int, SearchState, frozenset[str] | None]] = []
        self._beyond_caps: list[set[tuple[str, object]]] = []
        self._permissive = _without_abstracted_refusals(environment, self.abstraction.abstracted_refusals)
        self._random = Random(f"{environment.name}/facts")
        states = [environment.populate(self._random) for _ in range(INITIAL_STATE_SAMPLES)]
        self.initial_states = tuple(dict.fromkeys(self._reached(self.initial_search_state(state)) for state in states))
        self._explore()
        self.transitions = [tuple(transitions) for transitions in self._transitions]

    def initial_search_state(self, state: State) -> SearchState:
        """The situation before the first call."""
        search_state = initial_search_state(state, self._predicates)
        if not self.abstraction.classifies_rows:
            return search_state
        return replace(search_state, findable=self.argument_chooser.findable_rows(search_state, Random(0)))

    def state_number(self, search_state: SearchState) -> int | None:
        """The number of the facts of a situation; None if they are not among those that were reached."""
        return self._numbers.get(self._abstract(search_state))

    def label_number(self, event: Event) -> int | None:
        """The number of the label of a completed call; None if no call had it when the graph was made."""
        return self._label_numbers.get(self.derived.label(event))

    def _abstract(self, search_state: SearchState) -> tuple[AbstractState, object]:
        derived = self.derived.abstract(search_state.events) if self.derived.affects_state else None
        return self.abstraction.abstract(search_state), derived

    def _reached(self, search_state: SearchState) -> int:
        """The number of the facts of a situation. The first with them is explored; and in a generous graph, with the
        tools that have to do with these rows, each in which there is more of some than in those before: where three
        guests are known and two are counted, two are left after one is gone."""
        abstract = self._abstract(search_state)
        number = self._numbers.setdefault(abstract, len(self._numbers))
        beyond_caps = self.abstraction.beyond_caps(search_state) if self._overapproximate else set[tuple[str, object]]()
        tables = None
        if number == len(self._transitions):
            self._transitions.append({})
            self._beyond_caps.append(set())
            self.instances_kept.append(bool(self.abstraction.instances_kept(search_state)))
        else:
            tables = frozenset(table for table, _ in beyond_caps - self._beyond_caps[number])
        if tables is None or tables:
            self._beyond_caps[number] |= beyond_caps
            self._search_states.append((number, search_state, tables))
        return number

    def _explore(self) -> None:
        """Breadth first with the tools that take nothing derived; then with the others, as soon as there is something
        to derive from; and again, should those have led somewhere new."""
        tools = self._environment.tools.values()
        groups = [[tool for tool in tools if self.derived.is_derived(tool) is derived] for derived in (False, True)]
        explored = [0, 0]
        while explored != (
            explored := [self._explore_from(*arguments) for arguments in zip(groups, explored, strict=True)]
        ):
            pass

    def _explore_from(self, tools: Sequence[Tool], first: int) -> int:
        """Make the calls of some tools from each situation from number ``first`` on; how many have been looked at."""
        if any(self.derived.enabling_history(tool, self._search_states[0][1]) is None for tool in tools):
            return first
        for index, (number, search_state, tables) in enumerate(self._search_states):  # grows while it is read
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
                after = apply_call(self._environment, before, choice, self._predicates) or apply_call(
                    self._permissive, before, choice, self._predicates
                )
                if after is None:
                    continue
                completed = True
                if self.abstraction.instances_kept(after) is not None:
                    label = self.derived.label(after.events[-1])
                    if label not in self._label_numbers:
                        self._label_numbers[label] = len(self.labels)
                        self.labels.append(label)
                        self.derived.add_label(before, choice, after.events[-1])
                    self._transitions[number][AbstractTransition(self._label_numbers[label], self._reached(after))] = (
                        None
                    )
            if completed:
                break


def _without_abstracted_refusals(
    environment: Environment, abstracted_refusals: Mapping[str, Sequence[Term]]
) -> Environment:
    """The environment without the refusals that depend on what facts leave out: here a purse is empty, and elsewhere,
    with the same facts, it is full."""

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
    """The graph, made once for each environment and interest."""
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
    return TransitionSystem(spec.environment, spec.predicates, overapproximate=overapproximate)
