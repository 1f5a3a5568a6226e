"""Sessions of tools that have schemas and no declaration of what they do: any calls are possible, and results are made
up, of the values that the rules tell apart. Nothing is carried out.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Final

from lawtrace.environments.spec.clock import DEFAULT_START
from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.schemas.events import SPEAKERS, Event
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.events.component import windows_of
from lawtrace.solver.search.events.space import DAYS, edges_of
from lawtrace.solver.search.events.vocabulary import Vocabulary

MOST_EVENTS: Final = 6
"""How many events a drawn session has at most."""
WAIT: Final = 400 * 86_400
"""How long a session lasts after its last event, in seconds, so that deadlines pass."""
LATER: Final = 0.4
"""How often an event comes at another time than the one before: at the edge of a window, or some days later."""


def drawn_sessions(rules: Sequence[Rule], tools: Mapping[str, ToolSchema], random: Random) -> Iterator[Sequence[Event]]:
    """Sessions without end, of events that the rules tell apart."""
    vocabulary = Vocabulary(rules, tools)
    named = {name for rule in rules for name in rule.tools}
    names = sorted(name for name in named if name in tools or name in SPEAKERS)
    windows = list(dict.fromkeys(window for rule in rules for window in windows_of(rule)))
    while True:
        events: list[Event] = []
        now = DEFAULT_START
        for _ in range(random.randint(1, MOST_EVENTS)):
            if events and random.random() < LATER:
                edges = {*edges_of(windows, {event.time or now for event in events})}
                now = random.choice(sorted({time for time in edges if time > now} | {now + n * 86_400 for n in DAYS}))
            tool = random.choice(names)
            events += random.sample(vocabulary.events([tool], vocabulary.live((), events), now).events, 1)
        yield events


def end_of(events: Sequence[Event]) -> int:
    """When such a session ends."""
    return max((event.time or DEFAULT_START for event in events), default=DEFAULT_START) + WAIT
