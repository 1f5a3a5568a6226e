"""Windows between times of which some are open.

A fixed span is a difference constraint. The end of a calendar span ascends with its beginning, day by day: against a
concrete later time it is a bound on the earlier one; between two open times it is a chain over the days on which the
earlier one can lie, from the known start to the known end of the session.
"""

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import z3

from lawtrace.environments.spec.clock import SECONDS_PER_DAY as DAY
from lawtrace.environments.spec.types import Value as Truth
from lawtrace.solver.logic.windows import Span, Window
from lawtrace.solver.search.smt.open_values import Unsupported
from lawtrace.solver.search.smt.symbolic_logic import SymbolicLogic

Seconds = Any
"""A time: a whole number of seconds, or an expression."""

_SLACK: Final = {"calendar day": 1, "calendar month": 31, "calendar year": 366, "business day": 3}
"""No unit of the calendar is longer than so many days, on average."""
_FIRST_DAY: Final = -719_162
MOST_DAYS: Final = 2000
"""A chain over more days is not built."""


@dataclass(frozen=True, slots=True)
class TimeBounds:
    """When the steps may take place: `start` and `end`, in seconds."""

    start: int
    end: int


class SymbolicWindows:
    """Whether one time is in a window from another."""

    def __init__(self, logic: SymbolicLogic, bounds: TimeBounds) -> None:
        self._logic = logic
        self._bounds = bounds

    def contains(self, window: Window, earlier: Seconds, later: Seconds) -> Truth:
        """Whether two times are so far apart, as `Window.contains`."""
        opened = self.opened(window, earlier, later)
        if opened is False:
            return False
        return self._logic.all([opened, self._logic.negate(self.closed(window, earlier, later))])

    def opened(self, window: Window, earlier: Seconds, later: Seconds) -> Truth:
        """Whether the lower bound is reached."""
        if window.lower is None:
            return True
        return self._past(window.lower.span, earlier, later, reached=not window.lower.strict)

    def closed(self, window: Window, earlier: Seconds, later: Seconds) -> Truth:
        """Whether the upper bound is passed."""
        if window.upper is None:
            return False
        return self._past(window.upper.span, earlier, later, reached=window.upper.strict)

    def _past(self, span: Span, earlier: Seconds, later: Seconds, *, reached: bool) -> Truth:
        """Whether the later time is after the end of a span; `reached`: or at it."""
        if not z3.is_expr(earlier):
            end = span.end(earlier)
            return later >= end if reached else later > end
        if z3.is_expr(later) and earlier.eq(later) and span.amount:
            return False
        if span.fixed:
            gap = 0 if z3.is_expr(later) and earlier.eq(later) else later - earlier
            return gap >= span.seconds if reached else gap > span.seconds
        if not z3.is_expr(later):
            return earlier < DAY * self._first_day_not_past(span, later, reached=reached)
        end = self._end(span, earlier)
        return later >= end if reached else later > end

    def _first_day_not_past(self, span: Span, later: int, *, reached: bool) -> int:
        """The first day from which the span does not end before (or at) a time."""
        today = later // DAY
        low = max(_FIRST_DAY, today - (span.amount + 2) * _SLACK[span.unit] - 10)
        days = range(low, today + 2)
        place = bisect_left(
            days, True, key=lambda day: span.end(day * DAY) > later if reached else span.end(day * DAY) >= later
        )
        return low + place

    def _end(self, span: Span, earlier: z3.ArithRef) -> z3.ArithRef:
        """The end of a calendar span that begins at an open time."""
        days = range(self._bounds.start // DAY, self._bounds.end // DAY + 1)
        if len(days) > MOST_DAYS:
            raise Unsupported(f"`{span}` from an open time in a session of more than {MOST_DAYS} days")
        ends = [(day, span.end(day * DAY)) for day in days]
        chain: z3.ArithRef = self._logic.numeral(ends[-1][1])
        for (day, end), (_, following) in reversed(list(pairwise(ends))):
            if end != following:
                chain = z3.If(earlier < DAY * (day + 1), end, chain)
        return chain
