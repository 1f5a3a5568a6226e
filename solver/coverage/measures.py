"""Coverage of a set of traces: adjacent-tool coverage and safety-critical coverage (P 5.2, Eq. 1, Table 2)."""

from collections.abc import Iterable, Sequence

from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.events import Event
from lawtrace.schemas.findings import Coverage
from lawtrace.solver.planner.trace_spec import adjacent_pairs
from lawtrace.solver.rule_monitors import monitor_of
from lawtrace.solver.rules import Rule


def measure_coverage(environment: Environment, traces: Iterable[Sequence[Event]]) -> Coverage:
    """The coverage of the completed calls of some traces."""
    pairs: set[tuple[str, str]] = set()
    occurring: set[str] = set()
    count = 0
    for events in traces:
        tools = tuple(event.tool for event in events if event.completed)
        pairs |= adjacent_pairs(tools)
        occurring.update(tools)
        count += 1
    return Coverage(
        count,
        frozenset(pairs),
        len(environment.tools) ** 2,
        frozenset(occurring) & environment.critical_tools,
        environment.critical_tools,
    )


def count_triggers(rules: Sequence[Rule], traces: Iterable[Sequence[Event]]) -> dict[str, int]:
    """For each rule the number of traces that trigger it."""
    counts = {rule.id: 0 for rule in rules}
    for trace in traces:
        for rule, status in monitor_of(rules).run(trace).statuses().items():
            counts[rule] += status.triggered
    return counts
