"""The questions that are asked of a rule set, and what their answers mean. One function a question."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from lawtrace.environments.declaration import Environment
from lawtrace.solver.analysis.findings import Finding, Witness, enumeration, proof_of, steps_of, witness_of
from lawtrace.solver.analysis.following import followed, kept_by
from lawtrace.solver.analysis.preconditions import preconditions
from lawtrace.solver.analysis.proofs import Excluded, Prover
from lawtrace.solver.analysis.search import Component, Found, Undecided
from lawtrace.solver.ltlf import (
    Atom,
    Bottom,
    Eventually,
    Formula,
    InstructionAdherence,
    OperationalRestriction,
    Or,
    Top,
    atoms_of,
    compile_formula,
    complement,
    match_template,
)
from lawtrace.solver.rules import Rule


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What is asked about, and who answers.

    Attributes:
        rules: by id.
        bodies: what each rule says; a quantified one, of the value that is followed
        (`lawtrace.solver.analysis.following`). components: for each rule the traces that keep it.
        breaches: for each rule the traces that break it.
    """

    environment: Environment
    rules: Mapping[str, Rule]
    bodies: Mapping[str, Formula]
    components: Mapping[str, Component]
    breaches: Mapping[str, Component]
    prover: Prover

    @classmethod
    def into(cls, environment: Environment, rules: Sequence[Rule], prover: Prover) -> "Inquiry":
        bodies = dict(zip((rule.id for rule in rules), followed([rule.parsed for rule in rules]), strict=True))
        components = {rule: Component(compile_formula(kept_by(body))) for rule, body in bodies.items()}
        breaches = {rule: Component(complement(compile_formula(body))) for rule, body in bodies.items()}
        return cls(environment, {rule.id: rule for rule in rules}, bodies, components, breaches, prover)

    def chosen(self, rules: Collection[str], but: str | None = None) -> dict[str, Component]:
        """The components of some rules, in the order of the rule set."""
        return {rule: part for rule, part in self.components.items() if rule in rules and rule != but}

    def proof(self, excluded: Excluded, *tools: str) -> str:
        """The proof in words, with the preconditions of these tools and of those that the rules in it name."""
        if excluded.scope == "free":
            return proof_of(excluded)
        named = {atom.tool for atom in atoms_of(self.rules[rule].parsed for rule in excluded.rules)}
        return f"{proof_of(excluded)} {preconditions(self.environment, named | set(tools))}".rstrip()


def conflicts(inquiry: Inquiry) -> list[Finding]:
    """Rules that no trace with a call in it keeps together, in smallest sets.

    Every rule that cannot be kept alone and every contradictory pair is found. Of larger sets as many as it takes to
    leave none: after each, its last rule is set aside.
    """
    some_call = _occurrence(Top())  # doing nothing is no way to keep a rule
    prover, remaining = inquiry.prover, dict(inquiry.components)
    together = prover.anywhere(some_call, remaining)
    if isinstance(together, Found):
        return []
    findings: list[Finding] = []
    for size in (1, 2):
        blamed: set[str] = set()
        for rules in combinations(remaining, size):
            answer = prover.anywhere(some_call, inquiry.chosen(rules))
            if isinstance(answer, Excluded):
                findings.append(_conflict(inquiry, answer))
                blamed.add(rules[-1])
        remaining = {rule: part for rule, part in remaining.items() if rule not in blamed}
    while isinstance(answer := prover.anywhere(some_call, remaining), Excluded):
        findings.append(_conflict(inquiry, answer))
        del remaining[answer.rules[-1]]
    if isinstance(answer, Undecided):
        findings.append(_undecided("whether the rules can be kept together", answer, *remaining))
    return findings


def _conflict(inquiry: Inquiry, answer: Excluded) -> Finding:
    together = "" if len(answer.rules) == 1 else " together"
    where = "" if answer.scope == "free" else " where the environment's preconditions are met"
    return Finding(
        kind="conflict",
        rules=answer.rules,
        scope=answer.scope,
        message=f"{enumeration(answer.rules)} cannot be kept{together}{where}",
        proof=inquiry.proof(answer),
        without=_without(answer),
    )


def equivalents(inquiry: Inquiry, among: Sequence[str]) -> tuple[list[Finding], tuple[str, ...]]:
    """Rules that say the same, and one of each meaning (the first), with which further questions are asked."""
    classes: list[list[str]] = []
    for rule in among:
        known = next((members for members in classes if _implies_each_other(inquiry, members[0], rule)), None)
        if known is None:
            classes.append([rule])
        else:
            known.append(rule)
    findings = [
        Finding(
            kind="equivalent",
            rules=tuple(members),
            scope="free",
            message=f"{enumeration(members)} say the same in other words",
            proof=f"Whatever is called, a trace of any length that keeps {members[0]} keeps the rest, and conversely.",
        )
        for members in classes
        if len(members) > 1
    ]
    return findings, tuple(members[0] for members in classes)


def _implies_each_other(inquiry: Inquiry, *pair: str) -> bool:
    return all(
        isinstance(inquiry.prover.free(inquiry.breaches[broken], inquiry.chosen(pair, broken)), Excluded)
        for broken in pair
    )


def unreachable_tools(inquiry: Inquiry) -> tuple[list[Finding], dict[str, Witness]]:
    """The tools that no trace can call that keeps all rules; for the others such a trace."""
    findings: list[Finding] = []
    calling: dict[str, Witness] = {}
    for name, tool in inquiry.environment.tools.items():
        match inquiry.prover.anywhere(_occurrence(Atom(name)), inquiry.components):
            case Found() as answer:
                calling[name] = witness_of(answer)
            case Undecided() as answer:
                findings.append(_undecided(f"whether a compliant trace can call {name}", answer))
            case Excluded() as answer:
                critical = ", a critical tool" if tool.critical else ""
                finding = Finding(
                    kind="unreachable",
                    reasons=answer.rules,
                    tool=name,
                    scope=answer.scope,
                    message=f"no compliant trace can call {name}{critical}: {_blamed(answer)}",
                    proof=inquiry.proof(answer, name),
                    without=_without(answer),
                )
                findings.append(finding)
    return findings, calling


def _blamed(answer: Excluded) -> str:
    """What forbids a call."""
    world = [] if answer.scope == "free" else ["the environment's preconditions"]
    causes = [*answer.rules, *world]
    if not answer.rules:
        return f"{enumeration(causes)} forbid it, whatever the rules"
    return f"{enumeration(causes)} forbid it together" if causes[1:] else f"{causes[0]} forbids it"


def vacuous_rules(inquiry: Inquiry, among: Sequence[str], *, together: bool) -> list[Finding]:
    """The rules that never have anything to judge: in no trace, or (``together``) in none that keeps the others."""
    findings: list[Finding] = []
    for rule in among:
        trigger = _trigger(inquiry.bodies[rule])
        answer = inquiry.prover.anywhere(_occurrence(trigger), inquiry.chosen(among if together else (), rule))
        if isinstance(answer, Undecided):
            findings.append(_undecided(f"whether {rule} can be triggered", answer, rule))
        if isinstance(answer, Excluded):
            keeping = f" that keeps {enumeration(answer.rules)}" if answer.rules else ""
            where = "" if answer.scope == "free" else " where the environment's preconditions are met"
            finding = Finding(
                kind="vacuous",
                rules=(rule,),
                reasons=answer.rules,
                scope=answer.scope,
                message=f"{rule} is never triggered: "
                + ("it names no call" if trigger == Bottom() else f"no trace{keeping}{where} has `{trigger}` in it"),
                proof=inquiry.proof(answer, *(atom.tool for atom in atoms_of([trigger]))),
                without=_without(answer),
            )
            findings.append(finding)
    return findings


def redundant_rules(
    inquiry: Inquiry, among: Sequence[str], *, settled: Collection[str] = ()
) -> tuple[list[Finding], dict[str, Witness]]:
    """The rules that others imply, each with few of them that do; for the rest a trace that breaks nothing else.

    Of the ``settled`` it is known already; they are not asked about again.
    """
    findings: list[Finding] = []
    breaking: dict[str, Witness] = {}
    for rule in among:
        if rule in settled:
            continue
        match inquiry.prover.free(inquiry.breaches[rule], inquiry.chosen(among, rule)):
            case Found() as answer:
                breaking[rule] = witness_of(answer)
            case Undecided() as answer:
                findings.append(_undecided(f"whether other rules imply {rule}", answer, rule))
            case Excluded() as answer:
                keeping = f" that keeps {enumeration(answer.rules)}" if answer.rules else ""
                finding = Finding(
                    kind="redundant",
                    rules=(rule,),
                    reasons=answer.rules,
                    scope="free",
                    message=f"{rule} is redundant: every trace{keeping} keeps it",
                    proof=inquiry.proof(answer),
                    without=_without(answer),
                )
                findings.append(finding)
    return findings, breaking


@lru_cache(maxsize=1024)  # a goal asked for twice is the same component, so that the prover recognises it
def _occurrence(formula: Formula) -> Component:
    return Component(compile_formula(Eventually(formula)))


def occasion_of(formula: Formula) -> Component:
    """The traces in which a rule that says this has something to judge."""
    return _occurrence(_trigger(formula))


def _trigger(formula: Formula) -> Formula:
    """What gives a rule something to judge, as `lawtrace.solver.ltlf.monitor` counts it."""
    match match_template(formula):
        case OperationalRestriction(action=occasion) | InstructionAdherence(trigger=occasion):
            return occasion
        case None:
            atoms = atoms_of([formula])
            return Or(*atoms) if len(atoms) > 1 else atoms[0] if atoms else Bottom()


def _undecided(question: str, answer: Undecided, *rules: str) -> Finding:
    return Finding(
        kind="undecided",
        rules=rules,
        message=f"{question} was not decided: {answer.reason}",
        proof=f"The search was given up after {answer.nodes} states; neither answer is proved.",
    )


def _without(answer: Excluded) -> dict[str, tuple[str, ...]]:
    return {rule: steps_of(trace) for rule, trace in answer.without.items()}
