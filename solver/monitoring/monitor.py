"""Monitors: follow a whole rule set along a trace at the cost of a few table look-ups an event.

An event moves only the rules that it concerns. These are known beforehand: for each tool the monitor has the rules
whose state a call of it can change. A rule without X and Y, for example, ignores calls that it does not name, so it is
in the plan of its own tools only; a rule that counts steps is in the plan of every tool. Conditions are evaluated on
the event. A quantified rule tracks each of its values, see `lawtrace.solver.monitoring.instances`.

A monitor also says whether its rule was *triggered*. The trigger is

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
from lawtrace.schemas.violations import Verdict
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic.normal_form import original_names
from lawtrace.solver.logic.syntax import Formula
from lawtrace.solver.logic.templates import InstructionAdherence, OperationalRestriction, match_template
from lawtrace.solver.logic.terms import with_list_index
from lawtrace.solver.logic.violations import occasions
from lawtrace.solver.monitoring.first_order import FirstOrderMonitor, FirstOrderRule
from lawtrace.solver.monitoring.instances import Instances, TableMonitor
from lawtrace.solver.monitoring.rule_status import FinalStatus, RuleStatus
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


RuleMonitor = TableMonitor | FirstOrderMonitor


def make_monitor(rule: Automaton | FirstOrderRule, track: Track = untracked) -> RuleMonitor:
    """The monitor of one rule, before any event. `track`: of an undo log."""
    if isinstance(rule, FirstOrderRule):
        return track(FirstOrderMonitor)(rule, track)
    letters = _triggers(rule, rule.formula)
    return track(Instances)(rule, letters, track) if rule.is_quantified else track(TableMonitor)(rule, letters)


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
        compiled = tuple(rules.values())
        monitors = tuple(make_monitor(rule, track) for rule in compiled)
        plan = _plan(compiled, tuple(rule.formula for rule in compiled))
        self._by_tool: Final = {tool: tuple(monitors[place] for place in plan[tool]) for tool in plan}
        self._elsewhere: Final = self._by_tool[""]
        self._monitors: Final[dict[str, RuleMonitor]] = dict(zip(rules, monitors, strict=True))

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
        by_tool, elsewhere = self._by_tool, self._elsewhere
        for event in events:
            position = self.events
            self.events = position + 1
            for monitor in by_tool.get(event.tool, elsewhere):
                monitor.feed(event, position)
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

    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict of each of `rules`."""
        return tuple(monitor.verdict for monitor in self._monitors.values())


@lru_cache(maxsize=256)
def _plan(
    rules: tuple[Automaton | FirstOrderRule, ...],
    formulas: tuple[Formula | None, ...],  # noqa: ARG001 (part of the cache key, see `_triggers`)
) -> dict[str, tuple[int, ...]]:
    """The places of the rules that a call can move, by its tool; of tools that no rule names, under the empty name."""
    automata = [rule for rule in rules if isinstance(rule, Automaton)]
    always = {
        place
        for place, rule in enumerate(rules)
        if isinstance(rule, FirstOrderRule) or rule.counts_steps or 0 in _triggers(rule, rule.formula)
    }
    tools = {atom.tool for automaton in automata for atom in automaton.atoms}
    return {
        tool: tuple(
            place
            for place, rule in enumerate(rules)
            if place in always or (isinstance(rule, Automaton) and tool in rule.alphabet.by_tool)
        )
        for tool in ("", *tools)
    }


@lru_cache(maxsize=1024)
def _triggers(automaton: Automaton, formula: Formula | None) -> frozenset[int]:
    """The letters that trigger the rule.

    The formula is passed with the automaton because formulas with the same meaning may differ in their trigger.
    """
    template = None if formula is None else match_template(formula)
    match template:
        case OperationalRestriction(_, occasion) | InstructionAdherence(occasion, _):
            found, alphabet = compile_formula(occasion, automaton.alphabet.kind), automaton.alphabet
            return frozenset(letter for letter in alphabet.letters if found.accepts([alphabet.true_atoms(letter)]))
        case None:
            return frozenset(automaton.letters) - {0}
