"""The clock that a program sees: the time of its session instead of the machine's.

The host sends the time with the program and with every answer. Pauses add to it here and are reported with the next
call. Nothing else lets time pass, so a program that waits in a busy loop waits until its real time limit.

The functions of `time` are replaced in their module, and `now` and `utcnow` in the type `datetime` itself, so that
every import finds them and its type stays the same. `date.today` and `datetime.today` call `time.time`. Waits with a
timeout (`asyncio.sleep`, `Event.wait`, `Queue.get`) end at once and count as pauses, unless other threads run.
"""

import _thread
import ctypes
import datetime
import gc
import selectors
import threading
import time
from collections.abc import Callable
from math import ceil
from typing import Any, cast

from .wire import LAST_SECOND

SECOND = 10**9
"""In nanoseconds."""
LONGEST_REAL_PAUSE = 0.05
"""Seconds for which a pause really lasts while other threads run, so that they make progress."""

REAL_SLEEP = time.sleep
PROCESSOR_CLOCKS = {time.CLOCK_PROCESS_CPUTIME_ID, time.CLOCK_THREAD_CPUTIME_ID}


class SimulatedClock:
    """The time in nanoseconds since 1970.

    Attributes:
        origin: the time at which the program started.
        unreported: the pauses since then that the host does not know.
    """

    def __init__(self) -> None:
        self.now = self.origin = self.unreported = 0

    def start(self, seconds: int) -> None:
        """Set the time at which the program starts."""
        self.now = self.origin = seconds * SECOND

    def synchronize(self, seconds: int, reported: int) -> None:
        """Take over the host's time, which includes the reported seconds of pauses."""
        self.unreported -= reported * SECOND
        self.now = seconds * SECOND + self.unreported

    def pause(self, seconds: float) -> None:
        """Let time pass."""
        duration = min(ceil(seconds * SECOND), LAST_SECOND * SECOND - self.now)
        self.now += duration
        self.unreported += duration


CLOCK = SimulatedClock()


def install() -> None:
    """Replace the clocks of this interpreter, once for all programs."""
    for name, function in _time_functions().items():
        setattr(time, name, function)
    setattr(threading, "_time", time.monotonic)  # noqa: B010 - imported before
    _replace_in_type(datetime.datetime, {"now": classmethod(_datetime_now), "utcnow": classmethod(_datetime_utcnow)})
    _replace_waits()


def _time_functions() -> dict[str, Callable[..., Any]]:
    localtime, gmtime, strftime, ctime, asctime = time.localtime, time.gmtime, time.strftime, time.ctime, time.asctime
    gettime, gettime_ns = time.clock_gettime, time.clock_gettime_ns

    def since_start() -> int:
        return CLOCK.now - CLOCK.origin

    def clock_gettime(clock: int) -> float:
        return gettime(clock) if clock in PROCESSOR_CLOCKS else CLOCK.now / SECOND

    def clock_gettime_ns(clock: int) -> int:
        return gettime_ns(clock) if clock in PROCESSOR_CLOCKS else CLOCK.now

    def of_seconds(function: Callable[[float], Any]) -> Callable[..., Any]:
        def convert(seconds: float | None = None) -> object:
            return function(CLOCK.now // SECOND if seconds is None else seconds)

        return convert

    def format_parts(function: Callable[..., str]) -> Callable[..., str]:
        def write(*given: Any) -> str:  # noqa: ANN401 - the pattern of `strftime`, and the parts of a time
            parts = [value for value in given if not isinstance(value, str)]
            return function(*given) if parts else function(*given, localtime(CLOCK.now // SECOND))

        return write

    return {
        "time": lambda: CLOCK.now / SECOND,
        "time_ns": lambda: CLOCK.now,
        "monotonic": lambda: since_start() / SECOND,
        "monotonic_ns": since_start,
        "perf_counter": lambda: since_start() / SECOND,
        "perf_counter_ns": since_start,
        "clock_gettime": clock_gettime,
        "clock_gettime_ns": clock_gettime_ns,
        "localtime": of_seconds(localtime),
        "gmtime": of_seconds(gmtime),
        "ctime": of_seconds(ctime),
        "asctime": format_parts(asctime),
        "strftime": format_parts(strftime),
        "sleep": sleep,
    }


def sleep(seconds: float, /) -> None:
    """Delay execution for a given number of seconds."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    CLOCK.pause(seconds)
    if _thread._count():  # pyright: ignore[reportPrivateUsage] - other threads
        REAL_SLEEP(min(seconds, LONGEST_REAL_PAUSE))


def _datetime_now(cls: type[datetime.datetime], tz: datetime.tzinfo | None = None) -> datetime.datetime:
    return cls.fromtimestamp(CLOCK.now / SECOND, tz)


def _datetime_utcnow(cls: type[datetime.datetime]) -> datetime.datetime:
    return cls.fromtimestamp(CLOCK.now / SECOND, datetime.UTC).replace(tzinfo=None)


def _replace_in_type(kind: type, attributes: dict[str, object]) -> None:
    """Replace attributes of a type of C, which refuses assignments, in the dictionary behind its read-only view."""
    (inner,) = gc.get_referents(kind.__dict__)
    cast("dict[str, object]", inner).update(attributes)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def _replace_waits() -> None:
    """Let waits with a timeout pass simulated time where nothing else can end them."""

    def pausing(wait: Callable[..., Any]) -> Callable[..., Any]:
        def waiting(self: object, timeout: float | None = None) -> object:
            if timeout is None or timeout <= 0:
                return wait(self, timeout)
            found = wait(self, timeout if _thread._count() else 0)  # pyright: ignore[reportPrivateUsage]
            if not found:
                CLOCK.pause(timeout)
            return found

        return waiting

    threading.Condition.wait = pausing(threading.Condition.wait)
    for selector in (selectors.SelectSelector, selectors.PollSelector, selectors.EpollSelector):
        selector.select = pausing(selector.select)
