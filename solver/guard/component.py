"""Components: rules that share tools, and what is known of a trace about them.

Two rules without a common tool do not touch each other, unless one of them counts the steps of all tools. So the rules
of a set fall into components, and the duties of all can be met if those of each component can.

A component is compiled once for a rule set and tools. Each session opens it and has its own state.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.schemas.events import Event, Json
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.guard.rule_monitors import FirstMonitors, RuleMonitors
from lawtrace.solver.guard.step_counting import counts_steps
from lawtrace.solver.guard.vocabulary import Vocabulary
from lawtrace.solver.logic.syntax import Atom, EventAggregate, ForAll, aggregates_of, subformulas
from lawtrace.solver.logic.windows import Window
from lawtrace.solver.monitoring.metric import MetricRule
from lawtrace.solver.rules import Rule


class CompiledComponent:
    """What all sessions with the rules of a component share.

    Attributes:
        rules: the rules.
        counts_steps: whether calls of any tool matter.
        tools: which tools the rules name.
        vocabulary: their representative events.
        windows: the windows of the rules.
        timed: whether the times of events matter.
        monitors: of the rules, before any event.
    """

    def __init__(self, rules: Sequence[Rule], tools: Mapping[str, ToolSchema]) -> None:
        self.rules: Final = tuple(rules)
        self.counts_steps: Final = any(map(counts_steps, rules))
        self.tools: Final = frozenset(tool for rule in rules for tool in rule.tools)
        self.vocabulary: Final = Vocabulary(rules, tools)
        self.windows: Final = tuple(dict.fromkeys(window for rule in rules for window in _windows(rule)))
        self.timed: Final = any(rule.is_timed for rule in rules)
        self.monitors: Final = FirstMonitors(rules)

    def concerns(self, tool: str) -> bool:
        """Whether a call of the tool can change what is known of the rules."""
        return self.counts_steps or tool in self.tools


class Component:
    """A component in one session: its monitors, and a continuation that kept its rules when it was last looked at.

    Attributes:
        rules, concerns, counts_steps, tools, vocabulary, windows, timed: see `CompiledComponent`.
        log: undoes what is tried on the monitors.
        monitor: the monitors of the trace so far.
        protected: for each rule whether it is still defended; a rule that is lost is not.
        hint: events that kept all protected rules after some earlier trace.
        follow_ups: for tools the arguments of an earlier call, and events that met the duties it brought, with the
            seconds that they were later.
    """

    def __init__(self, compiled: CompiledComponent) -> None:
        self.rules: Final = compiled.rules
        self.concerns: Final = compiled.concerns
        self.counts_steps: Final = compiled.counts_steps
        self.tools: Final = compiled.tools
        self.vocabulary: Final = compiled.vocabulary
        self.windows: Final = compiled.windows
        self.timed: Final = compiled.timed
        self.log: Final = compiled.monitors.log
        self.monitor: Final = RuleMonitors(compiled.monitors)
        self.protected: Final = [True] * len(compiled.rules)
        self.hint: tuple[Event, ...] = ()
        self.follow_ups: Final[dict[str, tuple[Mapping[str, Json], tuple[Event, ...]]]] = {}

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

    def give_up(self, rule: Rule) -> None:
        """Stop defending a rule."""
        self.protected[self.rules.index(rule)] = False


def compile_components(rules: Sequence[Rule], tools: Mapping[str, ToolSchema]) -> tuple[CompiledComponent, ...]:
    """The components of a rule set, in the order of their first rules."""
    if any(map(counts_steps, rules)):
        return (CompiledComponent(rules, tools),)
    groups: list[tuple[frozenset[str], list[Rule]]] = []
    for rule in rules:
        touched = [group for group in groups if group[0] & rule.tools]
        others = [group for group in groups if not group[0] & rule.tools]
        merged = sorted((*(one for _, several in touched for one in several), rule), key=rules.index)
        groups = [*others, (rule.tools.union(*(names for names, _ in touched)), merged)]
    groups.sort(key=lambda group: rules.index(group[1][0]))
    return tuple(CompiledComponent(several, tools) for _, several in groups)


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
