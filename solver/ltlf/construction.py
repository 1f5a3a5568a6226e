"""From an automaton that is only described (a start, a step, an acceptance test) to its minimal table.

Every automaton of this package is made here: walk the states that can be reached, merge those that no continuation
tells apart (Moore's refinement), number what remains breadth-first.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Final, TypeVar

from lawtrace.environments.errors import FormulaError
from lawtrace.solver.ltlf.alphabet import Alphabet
from lawtrace.solver.ltlf.automaton import Automaton

MAXIMUM_STATES: Final = 50_000
"""A rule has a handful of states. What grows beyond this is a conjunction that should have stayed several rules."""

State = TypeVar("State", bound=Hashable)


def construct(
    alphabet: Alphabet, start: State, row: Callable[[State], Sequence[State]], accepts: Callable[[State], bool]
) -> Automaton:
    """The minimal automaton of a described one.

    Args:
        alphabet: the letters.
        start: the initial state.
        row: the successors of a state, one for each letter of the alphabet, in its order.
        accepts: whether a trace may end in a state.

    Raises:
        FormulaError: more than `MAXIMUM_STATES` states can be reached.
    """
    numbers: dict[State, int] = {start: 0}
    states = [start]
    rows: list[list[int]] = []
    for state in states:  # grows while it is walked
        numbered: list[int] = []
        for successor in row(state):
            number = numbers.setdefault(successor, len(states))
            if number == len(states):
                states.append(successor)
            numbered.append(number)
        rows.append(numbered)
        if len(states) > MAXIMUM_STATES:
            raise FormulaError(f"the formula needs more than {MAXIMUM_STATES} states: split it into several rules")
    accepting = [accepts(state) for state in states]
    return _renumbered(alphabet, rows, accepting, _merged(rows, accepting))


def _merged(rows: Sequence[Sequence[int]], accepting: Sequence[bool]) -> list[int]:
    """For each state the class of states that accept the same continuations.

    Start from accepting against the rest; as long as that tells more states apart, split each class by the classes
    that its letters lead to.
    """
    columns: set[tuple[int, ...]] = set(
        zip(*rows, strict=True)
    )  # letters that the formula does not tell apart count once
    classes = [int(accepts) for accepts in accepting]
    count = len(set(classes))
    while True:
        numbers: dict[tuple[int, ...], int] = {}
        signatures = zip(*[classes, *([classes[successor] for successor in column] for column in columns)], strict=True)
        refined = [numbers.setdefault(signature, len(numbers)) for signature in signatures]
        if len(numbers) == count:
            return refined
        classes, count = refined, len(numbers)


def _renumbered(
    alphabet: Alphabet, rows: Sequence[Sequence[int]], accepting: Sequence[bool], classes: Sequence[int]
) -> Automaton:
    """The automaton of the classes, numbered breadth-first from the class of state 0."""
    numbers: dict[int, int] = {classes[0]: 0}
    representatives = [0]
    table: list[tuple[int, ...]] = []
    for state in representatives:  # grows while it is walked
        row: list[int] = []
        for successor in rows[state]:
            number = numbers.setdefault(classes[successor], len(representatives))
            if number == len(representatives):
                representatives.append(successor)
            row.append(number)
        table.append(tuple(row))
    ends = frozenset(number for number, state in enumerate(representatives) if accepting[state])
    return Automaton(alphabet, tuple(table), ends)
