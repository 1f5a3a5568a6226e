"""Values of a quantified rule along a trace, tracked in one pass.

Each value runs through the automaton of the rule's body on its own. An event in which no comparison with the variable
is true of the value moves it by the event's *shared* letter, which is the same for all such values. So values in the
same state stay together and are kept in groups: the shared letter moves whole groups, of which there are no more than
states, and only the values that occur in the event move alone. Values that have not occurred yet form one more group
without a member list; a value that occurs for the first time starts from there.

When two groups reach the same state, the smaller is merged into the larger. So the cost of an event depends on the
automaton and on the values in the event, not on the length of the trace, and on the number of values by a logarithm.

A violated group is set aside with the event that caused the violation. No event moves it any more, and each value
keeps that event.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from lawtrace.schemas.events import Event
from lawtrace.schemas.violations import Scalar, Verdict
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.logic.terms import with_list_index
from lawtrace.solver.monitoring.undo import Track, untracked

Column = tuple[int, ...]
"""The next number of a rule, by its present one, for one letter; see `lawtrace.solver.monitoring.monitor`."""

_Key = tuple[bool, Scalar]
"""A value as a dictionary key: in Python True == 1, in JSON not."""


@dataclass(slots=True, eq=False)
class _Group:
    """Values with the same number, and the event that violated the rule for them."""

    number: int
    members: dict[_Key, None]
    broken_at: int | None = None


class Instances:
    """The values of one quantified rule.

    Attributes:
        triggered: whether the rule was triggered for some value.
        first_irreparable: index of the event after which the first violation was certain, None before that.
    """

    def __init__(self, automaton: Automaton, columns: Mapping[int, Column], track: Track = untracked) -> None:
        """`columns`: for each letter the next number by the present one, doubled to record the trigger."""
        self.triggered = False
        self.first_irreparable: int | None = None
        self._automaton: Final = automaton
        self._group: Final = track(_Group)
        self._columns: Final = columns
        self._states: Final = len(automaton.table)
        self._violated: Final = tuple(verdict == "violated" for verdict in automaton.verdicts) * 2
        self._unmet = automaton.initial
        """The number of the values that have not occurred yet."""
        self._groups: dict[int, _Group] = {}
        self._revision = 0
        """How often an event has moved values that do not occur in it."""
        self._homes: Final[dict[_Key, _Group]] = {}

    def feed(self, event: Event, index: int) -> None:
        """Process one event; `index` counts events from 0."""
        automaton, columns, event = self._automaton, self._columns, with_list_index(event)
        alone: list[tuple[_Key, int]] = []
        for key in dict.fromkeys(
            (isinstance(value, bool), value) for value in automaton.alphabet.occurring_values(event)
        ):
            number = self._leave(key)
            if number is not None:
                alone.append((key, columns[automaton.alphabet.event_letter(event, key[1])][number]))
        shared = columns[automaton.alphabet.event_letter(event)]
        if shared[self._unmet] != self._unmet:
            self._revision += 1
            self._unmet = shared[self._unmet]
        self._move(shared, index)
        for key, number in alone:
            self._homes[key] = group = self._group(number, {key: None})
            self._join(self._groups, group, index)

    def unsatisfied_values(self) -> tuple[Scalar, ...]:
        """The values for which the rule is not kept, in the order in which they occurred: those that broke first, else
        those with an open obligation.
        """
        if self.first_irreparable is not None:
            return tuple(key[1] for key, home in self._homes.items() if home.broken_at == self.first_irreparable)
        return tuple(key[1] for key, home in self._homes.items() if self._verdict(home.number) == "open")

    @property
    def groups(self) -> int:
        """The number of groups of values that have occurred."""
        return len(self._groups)

    @property
    def state(self) -> int:
        """The state of the first value that is not kept; without one, of the values that have not occurred."""
        concerned = self.unsatisfied_values()
        return self._number((isinstance(concerned[0], bool), concerned[0])) if concerned else self._unmet % self._states

    @property
    def verdict(self) -> Verdict:
        """The verdict over all values: violated or open if one is, satisfied if all present and future values are."""
        if self.first_irreparable is not None:
            return "violated"
        verdicts = {self._verdict(number) for number in self._groups}
        if "open" in verdicts:
            return "open"
        return "satisfied" if {*verdicts, self._verdict(self._unmet)} == {"satisfied"} else "holding"

    def distance(self) -> int:
        """How many values have an open obligation; 0 if the rule is kept should the trace end now."""
        return sum(len(group.members) for number, group in self._groups.items() if self._verdict(number) == "open")

    def fingerprint(self, values: Iterable[Scalar]) -> tuple[tuple[Hashable, ...], tuple[int, ...]]:
        """Equal if all continuations whose events have no other values lead to the same verdict.

        The second part has the states of the values.
        """
        alone = tuple(self._number((isinstance(value, bool), value)) for value in values)
        violated = self.first_irreparable is not None
        return (violated, self._unmet % self._states, frozenset(n % self._states for n in self._groups)), alone

    @property
    def revision(self) -> int:
        """Unchanged as long as values that do not occur in events are."""
        return self._revision

    def _number(self, key: _Key) -> int:
        return (self._homes[key].number if key in self._homes else self._unmet) % self._states

    def _verdict(self, number: int) -> Verdict:
        return self._automaton.verdicts[number % self._states]

    def _leave(self, key: _Key) -> int | None:
        """Take a value out of its group. Returns its number; None for a violated value, which stays in its group."""
        group = self._homes.get(key)
        if group is None:
            return self._unmet
        if group.broken_at is not None:
            return None
        del group.members[key]
        if not group.members:
            del self._groups[group.number]
        return group.number

    def _move(self, shared: Column, index: int) -> None:
        """Move every group by the shared letter."""
        if all(shared[number] == number for number in self._groups):
            return
        self._revision += 1
        moved: dict[int, _Group] = {}
        for group in self._groups.values():
            group.number = shared[group.number]
            self._join(moved, group, index)
        self._groups = moved

    def _join(self, groups: dict[int, _Group], group: _Group, index: int) -> None:
        """Register a group under its number, merged with a group that is there."""
        number = group.number
        if number >= self._states and not self.triggered:
            self.triggered = True
        if self._violated[number]:
            group.broken_at = index
            if self.first_irreparable is None:
                self.first_irreparable = index
            return
        other = groups.get(number)
        if other is not None and len(other.members) > len(group.members):
            group, other = other, group
        for key in () if other is None else other.members:
            group.members[key] = None
            self._homes[key] = group
        groups[number] = group
