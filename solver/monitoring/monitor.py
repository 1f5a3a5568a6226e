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

Without a history, memory does not grow with the trace, only with the different values of quantified rules.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final, Literal

from lawtrace.schemas.events import Event
from lawtrace.schemas.violations import Scalar, Verdict
from lawtrace.solver.automata.automaton import Automaton, inclusions
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic.normal_form import original_names
from lawtrace.solver.logic.syntax import Formula
from lawtrace.solver.logic.templates import InstructionAdherence, OperationalRestriction, match_template
from lawtrace.solver.logic.terms import with_list_index
from lawtrace.solver.logic.violations import occasions
from lawtrace.solver.monitoring.first_order import FirstOrderMonitor, FirstOrderRule, Violation
from lawtrace.solver.monitoring.instances import Column, Instances
from lawtrace.solver.monitoring.undo import Track, untracked

UNTIMED: Final = "the rule is about time, and an event has none"
"""Why a rule is not decided."""

_CHUNK: Final = 1024
"""How many events one rule sees before the next rule."""

FinalStatus = Literal["kept", "broken", "left_open", "not_due"]
"""A rule at the end of a trace: kept; irreparably broken by some event; with an open obligation; or with an obligation
whose deadline the end of the session does not reach."""


@dataclass(frozen=True, slots=True)
class RuleStatus:
    """The status of one rule after the events so far.

    Attributes:
        verdict: the verdict of its state; for a quantified rule, over all values.
        triggered: whether the rule was triggered, see the module docstring.
        first_irreparable: index of the first event after which a violation was certain, None before that. A rule that
            no trace keeps is violated from the beginning without such an event.
        ending: the decision if the trace ends here.
        values: for a quantified rule the values for which it is not kept: those that broke first, else those with an
            open obligation.
        violations: for a rule without an automaton the ways in which it is broken, or would be if the trace ended here,
            or may be after the end of the session.
        triggers: for a rule without an automaton, how many events triggered it, and `last_trigger` the index of the
            last; for others `TriggerFinder` finds them.
        unknown: why the rule cannot be judged, for instance for want of times; None if it can.
        closing: for an open rule a shortest sequence of calls that would close it (for the first of `values`), each as
            the atoms that must be true of it; empty otherwise.
    """

    verdict: Verdict
    triggered: bool
    first_irreparable: int | None
    ending: FinalStatus
    values: tuple[Scalar, ...] = ()
    closing: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()
    unknown: str | None = None
    triggers: int = 0
    last_trigger: int | None = None


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


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What the verdicts on continuations depend on; see `Monitor.fingerprint`.

    Attributes:
        plain: the states of automata.
        quantified: for each quantified rule with an automaton what all values share, then their states.
        first_order: for each other rule the tables of the past, then the open duties.
    """

    plain: tuple[int, ...]
    quantified: tuple[tuple[tuple[Hashable, ...], tuple[int, ...]], ...]
    first_order: tuple[tuple[Hashable, frozenset[Hashable]], ...]


class Monitor:
    """Follows a rule set along one trace. It can be queried at any time.

    Attributes:
        rules: the names of the rules, in the given order.
    """

    def __init__(
        self, rules: Mapping[str, Automaton | FirstOrderRule], *, history: bool = False, track: Track = untracked
    ) -> None:
        """`history`: record the verdicts after each event. `track`: of an undo log, for its `undoable` subclass."""
        self._track: Final = track
        self.rules: Final = tuple(rules)
        self._tabled: Final = {name: rule for name, rule in rules.items() if isinstance(rule, Automaton)}
        self._first_order: Final = {
            name: track(FirstOrderMonitor)(rule, track)
            for name, rule in rules.items()
            if isinstance(rule, FirstOrderRule)
        }
        self._numbered: Final = {name: number for number, name in enumerate(self._tabled)}
        self._automata: Final = tuple(self._tabled.values())
        plan = _plan(self._automata, tuple(a.formula for a in self._automata))
        self._by_tool: Final = plan.by_tool
        self._elsewhere: Final = plan.elsewhere
        self._violated: Final = [[verdict == "violated" for verdict in a.verdicts] * 2 for a in self._automata]
        self._numbers: Final[list[int]] = []
        self._irreparable: Final[list[int | None]] = []
        self._quantified: Final = plan.quantified
        self._instances: Final[dict[int, Instances]] = {}
        self._history: Final[list[tuple[Verdict, ...]] | None] = [] if history else None
        self._events = 0
        self.clear()

    def clear(self) -> None:
        """Forget the trace, so that another one can be followed. It is cheaper than a new monitor."""
        self._numbers[:] = [automaton.initial for automaton in self._automata]
        self._irreparable[:] = [None] * len(self._automata)
        for rule, automaton, columns in self._quantified:
            self._instances[rule] = self._track(Instances)(automaton, columns, self._track)
        for monitor in self._first_order.values():
            monitor.clear()
        if self._history is not None:
            self._history.clear()
        self._events = 0

    def feed(self, event: Event) -> None:
        """Process one event."""
        self.run((event,))

    def run(self, events: Iterable[Event]) -> None:
        """Process events in order. Equivalent to feeding them one by one, and faster.

        Raises InputError if a rule is about time and the times of the events decrease.
        """
        if self._first_order:
            events = self._first_order_rules_first(events)
        numbers, history = self._numbers, self._history
        by_tool, elsewhere = self._by_tool, self._elsewhere
        for event in events:
            if event.outcome == "shielded":  # it never reached its tool: it is counted and moves no rule
                self._events += 1
                if history is not None:
                    history.append(self.verdicts())
                continue
            completed, attempted, undecided, quantified = by_tool.get(event.tool, elsewhere)
            steps = completed if event.outcome == "completed" else attempted
            if undecided:
                steps = [
                    *steps,
                    *((rule, of[automaton.alphabet.event_letter(event)]) for rule, automaton, of in undecided),
                ]
            moved = False
            for rule, column in steps:
                before = numbers[rule]
                after = column[before]
                if after != before:
                    moved = True
                    numbers[rule] = after
                    violated = self._violated[rule]
                    if violated[after] and not violated[before]:
                        self._irreparable[rule] = self._events
            for rule in quantified:
                self._instances[rule].feed(event, self._events)
            self._events += 1
            if history is not None:
                same = history and not (moved or quantified or self._first_order)
                history.append(history[-1] if same else self.verdicts())

    def _first_order_rules_first(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events, each after the rules without automata have seen it."""
        remaining = iter(events)
        size = _CHUNK if self._history is None else 1
        while chunk := tuple(islice(remaining, size)):
            for monitor in self._first_order.values():
                for position, event in enumerate(chunk, self._events):
                    if event.outcome != "shielded":
                        monitor.feed(event, position)
            yield from chunk

    @property
    def events(self) -> int:
        """The number of events so far."""
        return self._events

    @property
    def history(self) -> tuple[tuple[Verdict, ...], ...]:
        """The verdicts after each event, one for each of `rules`; empty unless requested at construction."""
        return tuple(self._history or ())

    @property
    def first_irreparable(self) -> dict[str, int | None]:
        """For each rule the index of the first event after which a violation was certain, or None."""
        return {name: self._broken_at(name) for name in self.rules}

    def status(self, rule: str, end: int | None = None) -> RuleStatus:
        """The status of a rule; `end`: the time at which the session ends. KeyError for an unknown name."""
        return self.statuses(end)[rule]

    def statuses(self, end: int | None = None) -> dict[str, RuleStatus]:
        """The status of all rules; `end`: the time at which the session ends, None if only the events are known."""
        return {
            name: self._first_order_status(self._first_order[name], end)
            if name in self._first_order
            else self._status(name)
            for name in self.rules
        }

    def final_statuses(self) -> dict[str, FinalStatus]:
        """The decision for each rule if the trace ends here."""
        return {name: status.ending for name, status in self.statuses().items()}

    def all_kept(self) -> bool:
        """Whether every rule is kept if the trace ends here."""
        table_rules = (self._verdict(number) in ("satisfied", "holding") for number in self._numbered.values())
        return all(table_rules) and all(monitor.verdict_at_end() for monitor in self._first_order.values())

    def advance_time(self, time: int) -> None:
        """Let time pass without an event: a duty whose deadline is before this time cannot be met any more."""
        for monitor in self._first_order.values():
            monitor.advance_time(time)

    def distances(self) -> tuple[int | None, ...]:
        """For each of `rules` 0 if it is kept should the trace end now, None if no continuation keeps it, else a
        positive number that falls as its open obligations are met.
        """
        return tuple(map(self._distance, self.rules))

    def _distance(self, name: str) -> int | None:
        if name in self._first_order:
            monitor = self._first_order[name]
            if monitor.violation_count:
                return None
            return 0 if monitor.verdict_at_end() else max(1, monitor.broken_at_end)
        rule = self._numbered[name]
        instances = self._instances.get(rule)
        if instances is None:
            automaton = self._automata[rule]
            return automaton.distances[self._numbers[rule] % len(automaton.table)]
        return None if instances.first_irreparable is not None else instances.distance()

    def fingerprint(self, values: Mapping[str, Sequence[Scalar]]) -> Fingerprint:
        """Equal for monitors of one rule set, at one time, if the same continuations keep the same rules.

        `values`: for quantified rules with an automaton, by name, the values that continuations have.
        """
        several = [(name, rule) for name, rule in self._numbered.items() if rule in self._instances]
        return Fingerprint(
            tuple(n % len(a.table) for n, a in zip(self._numbers, self._automata, strict=True)),
            tuple(self._instances[rule].fingerprint(values.get(name, ())) for name, rule in several),
            tuple(monitor.fingerprint() for monitor in self._first_order.values()),
        )

    def revision(self) -> tuple[int, ...]:
        """Unchanged as long as no quantified rule moves values that do not occur in events."""
        return tuple(instances.revision for instances in self._instances.values())

    def is_no_better(self, later: "Fingerprint", earlier: "Fingerprint") -> bool:
        """Whether every continuation that keeps all rules from the later state on keeps them from the earlier one on.

        `revision` must be the same in both.
        """
        instances, first_order = zip(later.quantified, earlier.quantified, strict=True), later.first_order
        quantified = [automaton for number, automaton in enumerate(self._automata) if number in self._instances]
        return (
            all(
                one == other or (number not in self._instances and other in inclusions(automaton)[one])
                for number, (one, other, automaton) in enumerate(
                    zip(later.plain, earlier.plain, self._automata, strict=True)
                )
            )
            and all(
                one[0][:2] == other[0][:2]
                and all(a == b or b in inclusions(automaton)[a] for a, b in zip(one[1], other[1], strict=True))
                for (one, other), automaton in zip(instances, quantified, strict=True)
            )
            and all(
                one[0] == other[0] and one[1] >= other[1]
                for one, other in zip(first_order, earlier.first_order, strict=True)
            )
        )

    def times(self) -> set[int]:
        """The times of past events that the windows of rules may still ask for."""
        return {time for monitor in self._first_order.values() for time in monitor.times()}

    def undecided(self, rule: str) -> list[Violation]:
        """What may still become a violation of a rule without an automaton."""
        return self._first_order[rule].undecided if rule in self._first_order else []

    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict of each of `rules`."""
        return tuple(
            self._first_order[name].verdict if name in self._first_order else self._verdict(self._numbered[name])
            for name in self.rules
        )

    def _verdict(self, rule: int) -> Verdict:
        if rule in self._instances:
            return self._instances[rule].verdict
        automaton = self._automata[rule]
        return automaton.verdicts[self._numbers[rule] % len(automaton.table)]

    def _broken_at(self, name: str) -> int | None:
        if name in self._first_order:
            return self._first_order[name].first_irreparable
        rule = self._numbered[name]
        instances = self._instances.get(rule)
        return self._irreparable[rule] if instances is None else instances.first_irreparable

    def _first_order_status(self, monitor: FirstOrderMonitor, end: int | None) -> RuleStatus:
        kept = monitor.verdict_at_end(end)
        ending: FinalStatus = (
            "kept" if kept else "not_due" if kept is None else "broken" if monitor.violation_count else "left_open"
        )
        violations = [*monitor.violations]
        if ending == "left_open":
            violations += monitor.violated_at_end(end)
        elif ending == "not_due" and end is not None:
            violations += monitor.inconclusive_at(end)
        return RuleStatus(
            verdict=monitor.verdict,
            triggered=monitor.triggered > 0,
            first_irreparable=monitor.first_irreparable,
            ending=ending,
            values=tuple(value for violation in violations[:1] for _, value in violation.values),
            violations=tuple(violations),
            unknown=UNTIMED if monitor.untimed_event else None,
            triggers=monitor.trigger_steps,
            last_trigger=monitor.last_trigger,
        )

    def _status(self, name: str) -> RuleStatus:
        rule = self._numbered[name]
        automaton, number = self._automata[rule], self._numbers[rule]
        instances = self._instances.get(rule)
        if instances is None:
            state, values = number % len(automaton.table), ()
            verdict, triggered = automaton.verdicts[state], number >= len(automaton.table)
        else:
            state, values = instances.state, instances.unsatisfied_values()
            verdict, triggered = instances.verdict, instances.triggered
        return RuleStatus(
            verdict=verdict,
            triggered=triggered,
            first_irreparable=self._broken_at(name),
            ending="broken" if verdict == "violated" else "left_open" if verdict == "open" else "kept",
            values=values,
            closing=tuple(map(automaton.alphabet.text, automaton.shortest_completion(state)))
            if verdict == "open"
            else (),
        )


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
        rules = [(rule, automaton, _columns(automaton, automaton.formula)) for rule, automaton in enumerate(automata)]
        self.quantified: Final = [(rule, automaton, of) for rule, automaton, of in rules if automaton.is_quantified]
        self._plain: Final = [(rule, automaton, of) for rule, automaton, of in rules if not automaton.is_quantified]
        tools = {atom.tool for automaton in automata for atom in automaton.atoms}
        self.by_tool: Final = {tool: self._moves(tool) for tool in tools}
        self.elsewhere: Final = self._moves("")

    def _moves(self, tool: str) -> _Moves:
        completed: _Steps = []
        attempted: _Steps = []
        undecided: _Undecided = []
        for rule, automaton, columns in self._plain:
            for steps, completes in ((completed, True), (attempted, False)):
                letter = automaton.alphabet.tool_letter(tool, completed=completes)
                if letter is None:
                    undecided.append((rule, automaton, columns))
                    break
                if not _idle(columns[letter]):  # else the rule keeps its state
                    steps.append((rule, columns[letter]))
        quantified = [
            rule
            for rule, automaton, columns in self.quantified
            if tool in automaton.alphabet.by_tool or not _idle(columns[0])
        ]
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
            found, alphabet = compile_formula(occasion, automaton.alphabet.kind), automaton.alphabet
            return frozenset(letter for letter in alphabet.letters if found.accepts([alphabet.true_atoms(letter)]))
        case None:
            return frozenset(automaton.letters) - {0}
