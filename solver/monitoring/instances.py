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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lawtrace.schemas.events import Event
from lawtrace.schemas.violations import Scalar, Verdict
from lawtrace.solver.automata.automaton import Automaton, inclusions
from lawtrace.solver.logic.terms import with_list_index
from lawtrace.solver.monitoring.rule_status import Fingerprint, RuleStatus
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


class TableMonitor:
    """Follows one rule with an automaton.

    Attributes:
        first_irreparable: index of the event after which the first violation was certain, None before that.
        revision: how often an event has moved values that do not occur in it.
    """

    def __init__(self, automaton: Automaton, numbers: list[int], place: int) -> None:
        """`numbers`: those of all rules of a `Monitor`, which moves them; `place`: of this rule."""
        self.first_irreparable: int | None = None
        self.revision = 0
        self._automaton: Final = automaton
        self._states: Final = len(automaton.table)
        self._numbers: Final = numbers
        self._place: Final = place

    def clear(self) -> None:
        """Forget the trace."""
        self._numbers[self._place] = self._automaton.initial
        self.first_irreparable = None
        self.revision = 0

    def feed(self, event: Event, index: int) -> None:
        """Process one event, of a quantified rule; `index` counts events from 0."""
        raise NotImplementedError

    @property
    def triggered(self) -> bool:
        """Whether the rule was triggered; if it is quantified, for some value."""
        return self._numbers[self._place] >= self._states

    @property
    def state(self) -> int:
        """The state of the rule; of a quantified one, of the first value that is not kept."""
        return self._numbers[self._place] % self._states

    @property
    def verdict(self) -> Verdict:
        """The verdict over all values: violated or open if one is, satisfied if all present and future values are."""
        return self._automaton.verdicts[self.state]

    def unsatisfied_values(self) -> tuple[Scalar, ...]:
        """The values for which the rule is not kept, in the order in which they occurred: those that broke first, else
        those with an open obligation.
        """
        return ()

    def distance(self) -> int | None:
        """See `Monitor.distances`."""
        return self._automaton.distances[self.state]

    def fingerprint(self, values: Sequence[Scalar]) -> Fingerprint:
        """See `Monitor.fingerprint`."""
        return Fingerprint(states=(self.state,))

    def is_no_better(self, later: Fingerprint, earlier: Fingerprint) -> bool:
        """See `Monitor.is_no_better`."""
        included = inclusions(self._automaton)
        states = zip(later.states, earlier.states, strict=True)
        return later.shared == earlier.shared and all(other in included[one] for one, other in states)

    def status(self, _end: int | None = None) -> RuleStatus:
        """The status after the events so far."""
        automaton, verdict = self._automaton, self.verdict
        return RuleStatus(
            verdict=verdict,
            triggered=self.triggered,
            first_irreparable=self.first_irreparable,
            ending="broken" if verdict == "violated" else "left_open" if verdict == "open" else "kept",
            values=self.unsatisfied_values(),
            closing=tuple(map(automaton.alphabet.text, automaton.shortest_completion(self.state)))
            if verdict == "open"
            else (),
        )


class Instances(TableMonitor):
    """The values of one quantified rule. Its own number is that of the values that have not occurred yet."""

    def __init__(
        self,
        automaton: Automaton,
        numbers: list[int],
        place: int,
        columns: Mapping[int, Column],
        track: Track = untracked,
    ) -> None:
        """`columns`: for each letter the next number by the present one, doubled to record the trigger."""
        super().__init__(automaton, numbers, place)
        self._triggered = False
        self._group: Final = track(_Group)
        self._columns: Final = columns
        self._violated: Final = tuple(verdict == "violated" for verdict in automaton.verdicts) * 2
        self._groups: dict[int, _Group] = {}
        self._homes: Final[dict[_Key, _Group]] = {}

    def clear(self) -> None:
        super().clear()
        self._triggered = False
        self._groups.clear()
        self._homes.clear()

    def feed(self, event: Event, index: int) -> None:
        automaton, columns, event = self._automaton, self._columns, with_list_index(event)
        alone: list[tuple[_Key, int]] = []
        for key in dict.fromkeys(
            (isinstance(value, bool), value) for value in automaton.alphabet.occurring_values(event)
        ):
            number = self._leave(key)
            if number is not None:
                alone.append((key, columns[automaton.alphabet.event_letter(event, key[1])][number]))
        shared = columns[automaton.alphabet.event_letter(event)]
        unmet = self._unmet
        if shared[unmet] != unmet:
            self.revision += 1
            self._numbers[self._place] = shared[unmet]
        self._move(shared, index)
        for key, number in alone:
            self._homes[key] = group = self._group(number, {key: None})
            self._join(self._groups, group, index)

    @property
    def _unmet(self) -> int:
        """The number of the values that have not occurred yet."""
        return self._numbers[self._place]

    def unsatisfied_values(self) -> tuple[Scalar, ...]:
        if self.first_irreparable is not None:
            return tuple(key[1] for key, home in self._homes.items() if home.broken_at == self.first_irreparable)
        return tuple(key[1] for key, home in self._homes.items() if self._verdict(home.number) == "open")

    @property
    def groups(self) -> int:
        """The number of groups of values that have occurred."""
        return len(self._groups)

    @property
    def state(self) -> int:
        concerned = self.unsatisfied_values()
        return self._number((isinstance(concerned[0], bool), concerned[0])) if concerned else self._unmet % self._states

    @property
    def triggered(self) -> bool:
        return self._triggered

    @property
    def verdict(self) -> Verdict:
        if self.first_irreparable is not None:
            return "violated"
        verdicts = {self._verdict(number) for number in self._groups}
        if "open" in verdicts:
            return "open"
        return "satisfied" if {*verdicts, self._verdict(self._unmet)} == {"satisfied"} else "holding"

    def distance(self) -> int | None:
        """How many values have an open obligation."""
        if self.first_irreparable is not None:
            return None
        return sum(len(group.members) for number, group in self._groups.items() if self._verdict(number) == "open")

    def fingerprint(self, values: Sequence[Scalar]) -> Fingerprint:
        """Equal if all continuations whose events have no other values lead to the same verdict."""
        alone = tuple(self._number((isinstance(value, bool), value)) for value in values)
        shared = self.first_irreparable is not None, self._unmet % self._states
        return Fingerprint(shared, alone, elsewhere=frozenset(number % self._states for number in self._groups))

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
        self.revision += 1
        moved: dict[int, _Group] = {}
        for group in self._groups.values():
            group.number = shared[group.number]
            self._join(moved, group, index)
        self._groups = moved

    def _join(self, groups: dict[int, _Group], group: _Group, index: int) -> None:
        """Register a group under its number, merged with a group that is there."""
        number = group.number
        if number >= self._states and not self._triggered:
            self._triggered = True
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
