"""Monitors of rule sets, made once for each thread: making one takes a thousand times longer than judging a trace."""

import threading
from collections.abc import Sequence
from functools import lru_cache

from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.rules import Rule


def monitor_of(rules: Sequence[Rule]) -> Monitor:
    """A monitor that has seen no event. The next call with these rules in this thread clears it."""
    monitor = _made(threading.get_ident(), *rules)
    monitor.clear()
    return monitor


@lru_cache(maxsize=64)
def _made(_thread: int, *rules: Rule) -> Monitor:
    return Monitor({rule.id: rule.compiled for rule in rules})
