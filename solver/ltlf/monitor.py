"""Monitors: a whole rule set followed along a trace, at the cost of a few table look-ups an event.

An event moves only the rules that it concerns. Which ones is known beforehand: for each tool and outcome of a call
(completed or not) the monitor holds the rules whose state such a call can change at all, each with the column of its
transition table. A rule without X and Y, say, stays where it is on calls that it does not name, so it is in the plan
of its own tools only; a rule that counts steps is in the plan of every tool. Conditions are evaluated on the event,
for the rules that name its tool.

Whether a rule was *triggered* is remembered in the same number as the state of its automaton: with s states, the
number is below s before the trigger and s higher from then on, and the columns are doubled to match. The trigger is

    Operational Restriction    its action
    Instruction Adherence      its trigger
    any other formula          any atom of it

Without a history, memory does not grow with the trace.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from environments.events import Event
from solver.ltlf.automaton import Automaton, Verdict
from solver.ltlf.semantics import holds
from solver.ltlf.templates import InstructionAdherence, OperationalRestriction, match_template

__all__ = ["Ending", "Monitor", "RuleStatus"]

Ending = Literal["kept", "broken", "left_open"]
"""A rule at the end of a trace: kept; broken beyond repair by some event; or still owed something when it ended."""


@dataclass(frozen=True, slots=True)
class RuleStatus:
    """Where one rule stands after the events so far.

    Attributes:
        state: of its automaton.
        verdict: what is known in that state.
        triggered: whether the rule has had anything to judge, see the module docstring.
        first_irreparable: index of the first event after which a violation was certain, None while it is not. A rule
            that no trace keeps is violated from the beginning, and no event is to blame.
        ending: the decision if the trace ends here.
    """

    state: int
    verdict: Verdict
    triggered: bool
    first_irreparable: int | None
    ending: Ending


class Monitor:
    """Follows the automata of a rule set along one trace. It may be read at any time.

    Attributes:
        rules: the names of the rules, in the order in which they were given.
    """

    def __init__(self, automata: Mapping[str, Automaton], *, history: bool = False) -> None:
        """`history`: remember the states after each event, for reports."""
        self.rules: Final = tuple(automata)
        self._automata: Final = tuple(automata.values())
        self._plan: Final = _Plan(self._automata)
        self._violated: Final = [[verdict == "violated" for verdict in a.verdicts] * 2 for a in self._automata]
        self._numbers: Final = [a.initial for a in self._automata]
        self._irreparable: Final[list[int | None]] = [None] * len(self._automata)
        self._history: Final[list[tuple[int, ...]] | None] = [] if history else None
        self._events = 0

    def feed(self, event: Event) -> None:
        """One more event."""
        self.run((event,))

    def run(self, events: Iterable[Event]) -> None:
        """More events, in their order. The same as feeding them one by one, and faster."""
        numbers, violated, history = self._numbers, self._violated, self._history
        completed, attempted = self._plan.completed, self._plan.attempted
        elsewhere, conditional = self._plan.elsewhere, self._plan.conditional
        for event in events:
            steps = (completed if event.outcome == "completed" else attempted).get(event.tool, elsewhere)
            if event.tool in conditional:
                steps = [*steps, *self._plan.decided(event)]
            for rule, column in steps:
                before = numbers[rule]
                after = column[before]
                if after != before:
                    numbers[rule] = after
                    if violated[rule][after] and not violated[rule][before]:
                        self._irreparable[rule] = self._events
            self._events += 1
            if history is not None:
                history.append(self._states())

    @property
    def events(self) -> int:
        """How many events there have been."""
        return self._events

    @property
    def history(self) -> tuple[tuple[int, ...], ...]:
        """The states after each event, one for each of `rules`; empty unless asked for at the beginning."""
        return tuple(self._history or ())

    @property
    def first_irreparable(self) -> dict[str, int | None]:
        """For each rule the index of the first event after which a violation was certain, None where it is not."""
        return dict(zip(self.rules, self._irreparable, strict=True))

    def status(self, rule: str) -> RuleStatus:
        """Where a rule stands now."""
        return self._status(self.rules.index(rule))

    def statuses(self) -> dict[str, RuleStatus]:
        """Where all rules stand now."""
        return {name: self._status(rule) for rule, name in enumerate(self.rules)}

    def at_end(self) -> dict[str, Ending]:
        """The decision for each rule if the trace ends here."""
        return {name: status.ending for name, status in self.statuses().items()}

    def _states(self) -> tuple[int, ...]:
        return tuple(number % len(a.table) for number, a in zip(self._numbers, self._automata, strict=True))

    def _status(self, rule: int) -> RuleStatus:
        automaton, number = self._automata[rule], self._numbers[rule]
        state = number % len(automaton.table)
        verdict = automaton.verdict(state)
        return RuleStatus(
            state=state,
            verdict=verdict,
            triggered=number >= len(automaton.table),
            first_irreparable=self._irreparable[rule],
            ending="broken" if verdict == "violated" else "left_open" if verdict == "open" else "kept",
        )


_Column = tuple[int, ...]
"""The next number of a rule, by its present one, for one letter."""

_Steps = list[tuple[int, _Column]]
"""Rules that move, by their place in the rule set, and how."""


class _Plan:
    """Which rules an event moves, found by the name of its tool.

    Attributes:
        completed, attempted: by tool, the rules that a completed (any other) call of it can move.
        elsewhere: the rules that a call of a tool that no rule names can move.
        conditional: by tool, the rules that must look at the event first, with the column of each letter.
    """

    def __init__(self, automata: Iterable[Automaton]) -> None:
        columns = [_columns(automaton) for automaton in automata]
        numbered = list(enumerate(automata))
        tools = {atom.tool for automaton in automata for atom in automaton.atoms}

        def steps(tool: str, completed: bool) -> Iterator[tuple[int, _Column]]:
            for rule, automaton in numbered:
                letter = automaton.mask_of(tool, completed=completed)
                if letter is not None and not _stays(column := columns[rule][letter]):
                    yield rule, column

        self.completed: Final[dict[str, _Steps]] = {tool: list(steps(tool, True)) for tool in tools}
        self.attempted: Final[dict[str, _Steps]] = {tool: list(steps(tool, False)) for tool in tools}
        self.elsewhere: Final[_Steps] = [(rule, of[0]) for rule, of in enumerate(columns) if not _stays(of[0])]
        self.conditional: Final[dict[str, list[tuple[int, Automaton, dict[int, _Column]]]]] = {}
        for rule, automaton in numbered:
            for tool in {atom.tool for atom in automaton.atoms if atom.condition is not None}:
                self.conditional.setdefault(tool, []).append((rule, automaton, columns[rule]))

    def decided(self, event: Event) -> Iterator[tuple[int, _Column]]:
        """How the rules move that must look at the event first."""
        for rule, automaton, columns in self.conditional[event.tool]:
            yield rule, columns[automaton.mask(event)]


def _stays(column: _Column) -> bool:
    return column == tuple(range(len(column)))


def _columns(automaton: Automaton) -> dict[int, _Column]:
    """For each letter the next number by the present one, doubled to remember the trigger."""
    states = len(automaton.table)
    triggers = _triggers(automaton)
    columns: dict[int, _Column] = {}
    for place, letter in enumerate(automaton.letters):
        column = [row[place] for row in automaton.table]
        shifted = [state + states for state in column]
        columns[letter] = tuple((shifted if letter in triggers else column) + shifted)
    return columns


def _triggers(automaton: Automaton) -> frozenset[int]:
    """The letters that trigger the rule."""
    template = None if automaton.formula is None else match_template(automaton.formula)
    match template:
        case OperationalRestriction(_, occasion) | InstructionAdherence(occasion, _):
            letters = automaton.letters
            return frozenset(letter for letter in letters if holds(occasion, [automaton.alphabet.true(letter)]))
        case None:
            return frozenset(automaton.letters) - {0}
