"""Product of the abstract transition system and the rule automaton, and the sequences that it accepts.

A node consists of the abstract state of the environment (`lawtrace.solver.planner.transition_system`)
and the state of the spec automaton (`lawtrace.solver.planner.spec_automaton`), which combines all rules. For each node
and each number of remaining calls, a backward pass says whether acceptance can still be reached. The search only makes
such moves, so it never backtracks.

Bisimilar nodes are merged. The exact position of a trace is therefore kept beside the node: `ProductState`.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.model_checking.call_scopes import CallScope
from lawtrace.solver.model_checking.graph_reduction import bisimulation_classes, class_representatives, coreachable
from lawtrace.solver.planner.search_state import SearchState
from lawtrace.solver.planner.sequence_graph import Move, SequenceGraph
from lawtrace.solver.planner.spec_automaton import SpecAutomaton
from lawtrace.solver.planner.transition_system import TransitionSystem, transition_system
from lawtrace.solver.predicates import ObservedPredicates

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
        spec_states: for each node the state of the spec automaton.
    """

    def __init__(self, system: TransitionSystem, spec: SpecAutomaton) -> None:
        equal_labels: dict[Hashable, int] = {}
        labels = [
            equal_labels.setdefault((label.tool, spec.label_column(number)), number)
            for number, label in enumerate(system.labels)
        ]
        edges = [list(dict.fromkeys((labels[edge.label], edge.target) for edge in out)) for out in system.transitions]
        self._classes: Final = bisimulation_classes([True] * len(edges), edges)
        first = class_representatives(self._classes)
        quotient = [dict.fromkeys((label, self._classes[target]) for label, target in edges[state]) for state in first]
        starts = list(dict.fromkeys((self._classes[state], 0) for state in system.initial_states))
        nodes = [*starts] if len(starts) == 1 else [_VIRTUAL_START, *starts]
        self._numbers: Final = {node: number for number, node in enumerate(nodes)}
        transitions: list[list[tuple[int, int]]] = []
        accepting: list[bool] = []
        for node in nodes:  # breadth first; the list grows during the loop
            abstract, spec_state = node
            out: list[tuple[int, int]] = []
            if node != _VIRTUAL_START:
                for label, target in quotient[abstract]:
                    next_spec_state = spec.transitions[spec_state][label]
                    if next_spec_state is not None:
                        reached = (target, next_spec_state)
                        if reached not in self._numbers:
                            self._numbers[reached] = len(nodes)
                            nodes.append(reached)
                        out.append((label, self._numbers[reached]))
            transitions.append(out)
            accepting.append(node != _VIRTUAL_START and spec.accepting[spec_state])
        if len(starts) > 1:
            transitions[0] = list(dict.fromkeys(edge for start in starts for edge in transitions[self._numbers[start]]))
            accepting[0] = any(accepting[self._numbers[start]] for start in starts)
        alive = coreachable(accepting, [[target for _, target in out] for out in transitions])
        self.transitions: Final = [[(label, target) for label, target in out if alive[target]] for out in transitions]
        self.accepting: Final = accepting
        self.spec_states: Final = [spec_state for _, spec_state in nodes]

    def node_number(self, abstract_state: int, spec_state: int) -> int | None:
        """The number of a node; None if it was not reached."""
        return self._numbers.get((self._classes[abstract_state], spec_state))

    def used_transitions(self, length: int) -> set[tuple[int, int]]:
        """The nodes and labels of the calls that some accepted sequence of ``length`` calls makes."""
        alive = [self.accepting]
        for _ in range(length):
            alive.append([any(alive[-1][target] for _, target in out) for out in self.transitions])
        used: set[tuple[int, int]] = set()
        layer = {0} if alive[length][0] else set[int]()
        for can_accept in reversed(alive[:length]):
            calls = [(node, label, to) for node in layer for label, to in self.transitions[node] if can_accept[to]]
            used.update((node, label) for node, label, _ in calls)
            layer = {target for _, _, target in calls}
        return used


@dataclass(frozen=True, slots=True)
class ProductState:
    """The position of a trace: its node, and the two state numbers that the node was merged from."""

    node: int
    abstract_state: int
    spec_state: int


class Product(SequenceGraph):
    """The reachable part of abstract states x automata for one environment.

    Nodes are numbers; node 0 is the start. Where traces can begin in different abstract states, node 0 stands for all
    of them and the first move decides. Only moves after which acceptance is reachable are kept.

    Attributes:
        automata: what accepted sequences satisfy.
        predicates: what the automata observe of calls.
        system: the abstract transition system.
        overapproximate: whether several search states are explored for each abstract state.
    """

    def __init__(
        self, environment: Environment, automata: Sequence[Automaton], *, overapproximate: bool = False
    ) -> None:
        """`overapproximate`: for claims of impossibility, see `lawtrace.solver.planner.transition_system`."""
        if any(automaton.is_quantified for automaton in automata):
            raise ValueError("a rule with variables takes part with its skeleton: see TraceSpec.automata")
        self.overapproximate: Final = overapproximate
        self.predicates: Final = ObservedPredicates(automata)
        self.system: Final[TransitionSystem] = transition_system(
            environment, self.predicates, overapproximate=overapproximate
        )
        self.automata: Final = tuple(automata)
        self._spec: Final = SpecAutomaton(self.system, self.predicates, automata)
        self._graph: Final = ProductGraph(self.system, self._spec)
        tools = list(environment.tools)
        labels = [tools.index(label.tool) for label in self.system.labels]
        edges = [[(labels[label], target) for label, target in out] for out in self._graph.transitions]
        self._classes: Final = bisimulation_classes(self._graph.accepting, edges)
        kept = class_representatives(self._classes)
        moves = [
            tuple(Move(tools[tool], to) for tool, to in dict.fromkeys((t, self._classes[to]) for t, to in edges[node]))
            for node in kept
        ]
        super().__init__(environment, moves, [self._graph.accepting[node] for node in kept])

    def automaton_transitions(self, automaton: Automaton, length: int) -> set[tuple[int, int]]:
        """The transitions (state, letter) of one of the automata that accepted sequences of that length take."""
        spec = SpecAutomaton(self.system, self.predicates, self.automata, watch=automaton)
        graph = ProductGraph(self.system, spec)
        taken: set[tuple[int, int]] = set()
        for node, label in graph.used_transitions(length):
            transition = spec.watched_transitions[graph.spec_states[node]][label]
            assert transition is not None
            taken.add(transition)
        return taken

    def initial_state(self, search_state: SearchState) -> ProductState | None:
        """The product state before the first call; None if the abstract state was never reached."""
        return self._product_state(self.system.state_number(search_state), 0)

    def next_state(self, before: ProductState, search_state: SearchState) -> ProductState | None:
        """The product state after a call from ``before`` led to the search state; None if it was never reached.

        The call need not be a move of the product. A caller who knows four rows may act like one who knows three, and
        only the abstract state afterwards tells how many are left.
        """
        label = self.system.label_number(search_state.events[-1])
        spec_state = None if label is None else self._spec.transitions[before.spec_state][label]
        if spec_state is None:
            return None
        if self.system.abstraction.is_exact:
            targets = [edge.target for edge in self.system.transitions[before.abstract_state] if edge.label == label]
            if len(targets) <= 1:
                return self._product_state(targets[0], spec_state) if targets else None
        if self.system.is_unchanged_by(search_state.events[-1].tool):
            return self._product_state(before.abstract_state, spec_state)
        return self._product_state(self.system.state_number(search_state), spec_state)

    def _product_state(self, abstract_state: int | None, spec_state: int) -> ProductState | None:
        if abstract_state is None:
            return None
        number = self._graph.node_number(abstract_state, spec_state)
        return None if number is None else ProductState(self._classes[number], abstract_state, spec_state)


def environment_scope(environment: Environment) -> CallScope:
    """The call sequences that meet the preconditions of the environment, as a deterministic scope."""
    product = Product(environment, (), overapproximate=True)
    start = frozenset({0})
    numbers = {start: 0}
    rows: list[list[tuple[int, int]]] = []
    tools = tuple(environment.tools)
    for nodes in (waiting := [start]):  # subset construction; the list grows during the loop
        targets: dict[str, set[int]] = {}
        for node in nodes:
            for move in product.moves[node]:
                targets.setdefault(move.tool, set()).add(move.target)
        row: list[tuple[int, int]] = []
        for index, tool in enumerate(tools):
            if tool in targets:
                subset = frozenset(targets[tool])
                if subset not in numbers:
                    numbers[subset] = len(waiting)
                    waiting.append(subset)
                row.append((index, numbers[subset]))
        rows.append(row)
    classes = bisimulation_classes([True] * len(rows), rows)  # only whether events are pending matters, not which
    moves = tuple(
        {tools[index]: classes[target] for index, target in rows[state]} for state in class_representatives(classes)
    )
    return CallScope("environment", tools, moves)
