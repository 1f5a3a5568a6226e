"""The question of trace search, its answers, and what a search may use.

    Is there a trace, from here, in this world, within this budget, that keeps these rules and reaches this goal?

    Found        a trace
    Impossible   there is none; the obstacles of the core exclude all of them together
    Unknown      the budget was spent, or what was tried may not be all that matters

The form of a trace depends on the engine: steps of rules, events, or calls with their arguments. README.md says which
engine is asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

TraceT = TypeVar("TraceT", covariant=True)

ObstacleKind = Literal["precondition", "knowledge", "rule"]
ScopeName = Literal["free", "environment"]
"""Over which calls a claim is made: any calls, or those that meet the preconditions of the environment."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A precondition, missing knowledge or rule that may exclude a call or trace, in words. A rule has no tool."""

    kind: ObstacleKind
    text: str
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class Found(Generic[TraceT]):
    """A trace that keeps the rules and reaches the goal."""

    trace: TraceT


@dataclass(frozen=True, slots=True)
class Impossible:
    """No trace keeps the rules and reaches the goal.

    Attributes:
        core: obstacles that exclude it together, each of them needed as far as that was decided.
        calls: the claim covers traces of up to so many calls; None if it covers traces of any length.
    """

    core: tuple[Obstacle, ...] = ()
    calls: int | None = None

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules in the core."""
        return tuple(obstacle.text for obstacle in self.core if obstacle.kind == "rule")


@dataclass(frozen=True, slots=True)
class Proof(Impossible, Generic[TraceT]):
    """No trace keeps the rules and reaches the goal, and why each rule of the core is needed for that.

    Attributes:
        scope: the call sequences that the claim covers.
        nodes: how many nodes of a product were visited, which is the proof; 0 for another one.
        shown: what shows it, as a sentence, if it is another one.
        without: for each rule of the core a trace that does without it and keeps the others.
        undecided: rules of the core whose necessity was not decided.
    """

    scope: ScopeName = "free"
    nodes: int = 0
    shown: str = ""
    without: Mapping[str, TraceT] = field(default_factory=dict[str, Any])
    undecided: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    """Neither a trace nor a proof that there is none; why, as words after *because*."""

    why: str


Answer = Found[TraceT] | Impossible | Unknown


class Budget:
    """The steps that a search may take: events tried, nodes of a product made, or queries to Z3.

    Steps are counted, not seconds, so the same question gets the same answer on every machine. A step keeps at most one
    state, so memory is bounded, too.

    Attributes:
        steps: how many there are.
        left: how many are left; negative if one more was asked for.
        why: why a search that used it up has no answer, as words after *because*.
    """

    def __init__(self, steps: int, within: "Budget | None" = None, *, cost: int = 1, why: str = "") -> None:
        """`within`: a budget of several searches, which each step uses, too. `cost`: how much of that a step uses."""
        spent = within is not None and within.left < cost
        self.steps = steps
        self.left: int = -1 if spent else steps
        self.why: str = within.why if within is not None and spent else why or f"it takes more than {steps} steps"
        self._within = within
        self._cost = cost

    def part(self) -> "Budget":
        """A budget of as many steps as are left, for what is tried first. It uses what this is within, too."""
        return Budget(self.left, self._within, cost=self._cost)

    def spend(self, steps: int = 1) -> bool:
        """Use some steps; whether there were so many."""
        self.left -= steps
        if self._within is not None and not self._within.spend(steps * self._cost):
            self.left, self.why = -1, self._within.why
        return self.left >= 0
