"""The calls of a trace as lines of a table, a rule after each of them, and which of a very long trace to show."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from lawtrace.environments.events import CallOutcome, Event
from lawtrace.runs.report.looks import MONITOR_LOOKS
from lawtrace.runs.report.texts import cut, show_call, show_value
from lawtrace.runs.visibility import visible
from lawtrace.solver.ltlf import Verdict as MonitorVerdict

MOST_SHOWN = 40
LAST_SHOWN = 5
SHORT_RESULT = 60


@dataclass(frozen=True, slots=True)
class CallLine:
    """One call; ``beginning`` is the start of a result that is too long for a cell, None if it is not."""

    number: int
    call: str
    outcome: CallOutcome
    result: str
    beginning: str | None


def call_lines(events: Sequence[Event], numbers: Iterable[int]) -> list[CallLine]:
    """The events with those indices, numbered from 1 as people count."""
    return [_call_line(number, events[number]) for number in numbers]


def _call_line(number: int, event: Event) -> CallLine:
    result = visible(cut(event.error, SHORT_RESULT * 5)) if event.error else show_value(event.result)
    beginning = None if len(result) <= SHORT_RESULT else result[: SHORT_RESULT - 10] + "…"
    return CallLine(number + 1, show_call(event), event.outcome, result, beginning)


# A large report has hundreds of thousands of these: the mark is the class too, and no template makes them.
_CELLS = {verdict: f'<td class="{look.mark}">{look.mark}</td>' for verdict, look in MONITOR_LOOKS.items()}


def monitor_cells(states: Sequence[MonitorVerdict], numbers: Iterable[int]) -> Markup:
    """The cells of a rule: before the first event, and after each of those with these indices; none without states."""
    if not states:
        return Markup()
    return Markup(_CELLS[states[0]] + "".join(_CELLS[states[number + 1]] for number in numbers))  # noqa: S704 (ours)


def shown_numbers(count: int, important: Iterable[int]) -> list[int]:
    """The indices of the events to show: all of an ordinary trace; of a long one its start, its end, and around where
    something broke."""
    if count <= MOST_SHOWN + LAST_SHOWN:
        return list(range(count))
    around = {near for number in important for near in (number - 1, number, number + 1)}
    shown = {*range(MOST_SHOWN), *range(count - LAST_SHOWN, count), *around}
    return sorted(number for number in shown if 0 <= number < count)
