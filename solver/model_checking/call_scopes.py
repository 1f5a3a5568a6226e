"""Over which sequences of calls a claim about rules is made: its scope.

In both scopes a step is one call of one tool of the environment, which completes or is refused. A refused call makes
no plain atom true, but it is a step, and a monitor sees it.

- ``free``: any calls in any order.
- ``environment``: a call completes only where its preconditions are met, by the facts that the planner goes by
  (`lawtrace.solver.planner.product`): what it refers to has been looked up, something is pending where it records
  what is pending. A refused call is possible anywhere and changes nothing.

Conditions on arguments and results are free in both: each may be met or not, in any combination. So the scopes hold
every trace there is and some that there are not. *No trace does this* is therefore a safe claim; a trace that is found
may need arguments or amounts that do not go together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lawtrace.environments.spec.declaration import Environment
from lawtrace.solver.ltlf import Alphabet, Atom, Condition

ScopeName = Literal["free", "environment"]


@dataclass(frozen=True, slots=True)
class AbstractCall:
    """One call, as far as rules can tell calls apart.

    Attributes:
        tool: the tool called.
        completed: False for a call that was refused.
        met: the conditions on the call that are met; every other condition is not.
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
    """Places, and the completed calls between them. A trace begins at place 0 and may end anywhere.

    Attributes:
        name: see the module docstring.
        tools: all tools of the environment.
        moves: for each place, the tools of which a call can complete there, and the place it leads to.
    """

    name: ScopeName
    tools: tuple[str, ...]
    moves: tuple[Mapping[str, int], ...]

    def successor(self, state: int, step: AbstractCall) -> int | None:
        """The place after a step, None where the step is not possible."""
        return self.moves[state].get(step.tool) if step.completed else state


def free_scope(environment: Environment) -> CallScope:
    """Any calls in any order."""
    return CallScope("free", tuple(environment.tools), (dict.fromkeys(environment.tools, 0),))
