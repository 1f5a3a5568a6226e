"""Rule-set analysis: conflicts, unreachable tools, vacuous, redundant and equivalent rules.

    analysis = analyse_rules(environment, rules)
    analysis.findings                        # empty for a rule set without defects
    analysis.breaking["record-transfer"]     # a trace that breaks this rule and no other

Every answer is a trace, a proof, or *undecided* (`lawtrace.solver.search.rule_search`). One function per question.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import Event
from lawtrace.solver.guard.tools import read_tools
from lawtrace.solver.interpretations import holds_whenever
from lawtrace.solver.lint.findings import Exclusion, RuleFinding, RuleSetAnalysis, Witness, witness_from
from lawtrace.solver.lint.open_questions import find_unseparated_readings, sort_by_interpretations
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.normal_form import disjunction
from lawtrace.solver.logic.signature import environment_signature
from lawtrace.solver.logic.templates import InstructionAdherence, OperationalRestriction, match_template
from lawtrace.solver.logic.type_check import find_undeclared_values
from lawtrace.solver.logic.violations import calls_of_violation
from lawtrace.solver.monitoring.first_order import FirstOrderRule
from lawtrace.solver.planner.product import environment_scope
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.explanations import describe_preconditions, describe_proof, join_names
from lawtrace.solver.search.problem import Budget, Found, Proof, Unknown
from lawtrace.solver.search.products.call_scopes import free_scope
from lawtrace.solver.search.products.prover import Prover
from lawtrace.solver.search.rule_search import MOST_CALLS, Goal, RuleAnswer, RuleSearch, Steps, occurrence
from lawtrace.solver.trace_notation import tell_session

MAX_STEPS: Final = 400_000
"""How many steps all questions about a rule set may take together, each counted once for every rule it is tried on."""
TOO_MANY: Final = "the questions about this rule set take too many steps; check fewer rules at a time"


@dataclass(slots=True)
class _Analysis:
    """What was asked about a rule set so far, and what was found.

    Attributes:
        breaking, calling: see `RuleSetAnalysis`.
        undecided: for each question that was not decided, and the reason, the rules or tools it was asked about.
    """

    environment: Environment
    search: RuleSearch
    findings: list[RuleFinding] = field(default_factory=list[RuleFinding])
    breaking: dict[str, Witness] = field(default_factory=dict[str, Witness])
    calling: dict[str, Witness] = field(default_factory=dict[str, Witness])
    undecided: dict[tuple[str, str], list[str]] = field(default_factory=dict[tuple[str, str], list[str]])

    def ask(self, question: str, about: str, goal: Goal, kept: Collection[str], *, free: bool = False) -> RuleAnswer:
        """The answer; noted if it is unknown."""
        answer = self.search.ask(goal, kept, free=free)
        if isinstance(answer, Unknown):
            self.undecided.setdefault((question, answer.why), []).append(about)
        return answer

    def excluded(self, proof: Proof[Steps], *tools: str) -> Exclusion:
        """A proof in words, with the preconditions of these tools and of the tools that the rules of the core name."""
        words = describe_proof(proof)
        if proof.scope != "free":
            named = set[str]().union(tools, *(self.search.rules[rule].tools for rule in proof.rules))
            words = f"{words} {describe_preconditions(self.environment, named)}".rstrip()
        return Exclusion(proof, words)

    def undecided_findings(self) -> Iterator[RuleFinding]:
        """One finding for each kind of question."""
        for (question, why), names in self.undecided.items():
            yield RuleFinding(
                kind="undecided",
                rules=tuple(name for name in names if name in self.search.rules),
                message=f"whether it {question} was not decided for {join_names(names)}: {why}",
                proof="Neither answer is claimed.",
            )


def find_conflicts(analysis: _Analysis) -> None:
    """Minimal sets of rules that no trace with a call keeps together.

    Every contradictory single rule is found, and of rules that have automata every contradictory pair. Of larger sets,
    as many as are needed to leave a consistent rule set: after each, its last rule is set aside.
    """
    search, question = analysis.search, "can be kept together with the others"
    some_call = occurrence(s.Top(), disjunction(map(s.Atom, analysis.environment.tools)))  # the empty trace is none
    remaining = list(search.rules)

    def set_aside(several: Sequence[tuple[str, ...]]) -> None:
        aside: set[str] = set()
        for rules in several:
            if isinstance(answer := search.ask(some_call, rules), Proof):
                analysis.findings.append(analysis.excluded(answer).conflict())
                aside.add(rules[-1])
        remaining[:] = [rule for rule in remaining if rule not in aside]

    if not isinstance(search.ask(some_call, search.bodies), Found):
        for size in (1, 2):
            set_aside([*combinations([rule for rule in remaining if rule in search.bodies], size)])
    set_aside([(rule,) for rule in search.timed])
    while remaining and isinstance(answer := analysis.ask(question, remaining[-1], some_call, remaining), Proof):
        analysis.findings.append(analysis.excluded(answer).conflict())
        remaining.remove(answer.rules[-1])


def find_equivalent_rules(analysis: _Analysis, candidates: Sequence[str]) -> list[str]:
    """Find rules that have automata and the same meaning. Returns one representative of each meaning, the first."""
    classes: list[list[str]] = []
    for rule in candidates:
        known = next((members for members in classes if _imply_each_other(analysis, members[0], rule)), None)
        if known is None:
            classes.append([rule])
        else:
            known.append(rule)
    for members in (members for members in classes if len(members) > 1):
        proof = f"For all calls, a trace of any length that keeps {members[0]} keeps the rest, and conversely."
        message = f"{join_names(members)} have the same meaning"
        found = RuleFinding(kind="equivalent", rules=tuple(members), scope="free", message=message, proof=proof)
        analysis.findings.append(found)
    return [members[0] for members in classes]


def _imply_each_other(analysis: _Analysis, *pair: str) -> bool:
    search = analysis.search
    return all(
        isinstance(search.ask(search.violation(broken), {*pair} - {broken}, free=True), Proof) for broken in pair
    )


def find_untriggered_rules(analysis: _Analysis, candidates: Sequence[str], *, together: bool) -> None:
    """Rules that are never triggered: in no trace, or (``together``) in no trace that keeps the others.

    Beside rules with time also those that cannot be kept once they are triggered; else a tool is unreachable.
    """
    search = analysis.search
    for rule in candidates:
        plain, trigger = _triggers(search, rule)
        others = [one for one in candidates if one != rule]
        goal, kept = occurrence(plain, trigger), () if not together else candidates if search.timed else others
        if search.known_trace(goal) is not None:
            continue
        answer = analysis.ask("can be triggered", rule, goal, kept)
        if isinstance(answer, Proof) and rule in answer.rules and not _about_time(search, answer.rules):
            answer = search.ask(goal, others)
        if isinstance(answer, Proof) and answer.rules != (rule,):  # a prohibition of what triggers it
            named = (atom.tool for atom in s.atoms_of([trigger]))
            analysis.findings.append(analysis.excluded(answer, *named).untriggered(rule, plain or trigger))


def find_undeclared(analysis: _Analysis, rules: Sequence[Rule]) -> None:
    """The texts in rules that are none of the values that the declaration lists."""
    signature = environment_signature(analysis.environment)
    for rule in rules:
        for message in dict.fromkeys(find_undeclared_values(rule.parsed, signature)):
            proof = "The declaration of the tool lists the values, and no other is possible."
            analysis.findings.append(RuleFinding(kind="undeclared", rules=(rule.id,), message=message, proof=proof))


def find_unreachable_tools(analysis: _Analysis) -> None:
    """The tools that no trace that keeps all rules can call; for the others such a trace."""
    search = analysis.search
    known = {frozenset((*finding.rules, *finding.reasons)) for finding in analysis.findings}
    named = frozenset[str]().union(*(rule.tools for rule in search.rules.values()))
    for name, tool in analysis.environment.tools.items():
        goal = occurrence(s.Atom(name), s.Atom(name))
        kept = search.rules if name in named else search.bodies
        match Found(trace) if (trace := search.known_trace(goal)) else analysis.ask("can be called", name, goal, kept):
            case Found() as answer:
                analysis.calling[name] = witness_from(answer)
            case Proof() as answer if not (_about_time(search, answer.rules) and frozenset(answer.rules) in known):
                analysis.findings.append(analysis.excluded(answer, name).unreachable(tool))
            case _:
                pass


def find_redundant_rules(analysis: _Analysis, candidates: Sequence[str], settled: Collection[str]) -> None:
    """The rules that others imply, each with a minimal set that does; for the rest a trace that breaks nothing else.

    Only rules that hold wherever it does imply one. Rules in ``settled`` are known to be implied and are skipped.
    """
    search, left = analysis.search, list(candidates)
    asked = [rule for rule in candidates if rule not in settled]
    # Of equivalent rules with time the first is kept. Readings come first, since the budget may not last.
    timed = sorted(filter(search.timed.__contains__, reversed(asked)), key=lambda rule: not search.rules[rule].under)
    for rule in [*filter(search.bodies.__contains__, asked), *timed]:
        others = [one for one in left if one != rule and holds_whenever(search.rules[one], search.rules[rule])]
        answer = analysis.ask("is implied by others", rule, search.violation(rule), others, free=True)
        if isinstance(answer, Found):
            analysis.breaking[rule] = witness_from(answer)
        elif isinstance(answer, Proof):
            finding = analysis.excluded(answer).redundant(rule)
            if len(answer.core) == 1 and _about_time(search, (rule, *answer.rules)):
                (same,) = answer.rules
                if isinstance(search.ask(search.violation(same), [rule]), Proof):
                    both = tuple(one for one in search.rules if one in (rule, same))
                    message = f"{join_names(both)} have the same meaning"
                    finding = analysis.excluded(answer).finding("equivalent", message, both)
                    left.remove(rule)
            analysis.findings.append(finding)


def _about_time(search: RuleSearch, rules: Collection[str]) -> bool:
    """Whether one of the rules has no automaton."""
    return not search.bodies.keys() >= {*rules}


def _triggers(search: RuleSearch, name: str) -> tuple[s.Formula | None, s.Formula]:
    """What triggers the rule, as monitors count it: the calls that a violation begins with, else any that it names.

    First for the value that automata follow; None for a rule that has none.
    """
    rule, body = search.rules[name], search.bodies.get(name)
    plain, compiled = None if body is None else disjunction(triggering_calls(body)), rule.compiled
    calls: list[s.Formula] = []
    if isinstance(compiled, FirstOrderRule):
        calls = [call for case in compiled.cases if case.every_step for call in calls_of_violation(case.formula)]
    quantified = [_quantified(call) for call in dict.fromkeys(calls or triggering_calls(s.body_of(rule.parsed)))]
    return plain, disjunction(quantified) if quantified else s.Top()


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


@dataclass(frozen=True, slots=True)
class RuleExamples:
    """Shortest traces that meet the environment's preconditions; None if there is none, or none was found."""

    keeping: Witness | None
    breaking: Witness | None


def find_rule_examples(environment: Environment, rule: Rule) -> RuleExamples:
    """A trace in which the rule is triggered and kept, and one that breaks it."""
    found = _example_traces(environment, rule)
    return RuleExamples(*(witness_from(one) if isinstance(one, Found) else None for one in found))


def tell_rule_examples(environment: Environment, rule: Rule) -> tuple[str, str]:
    """The same traces in sentences; empty where there is none, or none was found."""
    keeping, breaking = (
        _tell(one.trace) if isinstance(one, Found) else "" for one in _example_traces(environment, rule)
    )
    return keeping, breaking


def _tell(steps: Steps) -> str:
    if events := [step for step in steps if isinstance(step, Event)]:
        return tell_session(events, events[-1].time or 0)
    lines = [f"{number}. the agent called {step}." for number, step in enumerate(steps, 1)]
    return "\n".join([*lines, f"Nothing{' more' if lines else ''} happened."])


def _example_traces(environment: Environment, rule: Rule) -> tuple[RuleAnswer, RuleAnswer]:
    search = _rule_search(environment, [rule])
    keeping = search.ask(occurrence(*_triggers(search, rule.id)), [rule.id])
    return keeping, search.ask(search.violation(rule.id), ())


def _rule_search(
    environment: Environment, rules: Sequence[Rule], progress: Callable[[], None] = lambda: None
) -> RuleSearch:
    """Without a state there are no preconditions, and any calls are possible."""
    free = free_scope(environment)
    return RuleSearch(
        rules,
        read_tools(environment),
        lambda: Prover(free, environment_scope(environment) if environment.simulated else free),
        progress,
        budget=Budget(MAX_STEPS, why=TOO_MANY),
    )


def analyse_rules(
    environment: Environment,
    rules: Sequence[Rule],
    *,
    redundancy: bool = True,
    progress: Callable[[], None] = lambda: None,
) -> RuleSetAnalysis:
    """The defects of a rule set, and traces that show that each rule is needed and that tools stay reachable.

    If rules conflict, no trace keeps all of them. Then only equivalence and triggers are analysed.

    Args:
        environment: where the rules are to be kept.
        rules: already accepted by `lawtrace.solver.rules.check_rules`.
        redundancy: whether rules that others imply are sought, which takes most of the time.
        progress: called again and again.
    """
    search = _rule_search(environment, rules, progress)
    analysis = _Analysis(environment, search)
    find_conflicts(analysis)
    progress()
    conflicting = {finding.rules for finding in analysis.findings}
    distinct = find_equivalent_rules(analysis, [rule for rule in search.bodies if (rule,) not in conflicting])
    timed = [rule for rule in search.timed if (rule,) not in conflicting]
    candidates = [rule for rule in search.rules if rule in distinct or rule in timed]
    find_untriggered_rules(analysis, candidates, together=not conflicting)
    if not conflicting:
        progress()
        find_unreachable_tools(analysis)
        progress()
    if redundancy and not conflicting:
        find_redundant_rules(analysis, candidates, _vacuously_kept(analysis))
    analysis.findings.extend(analysis.undecided_findings())
    find_undeclared(analysis, rules)
    findings, without_course = sort_by_interpretations(rules, analysis.findings)
    undecided = {rule for finding in findings if finding.kind == "undecided" for rule in finding.rules}
    if redundancy and not conflicting:
        findings += find_unseparated_readings(rules, analysis.breaking, undecided)
    return RuleSetAnalysis(
        findings=tuple(findings),
        breaking={rule: analysis.breaking[rule] for rule in search.rules if rule in analysis.breaking},
        calling=analysis.calling,
        assumptions=(*_assumption_sentences(analysis), *without_course),
        nodes=search.prover.nodes,
    )


def _vacuously_kept(analysis: _Analysis) -> set[str]:
    """The rules that are implied because they are never triggered."""
    search = analysis.search
    return {
        rule
        for finding in analysis.findings
        for rule in finding.rules
        if finding.kind == "vacuous"
        and (rule in search.timed or (finding.scope == "free" and search.rules[rule].template != "general"))
    }


def _assumption_sentences(analysis: _Analysis) -> Iterator[str]:
    """What the claims rest on."""
    search = analysis.search
    yield "In each step there is one call of one tool, which completes or is refused."
    if analysis.environment.agenda:
        yield "What happens without a call may meet any precondition, so preconditions are left out."
    elif analysis.environment.simulated:
        yield (
            "Preconditions are what the planner goes by: which rows were looked up, and whether something is pending. "
            "Amounts and balances are left out."
        )
    else:
        yield "The tools have no state, so calls and messages are possible in any order."
    untimed = [search.rules[rule] for rule in search.bodies]
    if any(atom.condition for rule in untimed for atom in rule.automaton.atoms):
        yield (
            "Conditions on arguments and results may be met or not in any combination. What no trace can do stays "
            "true; a trace shown may need values that do not go together."
        )
    if any(isinstance(rule.parsed, s.ForAll) for rule in untimed):
        yield (
            "Of quantified rules one value is followed, the same in all of them. What no trace can do stays true; a "
            "trace shown may break such a rule for another value."
        )
    if search.timed:
        yield (
            f"What is said of {join_names(search.timed)} was searched with representatives of all arguments, results "
            f"and times that the rules tell apart. Where times matter, traces of more than {MOST_CALLS} calls are not "
            "covered."
        )
