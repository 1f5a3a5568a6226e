"""Rule-set analysis for rules with time, several variables and aggregates.

Automata decide the other rules (`lawtrace.solver.lint.rule_sets`). Here the search of the guard looks for traces: a
trace is a continuation of the empty one with representative events (`lawtrace.solver.search.events.event_search`), of
any tools, with any arguments and results of their types. Where it ends without one, and the representatives are all
that matter, there is none; else nothing is claimed. That a rule implies another may also be seen from their form. Rules
are added lazily. Rules without time take part, and are reported only where a rule with time has a share in it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from lawtrace.environments.spec.clock import DEFAULT_START
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import Event
from lawtrace.solver.guard.tools import read_tools
from lawtrace.solver.interpretations import holds_whenever
from lawtrace.solver.lint.findings import Excluded, RuleFinding, Witness
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.entailment import visibly_entails
from lawtrace.solver.logic.normal_form import disjunction, normal_form, original_names
from lawtrace.solver.logic.templates import InstructionAdherence, OperationalRestriction, match_template
from lawtrace.solver.logic.violations import calls_of_violation
from lawtrace.solver.monitoring.first_order import FirstOrderRule
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.core import minimal_core
from lawtrace.solver.search.events.component import CompiledComponent, Component
from lawtrace.solver.search.events.event_search import decide
from lawtrace.solver.search.problem import Answer, Budget, Found, Impossible, Unknown
from lawtrace.solver.search.products.explanations import join_names

SEARCH_STEPS: Final = 3_000
"""How many steps a search may take that can only find a trace."""
EXHAUSTIVE_STEPS: Final = 30_000
"""How many if it can also exclude all traces."""
MOST_CALLS: Final = 4
"""The length of the traces that a search with times excludes: each call one edge of a window after the one before."""

_Events = tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Open:
    """A question that was not decided: the rules that were asked about."""

    rules: tuple[str, ...]


class FirstOrderAnalysis:
    """The findings about a rule set in which some rules have no automaton.

    Attributes:
        findings: what was found.
        breaking: for each rule that is needed a trace that breaks it and keeps all others.
        calling: for each tool that rules name a trace that calls it and keeps all rules.
    """

    def __init__(
        self,
        environment: Environment,
        rules: Sequence[Rule],
        *,
        settled: frozenset[str] = frozenset(),
        progress: Callable[[], None] = lambda: None,
    ) -> None:
        """`settled`: rules without time of which it is known that they are not needed; their redundancy is not asked.

        `progress`: called after each search.
        """
        self.findings: Final[list[RuleFinding]] = []
        self.breaking: Final[dict[str, Witness]] = {}
        self.calling: Final[dict[str, Witness]] = {}
        self._environment = environment
        self._schemas: Final = read_tools(environment)
        self._progress: Final = progress
        self._compliant: list[_Events] = []
        self._open: dict[str, list[str]] = {}
        self._rules: Final = {rule.id: rule for rule in rules}
        self._normal: Final = {rule.id: normal_form(rule.parsed) for rule in rules}
        named = {atom.tool for atom in s.atoms_of(rule.parsed for rule in rules)}
        self._tools = [tool for tool in environment.tools if tool in named]
        self._find_conflicts()
        conflicting = bool(self.findings)
        self._find_triggers(() if conflicting else tuple(self._rules))
        if not conflicting:
            self._find_tools()
            self._find_redundant(settled)
        self._report_undecided()

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the claims rest on, as sentences."""
        timed = [rule for rule in self._rules if self._is_metric(rule)]
        return (
            f"What is said of {join_names(timed)} was searched with representatives of all arguments, results and "
            f"times that the rules tell apart. Where times matter, traces of more than {MOST_CALLS} calls are not "
            "covered.",
        )

    # Questions

    def _find_conflicts(self) -> None:
        """Minimal sets of rules that no trace with a call keeps together; after each, its last rule is set aside."""
        some_call = _goal(s.Eventually(disjunction(map(s.Atom, self._environment.tools))))
        for rule in [rule for rule in self._rules if self._is_metric(rule)]:
            if isinstance(excluded := self._ask((rule,), some_call), Excluded):
                self.findings.append(excluded.conflict())
        remaining = [rule for rule in self._rules if all(rule not in finding.rules for finding in self.findings)]
        while remaining and not isinstance(excluded := self._ask(remaining, some_call), tuple):
            if isinstance(excluded, Open):
                self._undecided("can be kept together with the others", remaining[-1], excluded.rules)
                return
            if not any(map(self._is_metric, excluded.core)):  # known, and proved by automata
                return
            self.findings.append(excluded.conflict())
            remaining.remove(excluded.core[-1])

    def _find_triggers(self, context: Sequence[str]) -> None:
        """The rules that are never triggered in a trace that keeps the rules of the context."""
        for rule in self._rules:
            if any(finding.rules == (rule,) for finding in self.findings):  # cannot be kept at all
                continue
            trigger = _trigger(self._rules[rule])
            goal = _goal(s.Eventually(trigger))
            if len(context) == len(self._rules) and self._compliant_trace(goal) is not None:
                continue
            excluded = self._ask(context, goal)
            if isinstance(excluded, Open):
                self._undecided("can be triggered", rule, (rule, *excluded.rules))
            if not isinstance(excluded, Excluded) or not any(map(self._is_metric, (rule, *excluded.core))):
                continue
            if excluded.core == (rule,):  # a prohibition of what triggers it
                continue
            if rule in excluded.core:
                others = tuple(other for other in excluded.core if other != rule)
                because = f"{join_names(others)} {'exclude' if others[1:] else 'excludes'} it"
                written = original_names(str(trigger))
                message = f"{rule} cannot be kept once it is triggered by `{written}`: {because}"
                self.findings.append(excluded.finding("conflict", message, (*others, rule)))
            else:
                self.findings.append(excluded.vacuous(rule, trigger))

    def _find_tools(self) -> None:
        known = {frozenset((*finding.rules, *finding.reasons)) for finding in self.findings}
        for tool in self._tools:
            goal = _goal(s.Eventually(s.Atom(tool)))
            answer = self._compliant_trace(goal) or self._ask(list(self._rules), goal)
            if isinstance(answer, Open):
                self._undecided("can be called by a compliant trace", tool, answer.rules)
            elif not isinstance(answer, Excluded):
                self.calling[tool] = _witness(answer)
            elif any(map(self._is_metric, answer.core)) and frozenset(answer.core) not in known:
                self.findings.append(answer.unreachable(self._environment.tools[tool]))

    def _find_redundant(self, settled: frozenset[str]) -> None:
        """The rules that others imply; of equivalent rules the first is kept."""
        vacuous = {rule for finding in self.findings if finding.kind == "vacuous" for rule in finding.rules}
        needed = [rule for rule in self._rules if rule not in settled]
        for rule in [rule for rule in reversed(needed) if rule not in vacuous]:
            others = [one for one in needed if one != rule and holds_whenever(self._rules[one], self._rules[rule])]
            answer = self._ask_breaking(rule, others)
            if isinstance(answer, Open):
                self._undecided("is implied by others", rule, (rule, *answer.rules))
            elif not isinstance(answer, Excluded):
                self.breaking[rule] = _witness(answer)
            else:
                needed.remove(rule)
                if not any(map(self._is_metric, (rule, *answer.core))):
                    continue
                if len(answer.core) == 1 and self._implies(rule, answer.core[0]):
                    message = f"{answer.core[0]} and {rule} have the same meaning"
                    self.findings.append(answer.finding("equivalent", message, (*answer.core, rule)))
                else:
                    self.findings.append(answer.redundant(rule))

    def _implies(self, rule: str, other: str) -> bool:
        return isinstance(self._ask_breaking(other, [rule]), Excluded)

    # Answers

    def _ask_breaking(self, rule: str, kept: Sequence[str]) -> _Events | Excluded | Open:
        """A trace that breaks a rule and keeps others; or the rules that exclude it."""
        goal = _broken(self._rules[rule])
        for other in kept:
            if visibly_entails(self._normal[other], self._normal[rule]):
                return self._excluded([self._rules[other]], goal, "The form of the rules shows it.", None)
        return self._ask(kept, goal)

    def _ask(self, kept: Sequence[str], goal: Rule) -> _Events | Excluded | Open:
        """A trace that keeps some rules and the goal; or the rules that exclude it.

        Rules are added lazily, as in `lawtrace.solver.search.products.prover`: while the trace found breaks some, they
        are added and the search begins again. So each question is about a few rules and their tools.
        """
        added: list[Rule] = []
        while isinstance(answer := self._search([*added, goal]), Found):
            missed = _not_kept([self._rules[rule] for rule in kept if self._rules[rule] not in added], answer.trace)
            if not missed:
                events = _shortened(answer.trace, [*(self._rules[rule] for rule in kept), goal])
                if len(kept) == len(self._rules):
                    self._compliant.append(events)
                return events
            added += missed[: 1 + len(added) // 4]
        if isinstance(answer, Unknown):
            return Open(tuple(rule.id for rule in added))
        if any(rule.is_timed for rule in (*added, goal)):
            return self._excluded(
                added, goal, "The search found no exception; longer traces were not searched.", MOST_CALLS
            )
        return self._excluded(added, goal, "The search found no exception.", None)

    def _excluded(self, rules: Sequence[Rule], goal: Rule, proof: str, calls: int | None) -> Excluded:
        """A minimal part of some rules that exclude the goal."""
        without: dict[str, tuple[str, ...]] = {}

        def excludes(rule: Rule, others: Sequence[Rule]) -> bool:
            answer = self._search([*reversed(others), goal])
            if isinstance(answer, Found):
                without[rule.id] = _witness(_shortened(answer.trace, [*others, goal])).steps
            return isinstance(answer, Impossible)

        in_order = sorted(rules, key=list(self._rules.values()).index)
        core = minimal_core(reversed(in_order), excludes)[::-1]
        ids = tuple(rule.id for rule in core)
        without = {rule: without[rule] for rule in ids if rule in without}
        exceptions = [f"Without {rule} there is one: {', '.join(steps)}." for rule, steps in without.items()]
        return Excluded(ids, " ".join([proof, *exceptions]), without, calls=calls)

    def _search(self, rules: Sequence[Rule]) -> Answer[_Events]:
        self._progress()
        return find_trace(self._schemas, rules)

    def _is_metric(self, rule: str) -> bool:
        return isinstance(self._rules[rule].compiled, FirstOrderRule)

    def _undecided(self, question: str, name: str, rules: Sequence[str]) -> None:
        if any(map(self._is_metric, rules)):
            self._open.setdefault(question, []).append(name)

    def _report_undecided(self) -> None:
        """One finding for each kind of question."""
        for question, names in self._open.items():
            finding = RuleFinding(
                kind="undecided",
                rules=tuple(name for name in names if name in self._rules),
                message=f"whether it {question} was not decided for {join_names(names)}",
                proof="The search reached its limit, or the values that it tried may not be all that matter; "
                "neither answer is claimed.",
            )
            self.findings.append(finding)

    def _compliant_trace(self, goal: Rule) -> _Events | None:
        """A known trace that keeps all rules and the goal."""
        return next((events for events in self._compliant if not _not_kept([goal], events)), None)


def find_trace(tools: Mapping[str, ToolSchema], rules: Sequence[Rule]) -> Answer[_Events]:
    """A trace of calls of some tools that keeps all rules."""
    try:
        component = Component(CompiledComponent(rules, tools))
    except FormulaError:  # the negation of a rule may have no monitor
        return Unknown("a rule has no monitor")
    component.advance_time(DEFAULT_START)
    steps = EXHAUSTIVE_STEPS if component.vocabulary.exact else SEARCH_STEPS
    return decide(component, (), DEFAULT_START, Budget(steps))


def find_first_order_examples(environment: Environment, rule: Rule) -> tuple[Witness | None, Witness | None]:
    """Traces in which a rule is triggered and kept, and in which it is broken; None where none was found."""
    tools = read_tools(environment)
    found: list[Witness | None] = []
    for wanted in ([rule, _goal(s.Eventually(_trigger(rule)))], [_broken(rule)]):
        answer = find_trace(tools, wanted)
        found.append(_witness(_shortened(answer.trace, wanted)) if isinstance(answer, Found) else None)
    return found[0], found[1]


def _not_kept(rules: Sequence[Rule], events: Sequence[Event]) -> list[Rule]:
    endings = Monitor({rule.id: rule.compiled for rule in rules}).run(events).final_statuses()
    return [rule for rule in rules if endings[rule.id] != "kept"]


def _shortened(events: _Events, rules: Sequence[Rule]) -> _Events:
    """The trace without events that the rules do not need."""
    for number in reversed(range(len(events))):
        fewer = (*events[:number], *events[number + 1 :])
        if not _not_kept(rules, fewer):
            events = fewer
    return events


def _goal(formula: s.Formula) -> Rule:
    return Rule(id="goal", formula=str(formula))


def _broken(rule: Rule) -> Rule:
    """What is kept where the rule is not."""
    return _goal(s.Not(rule.parsed))


def _trigger(rule: Rule) -> s.Formula:
    """What triggers the rule, as monitors count it: the calls that a violation begins with, else any that it names."""
    compiled = rule.compiled
    calls: list[s.Formula] = []
    if isinstance(compiled, FirstOrderRule):
        calls = [call for case in compiled.cases if case.every_step for call in calls_of_violation(case.formula)]
    quantified = [_quantified(call) for call in dict.fromkeys(calls or triggering_calls(s.body_of(rule.parsed)))]
    return disjunction(quantified) if quantified else s.Top()


def triggering_calls(formula: s.Formula) -> Sequence[s.Formula]:
    """What triggers a rule, as monitors count it: the occasion of its template, else any call that it names."""
    match match_template(formula):
        case OperationalRestriction(action=occasion) | InstructionAdherence(trigger=occasion):
            return [occasion]
        case None:
            return s.atoms_of([formula])


def _quantified(call: s.Formula) -> s.Formula:
    """The call, for some values of its variables; any call of the tool where it does not say which values."""
    names = tuple(sorted(s.free_variables(call)))
    if not names:
        return call
    found = s.Exists(names, call)
    try:
        FirstOrderRule(s.Eventually(found))
    except FormulaError:
        return disjunction(s.Atom(atom.tool) for atom in s.atoms_of([call]))
    return found


def _witness(events: _Events) -> Witness:
    return Witness(steps=tuple(map(call_text, events)), shortest=len(events) < 2)


def call_text(event: Event) -> str:
    """A call in one line: `2026-03-02 09:00 Pay(amount=20) -> {"id": "A"}`; the time only where it is known."""
    when = ""
    if event.time is not None:
        time = datetime.fromtimestamp(event.time, UTC)
        when = f"{time:%Y-%m-%d %H:%M:%S} " if time.second else f"{time:%Y-%m-%d %H:%M} "
    arguments = ", ".join(f"{name}={json.dumps(value)}" for name, value in event.arguments.items())
    result = f" -> {json.dumps(event.result)}" if event.result else ""
    return f"{when}{event.tool}{f'({arguments})' if arguments else ''}{result}{'' if event.completed else ' refused'}"
