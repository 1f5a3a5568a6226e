"""Operations on automata: product, complement, equivalence, shortest traces.

Two automata may have different atoms; they are then compared over the atoms of both (`Alphabet.union`). A trace is
given as the set of true atoms of each step. The empty trace counts unless `minimum_length` says otherwise; to ask
whether a rule can be kept at all, use `minimum_length=1`.
"""

from collections.abc import Callable
from dataclasses import replace

from lawtrace.solver.automata.alphabet import Alphabet
from lawtrace.solver.automata.automaton import Automaton, build_automaton
from lawtrace.solver.logic.syntax import Atom

AtomTrace = tuple[frozenset[Atom], ...]


def complement(automaton: Automaton) -> Automaton:
    """The automaton of all other traces. It is minimal and canonically numbered, because the given one is."""
    rejecting = frozenset(range(len(automaton.table))) - automaton.accepting
    return replace(automaton, accepting=rejecting, formula=None)


def product(one: Automaton, other: Automaton, accepts: Callable[[bool, bool], bool]) -> Automaton:
    """The minimal automaton of a Boolean combination: `accepts` combines the acceptance of both."""
    alphabet = one.alphabet.union(other.alphabet)
    left_columns = alphabet.columns_for(one.alphabet)
    right_columns = alphabet.columns_for(other.alphabet)

    def row(state: tuple[int, int]) -> list[tuple[int, int]]:
        left, right = one.table[state[0]], other.table[state[1]]
        return [(left[i], right[j]) for i, j in zip(left_columns, right_columns, strict=True)]

    def accepting(state: tuple[int, int]) -> bool:
        return accepts(state[0] in one.accepting, state[1] in other.accepting)

    return build_automaton(alphabet, (one.initial, other.initial), row, accepting)


def equivalent(one: Automaton, other: Automaton) -> bool:
    """Whether both accept the same traces, the empty one included."""
    return shortest_difference(one, other) is None


def shortest_difference(one: Automaton, other: Automaton, minimum_length: int = 0) -> AtomTrace | None:
    """A shortest trace that exactly one of them accepts; None if there is none."""
    return shortest_accepted(product(one, other, lambda left, right: left != right), minimum_length)


def shortest_rejected(automaton: Automaton, minimum_length: int = 0) -> AtomTrace | None:
    """A shortest trace that is not accepted; None if there is none."""
    return shortest_accepted(complement(automaton), minimum_length)


def shortest_accepted(automaton: Automaton, minimum_length: int = 0) -> AtomTrace | None:
    """A shortest accepted trace of at least that length; None if there is none.

    Breadth first over pairs of a state and the steps still required; among the shortest, the first by letters.
    """
    start = (automaton.initial, minimum_length)
    reached: dict[tuple[int, int], tuple[tuple[int, int], int] | None] = {start: None}
    for node in (pending := [start]):  # the list grows during the loop
        state, required = node
        if required == 0 and state in automaton.accepting:
            return _path(automaton.alphabet, reached, node)
        for letter, successor in zip(automaton.letters, automaton.table[state], strict=True):
            following = (successor, max(0, required - 1))
            if following not in reached:
                reached[following] = (node, letter)
                pending.append(following)
    return None


def _path(
    alphabet: Alphabet, reached: dict[tuple[int, int], tuple[tuple[int, int], int] | None], node: tuple[int, int]
) -> AtomTrace:
    """The path to a node, from the recorded predecessors and letters."""
    letters: list[int] = []
    while (step := reached[node]) is not None:
        node, letter = step
        letters.append(letter)
    return tuple(alphabet.true_atoms(letter) for letter in reversed(letters))
