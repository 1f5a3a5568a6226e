"""Rule-set analysis: conflicts, unreachable tools, vacuous, redundant and equivalent rules.

    analysis = analyse_rules(environment, rules)
    analysis.findings                        # empty for a rule set without defects
    analysis.breaking["record-transfer"]     # a trace that breaks this rule and no other

For rules that have automata every answer is a trace, a proof for traces of any length (an exhausted product), or
*undecided*. One function per question. `lawtrace.solver.lint.first_order_rule_sets` analyses the others.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from lawtrace.environments.spec.declaration import Environment
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.automata.operations import complement
from lawtrace.solver.interpretations import holds_whenever
from lawtrace.solver.lint.findings import Excluded, RuleFinding, RuleSetAnalysis, Witness, witness_from
from lawtrace.solver.lint.first_order_rule_sets import FirstOrderAnalysis, find_first_order_examples, triggering_calls
from lawtrace.solver.lint.open_questions import find_unseparated_readings, sort_by_interpretations
from lawtrace.solver.logic.normal_form import disjunction
from lawtrace.solver.logic.syntax import Atom, Eventually, ForAll, Formula, Top, atoms_of, is_untimed
from lawtrace.solver.planner.product import environment_scope
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.problem import Proof, Unknown
from lawtrace.solver.search.products.call_scopes import AbstractTrace, free_scope
from lawtrace.solver.search.products.explanations import describe_preconditions, describe_proof, join_names, step_texts
from lawtrace.solver.search.products.product_search import Component, FoundSteps, instance_bodies, overapproximation
from lawtrace.solver.search.products.prover import Prover


@dataclass(frozen=True, slots=True)
class RuleSetQueries:
    """The rule set in the form that queries need.

    Attributes:
        rules: by id.
        bodies: the formula of each rule; for a quantified one its body for one value
            (`lawtrace.solver.search.products.product_search`).
        components: for each rule the traces that keep it.
        violations: for each rule the traces that break it.
    """

    environment: Environment
    rules: Mapping[str, Rule]
    bodies: Mapping[str, Formula]
    components: Mapping[str, Component]
    violations: Mapping[str, Component]
    prover: Prover

    @classmethod
    def build(cls, environment: Environment, rules: Sequence[Rule], prover: Prover) -> "RuleSetQueries":
        bodies = dict(zip((rule.id for rule in rules), instance_bodies([rule.parsed for rule in rules]), strict=True))
        components = {rule: Component(compile_formula(overapproximation(body))) for rule, body in bodies.items()}
        violations = {rule: Component(complement(compile_formula(body))) for rule, body in bodies.items()}
        return cls(environment, {rule.id: rule for rule in rules}, bodies, components, violations, prover)

    def components_of(self, rules: Collection[str], but: str | None = None) -> dict[str, Component]:
        """The components of some rules, in the order of the rule set."""
        return {rule: part for rule, part in self.components.items() if rule in rules and rule != but}

    def excluded(self, answer: Proof[AbstractTrace], *tools: str) -> Excluded:
        """A proof in words, with the preconditions of these tools and of the tools that the rules of the core name."""
        proof = describe_proof(answer)
        if answer.scope != "free":
            named = {atom.tool for atom in atoms_of(self.rules[rule].parsed for rule in answer.rules)}
            proof = f"{proof} {describe_preconditions(self.environment, named | set(tools))}".rstrip()
        without = {rule: step_texts(trace) for rule, trace in answer.without.items()}
        return Excluded(answer.rules, proof, without, answer.scope)


def find_conflicts(queries: RuleSetQueries) -> list[RuleFinding]:
    """Minimal sets of rules that no trace with a call keeps together.

    Every contradictory single rule and every contradictory pair is found. Of larger sets, as many as are needed to
    leave a consistent rule set: after each, its last rule is set aside.
    """
    some_call = _occurrence(Top())  # the empty trace does not count
    prover, remaining = queries.prover, dict(queries.components)
    together = prover.prove(some_call, remaining)
    if isinstance(together, FoundSteps):
        return []
    findings: list[RuleFinding] = []
    for size in (1, 2):
        set_aside: set[str] = set()
        for rules in combinations(remaining, size):
            answer = prover.prove(some_call, queries.components_of(rules))
            if isinstance(answer, Proof):
                findings.append(queries.excluded(answer).conflict())
                set_aside.add(rules[-1])
        remaining = {rule: part for rule, part in remaining.items() if rule not in set_aside}
    while isinstance(answer := prover.prove(some_call, remaining), Proof):
        findings.append(queries.excluded(answer).conflict())
        del remaining[answer.rules[-1]]
    if isinstance(answer, Unknown):
        findings.append(_undecided("whether the rules can be kept together", answer, *remaining))
    return findings


def find_equivalent_rules(
    queries: RuleSetQueries, candidates: Sequence[str]
) -> tuple[list[RuleFinding], tuple[str, ...]]:
    """Rules with the same meaning, and one representative of each meaning (the first) for further queries."""
    classes: list[list[str]] = []
    for rule in candidates:
        known = next((members for members in classes if _implies_each_other(queries, members[0], rule)), None)
        if known is None:
            classes.append([rule])
        else:
            known.append(rule)
    findings = [
        RuleFinding(
            kind="equivalent",
            rules=tuple(members),
            scope="free",
            message=f"{join_names(members)} have the same meaning",
            proof=f"For all calls, a trace of any length that keeps {members[0]} keeps the rest, and conversely.",
        )
        for members in classes
        if len(members) > 1
    ]
    return findings, tuple(members[0] for members in classes)


def _implies_each_other(queries: RuleSetQueries, *pair: str) -> bool:
    return all(
        isinstance(queries.prover.prove_free(queries.violations[broken], queries.components_of(pair, broken)), Proof)
        for broken in pair
    )


def find_unreachable_tools(queries: RuleSetQueries) -> tuple[list[RuleFinding], dict[str, Witness]]:
    """The tools that no trace that keeps all rules can call; for the others such a trace."""
    findings: list[RuleFinding] = []
    calling: dict[str, Witness] = {}
    for name, tool in queries.environment.tools.items():
        match queries.prover.prove(_occurrence(Atom(name)), queries.components):
            case FoundSteps() as answer:
                calling[name] = witness_from(answer)
            case Unknown() as answer:
                findings.append(_undecided(f"whether a compliant trace can call {name}", answer))
            case Proof() as answer:
                findings.append(queries.excluded(answer, name).unreachable(tool))
    return findings, calling


def find_vacuous_rules(queries: RuleSetQueries, candidates: Sequence[str], *, together: bool) -> list[RuleFinding]:
    """The rules that are never triggered: in no trace, or (``together``) in no trace that keeps the others."""
    findings: list[RuleFinding] = []
    for rule in candidates:
        trigger = disjunction(triggering_calls(queries.bodies[rule]))
        answer = queries.prover.prove(_occurrence(trigger), queries.components_of(candidates if together else (), rule))
        if isinstance(answer, Unknown):
            findings.append(_undecided(f"whether {rule} can be triggered", answer, rule))
        if isinstance(answer, Proof):
            named = (atom.tool for atom in atoms_of([trigger]))
            findings.append(queries.excluded(answer, *named).vacuous(rule, trigger))
    return findings


def find_redundant_rules(
    queries: RuleSetQueries, candidates: Sequence[str], *, settled: Collection[str] = ()
) -> tuple[list[RuleFinding], dict[str, Witness]]:
    """The rules that others imply, each with a minimal set that does; for the rest a trace that breaks nothing else.

    Only rules that hold wherever it does imply one. Rules in ``settled`` are known to be implied and are skipped.
    """
    findings: list[RuleFinding] = []
    breaking: dict[str, Witness] = {}
    for rule in candidates:
        if rule in settled:
            continue
        others = [other for other in candidates if holds_whenever(queries.rules[other], queries.rules[rule])]
        match queries.prover.prove_free(queries.violations[rule], queries.components_of(others, rule)):
            case FoundSteps() as answer:
                breaking[rule] = witness_from(answer)
            case Unknown() as answer:
                findings.append(_undecided(f"whether other rules imply {rule}", answer, rule))
            case Proof() as answer:
                findings.append(queries.excluded(answer).redundant(rule))
    return findings, breaking


@lru_cache(maxsize=1024)  # a goal asked for twice is the same component, so that the prover recognises it
def _occurrence(formula: Formula) -> Component:
    return Component(compile_formula(Eventually(formula)))


def _undecided(question: str, answer: Unknown, *rules: str) -> RuleFinding:
    return RuleFinding(
        kind="undecided",
        rules=rules,
        message=f"{question} was not decided: {answer.why}",
        proof="Neither answer is proved.",
    )


@dataclass(frozen=True, slots=True)
class RuleExamples:
    """Shortest traces that meet the environment's preconditions; None if there is none, or none was found."""

    keeping: Witness | None
    breaking: Witness | None


def find_rule_examples(environment: Environment, rule: Rule) -> RuleExamples:
    """A trace in which the rule is triggered and kept, and one that breaks it."""
    if not is_untimed(rule.parsed):
        return RuleExamples(*find_first_order_examples(environment, rule))
    prover = _prover(environment)
    queries = RuleSetQueries.build(environment, [rule], prover)
    trigger = disjunction(triggering_calls(queries.bodies[rule.id]))
    keeping = prover.prove(_occurrence(trigger), queries.components)
    breaking = prover.prove(queries.violations[rule.id], {})
    return RuleExamples(
        witness_from(keeping) if isinstance(keeping, FoundSteps) else None,
        witness_from(breaking) if isinstance(breaking, FoundSteps) else None,
    )


def _prover(environment: Environment) -> Prover:
    """Without a state there are no preconditions, and any calls are possible."""
    free = free_scope(environment)
    return Prover(free, environment_scope(environment) if environment.simulated else free)


def analyse_rules(
    environment: Environment, rules: Sequence[Rule], *, progress: Callable[[], None] = lambda: None
) -> RuleSetAnalysis:
    """The defects of a rule set, and traces that show that each rule is needed and that tools stay reachable.

    If rules conflict, no trace keeps all of them. Then only equivalence and triggers are analysed. Rules about time,
    several variables or aggregates are analysed by search, together with all others.

    Args:
        environment: where the rules are to be kept.
        rules: already accepted by `lawtrace.solver.rules.check_rules`.
        progress: called again and again.
    """
    prover = _prover(environment)
    untimed = [rule for rule in rules if is_untimed(rule.parsed)]
    queries = RuleSetQueries.build(environment, untimed, prover)
    findings = find_conflicts(queries)
    conflicting = {finding.rules for finding in findings if finding.kind == "conflict"}
    progress()
    same, distinct = find_equivalent_rules(queries, [rule for rule in queries.rules if (rule,) not in conflicting])
    findings += same
    breaking: dict[str, Witness] = {}
    calling: dict[str, Witness] = {}
    if conflicting:
        findings += find_vacuous_rules(queries, distinct, together=False)
    else:
        unreachable, calling = find_unreachable_tools(queries)
        progress()
        vacuous = find_vacuous_rules(queries, distinct, together=True)
        progress()
        redundant, breaking = find_redundant_rules(queries, distinct, settled=_vacuously_kept(queries, vacuous))
        findings += [*unreachable, *vacuous, *redundant]
    assumptions = _assumption_sentences(queries)
    if len(untimed) < len(rules):
        progress()
        needless = {rule for finding in findings if finding.kind in ("redundant", "vacuous") for rule in finding.rules}
        settled = needless | (queries.rules.keys() - set(distinct))
        bounded = FirstOrderAnalysis(environment, rules, settled=frozenset(settled), progress=progress)
        findings += bounded.findings
        breaking = {rule.id: bounded.breaking[rule.id] for rule in rules if rule.id in bounded.breaking}
        calling = {**calling, **bounded.calling}
        assumptions += bounded.assumptions
    findings, without_course = sort_by_interpretations(rules, findings)
    undecided = {rule for finding in findings if finding.kind == "undecided" for rule in finding.rules}
    if not conflicting:
        findings += find_unseparated_readings(rules, breaking, undecided)
    return RuleSetAnalysis(
        findings=tuple(findings),
        breaking=breaking,
        calling=calling,
        assumptions=(*assumptions, *without_course),
        nodes=prover.nodes,
    )


def _vacuously_kept(queries: RuleSetQueries, vacuous: Sequence[RuleFinding]) -> set[str]:
    """The rules that are implied because they are never triggered."""
    return {
        rule
        for finding in vacuous
        for rule in finding.rules
        if finding.scope == "free" and queries.rules[rule].template != "general"
    }


def _assumption_sentences(queries: RuleSetQueries) -> tuple[str, ...]:
    """The assumptions of the analysis of rules that have automata."""
    sentences = ["In each step there is one call of one tool, which completes or is refused."]
    if queries.environment.simulated:
        sentences.append(
            "Preconditions are what the planner goes by: which rows were looked up, and whether something is pending. "
            "Amounts and balances are left out."
        )
    else:
        sentences.append("The tools have no state, so calls and messages are possible in any order.")
    if any(atom.condition for rule in queries.rules.values() for atom in rule.automaton.atoms):
        sentences.append(
            "Conditions on arguments and results may be met or not in any combination. What no trace can do stays "
            "true; a trace shown may need values that do not go together."
        )
    if any(isinstance(rule.parsed, ForAll) for rule in queries.rules.values()):
        sentences.append(
            "Of quantified rules one value is followed, the same in all of them. What no trace can do stays true; a "
            "trace shown may break such a rule for another value."
        )
    return tuple(sentences)
