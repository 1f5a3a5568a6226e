"""Components: rules that share tools, and what is known of a trace about them.

Two rules without a common tool do not touch each other, unless one of them counts the steps of all tools. So the rules
of a set fall into components, and the duties of all can be met if those of each component can.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from lawtrace.environments.events import Event, Json
from lawtrace.solver.guard.schemas import ToolSchema
from lawtrace.solver.guard.vocabulary import Vocabulary
from lawtrace.solver.ltlf import Automaton, MetricRule, Monitor, RuleStatus, Violation
from lawtrace.solver.ltlf.evaluation import Evaluator
from lawtrace.solver.ltlf.monitor import Fingerprint
from lawtrace.solver.ltlf.syntax import (
    And,
    Atom,
    Compare,
    EventAggregate,
    Exists,
    ForAll,
    Formula,
    Next,
    Not,
    Or,
    Since,
    Top,
    Until,
    Yesterday,
    aggregates_of,
    atoms_of,
    subformulas,
)
from lawtrace.solver.ltlf.terms import Position, Scalar, leaves
from lawtrace.solver.ltlf.undo import UndoLog
from lawtrace.solver.ltlf.windows import Window
from lawtrace.solver.rules import Rule


class Component:
    """Some rules, their monitors, and a continuation that kept them when it was last looked at.

    Attributes:
        rules: the rules.
        counts_steps: whether calls of any tool matter.
        tools: which tools the rules name.
        vocabulary: their representative events.
        windows: the windows of the rules.
        timed: whether the times of events matter.
        log: undoes what is tried on the monitor.
        monitor: the monitors of the trace so far.
        protected: for each rule whether it is still defended; a rule that is lost is not.
        hint: events that kept all protected rules after some earlier trace.
        recipes: for tools the arguments of an earlier call, and events that met the duties it brought, with the seconds
            that they were later.
    """

    def __init__(self, rules: Sequence[Rule], tools: Mapping[str, ToolSchema]) -> None:
        self.rules: Final = tuple(rules)
        self.counts_steps: Final = any(map(counts_steps, rules))
        self.tools: Final = frozenset(tools_of(rules))
        self.vocabulary: Final = Vocabulary(rules, tools)
        self.windows: Final = tuple(dict.fromkeys(window for rule in rules for window in _windows(rule)))
        self.timed: Final = any(rule.is_timed for rule in rules)
        self.log: Final = UndoLog()
        self.monitor: Final = RuleMonitors(rules, self.log)
        self.protected: Final = [True] * len(rules)
        self.hint: tuple[Event, ...] = ()
        self.recipes: Final[dict[str, tuple[Mapping[str, Json], tuple[Event, ...]]]] = {}

    def concerns(self, tool: str) -> bool:
        """Whether a call of the tool can change what is known of the rules."""
        return self.counts_steps or tool in self.tools

    def distances(self) -> list[int] | None:
        """For each protected rule how far it is from being kept, 0 if it is; None if one cannot be kept any more."""
        found: list[int] = []
        for defended, distance in zip(self.protected, self.monitor.distances(), strict=True):
            if defended:
                if distance is None:
                    return None
                found.append(distance)
        return found

    def broken(self) -> list[Rule]:
        """The protected rules that cannot be kept any more, each by itself."""
        known = zip(self.rules, self.protected, self.monitor.distances(), strict=True)
        return [rule for rule, defended, distance in known if defended and distance is None]

    def always_broken(self, event: Event) -> bool:
        """Whether the event alone breaks a protected rule, whatever happened before."""
        for rule, defended in zip(self.rules, self.protected, strict=True):
            automaton = rule.compiled
            if defended and isinstance(automaton, Automaton):
                values = automaton.alphabet.occurring_values(event) if automaton.is_quantified else [None]
                columns = [automaton.alphabet.columns[automaton.event_letter(event, value)] for value in values]
                if any(
                    all(automaton.verdict(row[column]) == "violated" for row in automaton.table) for column in columns
                ):
                    return True
        return False

    def defended(self) -> list[Rule]:
        """The rules that are still defended."""
        return [rule for rule, defended in zip(self.rules, self.protected, strict=True) if defended]

    def owed(self) -> list[Rule]:
        """The protected rules that are not kept if nothing more happens."""
        known = zip(self.rules, self.protected, self.monitor.distances(), strict=True)
        return [rule for rule, defended, distance in known if defended and distance]

    def lost(self) -> list[Rule]:
        """The rules that cannot be kept any more, or were given up."""
        known = zip(self.rules, self.protected, self.monitor.distances(), strict=True)
        return [rule for rule, defended, distance in known if not defended or distance is None]

    def open_values(self, rule: Rule) -> tuple[dict[str, Json], ...]:
        """The values of the variables of a rule for which it has open duties."""
        violations = self.monitor.undecided(rule.id)
        found: list[dict[str, Json]] = [{**dict(violation.values)} for violation in violations]
        if not violations and isinstance(rule.parsed, ForAll):
            name = rule.parsed.variables[0]
            found = [{name: value} for value in self.monitor.status(rule.id).values]
        return tuple(sorted(found, key=repr))

    @staticmethod
    def tools_of(rule: Rule) -> set[str]:
        """The tools that a rule names."""
        return tools_of([rule])

    def give_up(self, rule: Rule) -> None:
        """Stop defending a rule."""
        self.protected[self.rules.index(rule)] = False


class RuleMonitors:
    """A monitor for each rule, which sees the calls that can change the rule. All can go back together."""

    def __init__(self, rules: Sequence[Rule], log: UndoLog) -> None:
        make = log.undoable
        self._monitors: Final[dict[str, Monitor]] = {
            rule.id: make(Monitor)({rule.id: rule.compiled}, make=make) for rule in rules
        }
        self._timed: Final = [number for number, rule in enumerate(rules) if rule.is_timed]
        self._numbered: Final = list(self._monitors.values())
        always = [number for number, rule in enumerate(rules) if counts_steps(rule)]
        self._elsewhere: Final = always
        self._by_tool: Final = {
            tool: [number for number, rule in enumerate(rules) if number in always or tool in tools_of([rule])]
            for tool in tools_of(rules)
        }
        self._distances: Final[list[int | None]] = log.wrapped([one.distances()[0] for one in self._numbered])

    def feed(self, event: Event) -> None:
        """Process one event."""
        for number in self._by_tool.get(event.tool, self._elsewhere):
            self._numbered[number].feed(event)
            self._look(number)

    def pass_time(self, time: int) -> None:
        """Let time pass without an event."""
        for number in self._timed:
            self._numbered[number].pass_time(time)
            self._look(number)

    def _look(self, number: int) -> None:
        distance = self._numbered[number].distances()[0]
        if distance != self._distances[number]:
            self._distances[number] = distance

    def distances(self) -> Sequence[int | None]:
        """See `Monitor.distances`."""
        return self._distances

    def times(self) -> set[int]:
        """See `Monitor.times`."""
        return {time for monitor in self._numbered for time in monitor.times()}

    def status(self, rule: str) -> RuleStatus:
        """The status of a rule."""
        return self._monitors[rule].status(rule)

    def undecided(self, rule: str) -> list[Violation]:
        """What may still become a violation of a rule without an automaton."""
        return self._monitors[rule].undecided(rule)

    def fingerprint(self, values: Mapping[str, Sequence[Scalar]]) -> tuple[Fingerprint, ...]:
        """See `Monitor.fingerprint`."""
        return tuple(monitor.fingerprint(values) for monitor in self._numbered)

    def state(self, rule: str) -> Fingerprint:
        """See `Monitor.fingerprint`; of one rule."""
        return self._monitors[rule].fingerprint({})

    def moves(self) -> tuple[tuple[int, ...], ...]:
        """See `Monitor.moves`."""
        return tuple(monitor.moves() for monitor in self._numbered)

    def is_no_better(self, later: Sequence[Fingerprint], earlier: Sequence[Fingerprint]) -> bool:
        """See `Monitor.is_no_better`."""
        return all(
            one == other or monitor.is_no_better(one, other)
            for monitor, one, other in zip(self._numbered, later, earlier, strict=True)
        )


def make_components(rules: Sequence[Rule], tools: Mapping[str, ToolSchema]) -> list[Component]:
    """The components of a rule set, in the order of their first rules."""
    if any(map(counts_steps, rules)):
        return [Component(rules, tools)]
    groups: list[tuple[set[str], list[Rule]]] = []
    for rule in rules:
        named = tools_of([rule])
        touched = [group for group in groups if group[0] & named]
        others = [group for group in groups if not group[0] & named]
        merged = sorted((*(one for _, several in touched for one in several), rule), key=rules.index)
        groups = [*others, (named.union(*(names for names, _ in touched)), merged)]
    groups.sort(key=lambda group: rules.index(group[1][0]))
    return [Component(several, tools) for _, several in groups]


def tools_of(rules: Sequence[Rule]) -> set[str]:
    """The tools that rules name."""
    return {atom.tool for rule in rules for atom in atoms_of([rule.parsed])}


def counts_steps(rule: Rule) -> bool:
    """Whether a call of a tool that the rule does not name can change its value."""
    compiled = rule.compiled
    if isinstance(compiled, Automaton):
        other = compiled.alphabet.columns[0]
        return any(row[other] != state for state, row in enumerate(compiled.table))
    if any(not case.every_step for case in compiled.cases):
        return True
    triggers = Evaluator().triggers
    return any(triggers(case.formula) is None or not _ignores(case.formula) for case in compiled.cases)


def _ignores(formula: Formula) -> bool:
    """Whether further steps, with calls of tools that it does not name, leave the value of a formula alone."""
    triggers = Evaluator().triggers
    match formula:
        case Not(operand) | Exists(_, operand):
            return _ignores(operand)
        case And(parts) | Or(parts):
            return all(map(_ignores, parts))
        case Until(left, right) | Since(left, right):
            stays = isinstance(left, Top) or (isinstance(left, Not) and triggers(left.operand) is not None)
            return stays and triggers(right) is not None and _ignores(left) and _ignores(right)
        case Yesterday(operand, window):
            return window.unlimited and isinstance(operand, Since) and operand.window.unlimited and _ignores(operand)
        case Next():
            return False
        case Compare(comparison):
            sides = (*leaves(comparison.left), *leaves(comparison.right))
            return not any(isinstance(leaf, Position) for leaf in sides)
        case _:
            return True


def _windows(rule: Rule) -> list[Window]:
    """The windows of a rule that have a bound."""
    if not isinstance(rule.compiled, MetricRule):
        return []
    found: list[Window] = []
    for node in subformulas(rule.compiled.normal):
        if not isinstance(node, Atom):
            window = getattr(node, "window", None)
            found += [window] if isinstance(window, Window) else []
            found += [aggregate.window for aggregate in aggregates_of(node) if isinstance(aggregate, EventAggregate)]
    return [window for window in found if not window.unlimited]
