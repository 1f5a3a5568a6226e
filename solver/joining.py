"""World and control walked side by side: one node for the facts and what the calls so far mean."""

from collections.abc import Hashable
from typing import Final

from lawtrace.solver.control import Control
from lawtrace.solver.facts import FactGraph
from lawtrace.solver.reduction import hopeful, members, merged


class Joined:
    """The nodes that can be reached and from which a good end can be, and the kinds of calls between them.

    Facts are one where no call that the control tells apart leads on differently. Node 0 is the start; where traces
    can begin with different facts, it stands for all of them.

    Attributes:
        moves: for each node the label and the target of the calls from there; of labels that the control does not tell
            apart, one of each tool.
        accepting: for each node whether a trace may end there.
        controls: for each node the state of the control.
    """

    def __init__(self, graph: FactGraph, control: Control) -> None:
        alike: dict[Hashable, int] = {}
        labels = [
            alike.setdefault((label.tool, control.column(number)), number) for number, label in enumerate(graph.labels)
        ]
        edges = [list(dict.fromkeys((labels[edge.label], edge.target) for edge in edges)) for edges in graph.edges]
        self._facts: Final = merged(graph.keeping, edges)
        first = members(self._facts)
        world = [dict.fromkeys((label, self._facts[target]) for label, target in edges[facts]) for facts in first]
        beginnings = list(dict.fromkeys((self._facts[start], 0) for start in graph.starts))
        nodes = [*beginnings] if len(beginnings) == 1 else [_ANYWHERE, *beginnings]
        self._numbers: Final = {node: number for number, node in enumerate(nodes)}
        moves: list[list[tuple[int, int]]] = []
        accepting: list[bool] = []
        for node in nodes:  # grows while it is read: breadth first
            facts, state = node
            out: list[tuple[int, int]] = []
            if node != _ANYWHERE:
                for label, target in world[facts]:
                    following = control.after[state][label]
                    if following is not None:
                        reached = (target, following)
                        if reached not in self._numbers:
                            self._numbers[reached] = len(nodes)
                            nodes.append(reached)
                        out.append((label, self._numbers[reached]))
            moves.append(out)
            accepting.append(node != _ANYWHERE and graph.keeping[first[facts]] and control.accepting[state])
        if len(beginnings) > 1:
            moves[0] = list(dict.fromkeys(move for start in beginnings for move in moves[self._numbers[start]]))
            accepting[0] = any(accepting[self._numbers[start]] for start in beginnings)
        hope = hopeful(accepting, [[target for _, target in out] for out in moves])
        self.moves: Final = [[(label, target) for label, target in out if hope[target]] for out in moves]
        self.accepting: Final = accepting
        self.controls: Final = [state for _, state in nodes]

    def number(self, facts: int, control: int) -> int | None:
        """The number of a node; None if it was not reached."""
        return self._numbers.get((self._facts[facts], control))

    def taken(self, length: int) -> set[tuple[int, int]]:
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


_ANYWHERE: Final = (-1, 0)
"""The node that stands for all beginnings."""
