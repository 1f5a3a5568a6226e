"""Operations on automata: product, complement, equivalence.

Two automata may have different atoms; they are then compared over the atoms of both (`Alphabet.union`).
"""

from collections.abc import Callable
from dataclasses import replace

from lawtrace.solver.automata.automaton import Automaton, build_automaton


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
    return product(one, other, lambda left, right: left != right).is_empty
