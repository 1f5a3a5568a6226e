"""Windows: how far apart in time two events of a trace may be.

Times are whole seconds; calendar spans read them as seconds since 1970-01-01T00:00Z and count days in UTC. A span is
fixed (`s min h d w`; a day is 24 hours, a week 7 days) or follows the calendar. With t the earlier time, t' the later:

    t, t' |= [<= n u]  iff  t' - t <= n u              t, t' |= [<= n calendar u]  iff  t' <= end(t, n u)
    t, t' |= [< n u]   iff  t' - t <  n u              t, t' |= [<  n calendar u]  iff  t' <  end(t, n u)
    [>= n u] and [> n u] are the negations of [< n u] and [<= n u]; a window with two bounds is their conjunction.

`end(t, n calendar days)` is the last second of the n-th day after the day of t, `end(t, n calendar months)` the last
second of the same day n months later, or of the last day of that month if it has no such day; years are 12 months;
`end(t, n business days)` is the last second of the n-th day after the day of t that is neither Saturday nor Sunday.
(Regulation (EEC, Euratom) No 1182/71, Article 3: the day of the event does not count, and a period ends with the last
hour of its last day. Public holidays differ between countries and are not known here.)
"""

import calendar
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from lawtrace.schemas.errors import FormulaError

Unit = Literal["s", "min", "h", "d", "w", "calendar day", "calendar month", "calendar year", "business day"]

SECONDS: Final[dict[str, int]] = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
"""The fixed units, in seconds."""

MAX_AMOUNT: Final = 10**12
"""Spans beyond this are typing errors; it keeps all dates within what `datetime` can compute, too."""
_MAX_CALENDAR: Final = 100_000
_LONGEST: Final = {True: 604_800, False: 367 * 86_400}
"""More seconds than one unit of a span has: fixed, of the calendar."""
_FIRST: Final = -60_000_000_000
"""A time that `datetime` knows."""


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time, ``72h`` or ``2 calendar months``.

    Attributes:
        amount: how many units, 0 or more.
        unit: see the module docstring.
    """

    amount: int
    unit: Unit = "s"

    def __post_init__(self) -> None:
        if self.amount < 0:
            raise FormulaError(f"a span of time is not negative: {self.amount} {self.unit}")
        if self.amount > (MAX_AMOUNT if self.fixed else _MAX_CALENDAR):
            raise FormulaError(f"{self.amount} {self.unit} is too long for a span of time")

    @property
    def fixed(self) -> bool:
        """Whether its length is the same at any date."""
        return self.unit in SECONDS

    @property
    def seconds(self) -> int:
        """The length of a fixed span. KeyError for one that follows the calendar."""
        return self.amount * SECONDS[self.unit]

    def end(self, start: int) -> int:
        """The last second of the span that begins at `start`."""
        if self.fixed:
            return start + self.seconds
        try:
            day = datetime.fromtimestamp(start, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
            match self.unit:
                case "calendar day":
                    last = day + timedelta(days=self.amount)
                case "business day":
                    last = _business_days_later(day, self.amount)
                case _:
                    last = _months_later(day, self.amount * (12 if self.unit == "calendar year" else 1))
            return int((last + timedelta(days=1)).timestamp()) - 1
        except (OverflowError, ValueError, OSError) as error:
            raise FormulaError(f"the time {start} plus {self} is not a date") from error

    def __str__(self) -> str:
        return f"{self.amount}{self.unit}" if self.fixed else f"{self.amount} {self.unit}{'s' * (self.amount != 1)}"


def _months_later(day: datetime, months: int) -> datetime:
    years, month = divmod(day.month - 1 + months, 12)
    year = day.year + years
    return day.replace(year=year, month=month + 1, day=min(day.day, calendar.monthrange(year, month + 1)[1]))


def _business_days_later(day: datetime, count: int) -> datetime:
    while count:
        day += timedelta(days=1)
        count -= day.weekday() < 5
    return day


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of a window. `strict`: the end itself is outside."""

    span: Span
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """A set of distances in time, see the module docstring. Without bounds it contains every distance.

    Attributes:
        lower: the least distance, None for 0.
        upper: the greatest distance, None for no limit.
    """

    lower: Bound | None = None
    upper: Bound | None = None

    def __post_init__(self) -> None:
        low, high = self.lower, self.upper
        if high is not None and high.strict and not high.span.amount and high.span.fixed:
            raise FormulaError(f"the window {self} contains no distance")
        if low is None or high is None or not (low.span.fixed and high.span.fixed):
            return
        gap = high.span.seconds - low.span.seconds - (1 if low.strict else 0) - (1 if high.strict else 0)
        if gap < 0:
            raise FormulaError(f"the window {self} contains no distance: its lower end is above its upper end")

    def contains(self, earlier: int, later: int) -> bool:
        """Whether two times are so far apart."""
        return self.opened(earlier, later) and not self.closed(earlier, later)

    def opened(self, earlier: int, later: int) -> bool:
        """Whether the lower bound is reached. It stays so at all later times."""
        if self.lower is None:
            return True
        end = self.lower.span.end(earlier)
        return later > end if self.lower.strict else later >= end

    def closed(self, earlier: int, later: int) -> bool:
        """Whether the upper bound is passed. It stays so at all later times."""
        deadline = self.deadline(earlier)
        return deadline is not None and later > deadline

    def deadline(self, earlier: int) -> int | None:
        """The last time inside the window that begins at `earlier`; None if it has no upper bound."""
        if self.upper is None:
            return None
        return self.upper.span.end(earlier) - (1 if self.upper.strict else 0)

    def opening(self, earlier: int) -> int:
        """The first time inside the window that begins at `earlier`, whatever its upper bound."""
        return earlier if self.lower is None else self.lower.span.end(earlier) + (1 if self.lower.strict else 0)

    def earliest(self, later: int) -> int | None:
        """The first time from whose window `later` is not past; None without an upper bound."""
        if self.upper is None:
            return None
        reach = range(max(later - (self.upper.span.amount + 1) * _LONGEST[self.upper.span.fixed], _FIRST), later + 1)
        return reach[bisect_left(reach, True, key=lambda time: not self.closed(time, later))]

    def latest(self, later: int) -> int | None:
        """The last time whose window `later` has reached; None if there is none."""
        if self.lower is None:
            return later
        reach = range(max(later - (self.lower.span.amount + 1) * _LONGEST[self.lower.span.fixed], _FIRST), later + 1)
        index = bisect_left(reach, True, key=lambda time: not self.opened(time, later))
        return reach[index - 1] if index else None

    def newest(self, times: Sequence[int], now: int) -> int | None:
        """The index of the latest of some ascending times from which `now` is inside the window; None without one."""
        if self.lower is None:
            index = len(times) - 1
        elif self.lower.span.fixed:
            index = bisect_right(times, now - self.lower.span.seconds - (1 if self.lower.strict else 0)) - 1
        else:
            index = bisect_right(times, False, key=lambda time: not self.opened(time, now)) - 1
        return index if index >= 0 and not self.closed(times[index], now) else None

    @property
    def unlimited(self) -> bool:
        """Whether every distance is inside."""
        low = self.lower
        return self.upper is None and (low is None or (low.span.fixed and not low.span.amount and not low.strict))

    def __str__(self) -> str:
        ends = [
            f"{sign}{'' if bound.strict else '='} {bound.span}"
            for sign, bound in ((">", self.lower), ("<", self.upper))
            if bound is not None
        ]
        return f"[{', '.join(ends)}]"


ALWAYS_OPEN: Final = Window()
"""The window without bounds, which is not printed."""
