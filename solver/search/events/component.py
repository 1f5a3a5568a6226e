"""Components: rules that share tools, and what is known of a trace about them.

Two rules without a common tool do not touch each other, unless one of them counts the steps of all tools. So the rules
of a set fall into components, and the duties of all can be met if those of each component can.

A component is compiled once for a rule set and tools. Each session opens it and has its own state.

Under open questions a session has, besides the component with all its rules, one for each set of rules that hold
together under some readings. They share the monitors. What keeps all rules keeps those of each reading, so the readings
are told apart only if not all rules can be kept.
"""

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.schemas.events import Actor, Event, Json
from lawtrace.schemas.violations import Scalar
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.interpretations import QuestionGroup, enumerate_interpretations, is_active, question_groups
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.windows import Window
from lawtrace.solver.monitoring.first_order import FirstOrderRule
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.monitoring.rule_status import Fingerprint
from lawtrace.solver.monitoring.undo import UndoLog
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.events.vocabulary import Vocabulary

MAX_IGNORED: Final = 5
"""How many events that leave a rule in its first state a session checks for that; then it gets its own monitor."""


class CompiledComponent:
    """What all sessions with the rules of a component share.

    At the beginning of a session every monitor is in its first state, so sessions share these monitors. What a decision
    tries on them is undone. When an event has really happened, the session gets its own monitors of the rules that the
    event concerns. So to open a session costs nothing for the rules, and its memory grows with the rules that its calls
    are about.

    Attributes:
        tools: which tools the rules name.
        vocabulary: their representative events.
        windows: for each rule its windows.
        timed: the numbers of the rules for which the times of events matter.
        numbers: of the rules, by id.
        log: undoes what is tried on monitors.
        monitors: one for each rule, before any event; changed inside attempts only.
        distances: of these monitors.
        left: for each rule the monitors of sessions that are over.
        counts_steps: whether calls of any tool matter.
        active: for each set of rules that hold together under some readings of the questions on which the rules depend,
            which of the rules; one set if there are no questions.
        readings: for each of these sets the combinations of readings; none if there are no questions.
    """

    def __init__(
        self, rules: Sequence[Rule], tools: Mapping[str, ToolSchema], groups: Sequence[QuestionGroup] = ()
    ) -> None:
        """`groups`: of the open questions on which the rules depend; without them, all rules hold together."""
        self.rules: Final = tuple(rules)
        holding: dict[tuple[bool, ...], list[Mapping[str, str]]] = {}
        for readings in enumerate_interpretations(groups):
            active = tuple(not groups or rule.source == "manual" or is_active(rule, readings) for rule in rules)
            holding.setdefault(active, []).extend([readings] if groups else ())
        self.active: Final = tuple(holding)
        self.readings: Final = (*holding.values(),)
        self.tools: Final = frozenset(tool for rule in rules for tool in rule.tools)
        self.vocabulary: Final = Vocabulary(rules, tools)
        self.windows: Final = tuple(map(windows_of, rules))
        self.timed: Final = tuple(number for number, rule in enumerate(rules) if rule.is_timed)
        self.numbers: Final = {rule.id: number for number, rule in enumerate(rules)}
        self.log: Final = UndoLog()
        self.monitors: Final = tuple(map(self._make, rules))
        self.distances: Final = tuple(monitor.distances()[0] for monitor in self.monitors)
        self.left: Final = tuple(list[Monitor]() for _ in rules)
        self._fingerprints: Final = tuple(monitor.fingerprint({}) for monitor in self.monitors)
        self._counting: Final = tuple(number for number, rule in enumerate(rules) if rule.counts_steps)
        self._by_tool: Final = {
            tool: tuple(n for n, rule in enumerate(rules) if n in self._counting or tool in rule.tools)
            for tool in self.tools
        }
        self.counts_steps: Final = bool(self._counting)

    def concerns(self, tool: str) -> bool:
        """Whether a call of the tool can change what is known of the rules."""
        return self.counts_steps or tool in self.tools

    def concerned(self, tool: str) -> tuple[int, ...]:
        """The numbers of the rules that a call of the tool can change."""
        return self._by_tool.get(tool, self._counting)

    def ignores(self, number: int, event: Event) -> bool:
        """Whether an event leaves the first state of a rule as it is."""
        monitor = self.monitors[number]
        with self.log.attempt():
            monitor.feed(event)
            return monitor.fingerprint({}) == self._fingerprints[number]

    def take(self, number: int) -> Monitor:
        """A monitor of a rule, before any event, for one session: one that another session left, or a new one."""
        try:
            monitor = self.left[number].pop()
        except IndexError:
            return self._make(self.rules[number])
        monitor.clear()
        return monitor

    def _make(self, rule: Rule) -> Monitor:
        track = self.log.undoable
        return track(Monitor)({rule.id: rule.compiled}, track=track)


class Component:
    """A component in one session: its monitors, and a continuation that kept its rules when it was last looked at.

    Attributes:
        interpretations: the components of the rules that hold together under some readings; itself if there are no
            open questions.
        rules, concerns, counts_steps, tools, vocabulary, windows, timed, log: see `CompiledComponent`.
        rule_distances: for each rule how far it is from being kept; see `Monitor.distances`.
        protected: for each rule whether it is still defended; a rule that is lost is not.
        hint: events that kept all protected rules after some earlier trace.
        follow_ups: for tools the arguments of an earlier call, and events that met the duties it brought, with the
            seconds that they were later.
    """

    def __init__(
        self,
        compiled: CompiledComponent,
        whole: "Component | None" = None,
        number: int = 0,
        *,
        actor: Actor | None = None,
    ) -> None:
        """`whole`: of which it is an interpretation, with this number. `actor`: who alone acts in the session."""
        self.rules: Final = compiled.rules
        self.concerns: Final = compiled.concerns
        self.counts_steps: Final = compiled.counts_steps
        self.tools: Final = compiled.tools
        self.vocabulary: Final = (
            whole.vocabulary if whole else compiled.vocabulary.acting(actor) if actor else compiled.vocabulary
        )
        self.windows: Final = compiled.windows
        self.timed: Final = compiled.timed
        self.log: Final = compiled.log
        self._compiled: Final = compiled
        self._is_whole: Final = whole is None
        self._monitors: Final = whole._monitors if whole else list(compiled.monitors)
        self._ignored: Final = [0] * len(compiled.rules)
        self.rule_distances: Final[list[int | None]] = (
            whole.rule_distances if whole else compiled.log.wrapped(list(compiled.distances))
        )
        self._active: Final = compiled.active[number] if whole else (True,) * len(compiled.rules)
        self.protected: Final = list(self._active)
        self.hint: tuple[Event, ...] = ()
        self.follow_ups: Final[dict[str, tuple[Mapping[str, Json], tuple[Event, ...]]]] = (
            whole.follow_ups if whole else {}
        )
        several = range(len(compiled.active)) if whole is None and len(compiled.active) > 1 else ()
        self._interpretations: Final = tuple(Component(compiled, self, number) for number in several)

    @property
    def interpretations(self) -> "tuple[Component, ...]":
        return self._interpretations or (self,)

    def __del__(self) -> None:
        # Making a monitor takes far longer than clearing one. They are cleared later: an attempt may be under way.
        for monitor, shared, left in zip(self._monitors, self._compiled.monitors, self._compiled.left, strict=True):
            if self._is_whole and monitor is not shared:
                left.append(monitor)

    # The monitors

    def commit(self, event: Event) -> None:
        """Process an event that has happened. Only outside attempts."""
        compiled = self._compiled
        for number in compiled.concerned(event.tool):
            if self._monitors[number] is compiled.monitors[number]:
                if self._ignored[number] < MAX_IGNORED and compiled.ignores(number, event):
                    self._ignored[number] += 1
                    continue
                self._monitors[number] = compiled.take(number)
            self._monitors[number].feed(event)
            self._look(number)

    def feed(self, event: Event) -> None:
        """Process an event inside an attempt, at the end of which it is undone."""
        for number in self._compiled.concerned(event.tool):
            self._monitors[number].feed(event)
            self._look(number)

    def feed_rule(self, number: int, event: Event) -> None:
        """Process an event for one rule only. It must be undone before the next event."""
        self._monitors[number].feed(event)
        self._look(number)

    def advance_time(self, time: int) -> None:
        """Let time pass without an event, inside an attempt."""
        for number in self.timed:
            self._monitors[number].advance_time(time)
            self._look(number)

    def _look(self, number: int) -> None:
        distance = self._monitors[number].distances()[0]
        if distance != self.rule_distances[number]:
            self.rule_distances[number] = distance

    def replay(self, events: Sequence[Event]) -> list[int] | None:
        """Process events inside an attempt. Returns the distances."""
        for event in events:
            self.feed(event)
        return self.distances()

    def replay_pending(self, pending: Sequence[Event], now: int) -> list[int] | None:
        """Process events, some of which may have happened earlier, and let time pass until now."""
        distances = self.replay(pending)
        if pending and pending[0].time != now:
            self.advance_time(now)
            return self.distances()
        return distances

    def monitor(self, rule: Rule) -> Monitor:
        """The monitor of a rule."""
        return self._monitors[self._compiled.numbers[rule.id]]

    def times(self) -> set[int]:
        """See `Monitor.times`."""
        return {time for monitor in self._monitors for time in monitor.times()}

    def fingerprint(self, values: Mapping[str, Sequence[Scalar]]) -> tuple[tuple[Fingerprint, ...], ...]:
        """See `Monitor.fingerprint`."""
        return tuple(monitor.fingerprint(values) for monitor in self._monitors)

    def revision(self) -> tuple[tuple[int, ...], ...]:
        """See `Monitor.revision`."""
        return tuple(monitor.revision() for monitor in self._monitors)

    def is_no_better(self, later: Sequence[Sequence[Fingerprint]], earlier: Sequence[Sequence[Fingerprint]]) -> bool:
        """See `Monitor.is_no_better`."""
        return all(
            one == other or monitor.is_no_better(one, other)
            for monitor, one, other in zip(self._monitors, later, earlier, strict=True)
        )

    # The rules

    def distances(self) -> list[int] | None:
        """For each protected rule how far it is from being kept, 0 if it is; None if one cannot be kept any more."""
        found: list[int] = []
        for defended, distance in zip(self.protected, self.rule_distances, strict=True):
            if defended:
                if distance is None:
                    return None
                found.append(distance)
        return found

    def broken(self) -> list[Rule]:
        """The protected rules that cannot be kept any more, each by itself."""
        return [rule for rule, defended, distance in self._known() if defended and distance is None]

    def always_broken(self, event: Event) -> bool:
        """Whether the event alone breaks a protected rule, whatever happened before."""
        for rule, defended in zip(self.rules, self.protected, strict=True):
            automaton = rule.compiled
            if defended and isinstance(automaton, Automaton):
                values = automaton.alphabet.occurring_values(event) if automaton.is_quantified else [None]
                columns = [
                    automaton.alphabet.columns[automaton.alphabet.event_letter(event, value)] for value in values
                ]
                if any(
                    all(automaton.verdicts[row[column]] == "violated" for row in automaton.table) for column in columns
                ):
                    return True
        return False

    def defended(self) -> list[Rule]:
        """The rules that are still defended."""
        return [rule for rule, defended, _ in self._known() if defended]

    def owed(self) -> list[Rule]:
        """The protected rules that are not kept if nothing more happens."""
        return [rule for rule, defended, distance in self._known() if defended and distance]

    def lost(self) -> list[Rule]:
        """The rules that cannot be kept any more, or were given up."""
        known = zip(self._known(), self._active, strict=True)
        return [
            rule for (rule, defended, distance), active in known if active and not (defended and distance is not None)
        ]

    def _known(self) -> Iterator[tuple[Rule, bool, int | None]]:
        return zip(self.rules, self.protected, self.rule_distances, strict=True)

    def open_values(self, rule: Rule) -> tuple[dict[str, Json], ...]:
        """The values of the variables of a rule for which it has open duties."""
        violations = self.monitor(rule).undecided(rule.id)
        found: list[dict[str, Json]] = [{**dict(violation.values)} for violation in violations]
        if not violations and isinstance(rule.parsed, s.ForAll):
            name = rule.parsed.variables[0]
            found = [{name: value} for value in self.monitor(rule).status(rule.id).values]
        return tuple(sorted(found, key=repr))

    @contextmanager
    def protecting(self, rules: Collection[str]) -> Generator[None]:
        """Defend only some rules for a while, given their ids."""
        before = list(self.protected)
        self.protected[:] = [rule.id in rules for rule in self.rules]
        try:
            yield
        finally:
            self.protected[:] = before

    def give_up(self, rule: str) -> None:
        """Stop defending a rule, given its id."""
        self.protected[self._compiled.numbers[rule]] = False

    def unite(self) -> None:
        """Defend the rules that are defended under some readings."""
        self.protected[:] = map(any, zip(*(one.protected for one in self.interpretations), strict=True))


def compile_components(rules: Sequence[Rule], tools: Mapping[str, ToolSchema]) -> tuple[CompiledComponent, ...]:
    """The components of a rule set, in the order of their first rules."""
    groups = question_groups(rules)
    found: list[CompiledComponent] = []
    for connected in _connected(rules):
        asked = {name for rule in connected for name in rule.under}
        found.append(CompiledComponent(connected, tools, [one for one in groups if asked.intersection(one.questions)]))
    return tuple(found)


def _connected(rules: Sequence[Rule]) -> list[list[Rule]]:
    """The rules that touch each other."""
    if any(rule.counts_steps for rule in rules):
        return [list(rules)]
    groups: list[tuple[frozenset[str], list[Rule]]] = []
    for rule in rules:
        touched = [group for group in groups if group[0] & rule.tools]
        others = [group for group in groups if not group[0] & rule.tools]
        merged = sorted((*(one for _, several in touched for one in several), rule), key=rules.index)
        groups = [*others, (rule.tools.union(*(names for names, _ in touched)), merged)]
    return [several for _, several in sorted(groups, key=lambda group: rules.index(group[1][0]))]


def windows_of(rule: Rule) -> list[Window]:
    """The windows of a rule that have a bound."""
    if not isinstance(rule.compiled, FirstOrderRule):
        return []
    return [window for node in s.subformulas(rule.compiled.normal) for window in s.windows_of(node)]
