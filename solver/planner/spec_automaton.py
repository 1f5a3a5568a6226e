"""What the calls so far mean for what may follow, whatever the world: derived values and all rules, as one automaton.

Its letters are the kinds of calls (`lawtrace.solver.planner.derived_values`). It begins with the derived values; the
automata of rules and
demands join one after the other, and after each the states are merged that no continuation tells apart. What a call
records, say, only some rules look at: once the last of them has joined, nobody asks any more which events were waiting,
only whether any were. So seventeen rules make no seventeenfold product.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from lawtrace.solver.ltlf import Automaton, Condition
from lawtrace.solver.model_checking.graph_reduction import bisimulation_classes, class_representatives, coreachable
from lawtrace.solver.planner.transition_system import TransitionSystem
from lawtrace.solver.predicates import ObservedPredicates


@dataclass(frozen=True, slots=True)
class _PartialProduct:
    """The automaton as far as it has come: ``after[state][label]`` is the next state and the conditions that the call
    meets, derived arguments included; None where no such call is made, or where it leads to no good end."""

    transitions: Sequence[Sequence[tuple[int, int] | None]]
    accepting: Sequence[bool]


class SpecAutomaton:
    """The automaton; state 0 is that of no calls.

    Attributes:
        after: ``after[state][label]`` is the next state; None where no such call is made, or leads to no good end.
        accepting: for each state whether a trace may end there, as far as this automaton knows.
        watched: ``watched[state][label]`` is the state of the automaton that was to be watched, and the letter that it
            reads of such a call; empty if none was.
    """

    def __init__(
        self,
        system: TransitionSystem,
        predicates: ObservedPredicates,
        automata: Sequence[Automaton],
        watch: Automaton | None = None,
    ) -> None:
        """`watch`: one of the automata, whose states are to stay apart."""
        labels, derived = system.labels, system.derived
        self._labels = labels
        self._conditions = predicates.conditions
        deriving_tools = {
            label.tool for label, after in zip(labels, derived.transitions[0], strict=True) if after is None
        }
        waiting: list[Automaton] = [
            automaton for automaton in automata if not automaton.quantified and automaton is not watch
        ]
        # Those that look at derived values first, and those that look at the same values together: see above.
        waiting.sort(key=lambda automaton: _observed_atoms(automaton, deriving_tools), reverse=True)
        partial = _PartialProduct(derived.transitions, [True] * len(derived.transitions))
        while waiting:
            automaton, *waiting = waiting
            partial, _ = self._extended(partial, automaton)
            partial = self._quotient(partial, [*waiting, watch] if watch else waiting)
        self.watched_transitions: list[list[tuple[int, int] | None]] = []
        if watch is not None:
            partial, states = self._extended(partial, watch)
            for state, row in zip(states, partial.transitions, strict=True):
                letters = [to and self._letter(watch, label, to[1]) for label, to in enumerate(row)]
                self.watched_transitions.append([None if letter is None else (state, letter) for letter in letters])
        self.transitions: Final = [[to and to[0] for to in row] for row in partial.transitions]
        self.accepting: Final = partial.accepting

    def label_column(self, label: int) -> Hashable:
        """What a label does in each state: labels of equal columns are one to whoever plans."""
        watched = [row[label] for row in self.watched_transitions]
        return tuple(row[label] for row in self.transitions), tuple(watched)

    def _extended(self, partial: _PartialProduct, automaton: Automaton) -> tuple[_PartialProduct, list[int]]:
        """The stage with one more automaton, and for each of its states that of the automaton."""
        letters: dict[tuple[int, int], int] = {}
        numbers = {(0, automaton.initial): 0}
        states = [*numbers]
        after: list[list[tuple[int, int] | None]] = []
        for source, state in states:  # grows while it is read
            row: list[tuple[int, int] | None] = []
            for label, to in enumerate(partial.transitions[source]):
                if to is None:
                    row.append(None)
                    continue
                target, satisfied = to
                if (label, satisfied) not in letters:
                    letters[label, satisfied] = self._letter(automaton, label, satisfied)
                following = (target, automaton.step(state, letters[label, satisfied]))
                if following not in numbers:
                    numbers[following] = len(states)
                    states.append(following)
                row.append((numbers[following], satisfied))
            after.append(row)
        accepting = [partial.accepting[source] and state in automaton.accepting for source, state in states]
        alive = coreachable(accepting, [[to[0] for to in row if to is not None] for row in after])
        after = [[to if to is not None and alive[to[0]] else None for to in row] for row in after]
        return _PartialProduct(after, accepting), [state for _, state in states]

    def _quotient(self, partial: _PartialProduct, waiting: Sequence[Automaton]) -> _PartialProduct:
        """The stage with those states counted as one that neither what is allowed after them tells apart, nor what the
        automata that still wait look at."""
        visible = [self._observed_mask(label.tool, waiting) for label in self._labels]
        rows = [
            [to and (to[0], to[1] & seen) for to, seen in zip(row, visible, strict=True)] for row in partial.transitions
        ]
        kinds: dict[tuple[int, int], int] = {}
        moves = [
            [(kinds.setdefault((label, to[1]), len(kinds)), to[0]) for label, to in enumerate(row) if to is not None]
            for row in rows
        ]
        classes = bisimulation_classes(partial.accepting, moves)
        kept = class_representatives(classes)
        after = [[to and (classes[to[0]], to[1]) for to in rows[state]] for state in kept]
        return _PartialProduct(after, [partial.accepting[state] for state in kept])

    def _observed_mask(self, tool: str, automata: Sequence[Automaton]) -> int:
        """The conditions on a tool that one of the automata looks at, as a bit mask."""
        looked_at = {atom.condition for automaton in automata for atom in automaton.atoms if atom.tool == tool}
        return self._mask(tool, looked_at)

    def _mask(self, tool: str, conditions: set[Condition | None]) -> int:
        own = self._conditions.get(tool, ())
        return sum(1 << number for number, condition in enumerate(own) if condition in conditions)

    def _letter(self, automaton: Automaton, label: int, satisfied: int) -> int:
        """The letter that an automaton reads of a completed call."""
        tool = self._labels[label].tool
        return sum(
            bit
            for bit, atom in automaton.alphabet.by_tool.get(tool, ())
            if atom.condition is None or satisfied & self._mask(tool, {atom.condition})
        )


def _observed_atoms(automaton: Automaton, tools: set[str]) -> list[str]:
    """The conditions on one of the tools that an automaton has."""
    return sorted(str(atom) for atom in automaton.atoms if atom.tool in tools and atom.condition is not None)
