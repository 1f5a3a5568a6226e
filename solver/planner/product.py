"""Product of the abstract transition system and the rule automaton, and the sequences that it accepts.

The rule automaton (`SpecAutomaton`) combines all rules and derived values, independent of the state of the environment.
Its letters are the call labels. It starts as the automaton of the derived values. The automata of rules and
requirements are joined one by one, and bisimilar states are merged after each. A derived value matters only while some
rule still to join observes it: after the last one, only whether any event is pending matters, not which. So sixteen
rules do not make a sixteen-fold product.

A node of the product consists of the abstract state of the environment (`lawtrace.solver.planner.transition_system`)
and the state of the rule automaton. For each node and each number of remaining calls, a backward pass says whether
acceptance can still be reached. The search only makes such moves, so it never backtracks.

Bisimilar nodes are merged. The exact position of a trace is therefore kept beside the node: `ProductState`.

Rules about different things do multiply the states: thirty duties can be open or not independently. Where the rule
automaton or the product would be larger than `MAX_JOINED`, the automata are divided into groups, and the sequences are
those of a `lawtrace.solver.planner.joint_graph.JointGraph`, whose nodes are found when they are asked for.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, cast

from lawtrace.environments.spec.declaration import Environment
from lawtrace.solver.automata.automaton import Automaton, distances_to
from lawtrace.solver.logic.conditions import Condition
from lawtrace.solver.planner.joint_graph import JointGraph, Place, factors_of
from lawtrace.solver.planner.search_state import SearchState
from lawtrace.solver.planner.sequence_graph import Move, PairsAhead, SequenceGraph
from lawtrace.solver.planner.transition_system import TransitionSystem, transition_system
from lawtrace.solver.predicates import ObservedPredicates
from lawtrace.solver.search.products.call_scopes import CallScope, free_scope
from lawtrace.solver.search.products.graph_reduction import bisimulation_classes, explore

MAX_JOINED: Final = (1_000, 40_000)
"""Up to how many states, and nodes of the product at most, the automaton of all rules and requirements has."""
MAX_OF_GROUP: Final = (64, 2_000)
"""The same of each group, where they are divided."""


@dataclass(frozen=True, slots=True)
class _PartialProduct:
    """The automaton so far. ``transitions[state][label]`` is the next state and the conditions that the call satisfies,
    conditions on derived arguments included; None if no such call exists or acceptance is unreachable after it.
    """

    transitions: Sequence[Sequence[tuple[int, int] | None]]
    accepting: Sequence[bool]


class SpecAutomaton:
    """The joined automaton; state 0 is that of the empty history.

    Attributes:
        transitions: ``transitions[state][label]`` is the next state; None if no such call exists or acceptance is
            unreachable after it.
        accepting: for each state whether a trace may end there.
        left_out: the automata with which it would have too many states.
    """

    def __init__(
        self,
        system: TransitionSystem,
        predicates: ObservedPredicates,
        automata: Sequence[Automaton],
        most: int | None = None,
    ) -> None:
        """`most`: how many states it has at most. One automaton is always part of it."""
        labels, derived = system.labels, system.derived
        self._labels = labels
        self._conditions = predicates.conditions
        deriving_tools = {
            label.tool for label, after in zip(labels, derived.transitions[0], strict=True) if after is None
        }
        # Automata on derived values first, grouped by what they observe, so that merging sets in early.
        waiting = sorted(automata, key=lambda automaton: _observed_atoms(automaton, deriving_tools), reverse=True)
        partial = _PartialProduct(derived.transitions, [True] * len(derived.transitions))
        self.left_out: list[Automaton] = []
        joined = 0
        while waiting:
            automaton, *further = waiting
            extended = self._quotient(self._extended(partial, automaton), further)
            if most is not None and joined and len(extended.transitions) > most:
                self.left_out, partial = waiting, self._quotient(partial, [])
                break
            partial, waiting, joined = extended, further, joined + 1
        self.transitions: Final = [[to and to[0] for to in row] for row in partial.transitions]
        self.accepting: Final = partial.accepting

    def label_column(self, label: int) -> Hashable:
        """The effect of a label in each state. Labels with equal columns are interchangeable."""
        return tuple(row[label] for row in self.transitions)

    def _extended(self, partial: _PartialProduct, automaton: Automaton) -> _PartialProduct:
        """The partial product with one more automaton."""
        letters: dict[tuple[int, int], int] = {}

        def edges(place: tuple[int, int]) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
            source, state = place
            for label, to in enumerate(partial.transitions[source]):
                if to is not None:
                    if (label, to[1]) not in letters:
                        letters[label, to[1]] = self._letter(automaton, label, to[1])
                    yield (label, to[1]), (to[0], automaton.step(state, letters[label, to[1]]))

        states, found = explore([(0, automaton.initial)], edges)
        accepting = [partial.accepting[source] and state in automaton.accepting for source, state in states]
        alive = _coreachable(accepting, found)
        after: list[list[tuple[int, int] | None]] = []
        for row in found:
            out = {label: (target, satisfied) for (label, satisfied), target in row if alive[target]}
            after.append([out.get(label) for label in range(len(self._labels))])
        return _PartialProduct(after, accepting)

    def _quotient(self, partial: _PartialProduct, waiting: Sequence[Automaton]) -> _PartialProduct:
        """The partial product with bisimilar states merged. A state is distinguished by what is possible after it and
        by the conditions that the remaining automata observe.
        """
        visible = [self._observed_mask(label.tool, waiting) for label in self._labels]
        rows = [
            [to and (to[0], to[1] & seen) for to, seen in zip(row, visible, strict=True)] for row in partial.transitions
        ]
        kinds: dict[tuple[int, int], int] = {}
        moves = [
            [(kinds.setdefault((label, to[1]), len(kinds)), to[0]) for label, to in enumerate(row) if to is not None]
            for row in rows
        ]
        classes, kept = bisimulation_classes(partial.accepting, moves)
        after = [[to and (classes[to[0]], to[1]) for to in rows[state]] for state in kept]
        return _PartialProduct(after, [partial.accepting[state] for state in kept])

    def _observed_mask(self, tool: str, automata: Sequence[Automaton]) -> int:
        """The conditions on a tool that one of the automata observes, as a bit mask."""
        looked_at = {atom.condition for automaton in automata for atom in automaton.atoms if atom.tool == tool}
        return self._mask(tool, looked_at)

    def _mask(self, tool: str, conditions: set[Condition | None]) -> int:
        own = self._conditions.get(tool, ())
        return sum(1 << number for number, condition in enumerate(own) if condition in conditions)

    def _letter(self, automaton: Automaton, label: int, satisfied: int) -> int:
        """The letter that an automaton reads of a completed call."""
        tool = self._labels[label].tool
        return sum(
            bit
            for bit, atom in automaton.alphabet.by_tool.get(tool, ())
            if atom.condition is None or satisfied & self._mask(tool, {atom.condition})
        )


def _observed_atoms(automaton: Automaton, tools: set[str]) -> list[str]:
    """The conditions that an automaton has on one of the tools."""
    return sorted(str(atom) for atom in automaton.atoms if atom.tool in tools and atom.condition is not None)


_VIRTUAL_START: Final = (-1, 0)
"""The node that stands for all initial nodes where there are several."""


class ProductGraph:
    """The reachable and co-reachable nodes of the product, with labelled transitions.

    Abstract states are merged where no call that the spec automaton distinguishes leads on differently. Node 0 is the
    start. Where traces can begin in different abstract states, it stands for all of them.

    Attributes:
        transitions: for each node the label and target of each call. Of labels that the spec automaton does not
            distinguish, one of each tool is kept.
        accepting: for each node whether a trace may end there.
    """

    def __init__(self, system: TransitionSystem, spec: SpecAutomaton) -> None:
        equal_labels: dict[Hashable, int] = {}
        labels = [
            equal_labels.setdefault((label.tool, spec.label_column(number)), number)
            for number, label in enumerate(system.labels)
        ]
        edges = [list(dict.fromkeys((labels[label], target) for label, target in out)) for out in system.transitions]
        self._classes, first = bisimulation_classes([True] * len(edges), edges)
        quotient = [dict.fromkeys((label, self._classes[target]) for label, target in edges[state]) for state in first]
        starts = list(dict.fromkeys((self._classes[state], 0) for state in system.initial_states))
        nodes = [*starts] if len(starts) == 1 else [_VIRTUAL_START, *starts]

        def calls_from(node: tuple[int, int]) -> Iterator[tuple[int, tuple[int, int]]]:
            abstract, spec_state = node
            for label, target in quotient[abstract] if node != _VIRTUAL_START else ():
                next_spec_state = spec.transitions[spec_state][label]
                if next_spec_state is not None:
                    yield label, (target, next_spec_state)

        self._numbers, transitions = explore(nodes, calls_from)
        accepting = [node != _VIRTUAL_START and spec.accepting[node[1]] for node in self._numbers]
        if len(starts) > 1:
            transitions[0] = list(dict.fromkeys(edge for start in starts for edge in transitions[self._numbers[start]]))
            accepting[0] = any(accepting[self._numbers[start]] for start in starts)
        alive = _coreachable(accepting, transitions)
        self.transitions: Final = [[(label, target) for label, target in out if alive[target]] for out in transitions]
        self.accepting: Final = accepting

    def node_number(self, abstract_state: int, spec_state: int) -> int | None:
        """The number of a node; None if it was not reached."""
        return self._numbers.get((self._classes[abstract_state], spec_state))


@dataclass(frozen=True, slots=True)
class ProductState:
    """The position of a trace: its node, and the states of the rule automata that the node was merged from."""

    node: int
    spec_states: tuple[int, ...]


class _Group:
    """The product of the transition system and one rule automaton, with bisimilar nodes merged."""

    def __init__(self, environment: Environment, system: TransitionSystem, spec: SpecAutomaton) -> None:
        self.spec: Final = spec
        self._product: Final = ProductGraph(system, spec)
        tools = list(environment.tools)
        labels = [tools.index(label.tool) for label in system.labels]
        edges = [[(labels[label], target) for label, target in out] for out in self._product.transitions]
        self._classes, kept = bisimulation_classes(self._product.accepting, edges)
        moves = [
            tuple(Move(tools[tool], to) for tool, to in dict.fromkeys((t, self._classes[to]) for t, to in edges[node]))
            for node in kept
        ]
        self.graph: Final = SequenceGraph(environment, moves, [self._product.accepting[node] for node in kept])
        moving = ((state, label, to) for state, row in enumerate(spec.transitions) for label, to in enumerate(row))
        changing = {label for state, label, to in moving if to is not None and to != state}
        self.changing_tools: Final = frozenset(system.labels[label].tool for label in changing)
        """The tools whose calls change the state of the rule automaton."""

    def node(self, abstract_state: int, spec_state: int) -> int | None:
        """The number of a node; None if it was not reached."""
        number = self._product.node_number(abstract_state, spec_state)
        return None if number is None else self._classes[number]


class Product(SequenceGraph):
    """The reachable part of abstract states x automata for one environment.

    Nodes are numbers; node 0 is the start. Where traces can begin in different abstract states, node 0 stands for all
    of them and the first move decides. Only moves after which acceptance is reachable are kept.

    Attributes:
        automata: what accepted sequences satisfy.
        predicates: what the automata observe of calls.
        system: the abstract transition system.
    """

    def __init__(
        self, environment: Environment, automata: Sequence[Automaton], *, overapproximate: bool = False
    ) -> None:
        """`overapproximate`: for claims of impossibility, see `lawtrace.solver.planner.transition_system`."""
        if any(automaton.is_quantified for automaton in automata):
            raise ValueError("a rule with variables takes part with its skeleton: see TraceSpec.automata")
        self.predicates: Final = ObservedPredicates(automata)
        self.system: Final[TransitionSystem] = transition_system(
            environment, self.predicates, overapproximate=overapproximate
        )
        self.automata: Final = tuple(automata)
        specs = self._divided(self.automata, MAX_JOINED, once=True)
        if specs[-1].left_out:
            specs = self._divided(_neighbours_sharing_tools(self.automata), MAX_OF_GROUP)
        self._groups: Final = [_Group(environment, self.system, spec) for spec in specs]
        self._joint: Final = JointProduct(environment, self.system, self._groups) if specs[1:] else None
        self._graph: Final = self._joint or self._groups[0].graph
        super().__init__(environment, self._graph.moves, self._graph.accepting)

    def _divided(
        self, automata: Sequence[Automaton], limits: tuple[int, int], *, once: bool = False
    ) -> list[SpecAutomaton]:
        """The rule automaton, or several if it were larger. `once`: only the first."""
        states, nodes = limits
        most = min(states, nodes // len(self.system.transitions))
        specs = [SpecAutomaton(self.system, self.predicates, automata, most=most)]
        while specs[-1].left_out and not once:
            specs.append(SpecAutomaton(self.system, self.predicates, specs[-1].left_out, most=most))
        return specs

    def finishing_nodes(self, remaining: int) -> Sequence[bool]:
        return self._graph.finishing_nodes(remaining)

    def pairs_ahead(self, remaining: int) -> PairsAhead:
        return self._graph.pairs_ahead(remaining)

    def initial_state(self, search_state: SearchState) -> ProductState | None:
        """The product state before the first call; None if the abstract state was never reached."""
        return self._product_state(self.system.state_number(search_state), (0,) * len(self._groups))

    def next_state(self, before: ProductState, search_state: SearchState) -> ProductState | None:
        """The product state after a call from ``before`` led to the search state; None if it was never reached.

        The call need not be a move of the product. A caller who knows four rows may act like one who knows three, and
        only the abstract state afterwards tells how many are left.
        """
        label = self.system.label_number(search_state.events[-1])
        after = None if label is None else _after(self._groups, before.spec_states, label)
        return None if after is None else self._product_state(self.system.state_number(search_state), after)

    def _product_state(self, abstract_state: int | None, spec_states: tuple[int, ...]) -> ProductState | None:
        if abstract_state is None:
            return None
        if self._joint is not None:
            node = self._joint.node(abstract_state, spec_states)
        else:
            node = self._groups[0].node(abstract_state, spec_states[0])
        return None if node is None else ProductState(node, spec_states)


class JointProduct(JointGraph):
    """The sequences that the products of several groups of rules have in common."""

    def __init__(self, environment: Environment, system: TransitionSystem, groups: Sequence[_Group]) -> None:
        self._groups: Final = groups
        self._classes, first = bisimulation_classes([True] * len(system.transitions), system.transitions)
        self._representatives: Final = first
        labels = [label.tool for label in system.labels]

        def follow(place: Place) -> Iterator[tuple[str, Place]]:
            abstract, spec_states = cast("tuple[int, tuple[int, ...]]", place.key)
            for label, target in system.transitions[first[abstract]]:
                after = _after(groups, spec_states, label)
                to = None if after is None else self._place(target, after)
                if to is not None:
                    yield labels[label], to

        starts = [self._place(state, (0,) * len(groups)) for state in system.initial_states]
        factors = factors_of([group.graph for group in groups], [group.changing_tools for group in groups])
        distinct = {place.key: place for place in starts if place is not None}
        super().__init__(environment, factors, [*distinct.values()], follow)

    def node(self, abstract_state: int, spec_states: tuple[int, ...]) -> int | None:
        """The number of a node; None if it was not reached, or a group cannot accept from there."""
        place = self._place(abstract_state, spec_states)
        return None if place is None else self.number(place)

    def _place(self, abstract_state: int, spec_states: tuple[int, ...]) -> Place | None:
        class_ = self._classes[abstract_state]
        state = self._representatives[class_]
        nodes = [group.node(state, spec_state) for group, spec_state in zip(self._groups, spec_states, strict=True)]
        reached = tuple(node for node in nodes if node is not None)
        return Place((class_, spec_states), reached) if len(reached) == len(nodes) else None


def _neighbours_sharing_tools(automata: Iterable[Automaton]) -> list[Automaton]:
    """The automata in an order in which those of the same tools are close together, so that they are in one group."""
    waiting = [(automaton, {atom.tool for atom in automaton.atoms}) for automaton in automata]
    last: dict[str, int] = {}
    ordered: list[Automaton] = []
    while waiting:
        latest = [max((last.get(tool, -1) for tool in tools), default=-1) for _, tools in waiting]
        automaton, tools = waiting.pop(latest.index(max(latest)))
        last |= dict.fromkeys(tools, len(ordered))
        ordered.append(automaton)
    return ordered


def _after(groups: Sequence[_Group], spec_states: tuple[int, ...], label: int) -> tuple[int, ...] | None:
    """The states of the rule automata after a call with that label; None if one of them excludes it."""
    after = [group.spec.transitions[state][label] for group, state in zip(groups, spec_states, strict=True)]
    reached = tuple(state for state in after if state is not None)
    return reached if len(reached) == len(after) else None


def _coreachable(accepting: Sequence[bool], transitions: Sequence[Sequence[tuple[object, int]]]) -> list[bool]:
    """For each state whether an accepting state is reachable from it."""
    targets = [[target for _, target in row] for row in transitions]
    ends = [state for state, accepts in enumerate(accepting) if accepts]
    return [distance is not None for distance in distances_to(targets, ends)]


def environment_scope(environment: Environment) -> CallScope:
    """The call sequences that meet the preconditions of the environment, as a deterministic scope.

    What happens without a call may meet any precondition, so with an agenda these are all sequences.
    """
    if environment.agenda:
        return free_scope(environment)
    product = Product(environment, (), overapproximate=True)
    tools = tuple(environment.tools)

    def edges(nodes: frozenset[int]) -> Iterator[tuple[int, frozenset[int]]]:
        targets: dict[str, set[int]] = {}
        for node in nodes:
            for move in product.moves[node]:
                targets.setdefault(move.tool, set()).add(move.target)
        return ((index, frozenset(targets[tool])) for index, tool in enumerate(tools) if tool in targets)

    _, rows = explore([frozenset({0})], edges)  # subset construction
    classes, kept = bisimulation_classes([True] * len(rows), rows)  # only whether events are pending matters, not which
    moves = tuple({tools[index]: classes[target] for index, target in rows[state]} for state in kept)
    return CallScope("environment", tools, moves)
