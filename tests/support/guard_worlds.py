"""Small worlds for guards, and an independent search for what can still be met in them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

from lawtrace.environments.events import Event, Json
from lawtrace.solver.guard.decisions import Call
from lawtrace.solver.guard.guard import Guard
from lawtrace.solver.rules import Rule
from tests.support.equations import Step, holds

Letter = tuple[str, dict[str, Json], Json, int]
"""A tool, its arguments, its result, and seconds since the event before."""


def letter(tool: str, result: Json = None, delay: int = 1, **arguments: Json) -> Letter:
    return tool, arguments, result, delay


@dataclass
class World:
    """Rules over a few events.

    Attributes:
        formulas: of the rules r0, r1 ...
        letters: all events that matter.
        length: of the sequences that are tried.
        more: how many further events meet every duty that can be met.
        values: for the quantifiers.
    """

    formulas: Sequence[str]
    letters: Sequence[Letter]
    length: int
    more: int
    values: Sequence[Json] = ()
    known: dict[tuple[tuple[int, ...], int], bool] = field(default_factory=dict[tuple[tuple[int, ...], int], bool])

    @cached_property
    def rules(self) -> list[Rule]:
        return [
            Rule(id=f"r{number}", formula=formula, rationale=f"Reason {number}.")
            for number, formula in enumerate(self.formulas)
        ]

    @property
    def tools(self) -> list[str]:
        return list(dict.fromkeys(tool for tool, *_ in self.letters))

    def event(self, number: int, time: int) -> Event:
        tool, arguments, result, delay = self.letters[number]
        return Event(tool, arguments, result=result, time=time + delay)

    def trace(self, numbers: Sequence[int]) -> list[Event]:
        events, time = list[Event](), 0
        for number in numbers:
            events.append(self.event(number, time))
            time = events[-1].time or 0
        return events

    def kept(self, numbers: Sequence[int]) -> bool:
        """Whether the equations hold of a whole trace."""
        steps = [Step(event.time or 0, (event,)) for event in self.trace(numbers)]
        return all(holds(rule.parsed, steps, self.values) for rule in self.rules)

    def alive(self, numbers: tuple[int, ...], elapsed: int = 0) -> bool:
        """Whether some continuation keeps every rule: brute force. `elapsed`: when it begins, in seconds from the last
        event on."""
        key = numbers, elapsed
        if key not in self.known:
            continuations = (
                more
                for size in range(self.more + 1)
                for more in product(range(len(self.letters)), repeat=size)
                if not more or self.letters[more[0]][3] >= elapsed
            )
            self.known[key] = any(self.kept((*numbers, *more)) for more in continuations)
        return self.known[key]

    def calls(self, number: int) -> Iterator[int]:
        """The letters that a call may become: those with the same arguments at the same time."""
        tool, arguments, _, delay = self.letters[number]
        for other, (name, given, _, later) in enumerate(self.letters):
            if (name, given, later) == (tool, arguments, delay):
                yield other

    def guard(self, **options: object) -> Guard:
        return Guard(self.rules, self.tools, clock=lambda: 0, advice=False, **options)  # type: ignore[arg-type]

    def call(self, number: int) -> Call:
        tool, arguments, *_ = self.letters[number]
        return Call(tool, arguments)
