"""The product of the world and all rules, and from where a walk can still be completed.

A node says all that a plan needs to know: the facts of the world (`lawtrace.solver.facts`), and what the calls so
far mean for
what may follow (`lawtrace.solver.control`): what is to be recorded, and where each rule stands. For each node and
each number
of calls that remain, a pass from the end backwards says whether a good end can still be reached. The search takes only
such steps, so no walk ever has to be undone.

Nodes that no walk tells apart are one node (`lawtrace.solver.reduction`). So where a trace is, is kept beside it:
`Place`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lawtrace.environments.declaration import Environment
from lawtrace.solver.control import Control
from lawtrace.solver.facts import FactGraph, fact_graph
from lawtrace.solver.interest import Interest
from lawtrace.solver.joining import Joined
from lawtrace.solver.ltlf import Automaton
from lawtrace.solver.reduction import members, merged
from lawtrace.solver.situations import Situation


@dataclass(frozen=True, slots=True)
class Move:
    """A call that can be made from a node, and the node it leads to."""

    tool: str
    target: int


@dataclass(frozen=True, slots=True)
class Place:
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
        """`generous`: for what is claimed to be impossible, see `lawtrace.solver.facts`."""
        self.environment: Final = environment
        self.generous: Final = generous
        self.interest: Final = Interest(automata)
        self.graph: Final[FactGraph] = fact_graph(environment, self.interest, generous=generous)
        self._automata: Final = tuple(automata)
        self._control: Final = Control(self.graph, self.interest, automata)
        self._joined: Final = Joined(self.graph, self._control)
        tools = list(environment.tools)
        labels = [tools.index(label.tool) for label in self.graph.labels]
        moves = [[(labels[label], target) for label, target in out] for out in self._joined.moves]
        self._classes: Final = merged(self._joined.accepting, moves)
        self.moves: Final = [
            tuple(Move(tools[tool], to) for tool, to in dict.fromkeys((t, self._classes[to]) for t, to in moves[node]))
            for node in members(self._classes)
        ]
        self._alive: Final = [[self._joined.accepting[node] for node in members(self._classes)]]

    def can_finish(self, node: int, remaining: int) -> bool:
        """Whether some ``remaining`` calls lead from the node to acceptance by every automaton."""
        while len(self._alive) <= remaining:
            nearer = self._alive[-1]
            self._alive.append([any(nearer[move.target] for move in moves) for moves in self.moves])
        return self._alive[remaining][node]

    def live_moves(self, node: int, remaining: int) -> list[Move]:
        """The moves after which the rest of a walk of ``remaining`` calls can still be completed."""
        return [move for move in self.moves[node] if self.can_finish(move.target, remaining - 1)]

    def adjacent_pairs(self, length: int) -> set[tuple[str, str]]:
        """The ordered pairs of adjacent tools that occur in some accepted walk of that length."""
        pairs: set[tuple[str, str]] = set()
        layer: dict[int, set[str]] = {0: set()}
        for remaining in range(length, 0, -1):
            following: dict[int, set[str]] = {}
            for node, arrived_by in layer.items():
                for move in self.live_moves(node, remaining):
                    pairs.update((previous, move.tool) for previous in arrived_by)
                    following.setdefault(move.target, set()).add(move.tool)
            layer = following
        return pairs

    def transitions(self, automaton: Automaton, length: int) -> set[tuple[int, int]]:
        """The transitions (state, letter) of one of the automata that accepted walks of that length take."""
        control = Control(self.graph, self.interest, self._automata, watch=automaton)
        joined = Joined(self.graph, control)
        taken: set[tuple[int, int]] = set()
        for node, label in joined.taken(length):
            transition = control.watched[joined.controls[node]][label]
            assert transition is not None
            taken.add(transition)
        return taken

    def start(self, situation: Situation) -> Place | None:
        """The place of a situation before the first call; None if its facts are not among those that are known."""
        return self._place(self.graph.number(situation), 0)

    def after(self, place: Place, situation: Situation) -> Place | None:
        """The place of a situation whose last call was made at a place; None if it is not among those that are known.

        That the call was a move of the product is not demanded: a fourth row that the caller knows is as good as the
        third, and only the facts of the situation itself tell how many are left.
        """
        label = self.graph.label(situation.events[-1])
        control = None if label is None else self._control.after[place.control][label]
        if control is None:
            return None
        if self.graph.abstraction.counts_only:
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

    def _place(self, facts: int | None, control: int) -> Place | None:
        number = None if facts is None else self._joined.number(facts, control)
        return None if facts is None or number is None else Place(self._classes[number], facts, control)
