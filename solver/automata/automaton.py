"""Deterministic finite automata over the letters of an alphabet: minimal, canonically numbered, immutable.

States are numbered in the order in which a breadth-first search from the initial state visits them, letters ascending.
A minimal automaton is unique up to the names of its states, so with this numbering two automata over one alphabet
accept the same traces exactly if they are equal as Python values.

The verdict of a state (Bauer, Leucker and Schallhart's four values, on finite traces):

    satisfied   accepting, and every continuation is accepted
    holding     accepting, and some continuation is not
    open        not accepting, and some continuation is
    violated    not accepting, and no continuation is
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import ClassVar, Final, TypeVar

from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.violations import Verdict
from lawtrace.solver.automata.alphabet import Alphabet
from lawtrace.solver.logic.syntax import Atom, Formula

_VERDICTS: Final[Mapping[tuple[bool, bool], Verdict]] = MappingProxyType(
    {(True, False): "satisfied", (True, True): "holding", (False, True): "open", (False, False): "violated"}
)
"""By (is accepting, a state with the opposite acceptance is reachable)."""


@dataclass(frozen=True, slots=True)
class Automaton:
    """A complete minimal DFA. `lawtrace.solver.automata.automaton` makes them; the initial state is always 0.

    Attributes:
        alphabet: the atoms and the letters it reads.
        table: ``table[state][column]`` is the next state, for the letter ``alphabet.letters[column]``.
        accepting: the states in which a trace may end.
        formula: the formula it was compiled from, if any; ignored by equality.
        distances: for each state the fewest further events to acceptance, None if it is unreachable.
        verdicts: the verdict of each state, see the module docstring.
    """

    alphabet: Alphabet
    table: tuple[tuple[int, ...], ...]
    accepting: frozenset[int]
    formula: Formula | None = field(default=None, compare=False)
    distances: tuple[int | None, ...] = field(init=False, repr=False, compare=False)
    verdicts: tuple[Verdict, ...] = field(init=False, repr=False, compare=False)

    initial: ClassVar[int] = 0

    def __post_init__(self) -> None:
        rejecting = frozenset(range(len(self.table))) - self.accepting
        to_acceptance = distances_to(self.table, self.accepting)
        to_rejection = distances_to(self.table, rejecting)
        verdicts: list[Verdict] = []
        for state in range(len(self.table)):
            accepts = state in self.accepting
            changes = (to_rejection if accepts else to_acceptance)[state] is not None
            verdicts.append(_VERDICTS[accepts, changes])
        object.__setattr__(self, "distances", to_acceptance)
        object.__setattr__(self, "verdicts", tuple(verdicts))

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return self.alphabet.atoms

    @property
    def letters(self) -> tuple[int, ...]:
        return self.alphabet.letters

    def step(self, state: int, letter: int) -> int:
        """The next state. A letter that the alphabet does not have is a KeyError."""
        return self.table[state][self.alphabet.columns[letter]]

    def run(self, letters: Iterable[int], state: int = 0) -> int:
        """The state after a sequence of letters."""
        for letter in letters:
            state = self.step(state, letter)
        return state

    def accepts(self, trace: Iterable[Collection[Atom]]) -> bool:
        """Whether it accepts a trace given by the atoms true in each step."""
        return self.run(map(self.alphabet.letter, trace)) in self.accepting

    @property
    def is_quantified(self) -> bool:
        """Whether it is the automaton of each value of a quantified rule, not of the rule itself."""
        return bool(self.alphabet.bound_fields)

    @property
    def is_empty(self) -> bool:
        """Whether it accepts no trace, not even the empty one."""
        return not self.can_accept(self.initial)

    def can_accept(self, state: int) -> bool:
        """Whether acceptance is reachable."""
        return self.distances[state] is not None

    def shortest_completion(self, state: int) -> tuple[int, ...]:
        """The letters of a shortest path to acceptance, those with few atoms first. There must be one."""
        letters: list[int] = []
        while distance := self.distances[state]:
            nearer = [letter for letter in self.letters if self.distances[self.step(state, letter)] == distance - 1]
            letters.append(min(nearer, key=int.bit_count))
            state = self.step(state, letters[-1])
        return tuple(letters)


def distances_to(table: Sequence[Iterable[int]], targets: Iterable[int]) -> tuple[int | None, ...]:
    """For each state the length of a shortest path to a target, by backward breadth-first search."""
    before: list[set[int]] = [set() for _ in table]
    for state, row in enumerate(table):
        for successor in row:
            before[successor].add(state)
    distances: list[int | None] = [None] * len(table)
    frontier, length = set(targets), 0
    while frontier:
        for state in frontier:
            distances[state] = length
        frontier = {state for reached in frontier for state in before[reached] if distances[state] is None}
        length += 1
    return tuple(distances)


MAXIMUM_STATES: Final = 50_000
"""The limit of states. One rule needs few; more indicate a conjunction that should be several rules."""

StateT = TypeVar("StateT", bound=Hashable)


def build_automaton(
    alphabet: Alphabet, start: StateT, row: Callable[[StateT], Sequence[StateT]], accepts: Callable[[StateT], bool]
) -> Automaton:
    """Build the minimal automaton from a start state, successor rows and an acceptance test.

    Args:
        alphabet: the letters.
        start: the initial state.
        row: the successors of a state, one for each letter of the alphabet, in its order.
        accepts: whether a trace may end in a state.

    Raises:
        FormulaError: more than `MAXIMUM_STATES` states can be reached.
    """
    numbers: dict[StateT, int] = {start: 0}
    states = [start]
    rows: list[list[int]] = []
    for state in states:  # the list grows during the loop
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

    Start with the accepting and the other states. Split each class by the classes of its successors until no class
    changes.
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
    for state in representatives:  # the list grows during the loop
        row: list[int] = []
        for successor in rows[state]:
            number = numbers.setdefault(classes[successor], len(representatives))
            if number == len(representatives):
                representatives.append(successor)
            row.append(number)
        table.append(tuple(row))
    ends = frozenset(number for number, state in enumerate(representatives) if accepting[state])
    return Automaton(alphabet, tuple(table), ends)


MAX_COMPARED: Final = 60
"""Of larger automata, `inclusions` finds only that a state is included in itself."""


@lru_cache(maxsize=1024)
def inclusions(automaton: Automaton) -> tuple[frozenset[int], ...]:
    """For each state the states that accept every continuation that it accepts."""
    states = range(len(automaton.table))
    if len(automaton.table) > MAX_COMPARED:
        return tuple(frozenset({state}) for state in states)
    ends = automaton.accepting
    found = [{other for other in states if state not in ends or other in ends} for state in states]
    columns = set(zip(*automaton.table, strict=True))
    changed = True
    while changed:
        changed = False
        for state in states:
            kept = {other for other in found[state] if all(column[other] in found[column[state]] for column in columns)}
            if kept != found[state]:
                found[state], changed = kept, True
    return tuple(map(frozenset, found))
