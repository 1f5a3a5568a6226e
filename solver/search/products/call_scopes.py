"""Scopes: the call sequences over which a claim about rules is made.

In both scopes a step is one call of one tool, which completes or is refused. A refused call makes no plain atom true,
but it is a step, and a monitor sees it.

- ``free``: any calls in any order.
- ``environment``: a call completes only if its preconditions are met in the planner's abstraction
  (`lawtrace.solver.planner.product.environment_scope`): its references have been looked up, and something is pending
  where it records pending events. A refused call is possible anywhere and changes nothing.

Conditions on arguments and results are unconstrained in both: each may hold or not, in any combination. So the scopes
contain every real trace and some others. *No trace does this* is a safe claim; a trace that is found may need
arguments or amounts that do not fit together.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.events import SPEAKERS
from lawtrace.solver.automata.alphabet import Alphabet
from lawtrace.solver.logic.conditions import Condition
from lawtrace.solver.logic.syntax import Atom
from lawtrace.solver.search.problem import ScopeName


@dataclass(frozen=True, slots=True)
class AbstractCall:
    """One call, as far as rules distinguish calls.

    Attributes:
        tool: the tool called.
        completed: False for a refused call.
        met: the conditions that hold of the call; all others do not.
    """

    tool: str
    completed: bool = True
    met: frozenset[Condition] = frozenset()

    def letter(self, alphabet: Alphabet) -> int:
        """The letter of this step in the alphabet of a rule."""
        return sum(
            bit
            for bit, atom in alphabet.by_tool.get(self.tool, ())
            if (self.completed or atom.attempted) and (atom.condition is None or atom.condition in self.met)
        )

    def __str__(self) -> str:
        calls = sorted(str(Atom(self.tool, condition)) for condition in self.met) or [self.tool]
        return " & ".join(calls) + ("" if self.completed else " refused")


AbstractTrace = tuple[AbstractCall, ...]


@dataclass(frozen=True, slots=True)
class CallScope:
    """A deterministic transition system over tool names. Traces begin in state 0 and may end anywhere.

    Attributes:
        name: see the module docstring.
        tools: all tools of the environment.
        moves: for each state the tools of which a call can complete, with the next state.
    """

    name: ScopeName
    tools: tuple[str, ...]
    moves: tuple[Mapping[str, int], ...]

    def successor(self, state: int, step: AbstractCall) -> int | None:
        """The state after a step; None if the step is not possible."""
        return self.moves[state].get(step.tool) if step.completed else state


def free_scope(environment: Environment, *, messages: bool = False) -> CallScope:
    """Any calls in any order; with messages, which records of tools without state always have."""
    tools = (*environment.tools, *(SPEAKERS if messages or not environment.simulated else ()))
    return CallScope("free", tools, (dict.fromkeys(tools, 0),))
