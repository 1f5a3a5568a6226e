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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lawtrace.schemas.events import Event
from lawtrace.schemas.violations import Scalar, Verdict
from lawtrace.solver.automata.automaton import Automaton, inclusions
from lawtrace.solver.logic.terms import with_list_index
from lawtrace.solver.monitoring.rule_status import Fingerprint, RuleStatus, Violation
from lawtrace.solver.monitoring.undo import Track, untracked

_Key = tuple[bool, Scalar]
"""A value as a dictionary key: in Python True == 1, in JSON not."""


@dataclass(slots=True, eq=False)
class _Group:
    """Values in the same state, and the event that violated the rule for them."""

    state: int
    members: dict[_Key, None]
    broken_at: int | None = None


class TableMonitor:
    """Follows one rule with an automaton.

    Attributes:
        first_irreparable: index of the event after which the first violation was certain, None before that.
        revision: how often an event has moved values that do not occur in it.
    """

    def __init__(self, automaton: Automaton, triggers: frozenset[int]) -> None:
        """`triggers`: the letters that trigger the rule."""
        self.first_irreparable: int | None = None
        self.revision = 0
        self._automaton: Final = automaton
        self._triggers: Final = triggers
        self._triggered = False
        self._state = automaton.initial

    def clear(self) -> None:
        """Forget the trace."""
        self._state = self._automaton.initial
        self._triggered = False
        self.first_irreparable = None
        self.revision = 0

    def feed(self, event: Event, position: int = 0) -> None:
        """Process one event; `position`: its index in the trace, from 0. One that was shielded moves nothing."""
        if event.outcome == "shielded":
            return
        automaton, before = self._automaton, self._state
        letter = automaton.alphabet.event_letter(event)
        if letter in self._triggers and not self._triggered:
            self._triggered = True
        if (after := automaton.step(before, letter)) != before:
            self._state = after
            if automaton.verdicts[after] == "violated" != automaton.verdicts[before]:
                self.first_irreparable = position

    def advance_time(self, time: int) -> None:
        """Let time pass without an event: a duty whose deadline is before this time cannot be met any more."""

    @property
    def triggered(self) -> bool:
        """Whether the rule was triggered; if it is quantified, for some value."""
        return self._triggered

    @property
    def state(self) -> int:
        """The state of the rule; of a quantified one, of the first value that is not kept."""
        return self._state

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
        """0 if the rule is kept should the trace end now, None if no continuation keeps it, else a positive number that
        falls as its open obligations are met.
        """
        return self._automaton.distances[self.state]

    def fingerprint(self, values: Sequence[Scalar]) -> Fingerprint:
        """Equal for monitors of one rule, at one time, if the same continuations keep it.

        `values`: for a quantified rule, the values that continuations have.
        """
        return Fingerprint(states=(self.state,))

    def is_no_better(self, later: Fingerprint, earlier: Fingerprint) -> bool:
        """Whether every continuation that keeps the rule from the later state on keeps it from the earlier one on.

        `revision` must be the same in both.
        """
        included = inclusions(self._automaton)
        states = zip(later.states, earlier.states, strict=True)
        return later.shared == earlier.shared and all(other in included[one] for one, other in states)

    def times(self) -> set[int]:
        """The times of past events that the windows of the rule may still ask for."""
        return set()

    @property
    def undecided(self) -> list[Violation]:
        """What may still become a violation of a rule without an automaton."""
        return []

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
    """The values of one quantified rule. Its own state is that of the values that have not occurred yet."""

    def __init__(self, automaton: Automaton, triggers: frozenset[int], track: Track = untracked) -> None:
        super().__init__(automaton, triggers)
        self._unmet_triggered = False
        self._group: Final = track(_Group)
        self._groups: dict[int, _Group] = {}
        self._homes: Final[dict[_Key, _Group]] = {}

    def clear(self) -> None:
        super().clear()
        self._unmet_triggered = False
        self._groups.clear()
        self._homes.clear()

    def feed(self, event: Event, position: int = 0) -> None:
        if event.outcome == "shielded":
            return
        automaton, event = self._automaton, with_list_index(event)
        triggered = False
        alone: list[tuple[_Key, int]] = []
        for key in dict.fromkeys(
            (isinstance(value, bool), value) for value in automaton.alphabet.occurring_values(event)
        ):
            state = self._leave(key)
            if state is not None:
                letter = automaton.alphabet.event_letter(event, key[1])
                triggered |= letter in self._triggers or (self._unmet_triggered and key not in self._homes)
                alone.append((key, automaton.step(state, letter)))
        shared = automaton.alphabet.event_letter(event)
        if shared in self._triggers:
            self._unmet_triggered = True
            triggered |= bool(self._groups)
        if triggered and not self._triggered:
            self._triggered = True
        if (unmet := automaton.step(self._state, shared)) != self._state:
            self.revision += 1
            self._state = unmet
        self._move(shared, position)
        for key, state in alone:
            self._homes[key] = group = self._group(state, {key: None})
            self._join(self._groups, group, position)

    def unsatisfied_values(self) -> tuple[Scalar, ...]:
        if self.first_irreparable is not None:
            return tuple(key[1] for key, home in self._homes.items() if home.broken_at == self.first_irreparable)
        return tuple(key[1] for key, home in self._homes.items() if self._verdict(home.state) == "open")

    @property
    def groups(self) -> int:
        """The number of groups of values that have occurred."""
        return len(self._groups)

    @property
    def state(self) -> int:
        concerned = self.unsatisfied_values()
        return self._state_of((isinstance(concerned[0], bool), concerned[0])) if concerned else self._state

    @property
    def verdict(self) -> Verdict:
        if self.first_irreparable is not None:
            return "violated"
        verdicts = set(map(self._verdict, self._groups))
        if "open" in verdicts:
            return "open"
        return "satisfied" if {*verdicts, self._verdict(self._state)} == {"satisfied"} else "holding"

    def distance(self) -> int | None:
        """How many values have an open obligation."""
        if self.first_irreparable is not None:
            return None
        return sum(len(group.members) for state, group in self._groups.items() if self._verdict(state) == "open")

    def fingerprint(self, values: Sequence[Scalar]) -> Fingerprint:
        """Equal if all continuations whose events have no other values lead to the same verdict."""
        alone = tuple(self._state_of((isinstance(value, bool), value)) for value in values)
        shared = self.first_irreparable is not None, self._state
        return Fingerprint(shared, alone, elsewhere=frozenset(self._groups))

    def _state_of(self, key: _Key) -> int:
        return self._homes[key].state if key in self._homes else self._state

    def _verdict(self, state: int) -> Verdict:
        return self._automaton.verdicts[state]

    def _leave(self, key: _Key) -> int | None:
        """Take a value out of its group. Returns its state; None for a violated value, which stays in its group."""
        group = self._homes.get(key)
        if group is None:
            return self._state
        if group.broken_at is not None:
            return None
        del group.members[key]
        if not group.members:
            del self._groups[group.state]
        return group.state

    def _move(self, shared: int, index: int) -> None:
        """Move every group by the shared letter."""
        step = self._automaton.step
        if all(step(state, shared) == state for state in self._groups):
            return
        self.revision += 1
        moved: dict[int, _Group] = {}
        for group in self._groups.values():
            group.state = step(group.state, shared)
            self._join(moved, group, index)
        self._groups = moved

    def _join(self, groups: dict[int, _Group], group: _Group, index: int) -> None:
        """Register a group under its state, merged with a group that is there."""
        if self._verdict(group.state) == "violated":
            group.broken_at = index
            if self.first_irreparable is None:
                self.first_irreparable = index
            return
        other = groups.get(group.state)
        if other is not None and len(other.members) > len(group.members):
            group, other = other, group
        for key in () if other is None else other.members:
            group.members[key] = None
            self._homes[key] = group
        groups[group.state] = group
