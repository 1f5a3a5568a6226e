"""Monitors: follow a whole rule set along a trace at the cost of a few table look-ups an event.

An event moves only the rules that it concerns. These are known beforehand: for each tool and outcome of a call
(completed or not) the monitor has the rules whose state such a call can change, each with the column of its transition
table. A rule without X and Y, for example, ignores calls that it does not name, so it is in the plan of its own tools
only; a rule that counts steps is in the plan of every tool. Conditions are evaluated on the event, for the rules that
name its tool. A quantified rule tracks each of its values, see `lawtrace.solver.monitoring.instances`.

Whether a rule was *triggered* is encoded in the same number as the state of its automaton: with s states, the number is
below s before the trigger and s higher afterwards, and the columns are doubled to match. The trigger is

    Operational Restriction    its action
    Instruction Adherence      its trigger
    any other formula          any atom of it

each with its conditions. So a rule of no template is also triggered by the check that it asks for.

A rule with time, several variables or aggregates has no automaton; its own monitor
(`lawtrace.solver.monitoring.first_order`) runs beside the tables. Its trigger is the call that a violation is about, if
the formula names one call there.

A call that a shield refused never reached its tool: it keeps its number and moves no rule.

Memory does not grow with the trace, only with the different values of quantified rules.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, Self

from lawtrace.schemas.events import Event
from lawtrace.schemas.violations import Scalar, Verdict
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic.normal_form import original_names
from lawtrace.solver.logic.syntax import Formula
from lawtrace.solver.logic.templates import InstructionAdherence, OperationalRestriction, match_template
from lawtrace.solver.logic.terms import with_list_index
from lawtrace.solver.logic.violations import occasions
from lawtrace.solver.monitoring.first_order import FirstOrderMonitor, FirstOrderRule
from lawtrace.solver.monitoring.instances import Column, Instances, TableMonitor
from lawtrace.solver.monitoring.rule_status import FinalStatus, Fingerprint, RuleStatus, Violation
from lawtrace.solver.monitoring.undo import Track, untracked


class TriggerFinder:
    """Finds the events that a rule with an automaton is about: a monitor only keeps whether something moved it."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton: Final = automaton
        self._tools: frozenset[str] = frozenset()
        self._letters = _triggers(automaton, automaton.formula)
        if automaton.formula is not None and match_template(automaton.formula) is None:
            calls = occasions(automaton.formula)
            named = {original_names(str(call)) for call in calls}
            self._tools = frozenset(call.tool for call in calls if call.condition is None)
            if calls:
                self._letters = frozenset(
                    letter
                    for letter in automaton.letters
                    if named & {str(atom) for atom in automaton.alphabet.true_atoms(letter)}
                )

    def find(self, events: Sequence[Event]) -> list[int]:
        """Their indexes."""
        by_tool = self._automaton.alphabet.by_tool
        return [
            index
            for index, event in enumerate(events)
            if event.tool in by_tool and event.outcome != "shielded" and self._triggered_by(event)
        ]

    def _triggered_by(self, event: Event) -> bool:
        if event.tool in self._tools:
            return event.completed
        automaton = self._automaton
        if not automaton.is_quantified:
            return automaton.alphabet.event_letter(event) in self._letters
        event = with_list_index(event)
        values = automaton.alphabet.occurring_values(event)
        return any(automaton.alphabet.event_letter(event, value) in self._letters for value in (None, *values))


class Monitor:
    """Follows a rule set along one trace. It can be queried at any time.

    Attributes:
        rules: the names of the rules, in the given order.
        events: the number of events so far.
    """

    def __init__(self, rules: Mapping[str, Automaton | FirstOrderRule], *, track: Track = untracked) -> None:
        """`track`: of an undo log, for its `undoable` subclass."""
        self.rules: Final = tuple(rules)
        self.events = 0
        automata = tuple(rule for rule in rules.values() if isinstance(rule, Automaton))
        plan = _plan(automata, tuple(automaton.formula for automaton in automata))
        self._by_tool: Final = plan.by_tool
        self._elsewhere: Final = plan.elsewhere
        self._violated: Final = plan.violated
        self._numbers: Final = [automaton.initial for automaton in automata]
        self._tabled: Final = tuple(
            track(Instances)(automaton, self._numbers, place, plan.columns[place], track)
            if automaton.is_quantified
            else track(TableMonitor)(automaton, self._numbers, place)
            for place, automaton in enumerate(automata)
        )
        self._first_order: Final = tuple(
            track(FirstOrderMonitor)(rule, track) for rule in rules.values() if isinstance(rule, FirstOrderRule)
        )
        tabled, first_order = iter(self._tabled), iter(self._first_order)
        self._monitors: Final[dict[str, TableMonitor | FirstOrderMonitor]] = {
            name: next(tabled) if isinstance(rule, Automaton) else next(first_order) for name, rule in rules.items()
        }

    def clear(self) -> None:
        """Forget the trace, so that another one can be followed. It is cheaper than a new monitor."""
        for monitor in self._monitors.values():
            monitor.clear()
        self.events = 0

    def feed(self, event: Event) -> None:
        """Process one event."""
        self.run((event,))

    def run(self, events: Iterable[Event]) -> Self:
        """Process events in order, and return the monitor. Equivalent to feeding them one by one, and faster.

        Raises InputError if a rule is about time and the times of the events decrease.
        """
        numbers, first_order = self._numbers, self._first_order
        by_tool, elsewhere = self._by_tool, self._elsewhere
        for event in events:
            position = self.events
            self.events = position + 1
            if event.outcome == "shielded":  # it never reached its tool: it is counted and moves no rule
                continue
            for monitor in first_order:
                monitor.feed(event, position)
            completed, attempted, undecided, quantified = by_tool.get(event.tool, elsewhere)
            steps = completed if event.outcome == "completed" else attempted
            if undecided:
                steps = [
                    *steps,
                    *((rule, of[automaton.alphabet.event_letter(event)]) for rule, automaton, of in undecided),
                ]
            for rule, column in steps:
                before = numbers[rule]
                after = column[before]
                if after != before:
                    numbers[rule] = after
                    violated = self._violated[rule]
                    if violated[after] and not violated[before]:
                        self._tabled[rule].first_irreparable = position
            for rule in quantified:
                self._tabled[rule].feed(event, position)
        return self

    @property
    def first_irreparable(self) -> dict[str, int | None]:
        """For each rule the index of the first event after which a violation was certain, or None."""
        return {name: monitor.first_irreparable for name, monitor in self._monitors.items()}

    def status(self, rule: str, end: int | None = None) -> RuleStatus:
        """The status of a rule; `end`: the time at which the session ends. KeyError for an unknown name."""
        return self._monitors[rule].status(end)

    def statuses(self, end: int | None = None) -> dict[str, RuleStatus]:
        """The status of all rules; `end`: the time at which the session ends, None if only the events are known."""
        return {name: monitor.status(end) for name, monitor in self._monitors.items()}

    def final_statuses(self) -> dict[str, FinalStatus]:
        """The decision for each rule if the trace ends here."""
        return {name: status.ending for name, status in self.statuses().items()}

    def all_kept(self) -> bool:
        """Whether every rule is kept if the trace ends here."""
        return all(monitor.verdict in ("satisfied", "holding") for monitor in self._monitors.values())

    def advance_time(self, time: int) -> None:
        """Let time pass without an event: a duty whose deadline is before this time cannot be met any more."""
        for monitor in self._first_order:
            monitor.advance_time(time)

    def distances(self) -> tuple[int | None, ...]:
        """For each of `rules` 0 if it is kept should the trace end now, None if no continuation keeps it, else a
        positive number that falls as its open obligations are met.
        """
        return tuple(monitor.distance() for monitor in self._monitors.values())

    def fingerprint(self, values: Mapping[str, Sequence[Scalar]]) -> tuple[Fingerprint, ...]:
        """Equal for monitors of one rule set, at one time, if the same continuations keep the same rules.

        `values`: for quantified rules with an automaton, by name, the values that continuations have.
        """
        return tuple(monitor.fingerprint(values.get(name, ())) for name, monitor in self._monitors.items())

    def revision(self) -> tuple[int, ...]:
        """Unchanged as long as no quantified rule moves values that do not occur in events."""
        return tuple(monitor.revision for monitor in self._tabled)

    def is_no_better(self, later: Sequence[Fingerprint], earlier: Sequence[Fingerprint]) -> bool:
        """Whether every continuation that keeps all rules from the later state on keeps them from the earlier one on.

        `revision` must be the same in both.
        """
        return all(
            one == other or monitor.is_no_better(one, other)
            for monitor, one, other in zip(self._monitors.values(), later, earlier, strict=True)
        )

    def times(self) -> set[int]:
        """The times of past events that the windows of rules may still ask for."""
        return {time for monitor in self._first_order for time in monitor.times()}

    def undecided(self, rule: str) -> list[Violation]:
        """What may still become a violation of a rule without an automaton."""
        monitor = self._monitors[rule]
        return monitor.undecided if isinstance(monitor, FirstOrderMonitor) else []

    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict of each of `rules`."""
        return tuple(monitor.verdict for monitor in self._monitors.values())


_Steps = list[tuple[int, Column]]
"""Rules that move, by index in the rule set, with their columns."""


_Undecided = list[tuple[int, Automaton, dict[int, Column]]]
"""Rules with a condition on the tool, which must be evaluated first, with the column of each letter."""

_Moves = tuple[_Steps, _Steps, _Undecided, list[int]]
"""The rules that a call of one tool can move: if it completed, if it did not, those with conditions, the quantified
ones.
"""


class _Plan:
    """Which rules an event moves: by the name of its tool, and for tools that no rule names, `elsewhere`."""

    def __init__(self, automata: Sequence[Automaton]) -> None:
        self.columns: Final = [_columns(automaton, automaton.formula) for automaton in automata]
        self.violated: Final = [tuple(verdict == "violated" for verdict in a.verdicts) * 2 for a in automata]
        self._automata: Final = automata
        tools = {atom.tool for automaton in automata for atom in automaton.atoms}
        self.by_tool: Final = {tool: self._moves(tool) for tool in tools}
        self.elsewhere: Final = self._moves("")

    def _moves(self, tool: str) -> _Moves:
        completed: _Steps = []
        attempted: _Steps = []
        undecided: _Undecided = []
        quantified: list[int] = []
        for rule, (automaton, columns) in enumerate(zip(self._automata, self.columns, strict=True)):
            if automaton.is_quantified:
                if tool in automaton.alphabet.by_tool or not _idle(columns[0]):
                    quantified.append(rule)
                continue
            for steps, completes in ((completed, True), (attempted, False)):
                letter = automaton.alphabet.tool_letter(tool, completed=completes)
                if letter is None:
                    undecided.append((rule, automaton, columns))
                    break
                if not _idle(columns[letter]):  # else the rule keeps its state
                    steps.append((rule, columns[letter]))
        return completed, attempted, undecided, quantified


@lru_cache(maxsize=256)
def _plan(automata: tuple[Automaton, ...], formulas: tuple[Formula | None, ...]) -> _Plan:  # noqa: ARG001
    """The plan, cached for each rule set. `formulas` is part of the cache key, see `_columns`."""
    return _Plan(automata)


def _idle(column: Column) -> bool:
    return column == tuple(range(len(column)))


@lru_cache(maxsize=1024)
def _columns(automaton: Automaton, formula: Formula | None) -> dict[int, Column]:
    """For each letter the next number by the present one, doubled to record the trigger.

    The formula is passed with the automaton because formulas with the same meaning may differ in their trigger.
    """
    states = len(automaton.table)
    triggers = _triggers(automaton, formula)
    columns: dict[int, Column] = {}
    for place, letter in enumerate(automaton.letters):
        column = [row[place] for row in automaton.table]
        shifted = [state + states for state in column]
        columns[letter] = tuple((shifted if letter in triggers else column) + shifted)
    return columns


def _triggers(automaton: Automaton, formula: Formula | None) -> frozenset[int]:
    """The letters that trigger the rule."""
    template = None if formula is None else match_template(formula)
    match template:
        case OperationalRestriction(_, occasion) | InstructionAdherence(occasion, _):
            found, alphabet = compile_formula(occasion), automaton.alphabet
            return frozenset(letter for letter in alphabet.letters if found.accepts([alphabet.true_atoms(letter)]))
        case None:
            return frozenset(automaton.letters) - {0}
