"""Automaton of all rules and derived values over call labels, independent of the state of the environment.

Its letters are the call labels (`lawtrace.solver.planner.derived_values`). It starts as the automaton of the derived
values. The automata of rules and requirements are joined one by one, and bisimilar states are merged after each. A
derived value matters only while some rule still to join observes it: after the last one, only whether any event is
pending matters, not which. So sixteen rules do not make a sixteen-fold product.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.logic.conditions import Condition
from lawtrace.solver.model_checking.graph_reduction import bisimulation_classes, class_representatives, coreachable
from lawtrace.solver.planner.transition_system import TransitionSystem
from lawtrace.solver.predicates import ObservedPredicates


@dataclass(frozen=True, slots=True)
class _PartialProduct:
    """The automaton so far. ``transitions[state][label]`` is the next state and the conditions that the call satisfies,
    conditions on derived arguments included; None if no such call exists or acceptance is unreachable after it.
    """

    transitions: Sequence[Sequence[tuple[int, int] | None]]
    accepting: Sequence[bool]


class SpecAutomaton:
    """The joined automaton; state 0 is that of the empty history.

    Attributes:
        transitions: ``transitions[state][label]`` is the next state; None if no such call exists or acceptance is
            unreachable after it.
        accepting: for each state whether a trace may end there.
        watched_transitions: ``watched_transitions[state][label]`` is the state of the watched automaton and the letter
            that it reads; empty if none is watched.
    """

    def __init__(
        self,
        system: TransitionSystem,
        predicates: ObservedPredicates,
        automata: Sequence[Automaton],
        watch: Automaton | None = None,
    ) -> None:
        """`watch`: one of the automata, whose states are not merged."""
        labels, derived = system.labels, system.derived
        self._labels = labels
        self._conditions = predicates.conditions
        deriving_tools = {
            label.tool for label, after in zip(labels, derived.transitions[0], strict=True) if after is None
        }
        waiting: list[Automaton] = [automaton for automaton in automata if automaton is not watch]
        # Automata on derived values first, grouped by what they observe, so that merging sets in early.
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
        """The effect of a label in each state. Labels with equal columns are interchangeable."""
        watched = [row[label] for row in self.watched_transitions]
        return tuple(row[label] for row in self.transitions), tuple(watched)

    def _extended(self, partial: _PartialProduct, automaton: Automaton) -> tuple[_PartialProduct, list[int]]:
        """The partial product with one more automaton, and for each of its states that of the automaton."""
        letters: dict[tuple[int, int], int] = {}
        numbers = {(0, automaton.initial): 0}
        states = [*numbers]
        after: list[list[tuple[int, int] | None]] = []
        for source, state in states:  # the list grows during the loop
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
        """The partial product with bisimilar states merged. A state is distinguished by what is possible after it and
        by the conditions that the remaining automata observe.
        """
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
        """The conditions on a tool that one of the automata observes, as a bit mask."""
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
    """The conditions that an automaton has on one of the tools."""
    return sorted(str(atom) for atom in automaton.atoms if atom.tool in tools and atom.condition is not None)
