"""Potential-based shaping of rewards: what the rules say about the trace so far, as one number.

For each rule, with d the events that it still needs to be kept (`Monitor.distances`) and m the fewest events that
violate it (`Monitor.margins`):

    cost = 1                                    if the rule is violated
           d / (2 (d + 1)) + 1 / (4 (m + 1))    otherwise; the second part is 0 if nothing violates the rule

The potential is minus the weight times the sum of all costs. So it depends on the state of the monitors only, and lies
between minus the weight times the number of rules and 0. A step from s to s' is rewarded by

    F = discount * potential(s') - potential(s), where the potential of the end of an episode is 0

(Ng, Harada and Russell, ICML 1999). Over an episode the sum of discount^t F_t is minus the potential of its start,
whatever is done (docs/training.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final

from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Event
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.rules import Rule


@dataclass(frozen=True, slots=True)
class Shaping:
    """How steps are rewarded besides the verdict.

    Attributes:
        weight: of the potential, which is what a violated rule costs; 0 for no shaping.
        discount: that of the learner, from above 0 to 1. With another one the guarantee does not hold.
    """

    weight: float = 0.0
    discount: float = 1.0

    def __post_init__(self) -> None:
        if not (isfinite(self.weight) and self.weight >= 0):
            raise InputError(f"shaping {self.weight}: expected a number from 0; 0 is no shaping")
        if not 0 < self.discount <= 1:
            raise InputError(f"discount {self.discount}: expected a number above 0 and up to 1")


class Potential:
    """The potential of a trace, which is followed event by event."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules: Final = rules
        self._monitor: Final = Monitor({rule.id: rule.compiled for rule in rules})

    def clear(self) -> None:
        """Begin a new trace. It is far cheaper than another object."""
        self._monitor.clear()

    def after(self, events: Sequence[Event], now: int) -> float:
        """Go on, and return minus the sum of the costs. `now`: the time after the events, in seconds."""
        monitor = self._monitor
        monitor.run(events)
        monitor.pass_time(now)
        return -sum(map(cost, monitor.distances(), monitor.margins()))


def cost(distance: int | None, margin: int | None) -> float:
    """The cost of a rule; see the module docstring. `distance`: None if it is violated."""
    if distance is None:
        return 1.0
    return distance / (2 * (distance + 1)) + (0.0 if margin is None else 1 / (4 * (margin + 1)))
