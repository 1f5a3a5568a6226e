"""The difficulty of contrast pairs: bounds that a recipe sets, and the measures that they are compared with."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.choices import TaskMode
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Event
from lawtrace.schemas.trace_options import ANY_DIFFICULTY, Difficulty
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import Trace


def check_difficulty(difficulty: Difficulty, mode: TaskMode) -> None:
    """Raises InputError if it bounds other traces than contrast pairs."""
    if difficulty != ANY_DIFFICULTY and mode != "contrasts":
        raise InputError(f"tasks.difficulty is for contrast pairs, and the trace mode is {mode!r}; leave it out")


class DifficultyMeter:
    """Measures compliant traces of one environment under one rule set."""

    def __init__(self, environment: Environment, rules: Sequence[Rule]) -> None:
        self._environment: Final = environment
        self._rules: Final = {rule.id: rule.compiled for rule in rules}

    def applying(self, trace: Trace) -> frozenset[str]:
        """The ids of the rules that the trace triggers."""
        monitor = Monitor(self._rules)
        monitor.run(trace.events)
        return frozenset(name for name, status in monitor.statuses().items() if status.triggered)

    def distance(self, trace: Trace) -> int:
        """The greatest number of calls between a compliance call and the call for which a rule demands it.

        A rule demands a compliance call for the call from which on, without the compliance call, the rule stays
        unfulfilled to the end: a payment before which no authentication was made, or after which no record follows.
        """
        events = trace.events
        between = [0]
        for duty, event in enumerate(events):
            if event.tool in self._environment.compliance_tools:
                others = [number for number in range(len(events)) if number != duty]
                starts = self._unfulfilled_from([events[number] for number in others])
                between += [abs(duty - others[start]) - 1 for start in starts]
        return max(between)

    def _unfulfilled_from(self, events: Sequence[Event]) -> list[int]:
        """For each rule that is not kept at the end: the event after which it was kept no more."""
        monitor = Monitor(self._rules)
        history = [monitor.final_statuses()]
        for event in events:
            monitor.feed(event)
            history.append(monitor.final_statuses())
        changes = list(enumerate(pairwise(history)))
        return [
            max(number for number, (before, _) in changes if before[name] == "kept")
            for name, ending in history[-1].items()
            if ending != "kept" and any(before[name] == "kept" for _, (before, _) in changes)
        ]

    def carries_out_enough(self, granted: Trace, least: Difficulty) -> bool:
        """Whether the side that carries the request out is long enough, and its duties are far enough."""
        return len(granted.calls) >= least.calls and (least.distance == 0 or self.distance(granted) >= least.distance)

    def enough_apply(self, side: Trace, least: Difficulty) -> bool:
        """Whether enough rules apply to a side."""
        return least.rules == 0 or len(self.applying(side)) >= least.rules
