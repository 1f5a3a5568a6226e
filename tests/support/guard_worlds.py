"""Small worlds for guards, and an independent search for what can still be met in them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

from lawtrace.schemas.events import Event, Json
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
        """A letter as an event. ``~number``: as a call that failed."""
        tool, arguments, result, delay = self.letters[max(number, ~number)]
        if number < 0:
            return Event(tool, arguments, "raised", time=time + delay)
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

    def guard(self, *, advice: bool = False) -> Guard:
        return Guard(self.rules, self.tools, clock=lambda: 0, advice=advice)

    def call(self, number: int) -> Call:
        tool, arguments, *_ = self.letters[number]
        return Call(tool, arguments)


A, B, C = letter("A"), letter("B"), letter("C")
NEVER_TOGETHER = [
    ("G(A -> F B)", "G !B"),
    ("G(A -> F B)", "G(B -> F C)", "G(A -> G !C)"),
    ("G(A -> F B)", "G(A -> F C)", "G(B -> G !C)", "G(C -> G !B)"),
    ("G(A -> X B)", "G(A -> X C)"),
    ("G(A -> F B)", "G(B -> !O A)"),
    ("F A", "(!A) W B", "G(C -> G !B)"),
    ("G(A -> F B)", "G(B -> Y C)", "G(C -> O B)"),
    ("G(A -> F B)", "G(count(B) <= 1)", "G(C -> X A)"),
]
"""Duties that can each be met, and after some calls not together."""
UNTIMED = [
    *NEVER_TOGETHER,
    ("G(A -> O B)",),
    ("G(A -> O B)", "G(B -> G !A)"),
    ("G(A -> F B)", "G(B -> G !A)"),
    ("(!B) W A", "G(A -> G !C)", "F C"),
    ("G(A -> X B)", "G(B -> X C)"),
    ("F A", "F B", "G(A -> WX G !B)"),
    ("G(attempted(A) -> O B)", "G(C -> F A)"),
    ("G(A <-> F C)", "G(B -> G !A)"),
]
X, Y = "x", "y"
WORLDS = {
    **{f"untimed {number}": World(formulas, [A, B, C], 5, 3) for number, formulas in enumerate(UNTIMED)},
    "keyed": World(
        ("forall k: G(A(p == k) -> F B(p == k))", "forall k: G(C(p == k) -> G !B(p == k))"),
        [letter(tool, p=value) for tool in "ABC" for value in (X, Y)],
        4,
        2,
        (X, Y),
    ),
    "keyed stop": World(
        ("forall k: G(A(p == k) -> F B(p == k))", "G(C -> WX G !B)"),
        [letter("A", p=X), letter("A", p=Y), letter("B", p=X), letter("B", p=Y), C],
        4,
        2,
        (X, Y),
    ),
    "two variables": World(
        (
            "forall k, l: G(A(p == k, q == l) -> F B(p == k, q == l))",
            "forall k, l: G(B(p == k, q == l) -> O C(p == k))",
        ),
        [letter("A", p=X, q=1), letter("B", p=X, q=1), letter("B", p=Y, q=1), C, letter("C", p=X)],
        4,
        2,
        (X, Y, 1),
    ),
    "once": World(
        ("forall k: G(A(p == k) -> F B(p == k))", "G(count(B) <= 1)"),
        [letter(tool, p=value) for tool in "AB" for value in (X, Y)],
        4,
        2,
        (X, Y),
    ),
    "result": World(
        ("G(A -> O B(result.ok))", "G(B(not result.ok) -> G !B)", "G(C -> F A)"),
        [A, letter("B", {"ok": True}), letter("B", {"ok": False}), C],
        4,
        2,
    ),
    "limit": World(
        ("G !A(n > 2)", "G(C -> F A(n > 1))", "G(A(n == 2) -> F B)", "G(C -> G !B)"),
        [*(letter("A", n=number) for number in (1, 2, 3)), B, C],
        4,
        2,
    ),
    "deadline": World(
        ("G(A -> F[<= 2s] B)", "G(A -> G[<= 3s] !B)"),
        [letter(tool, delay=delay) for tool in "AB" for delay in (0, 1, 3)],
        3,
        2,
    ),
    "late and early": World(
        ("G(A -> F[<= 3s] B)", "G(C -> G[<= 2s] !B)"),
        [letter(tool, delay=delay) for tool in "ABC" for delay in (0, 1, 2, 3)],
        3,
        1,
    ),
    "fresh": World(
        ("G(A -> O[<= 2s] B)", "G(B -> F A)", "G(B -> G[<= 1s] !A)"),
        [letter(tool, delay=delay) for tool in "AB" for delay in (0, 1, 2, 3)],
        3,
        2,
    ),
    "keyed deadline": World(
        ("forall k: G(A(p == k) -> F[<= 2s] B(p == k))", "G(B -> G[<= 2s] !B)"),
        [letter(tool, delay=delay, p=value) for tool in "AB" for value in (X, Y) for delay in (0, 1)]
        + [letter("B", delay=3, p=Y)],
        2,
        2,
        (X, Y),
    ),
    "chain": World(
        ("G(A -> F[<= 4s] B)", "G(B -> O[<= 1s] C)", "G(A -> G[<= 2s] !C)", "G(C -> G[<= 4s] !C)"),
        [letter(tool, delay=delay) for tool in "ABC" for delay in (0, 1, 3)],
        2,
        2,
    ),
}
