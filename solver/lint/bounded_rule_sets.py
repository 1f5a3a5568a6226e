"""Rule-set analysis for rules with time, several variables and aggregates, in traces of a few calls.

Automata decide the other rules for traces of any length (`lawtrace.solver.lint.rule_sets`). Here Z3 searches all traces
of up to `MOST_CALLS` free calls (`lawtrace.solver.smt.free_traces`), and of up to `LONGER` where only the rules that
exclude something take part. Rules are added lazily, and the effort is bounded, for each question and each kind of
question; what was not decided is said. A trace that it finds is a shortest one, and an exclusion holds for traces of
that length, which the finding says. Rules without time take part, and are reported only where a rule with time has a
share in it.
"""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import Event
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.lint.findings import RuleFinding, RuleFindingKind, Witness
from lawtrace.solver.logic.normal_form import original_names
from lawtrace.solver.logic.syntax import (
    Atom,
    Eventually,
    Exists,
    Formula,
    Or,
    Top,
    atoms_of,
    body_of,
    free_variables,
    is_untimed,
)
from lawtrace.solver.logic.templates import InstructionAdherence, OperationalRestriction, match_template
from lawtrace.solver.logic.violations import calls_of_violation
from lawtrace.solver.model_checking.explanations import join_names
from lawtrace.solver.monitoring.metric import MetricRule
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.rules import Rule
from lawtrace.solver.smt.free_traces import Excluded, FreeTrace, FreeTraces
from lawtrace.solver.smt.rule_encoding import Rule as CompiledRule

MOST_CALLS: Final = 6
"""How long the traces are in which all rules together are searched."""
UNBOUNDED_RULES: Final = 30
"""Up to how many rules the effort has no bound but Z3's own."""
QUESTION_EFFORT: Final = 1_500
"""The effort of one question (`lawtrace.solver.smt.free_traces`): a few seconds."""
KIND_EFFORT: Final = 3_000
"""The effort of all questions of one kind."""
LONGER: Final = 10
"""How long they are where a few rules are found to exclude something; counts and sums may need long traces."""


@dataclass(frozen=True, slots=True)
class _Exclusion:
    """Some rules that together exclude something in traces of up to so many calls.

    Attributes:
        without: for each rule of the core a trace that does it and keeps the others.
    """

    core: tuple[str, ...]
    calls: int
    without: dict[str, tuple[str, ...]]


class BoundedAnalysis:
    """The findings about a rule set in which some rules have no automaton.

    Attributes:
        findings: what was found.
        breaking: for each rule that is needed a shortest trace that breaks it and keeps all others.
        calling: for each tool that rules name a shortest trace that calls it and keeps all rules.
    """

    def __init__(
        self,
        environment: Environment,
        rules: Sequence[Rule],
        *,
        settled: frozenset[str] = frozenset(),
        most_calls: int = MOST_CALLS,
        progress: Callable[[], None] = lambda: None,
    ) -> None:
        """`settled`: rules without time of which it is known that they are not needed; their redundancy is not asked.

        `progress`: called after each question.
        """
        self.findings: Final[list[RuleFinding]] = []
        self.breaking: Final[dict[str, Witness]] = {}
        self.calling: Final[dict[str, Witness]] = {}
        self._effort = 0
        self._affordable = 0
        self._kind_ends = KIND_EFFORT
        self._compliant: list[tuple[Event, ...]] = []
        self._open: dict[str, list[str]] = {}
        self._environment = environment
        self._progress = progress
        self._most_calls = most_calls
        self._rules: Final = {rule.id: rule.compiled for rule in rules}
        self._triggers: Final = {rule.id: _trigger(rule) for rule in rules}
        tools = list(environment.tools)
        self._tools = [tool for tool in tools if any(atom.tool == tool for atom in atoms_of(r.parsed for r in rules))]
        occurring = {text: _compiled(Eventually(formula)) for text, formula in self._triggers.items()}
        calls = {tool: _compiled(Eventually(Atom(tool))) for tool in self._tools}
        some_call = _compiled(Eventually(Or(*map(Atom, tools)) if len(tools) > 1 else Atom(tools[0])))
        self._judged: Final = FreeTraces(environment, self._rules.values())
        self._unsupported: Final[dict[str, None]] = {}
        self._find_conflicts(some_call)
        conflicting = bool(self.findings)
        self._kind_ends = self._effort + KIND_EFFORT
        self._find_triggers(occurring, () if conflicting else tuple(self._rules))
        if not conflicting:
            self._kind_ends = self._effort + KIND_EFFORT
            self._find_tools(calls)
            self._kind_ends = self._effort + KIND_EFFORT
            self._find_redundant(settled)
        self._report_undecided()

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the claims rest on, as sentences."""
        timed = [rule for rule in self._rules if self._is_metric(rule)]
        sentences = [
            f"What is said of {join_names(timed)} was searched in traces of a few calls (each finding says how many) "
            f"over {self._judged.days} days, with any arguments and results of their types, lists of at most two "
            "elements and any texts. Longer traces are not covered."
        ]
        if self._unsupported:
            sentences.append(f"These conditions were left open: {'; '.join(self._unsupported)}.")
        return tuple(sentences)

    # Questions

    def _find_conflicts(self, some_call: CompiledRule) -> None:
        """Minimal sets of rules that no trace with a call keeps together; after each, its last rule is set aside."""
        for rule in [rule for rule in self._rules if self._is_metric(rule)]:
            if isinstance(excluded := self._ask((rule,), goal=some_call), _Exclusion):
                self._report_conflict(excluded)
        remaining = [rule for rule in self._rules if all(rule not in finding.rules for finding in self.findings)]
        while remaining and not isinstance(excluded := self._ask(remaining, goal=some_call), FreeTrace):
            if excluded is None:
                self._undecided("can be kept together with the others", remaining[-1])
                return
            if not any(map(self._is_metric, excluded.core)):  # known, and proved for any length
                return
            self._report_conflict(excluded)
            remaining.remove(excluded.core[-1])

    def _report_conflict(self, excluded: _Exclusion) -> None:
        together = "" if len(excluded.core) == 1 else " together"
        self._report("conflict", excluded, f"{join_names(excluded.core)} cannot be kept{together}", excluded.core)

    def _find_triggers(self, occurring: dict[str, CompiledRule], context: Sequence[str]) -> None:
        """The rules that are never triggered in a trace that keeps the rules of the context."""
        for rule, goal in occurring.items():
            if any(finding.rules == (rule,) for finding in self.findings):  # cannot be kept at all
                continue
            if len(context) == len(self._rules) and self._compliant_trace(goal) is not None:
                continue
            excluded = self._ask(context, goal=goal)
            if excluded is None:
                self._undecided("can be triggered", rule)
            if not isinstance(excluded, _Exclusion) or not any(map(self._is_metric, (rule, *excluded.core))):
                continue
            trigger = original_names(str(self._triggers[rule]))
            if excluded.core == (rule,):  # a prohibition of what triggers it
                continue
            if rule in excluded.core:
                others = [other for other in excluded.core if other != rule]
                because = f"{join_names(others)} {'exclude' if others[1:] else 'excludes'} it"
                message = f"{rule} cannot be kept once it is triggered by `{trigger}`: {because}"
                self._report("conflict", excluded, message, (*others, rule))
            else:
                keeping = f" that keeps {join_names(excluded.core)}" if excluded.core else ""
                message = f"{rule} is never triggered: no trace{keeping} has `{trigger}` in it"
                self._report("vacuous", excluded, message, (rule,), excluded.core)

    def _find_tools(self, calls: dict[str, CompiledRule]) -> None:
        known = {frozenset((*finding.rules, *finding.reasons)) for finding in self.findings}
        for tool, goal in calls.items():
            if (events := self._compliant_trace(goal)) is not None:
                self.calling[tool] = _witness(FreeTrace(events, shortest=len(events) == 1))
                continue
            match self._ask(list(self._rules), goal=goal, simple=True):
                case FreeTrace() as found:
                    self.calling[tool] = _witness(found)
                case _Exclusion() as excluded:
                    if any(map(self._is_metric, excluded.core)) and frozenset(excluded.core) not in known:
                        forbid = "forbid it together" if excluded.core[1:] else "forbids it"
                        critical = ", a critical tool" if self._environment.tools[tool].critical else ""
                        message = f"no compliant trace can call {tool}{critical}: {join_names(excluded.core)} {forbid}"
                        self._report("unreachable", excluded, message, (), excluded.core, tool)
                case None:
                    self._undecided("can be called by a compliant trace", tool)

    def _find_redundant(self, settled: frozenset[str]) -> None:
        """The rules that others imply; of equivalent rules the first is kept."""
        vacuous = {rule for finding in self.findings if finding.kind == "vacuous" for rule in finding.rules}
        needed = [rule for rule in self._rules if rule not in settled]
        for rule in [rule for rule in reversed(needed) if rule not in vacuous]:
            others = [other for other in needed if other != rule]
            match self._ask(others, broken=rule, simple=True):
                case FreeTrace() as found:
                    self.breaking[rule] = _witness(found)
                case _Exclusion() as excluded:
                    needed.remove(rule)
                    if not any(map(self._is_metric, (rule, *excluded.core))):
                        continue
                    if len(excluded.core) == 1 and self._implies(rule, excluded.core[0]):
                        message = f"{excluded.core[0]} and {rule} have the same meaning"
                        self._report("equivalent", excluded, message, (*excluded.core, rule))
                        continue
                    keeping = f" that keeps {join_names(excluded.core)}" if excluded.core else ""
                    message = f"{rule} is redundant: every trace{keeping} keeps it"
                    self._report("redundant", excluded, message, (rule,), excluded.core)
                case None:
                    self._undecided("is implied by others", rule)

    def _implies(self, rule: str, other: str) -> bool:
        return isinstance(self._ask([rule], broken=other), _Exclusion)

    # Answers

    def _ask(
        self,
        kept: Sequence[str],
        *,
        goal: CompiledRule | None = None,
        broken: str | None = None,
        simple: bool = False,
    ) -> FreeTrace | _Exclusion | None:
        """A shortest trace that keeps some rules, and reaches the goal or breaks a rule; or the rules that exclude it.

        Rules are added lazily, as in `lawtrace.solver.model_checking.prover`: while the trace found breaks some, they
        are added and the search goes on from its length. So each question is about a few rules and their tools. What
        these exclude in short traces is searched in longer ones, with the minimal set alone.
        """
        wanted = [] if goal is None else [goal]
        unwanted = [] if broken is None else [self._rules[broken]]
        added: list[str] = []
        bounded = len(self._rules) > UNBOUNDED_RULES
        self._affordable = min(self._effort + QUESTION_EFFORT, self._kind_ends) if bounded else sys.maxsize
        traces = self._judged.about([*wanted, *unwanted])
        least, most, shortest = 0, self._most_calls, True
        while True:
            match self._find(traces, added, wanted, unwanted, least, most):
                case FreeTrace(events) as found:
                    shortest = shortest and found.shortest
                    others = [rule for rule in kept if rule not in added]
                    missed = self._broken_by(events, others)
                    if not missed and simple:
                        simplest = self._find(traces, added, wanted, unwanted, len(events), len(events), simple=True)
                        if isinstance(simplest, FreeTrace) and not self._broken_by(simplest.events, others):
                            events = simplest.events
                    if not missed:
                        if broken is None and len(kept) == len(self._rules):
                            self._compliant.append(events)
                        return FreeTrace(events, shortest)
                    taken = {*added, *missed[: 1 + len(added) // 4]}
                    added, least = [rule for rule in kept if rule in taken], len(events)
                    traces = self._judged.about([*(self._rules[rule] for rule in added), *wanted, *unwanted])
                case Excluded(calls) if calls < most and traces.unsupported:
                    return None  # longer traces need a condition that was left open
                case Excluded(calls):
                    core, without = self._core(traces, added, calls, wanted, unwanted)
                    if self._effort >= self._affordable:  # the set may not be minimal
                        return None
                    if most == LONGER:
                        return _Exclusion(core, calls, without)
                    added, least, most = list(core), calls + 1, LONGER
                    traces = self._judged.about([*(self._rules[rule] for rule in added), *wanted, *unwanted])
                    longer = self._find(traces, added, wanted, unwanted, least, most)
                    if not isinstance(longer, FreeTrace):
                        return _Exclusion(core, calls if longer is None else longer.calls, without)
                    least = len(longer.events)
                case None:
                    return None

    def _find(
        self,
        traces: FreeTraces,
        kept: Sequence[str],
        wanted: Sequence[CompiledRule],
        unwanted: Sequence[CompiledRule],
        least_calls: int,
        most_calls: int,
        *,
        simple: bool = False,
    ) -> FreeTrace | Excluded | None:
        self._progress()
        if least_calls > most_calls:
            return None
        met = [*(self._rules[rule] for rule in kept), *wanted]
        before = traces.effort
        answer = traces.find(
            kept=met,
            broken=unwanted,
            least_calls=least_calls,
            most_calls=most_calls,
            simple=simple,
            most_effort=before + self._affordable - self._effort,
        )
        self._effort += traces.effort - before
        self._unsupported.update(traces.unsupported)
        return answer

    def _broken_by(self, events: Sequence[Event], rules: Sequence[str]) -> list[str]:
        monitor = Monitor({rule: self._rules[rule] for rule in rules})
        monitor.run(events)
        return [rule for rule, status in monitor.final_statuses().items() if status != "kept"]

    def _core(
        self,
        traces: FreeTraces,
        added: Sequence[str],
        calls: int,
        wanted: Sequence[CompiledRule],
        unwanted: Sequence[CompiledRule],
    ) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
        """A minimal set of the rules that excludes it in traces of that length; for each a trace without the rule."""
        core = list(added)
        without: dict[str, tuple[str, ...]] = {}
        for rule in reversed(added):
            others = [other for other in core if other != rule]
            match self._find(traces, others, wanted, unwanted, 0, calls, simple=True):
                case Excluded(fewer) if fewer == calls:
                    core = others
                case FreeTrace() as found:
                    without[rule] = _witness(found).steps
                case _:
                    pass
        return tuple(core), {rule: without[rule] for rule in core if rule in without}

    def _is_metric(self, rule: str) -> bool:
        return isinstance(self._rules[rule], MetricRule)

    def _report(
        self,
        kind: RuleFindingKind,
        excluded: _Exclusion,
        message: str,
        rules: tuple[str, ...],
        reasons: tuple[str, ...] = (),
        tool: str | None = None,
    ) -> None:
        finding = RuleFinding(
            kind=kind,
            rules=rules,
            reasons=reasons,
            tool=tool,
            scope="free",
            calls=excluded.calls,
            message=f"in traces of up to {excluded.calls} calls, {message}",
            proof=" ".join(
                [
                    "Z3 found no exception; longer traces were not searched.",
                    *(f"Without {rule} there is one: {', '.join(steps)}." for rule, steps in excluded.without.items()),
                ]
            ),
            without=excluded.without,
        )
        self.findings.append(finding)

    def _undecided(self, question: str, name: str) -> None:
        self._open.setdefault(question, []).append(name)

    def _report_undecided(self) -> None:
        """One finding for each kind of question."""
        for question, names in self._open.items():
            finding = RuleFinding(
                kind="undecided",
                rules=tuple(name for name in names if name in self._rules),
                message=f"whether it {question} was not decided for {join_names(names)}",
                proof="The search reached its limit, or needed a condition that it cannot express; "
                "neither answer is claimed.",
            )
            self.findings.append(finding)

    def _compliant_trace(self, goal: CompiledRule) -> tuple[Event, ...] | None:
        """A known trace that keeps all rules and reaches the goal."""
        for events in self._compliant:
            monitor = Monitor({"goal": goal})
            monitor.run(events)
            if monitor.final_statuses()["goal"] == "kept":
                return events
        return None


def find_bounded_examples(
    environment: Environment, rule: Rule, most_calls: int = MOST_CALLS
) -> tuple[Witness | None, Witness | None]:
    """Shortest traces in which a rule is triggered and kept, and in which it is broken; None where none was found."""
    occurring = _compiled(Eventually(_trigger(rule)))
    traces = FreeTraces(environment, [rule.compiled, occurring])
    keeping = traces.find(kept=[rule.compiled, occurring], most_calls=most_calls)
    breaking = traces.find(kept=[], broken=[rule.compiled], most_calls=most_calls)
    return (
        _witness(keeping) if isinstance(keeping, FreeTrace) else None,
        _witness(breaking) if isinstance(breaking, FreeTrace) else None,
    )


def _trigger(rule: Rule) -> Formula:
    """What triggers the rule, as monitors count it: the calls that a violation begins with, else any that it names."""
    compiled = rule.compiled
    calls: list[Formula] = []
    if isinstance(compiled, MetricRule):
        calls = [call for case in compiled.cases if case.every_step for call in calls_of_violation(case.formula)]
    if not calls:
        match match_template(body_of(rule.parsed)):
            case OperationalRestriction(action=occasion) | InstructionAdherence(trigger=occasion):
                calls = [occasion]
            case None:
                calls = list(atoms_of([rule.parsed]))
    quantified = [_quantified(call) for call in dict.fromkeys(calls)]
    return Or(*quantified) if len(quantified) > 1 else quantified[0] if quantified else Top()


def _quantified(call: Formula) -> Formula:
    """The call, for some values of its variables; any call of the tool where it does not say which values."""
    names = tuple(sorted(free_variables(call)))
    if not names:
        return call
    found = Exists(names, call)
    try:
        MetricRule(Eventually(found))
    except FormulaError:
        tools = [Atom(atom.tool) for atom in atoms_of([call])]
        return Or(*tools) if len(tools) > 1 else tools[0]
    return found


def _compiled(formula: Formula) -> CompiledRule:
    return compile_formula(formula) if is_untimed(formula) else MetricRule(formula)


def _witness(found: FreeTrace) -> Witness:
    return Witness(steps=tuple(map(call_text, found.events)), shortest=found.shortest)


def call_text(event: Event) -> str:
    """A call in one line: `2026-03-02 09:00 Pay(amount=20) -> {"id": "A"}`; the time only where it is known."""
    when = ""
    if event.time is not None:
        time = datetime.fromtimestamp(event.time, UTC)
        when = f"{time:%Y-%m-%d %H:%M:%S} " if time.second else f"{time:%Y-%m-%d %H:%M} "
    arguments = ", ".join(f"{name}={json.dumps(value)}" for name, value in event.arguments.items())
    result = f" -> {json.dumps(event.result)}" if event.result else ""
    return f"{when}{event.tool}{f'({arguments})' if arguments else ''}{result}{'' if event.completed else ' refused'}"
