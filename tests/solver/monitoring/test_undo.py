"""Undoable monitors: after going back they cannot be told from monitors that never went ahead."""

from collections.abc import Sequence

import pytest

from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import Event
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic.syntax import Formula, is_untimed
from lawtrace.solver.monitoring.first_order import FirstOrderRule
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.monitoring.undo import UndoLog
from tests.support.random_formulas import RandomFormulas


def compiled(formula: Formula) -> Automaton | FirstOrderRule:
    return compile_formula(formula) if is_untimed(formula) else FirstOrderRule(formula)


def feed(monitor: Monitor, events: Sequence[Event]) -> None:
    for event in events:
        monitor.feed(event)


def events_of(source: RandomFormulas, start: int) -> list[Event]:
    """One event a step, not earlier than the start."""
    time, events = start, list[Event]()
    for _ in range(source.random.randrange(6)):
        time = source.later(time)
        events.append(source.event(time))
    return events


def check(seeds: range) -> None:
    for seed in seeds:
        source = RandomFormulas(seed)
        try:
            rules = {"one": compiled(source.formula()), "two": compiled(source.formula())}
        except FormulaError:
            continue
        log = UndoLog()
        monitor = log.undoable(Monitor)(rules, track=log.undoable)
        fresh = Monitor(rules)
        time = 19_780 * 86_400 if source.calendar else 0
        for _ in range(4):
            before = ordered(monitor)
            with log.attempt():
                feed(monitor, events_of(source, time))
                inner = ordered(monitor)
                with log.attempt():
                    feed(monitor, events_of(source, time + 10**8))
                assert ordered(monitor) == inner, seed
            assert ordered(monitor) == before, seed
            kept = events_of(source, time)
            feed(monitor, kept)
            feed(fresh, kept)
            time = kept[-1].time or 0 if kept else time
            assert ordered(monitor) == ordered(fresh), (seed, rules)


def ordered(monitor: Monitor) -> list[tuple[object, ...]]:
    """The statuses without the order of violations and values."""
    return [
        (name, status.verdict, status.triggered, status.first_irreparable, status.ending, frozenset(status.violations))
        for name, status in monitor.statuses().items()
    ]


def test_a_monitor_goes_back() -> None:
    check(range(250))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_many_monitors_go_back(part: int) -> None:
    check(range(1000 + part * 400, 1400 + part * 400))
