"""Tool sequences that several graphs have in common, without their product.

Each factor decides exactly which of its nodes can finish in a number of calls. That all of them can is necessary, not
sufficient: three open duties need three calls, even if each of the factors needs one. So the cost of a call is divided
among the factors whose state it changes, and the costs of their shortest ways to acceptance are added up. What is left
to find out is found by the search, which goes back.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import reduce
from heapq import heappop, heappush
from typing import Final, TypeVar, overload

from lawtrace.environments.spec.declaration import Environment
from lawtrace.solver.planner.sequence_graph import Move, PairsAhead, SequenceGraph

CALL_COST: Final = 5_040
"""What a call costs, divided among factors. Rounding down keeps the sum a lower bound."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position: what distinguishes it from others, and its node in each factor."""

    key: Hashable
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Factor:
    """A graph, and for each of its nodes the least cost to acceptance; None if acceptance is unreachable."""

    graph: SequenceGraph
    costs: Sequence[int | None]


def factors_of(graphs: Sequence[SequenceGraph], changing: Sequence[AbstractSet[str]]) -> list[Factor]:
    """The factors with their costs. `changing`: of each graph the tools whose costs it bears, alone or with others."""
    bearing = {tool: sum(tool in tools for tools in changing) for tool in graphs[0].tool_numbers}
    return [
        Factor(graph, _least_costs(graph, {tool: CALL_COST // bearing[tool] for tool in tools}))
        for graph, tools in zip(graphs, changing, strict=True)
    ]


def _least_costs(graph: SequenceGraph, cost_of: Mapping[str, int]) -> list[int | None]:
    before: list[list[tuple[int, int]]] = [[] for _ in graph.moves]
    for node, moves in enumerate(graph.moves):
        for tool, target in moves:
            before[target].append((cost_of.get(tool, 0), node))
    least: list[int | None] = [None] * len(before)
    waiting = [(0, node) for node, accepts in enumerate(graph.finishing_nodes(0)) if accepts]
    while waiting:
        cost, node = heappop(waiting)
        if least[node] is None:
            least[node] = cost
            for more, earlier in before[node]:
                heappush(waiting, (cost + more, earlier))
    return least


Value = TypeVar("Value", covariant=True)


class _ByNode(Sequence[Value]):
    """A value for each node, computed when it is asked for."""

    def __init__(self, value_at: Callable[[int], Value], count: Callable[[], int]) -> None:
        self._value_at = value_at
        self._count = count

    def __len__(self) -> int:
        return self._count()

    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Value]: ...
    def __getitem__(self, index: int | slice) -> Value | Sequence[Value]:
        return self._value_at(index) if isinstance(index, int) else [self._value_at(n) for n in range(len(self))[index]]


class JointGraph(SequenceGraph):
    """A graph of which each path is one of every factor. Nodes are numbered as they are found.

    Whether a node can finish, and with which pairs, is an upper bound.
    """

    def __init__(
        self,
        environment: Environment,
        factors: Sequence[Factor],
        starts: Sequence[Place],
        follow: Callable[[Place], Iterable[tuple[str, Place]]],
    ) -> None:
        """
        Args:
            starts: where sequences begin. Node 0 stands for all of them.
            follow: the calls that are possible at a place. Places in which a factor cannot finish are left out.
        """
        self._factors: Final = factors
        self._follow: Final = follow
        self._starts: Final = [place for place in starts if self._is_alive(place)]
        self._places: Final[list[Place | None]] = [None]
        self._numbers: Final[dict[Hashable, int]] = {}
        self._found: Final[dict[int, tuple[Move, ...]]] = {}
        super().__init__(environment, self._by_node(self._moves_at), [])
        self._ahead: Final[dict[int, PairsAhead]] = {}

    def number(self, place: Place) -> int | None:
        """The number of a place; None if a factor cannot finish there."""
        if place.key not in self._numbers:
            if not self._is_alive(place):
                return None
            self._numbers[place.key] = len(self._places)
            self._places.append(place)
        return self._numbers[place.key]

    def finishing_nodes(self, remaining: int) -> Sequence[bool]:
        layers = [factor.graph.finishing_nodes(remaining) for factor in self._factors]

        def finishes(place: Place) -> bool:
            if not all(layer[node] for layer, node in zip(layers, place.nodes, strict=True)):
                return False
            costs = [factor.costs[node] or 0 for factor, node in zip(self._factors, place.nodes, strict=True)]
            return sum(costs) <= remaining * CALL_COST

        return self._by_node(lambda node: any(map(finishes, self._places_of(node))))

    def pairs_ahead(self, remaining: int) -> PairsAhead:
        if remaining not in self._ahead:
            parts = [factor.graph.pairs_ahead(remaining) for factor in self._factors]

            def common(bits: Sequence[Sequence[int]]) -> Sequence[int]:
                def at(place: Place) -> int:
                    return reduce(int.__and__, [of[node] for of, node in zip(bits, place.nodes, strict=True)])

                return self._by_node(lambda node: reduce(int.__or__, map(at, self._places_of(node)), 0))

            first, inside = common([part.first for part in parts]), common([part.inside for part in parts])
            self._ahead[remaining] = PairsAhead(parts[0].rows, first, inside)
        return self._ahead[remaining]

    def _is_alive(self, place: Place) -> bool:
        return None not in [factor.costs[node] for factor, node in zip(self._factors, place.nodes, strict=True)]

    def _places_of(self, node: int) -> Sequence[Place]:
        """The place of a node, or all in which sequences begin."""
        place = self._places[node]
        return self._starts if place is None else (place,)

    def _moves_at(self, node: int) -> tuple[Move, ...]:
        if node not in self._found:
            followed = [edge for place in self._places_of(node) for edge in self._follow(place)]
            numbered = [(tool, self.number(place)) for tool, place in followed]
            self._found[node] = tuple(dict.fromkeys(Move(tool, to) for tool, to in numbered if to is not None))
        return self._found[node]

    def _by_node(self, value_at: Callable[[int], Value]) -> Sequence[Value]:
        return _ByNode(value_at, lambda: len(self._places))
