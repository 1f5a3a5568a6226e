"""Rule-set analysis for rules with time, several variables and aggregates, in traces of a few calls.

Automata decide the other rules for traces of any length (`lawtrace.solver.lint.rule_sets`). Here Z3 searches all traces
of up to `MOST_CALLS` free calls (`lawtrace.solver.smt.free_traces`), and of up to `LONGER` where only the rules that
exclude something take part: a trace that it finds is a shortest one, and an exclusion holds for traces of that length,
which the finding says. Rules without time take part, and are reported only
where a rule with time has a share in it.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from lawtrace.environments.errors import FormulaError
from lawtrace.environments.events import Event
from lawtrace.environments.spec.declaration import Environment
from lawtrace.solver.lint.findings import RuleFinding, RuleFindingKind, Witness
from lawtrace.solver.ltlf import (
    Atom,
    Eventually,
    Formula,
    InstructionAdherence,
    MetricRule,
    OperationalRestriction,
    Or,
    atoms_of,
    compile_formula,
    is_untimed,
    match_template,
)
from lawtrace.solver.ltlf.normal_form import original_names
from lawtrace.solver.ltlf.syntax import And, Exists, Not, Top, Until, body_of, free_variables
from lawtrace.solver.model_checking.explanations import join_names
from lawtrace.solver.rules import Rule
from lawtrace.solver.smt.free_traces import Excluded, FreeTrace, FreeTraces
from lawtrace.solver.smt.rule_encoding import Rule as CompiledRule

MOST_CALLS: Final = 6
"""How long the traces are in which all rules together are searched."""
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
        self._traces: Final = FreeTraces(
            environment, [*self._rules.values(), *occurring.values(), *calls.values(), some_call]
        )
        self._find_conflicts(some_call)
        if self.findings:
            self._find_triggers(occurring, ())
            return
        self._find_triggers(occurring, tuple(self._rules))
        self._find_tools(calls)
        self._find_redundant(settled)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the claims rest on, as sentences."""
        timed = [rule for rule in self._rules if self._is_metric(rule)]
        sentences = [
            f"What is said of {join_names(timed)} was searched in traces of a few calls (each finding says how many) "
            f"over {self._traces.days} days, with any arguments and results of their types, lists of at most two "
            "elements and any texts. Longer traces are not covered."
        ]
        if self._traces.unsupported:
            sentences.append(f"These conditions were left open: {'; '.join(self._traces.unsupported)}.")
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
                self._undecided("whether the rules can be kept together", remaining)
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
            excluded = self._ask(context, goal=goal)
            if excluded is None:
                self._undecided(f"whether {rule} can be triggered", [rule])
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
            match self._ask(list(self._rules), goal=goal):
                case FreeTrace() as found:
                    self.calling[tool] = _witness(found)
                case _Exclusion() as excluded:
                    if any(map(self._is_metric, excluded.core)) and frozenset(excluded.core) not in known:
                        forbid = "forbid it together" if excluded.core[1:] else "forbids it"
                        critical = ", a critical tool" if self._environment.tools[tool].critical else ""
                        message = f"no compliant trace can call {tool}{critical}: {join_names(excluded.core)} {forbid}"
                        self._report("unreachable", excluded, message, (), excluded.core, tool)
                case None:
                    self._undecided(f"whether a compliant trace can call {tool}", [])

    def _find_redundant(self, settled: frozenset[str]) -> None:
        """The rules that others imply; of equivalent rules the first is kept."""
        vacuous = {rule for finding in self.findings if finding.kind == "vacuous" for rule in finding.rules}
        needed = [rule for rule in self._rules if rule not in settled]
        for rule in [rule for rule in reversed(needed) if rule not in vacuous]:
            others = [other for other in needed if other != rule]
            match self._ask(others, broken=rule):
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
                    self._undecided(f"whether other rules imply {rule}", [rule])

    def _implies(self, rule: str, other: str) -> bool:
        return isinstance(self._ask([rule], broken=other), _Exclusion)

    # Answers

    def _ask(
        self, kept: Sequence[str], *, goal: CompiledRule | None = None, broken: str | None = None
    ) -> FreeTrace | _Exclusion | None:
        """A trace that keeps some rules, and reaches the goal or breaks a rule; or the rules that exclude it.

        What a few rules exclude in short traces is searched in longer ones, with these rules alone.
        """
        answer = self._find(self._traces, kept, goal, broken, 0, self._most_calls)
        while isinstance(answer, Excluded):
            core, without = self._core(kept, answer.calls, goal, broken)
            parts = [*(self._rules[rule] for rule in core), *([] if goal is None else [goal])]
            parts += [] if broken is None else [self._rules[broken]]
            alone = FreeTraces(self._environment, parts)
            longer = self._find(alone, core, goal, broken, answer.calls + 1, LONGER)
            if not isinstance(longer, FreeTrace):
                return _Exclusion(core, answer.calls if longer is None else longer.calls, without)
            if len(core) == len(kept):
                return longer
            answer = self._find(self._traces, kept, goal, broken, len(longer.events), LONGER)
        return answer

    def _find(
        self,
        traces: FreeTraces,
        kept: Sequence[str],
        goal: CompiledRule | None,
        broken: str | None,
        least_calls: int,
        most_calls: int,
    ) -> FreeTrace | Excluded | None:
        self._progress()
        if least_calls > most_calls:
            return None
        wanted = [self._rules[rule] for rule in kept] + ([] if goal is None else [goal])
        unwanted = [] if broken is None else [self._rules[broken]]
        return traces.find(kept=wanted, broken=unwanted, least_calls=least_calls, most_calls=most_calls)

    def _core(
        self, kept: Sequence[str], calls: int, goal: CompiledRule | None, broken: str | None
    ) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
        """A minimal set of the rules that excludes it in traces of that length; for each a trace without the rule."""
        core = list(kept)
        without: dict[str, tuple[str, ...]] = {}
        for rule in reversed(kept):
            others = [other for other in core if other != rule]
            match self._find(self._traces, others, goal, broken, 0, calls):
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

    def _undecided(self, question: str, rules: Sequence[str]) -> None:
        finding = RuleFinding(
            kind="undecided",
            rules=tuple(rules),
            message=f"{question} was not decided",
            proof="Z3 reached its limit, or needed a condition that it cannot express; neither answer is claimed.",
        )
        self.findings.append(finding)


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
    calls = _violating_calls(compiled.normal) if isinstance(compiled, MetricRule) else []
    if not calls:
        match match_template(body_of(rule.parsed)):
            case OperationalRestriction(action=occasion) | InstructionAdherence(trigger=occasion):
                calls = [occasion]
            case None:
                calls = list(atoms_of([rule.parsed]))
    quantified = [_quantified(call) for call in dict.fromkeys(calls)]
    return Or(*quantified) if len(quantified) > 1 else quantified[0] if quantified else Top()


def _violating_calls(normal: Formula) -> list[Formula]:
    calls: list[Formula] = []
    for part in normal.operands if isinstance(normal, And) else (normal,):
        if not isinstance(part, Not) or not isinstance(part.operand, Until) or part.operand.left != Top():
            continue
        violation = part.operand.right
        for case in violation.operands if isinstance(violation, Or) else (violation,):
            body = case.body if isinstance(case, Exists) else case
            parts = body.operands if isinstance(body, And) else (body,)
            calls += [atom for atom in parts if isinstance(atom, Atom)][:1]
    return calls


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
