"""Simulated time: when a session starts, how long it lasts, and conversions between seconds and internal values.

Time is a whole number of seconds since 1970-01-01 00:00. The environment's time zone counts as UTC. Only calls and the
pauses of a program (`time.sleep`) let time pass, so the same calls have the same times on every machine.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

from lawtrace.environments.spec.state import Entity, State
from lawtrace.environments.spec.types import DATE, MINUTES_PER_DAY, MOMENT, Calendar, Value
from lawtrace.schemas.errors import InputError

SECONDS_PER_DAY = 24 * 60 * 60
EPOCH_DAY = dt.date(1970, 1, 1).toordinal()
"""The internal form of the date 1970-01-01."""
EPOCH_MOMENT = EPOCH_DAY * MINUTES_PER_DAY
"""The internal form of the moment 1970-01-01 00:00."""

FIRST_HOUR = 9
"""The hour at which a session starts where only its day is declared."""
DEFAULT_START = int(dt.datetime(2026, 3, 2, FIRST_HOUR, tzinfo=dt.UTC).timestamp())
DEFAULT_LENGTH = 8 * 60 * 60
LAST_TIME = int(dt.datetime(9999, 12, 31, 23, 59, 59, tzinfo=dt.UTC).timestamp())
"""The last second of the calendar, at which simulated time stops."""
OTHER_CALL_DURATION = 1
"""Seconds that a call takes that does not complete."""


def seconds_at(moment: Value) -> Value:
    """The seconds since 1970 at a moment in internal form (minutes)."""
    return MOMENT.seconds(moment)


def starts_at(entity: Entity, field: str) -> Callable[[State], int]:
    """The start at a field of the first row of ``entity``: at a moment, or at 09:00 of a DATE."""
    kind = entity.fields[field].type
    if not isinstance(kind, Calendar):
        raise InputError(f"a session cannot start at {entity.table}.{field}, which is no date and no moment")

    def start(initial: State) -> int:
        row = next(initial.rows(entity.table), None)
        if row is None:
            return DEFAULT_START
        return kind.seconds(row.values[field]) + (FIRST_HOUR * 3600 if kind == DATE else 0)

    return start


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of an environment.

    Attributes:
        start: the time at which a session starts, from its initial state. The default is 2026-03-02 09:00.
        length: seconds after the start at which the session ends. Later calls are rejected.
    """

    start: Callable[[State], int] = lambda _: DEFAULT_START
    length: int = DEFAULT_LENGTH

    def end(self, initial: State) -> int:
        """The time at which a session from that state ends."""
        return self.start(initial) + self.length if initial.end is None else initial.end
