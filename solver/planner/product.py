"""World and control walked side by side: one node for the facts and what the calls so far mean."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.solver.ltlf import Automaton
from lawtrace.solver.model_checking.graph_reduction import bisimulation_classes, class_representatives, coreachable
from lawtrace.solver.planner.search_state import SearchState
from lawtrace.solver.planner.spec_automaton import SpecAutomaton
from lawtrace.solver.planner.transition_system import TransitionSystem, transition_system
from lawtrace.solver.predicates import ObservedPredicates


class ProductGraph:
    """The nodes that can be reached and from which a good end can be, and the kinds of calls between them.

    Facts are one where no call that the control tells apart leads on differently. Node 0 is the start; where traces
    can begin with different facts, it stands for all of them.

    Attributes:
        moves: for each node the label and the target of the calls from there; of labels that the control does not tell
            apart, one of each tool.
        accepting: for each node whether a trace may end there.
        controls: for each node the state of the control.
    """

    def __init__(self, graph: TransitionSystem, control: SpecAutomaton) -> None:
        alike: dict[Hashable, int] = {}
        labels = [
            alike.setdefault((label.tool, control.column(number)), number) for number, label in enumerate(graph.labels)
        ]
        edges = [list(dict.fromkeys((labels[edge.label], edge.target) for edge in edges)) for edges in graph.edges]
        self._facts: Final = bisimulation_classes(graph.keeping, edges)
        first = class_representatives(self._facts)
        world = [dict.fromkeys((label, self._facts[target]) for label, target in edges[facts]) for facts in first]
        beginnings = list(dict.fromkeys((self._facts[start], 0) for start in graph.initial_states))
        nodes = [*beginnings] if len(beginnings) == 1 else [_VIRTUAL_START, *beginnings]
        self._numbers: Final = {node: number for number, node in enumerate(nodes)}
        moves: list[list[tuple[int, int]]] = []
        accepting: list[bool] = []
        for node in nodes:  # grows while it is read: breadth first
            facts, state = node
            out: list[tuple[int, int]] = []
            if node != _VIRTUAL_START:
                for label, target in world[facts]:
                    following = control.after[state][label]
                    if following is not None:
                        reached = (target, following)
                        if reached not in self._numbers:
                            self._numbers[reached] = len(nodes)
                            nodes.append(reached)
                        out.append((label, self._numbers[reached]))
            moves.append(out)
            accepting.append(node != _VIRTUAL_START and graph.keeping[first[facts]] and control.accepting[state])
        if len(beginnings) > 1:
            moves[0] = list(dict.fromkeys(move for start in beginnings for move in moves[self._numbers[start]]))
            accepting[0] = any(accepting[self._numbers[start]] for start in beginnings)
        hope = coreachable(accepting, [[target for _, target in out] for out in moves])
        self.moves: Final = [[(label, target) for label, target in out if hope[target]] for out in moves]
        self.accepting: Final = accepting
        self.spec_states: Final = [state for _, state in nodes]

    def number(self, facts: int, control: int) -> int | None:
        """The number of a node; None if it was not reached."""
        return self._numbers.get((self._facts[facts], control))

    def used_transitions(self, length: int) -> set[tuple[int, int]]:
        """The nodes and labels of the calls that some walk of ``length`` calls makes which ends well."""
        alive = [self.accepting]
        for _ in range(length):
            alive.append([any(alive[-1][target] for _, target in out) for out in self.moves])
        taken: set[tuple[int, int]] = set()
        layer = {0} if alive[length][0] else set[int]()
        for ends_well in reversed(alive[:length]):
            calls = [(node, label, to) for node in layer for label, to in self.moves[node] if ends_well[to]]
            taken.update((node, label) for node, label, _ in calls)
            layer = {target for _, _, target in calls}
        return taken


_VIRTUAL_START: Final = (-1, 0)
"""The node that stands for all beginnings."""


@dataclass(frozen=True, slots=True)
class ProductMove:
    """A call that can be made from a node, and the node it leads to."""

    tool: str
    target: int


@dataclass(frozen=True, slots=True)
class ProductState:
    """Where a trace is: its node, and what that follows from: the numbers of the facts and of the control's state."""

    node: int
    facts: int
    control: int


class Product:
    """The reachable part of facts x automata for one environment.

    Nodes are numbers; node 0 is the start. Where traces can begin with different facts, it stands for all of them,
    and the first move decides. Only moves after which some number of calls ends well are moves at all.

    Attributes:
        moves: for each node the calls from there.
        interest: what the automata look at in calls.
        graph: the facts.
        generous: whether it follows more than one situation for each facts.
    """

    def __init__(self, environment: Environment, automata: Sequence[Automaton], *, generous: bool = False) -> None:
        """`generous`: for what is claimed to be impossible, see `lawtrace.solver.planner.transition_system`."""
        self.environment: Final = environment
        self.generous: Final = generous
        self.interest: Final = ObservedPredicates(automata)
        self.graph: Final[TransitionSystem] = transition_system(environment, self.interest, generous=generous)
        self._automata: Final = tuple(automata)
        self._control: Final = SpecAutomaton(self.graph, self.interest, automata)
        self._joined: Final = ProductGraph(self.graph, self._control)
        tools = list(environment.tools)
        labels = [tools.index(label.tool) for label in self.graph.labels]
        moves = [[(labels[label], target) for label, target in out] for out in self._joined.moves]
        self._classes: Final = bisimulation_classes(self._joined.accepting, moves)
        self.moves: Final = [
            tuple(
                ProductMove(tools[tool], to)
                for tool, to in dict.fromkeys((t, self._classes[to]) for t, to in moves[node])
            )
            for node in class_representatives(self._classes)
        ]
        self._alive: Final = [[self._joined.accepting[node] for node in class_representatives(self._classes)]]

    def can_finish(self, node: int, remaining: int) -> bool:
        """Whether some ``remaining`` calls lead from the node to acceptance by every automaton."""
        while len(self._alive) <= remaining:
            nearer = self._alive[-1]
            self._alive.append([any(nearer[move.target] for move in moves) for moves in self.moves])
        return self._alive[remaining][node]

    def completable_moves(self, node: int, remaining: int) -> list[ProductMove]:
        """The moves after which the rest of a walk of ``remaining`` calls can still be completed."""
        return [move for move in self.moves[node] if self.can_finish(move.target, remaining - 1)]

    def feasible_pairs(self, length: int) -> set[tuple[str, str]]:
        """The ordered pairs of adjacent tools that occur in some accepted walk of that length."""
        pairs: set[tuple[str, str]] = set()
        layer: dict[int, set[str]] = {0: set()}
        for remaining in range(length, 0, -1):
            following: dict[int, set[str]] = {}
            for node, arrived_by in layer.items():
                for move in self.completable_moves(node, remaining):
                    pairs.update((previous, move.tool) for previous in arrived_by)
                    following.setdefault(move.target, set()).add(move.tool)
            layer = following
        return pairs

    def transitions(self, automaton: Automaton, length: int) -> set[tuple[int, int]]:
        """The transitions (state, letter) of one of the automata that accepted walks of that length take."""
        control = SpecAutomaton(self.graph, self.interest, self._automata, watch=automaton)
        joined = ProductGraph(self.graph, control)
        taken: set[tuple[int, int]] = set()
        for node, label in joined.used_transitions(length):
            transition = control.watched_transitions[joined.spec_states[node]][label]
            assert transition is not None
            taken.add(transition)
        return taken

    def start(self, situation: SearchState) -> ProductState | None:
        """The place of a situation before the first call; None if its facts are not among those that are known."""
        return self._place(self.graph.number(situation), 0)

    def after(self, place: ProductState, situation: SearchState) -> ProductState | None:
        """The place of a situation whose last call was made at a place; None if it is not among those that are known.

        That the call was a move of the product is not demanded: a fourth row that the caller knows is as good as the
        third, and only the facts of the situation itself tell how many are left.
        """
        label = self.graph.label(situation.events[-1])
        control = None if label is None else self._control.after[place.control][label]
        if control is None:
            return None
        if self.graph.abstraction.is_exact:
            targets = [edge.target for edge in self.graph.edges[place.facts] if edge.label == label]
            if len(targets) <= 1:
                return self._place(targets[0], control) if targets else None
        return self._place(self.graph.number(situation), control)

    def carries(self, node: int, tools: tuple[str, ...]) -> bool:
        """Whether a walk can be completed from a node with exactly these tools, by what the product knows."""
        here = {node}
        for tool in tools:
            here = {move.target for node in here for move in self.moves[node] if move.tool == tool}
        return any(self.can_finish(node, 0) for node in here)

    def _place(self, facts: int | None, control: int) -> ProductState | None:
        number = None if facts is None else self._joined.number(facts, control)
        return None if facts is None or number is None else ProductState(self._classes[number], facts, control)
