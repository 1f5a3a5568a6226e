"""Facts and how calls lead from one to the next, found by making the calls.

From a situation that has certain facts (`solver.abstraction`), each kind of call of each tool (`solver.choices`) is run
by the simulator. So effects, knowledge and conditions have one meaning here and in the world. The situation is one that
is reached with fewest calls and smallest numbers, from one of a few initial states of the environment.

This is exact where situations with equal facts allow the same kinds of call, and a plan otherwise: whoever carries it
out checks each step (`solver.arguments`).
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

from environments.declaration import Environment
from environments.state import State
from solver.abstraction import Abstraction, Facts
from solver.choices import Chooser
from solver.interest import Interest
from solver.situations import Situation, follow, start

__all__ = ["Edge", "FactGraph", "fact_graph"]

STARTS = 24
"""How many initial states are looked at to know with which facts a trace can begin."""
ATTEMPTS = 6
"""How often a tool is tried in a situation in which no call of it completes; what the user says is drawn anew."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A call as the rules see it: its tool, which of the conditions on it are met (a bit mask), and where it leads."""

    tool: str
    met: int
    target: int


class FactGraph:
    """The facts that can be reached, and the calls between them.

    Attributes:
        starts: the numbers of the facts with which a trace can begin.
        edges: for each number the calls from there.
        keeping: for each number whether all values of quantified rules are satisfied.
    """

    def __init__(self, environment: Environment, interest: Interest) -> None:
        self._interest = interest
        self.abstraction = Abstraction(environment, interest)
        self.chooser = Chooser(environment, interest, self.abstraction.sort)
        self.numbers: dict[Facts, int] = {}
        self.edges: list[tuple[Edge, ...]] = []
        self.keeping: list[bool] = []
        self._queue: list[Situation] = []
        random = Random(f"{environment.name}/facts")
        states = [environment.populate(random) for _ in range(STARTS)]
        self.starts = tuple(dict.fromkeys(self._number(self.start(state)) for state in states))
        for situation in self._queue:  # grows while it is read: breadth first
            self.keeping.append(bool(self.abstraction.keeps(situation)))
            self.edges.append(tuple(self._edges(environment, interest, situation, random)))

    def start(self, state: State) -> Situation:
        """The situation before the first call."""
        situation = start(state, self._interest)
        if not self.abstraction.tells_rows_apart:
            return situation
        return replace(situation, findable=self.chooser.findable(situation, Random(0)))

    def _edges(self, environment: Environment, interest: Interest, situation: Situation, random: Random) -> list[Edge]:
        edges: dict[Edge, None] = {}
        for tool in environment.tools.values():
            for _ in range(ATTEMPTS):
                calls = [
                    follow(environment, situation, choice, interest)
                    for choice in self.chooser.spread(situation, tool, random)
                ]
                for after in filter(None, calls):
                    if self.abstraction.keeps(after) is not None:
                        edges[Edge(tool.name, interest.met(after.events[-1]), self._number(after))] = None
                if any(calls):
                    break
        return list(edges)

    def _number(self, situation: Situation) -> int:
        facts = self.abstraction.facts(situation)
        if facts not in self.numbers:
            self.numbers[facts] = len(self._queue)
            self._queue.append(situation)
        return self.numbers[facts]


def fact_graph(environment: Environment, interest: Interest) -> FactGraph:
    """The graph, made once for each environment and interest."""
    return _graph(_Asked(environment, interest, interest.identity))


@dataclass(frozen=True, slots=True)
class _Asked:
    environment: Environment
    interest: Interest
    identity: tuple[object, ...]

    def __hash__(self) -> int:
        return hash((self.environment, self.identity))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and self.environment is other.environment and self.identity == other.identity


@lru_cache(maxsize=64)
def _graph(asked: _Asked) -> FactGraph:
    return FactGraph(asked.environment, asked.interest)
