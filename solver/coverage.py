"""Coverage of a set of traces: adjacent-tool coverage and safety-critical coverage (P 5.2, Eq. 1, Table 2)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lawtrace.environments.declaration import Environment
from lawtrace.environments.events import Event
from lawtrace.solver.walks import pairs_of


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a set of traces covers.

    Attributes:
        traces: how many traces were measured.
        pairs: distinct ordered pairs of adjacent completed calls.
        all_pairs: the square of the number of tools.
        critical: critical tools that occur.
        all_critical: critical tools of the environment.
    """

    traces: int
    pairs: frozenset[tuple[str, str]]
    all_pairs: int
    critical: frozenset[str]
    all_critical: frozenset[str]

    @property
    def atc(self) -> float:
        """Adjacent-tool coverage: distinct adjacent pairs / |A| squared, from 0 to 1."""
        return len(self.pairs) / self.all_pairs

    @property
    def critical_share(self) -> float:
        """S.C. coverage: critical tools that occur / critical tools, from 0 to 1."""
        return len(self.critical) / len(self.all_critical) if self.all_critical else 1.0


def measure_coverage(environment: Environment, traces: Iterable[Sequence[Event]]) -> Coverage:
    """The coverage of the completed calls of some traces."""
    pairs: set[tuple[str, str]] = set()
    occurring: set[str] = set()
    count = 0
    for events in traces:
        tools = tuple(event.tool for event in events if event.completed)
        pairs |= pairs_of(tools)
        occurring.update(tools)
        count += 1
    return Coverage(
        count,
        frozenset(pairs),
        len(environment.tools) ** 2,
        frozenset(occurring) & environment.critical_tools,
        environment.critical_tools,
    )
