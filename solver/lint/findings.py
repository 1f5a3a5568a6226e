"""Results of the checks: findings about rule sets, issues in declarations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lawtrace.environments.spec.tools import Tool
from lawtrace.schemas.models import FrozenModel
from lawtrace.solver.logic.normal_form import original_names
from lawtrace.solver.logic.syntax import Bottom, Formula
from lawtrace.solver.search.explanations import join_names, step_texts
from lawtrace.solver.search.problem import Found, Proof, ScopeName
from lawtrace.solver.search.products.product_search import FoundSteps
from lawtrace.solver.search.rule_search import Steps

RuleFindingKind = Literal[
    "conflict", "unreachable", "vacuous", "redundant", "equivalent", "unseparated", "undeclared", "undecided"
]


class Witness(FrozenModel):
    """A trace as evidence, one step a line: ``PayBill``, ``PayBill(amount > 1000)``, ``PayBill refused``.

    Attributes:
        steps: the calls in order; empty for the empty trace.
        shortest: whether it is known that no shorter trace shows the same.
    """

    steps: tuple[str, ...]
    shortest: bool


class RuleFinding(FrozenModel):
    """A defect of a rule set.

    Attributes:
        kind: *conflict*: no trace with a call keeps the rules, or none in which the last of them is triggered.
            *unreachable*: no trace that keeps all rules calls the tool. *vacuous*: the rule is never triggered (a
            vacuous rule of a template over free calls is implied as well, and not listed as redundant). *redundant*:
            the reasons imply the rule. *equivalent*: the rules have the same meaning. *unseparated*: two readings of an
            open question make no difference. *undeclared*: the rule compares a text with what is declared to be one of
            other texts. *undecided*: questions that exceeded the limit.
        rules: the rules concerned: the smallest conflicting set, the redundant rule, the equivalent rules.
        reasons: the other rules that cause it, a minimal set.
        tool: the unreachable tool.
        scope: the call sequences that the claim covers; None without a claim.
        calls: the claim covers traces of up to so many calls; None if it covers traces of any length.
        message: the finding as one sentence.
        proof: the evidence.
        without: for each rule needed, a trace that would refute the finding without it.
    """

    kind: RuleFindingKind
    rules: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    tool: str | None = None
    scope: ScopeName | None = None
    calls: int | None = None
    message: str
    proof: str
    without: Mapping[str, tuple[str, ...]] = {}


class RuleSetAnalysis(FrozenModel):
    """The analysis of a rule set in an environment.

    Attributes:
        findings: empty for a rule set without defects.
        breaking: for each rule that is needed a trace that breaks it and keeps all others (except equivalent ones).
            Without the rule this violation would not be detected.
        calling: for each reachable tool a trace that calls it and keeps all rules.
        assumptions: the assumptions of the analysis, as sentences.
        nodes: the number of nodes that the searches visited.
    """

    findings: tuple[RuleFinding, ...]
    breaking: Mapping[str, Witness]
    calling: Mapping[str, Witness]
    assumptions: tuple[str, ...]
    nodes: int


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Rules that together exclude something, and the findings that follow. ``words``: the evidence."""

    proof: Proof[Steps]
    words: str

    def conflict(self) -> RuleFinding:
        core = self.proof.rules
        together = "" if len(core) == 1 else " together"
        return self.finding("conflict", f"{join_names(core)} cannot be kept{together}{self._where}", core)

    def unreachable(self, tool: Tool) -> RuleFinding:
        core = self.proof.rules
        causes = [*core, *([] if self.proof.scope == "free" else ["the environment's preconditions"])]
        forbid = "forbid it together" if causes[1:] else "forbids it"
        forbid = forbid if core else "forbid it, independent of the rules"
        critical = ", a critical tool" if tool.critical else ""
        message = f"no compliant trace can call {tool.name}{critical}: {join_names(causes)} {forbid}"
        return self.finding("unreachable", message, (), core, tool.name)

    def untriggered(self, rule: str, trigger: Formula) -> RuleFinding:
        """A rule that is never triggered, or cannot be kept once it is."""
        written = original_names(str(trigger))
        if rule in self.proof.rules:
            others = tuple(other for other in self.proof.rules if other != rule)
            because = f"{join_names(others)} {'exclude' if others[1:] else 'excludes'} it"
            message = f"{rule} cannot be kept once it is triggered by `{written}`: {because}"
            return self.finding("conflict", message, (*others, rule))
        why = f"no trace{self._keeping}{self._where} has `{written}` in it"
        why = "it names no call" if trigger == Bottom() else why
        return self.finding("vacuous", f"{rule} is never triggered: {why}", (rule,), self.proof.rules)

    def redundant(self, rule: str) -> RuleFinding:
        message = f"{rule} is redundant: every trace{self._keeping} keeps it"
        return self.finding("redundant", message, (rule,), self.proof.rules)

    def finding(
        self,
        kind: RuleFindingKind,
        message: str,
        rules: tuple[str, ...],
        reasons: tuple[str, ...] = (),
        tool: str | None = None,
    ) -> RuleFinding:
        calls = self.proof.calls
        return RuleFinding(
            kind=kind,
            rules=rules,
            reasons=reasons,
            tool=tool,
            scope=self.proof.scope,
            calls=calls,
            message=message if calls is None else f"in traces of up to {calls} calls, {message}",
            proof=self.words,
            without={rule: step_texts(trace) for rule, trace in self.proof.without.items()},
        )

    @property
    def _keeping(self) -> str:
        return f" that keeps {join_names(self.proof.rules)}" if self.proof.core else ""

    @property
    def _where(self) -> str:
        return "" if self.proof.scope == "free" else " where the environment's preconditions are met"


def witness_from(found: Found[Steps]) -> Witness:
    shortest = found.shortest if isinstance(found, FoundSteps) else len(found.trace) < 2
    return Witness(steps=step_texts(found.trace), shortest=shortest)


@dataclass(frozen=True, slots=True)
class DeclarationIssue:
    """A defect of a declaration, or something suspicious.

    Attributes:
        place: where it is: ``tool 'PayBill', parameter 'amount'``.
        what: the issue as one sentence.
        remedy: what to do about it.
        proof: the evidence or an example; empty if the declaration itself shows it.
        undecided: whether this is a question that was left open instead of a defect.
    """

    place: str
    what: str
    remedy: str
    proof: str = ""
    undecided: bool = False
