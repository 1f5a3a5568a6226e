"""What an analysis returns, and the sentences that its findings are put in."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from lawtrace.solver.model_checking.call_scopes import AbstractTrace, ScopeName
from lawtrace.solver.model_checking.product_search import Found
from lawtrace.solver.model_checking.prover import Infeasible

RuleFindingKind = Literal["conflict", "unreachable", "vacuous", "redundant", "equivalent", "undecided"]


class Witness(BaseModel):
    """A trace that shows something, a step a line: ``PayBill``, ``PayBill(amount > 1000)``, ``PayBill refused``.

    Attributes:
        steps: the calls in their order; none for the empty trace.
        shortest: whether it is known that no trace shows the same with fewer calls.
    """

    model_config = ConfigDict(frozen=True)

    steps: tuple[str, ...]
    shortest: bool


class RuleFinding(BaseModel):
    """Something that speaks against a rule set.

    Attributes:
        kind: *conflict*: no trace with a call in it keeps the rules. *unreachable*: no trace that keeps all rules
            calls the tool. *vacuous*: the rule never gets anything to judge (a rule of a template that is vacuous
            over free calls is implied too, and not listed as redundant again). *redundant*: what keeps the reasons
            keeps the rule. *equivalent*: each of the rules says the same. *undecided*: one of these questions has no
            answer within the bound.
        rules: the rules that it is about: the smallest set in conflict, the redundant rule, the equivalent ones.
        reasons: the other rules that make it so, none of which can be left out.
        tool: the tool that is unreachable.
        scope: over which sequences of calls it is claimed; None where nothing is.
        message: the finding as one sentence.
        proof: why to believe it.
        without: for each rule that is needed for it, a trace that would refute it if that rule were not there.
    """

    model_config = ConfigDict(frozen=True)

    kind: RuleFindingKind
    rules: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    tool: str | None = None
    scope: ScopeName | None = None
    message: str
    proof: str
    without: Mapping[str, tuple[str, ...]] = {}


class RuleSetAnalysis(BaseModel):
    """What can be said of a rule set in an environment.

    Attributes:
        findings: what speaks against it; empty for a rule set in order.
        breaking: for each rule that is needed a trace that breaks it and keeps all others (but its equivalents): what
            would go unnoticed without it. People should look at these.
        calling: for each tool that can be called a trace that calls it and keeps all rules.
        assumptions: what all of it rests on, in sentences.
        nodes: how many nodes the searches have made that gave the answers.
    """

    model_config = ConfigDict(frozen=True)

    findings: tuple[RuleFinding, ...]
    breaking: Mapping[str, Witness]
    calling: Mapping[str, Witness]
    assumptions: tuple[str, ...]
    nodes: int


def witness_from(found: Found) -> Witness:
    return Witness(steps=step_texts(found.trace), shortest=found.shortest)


def step_texts(trace: AbstractTrace) -> tuple[str, ...]:
    return tuple(map(str, trace))


def join_names(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def describe_proof(excluded: Infeasible) -> str:
    """Why there is no such trace, and that every rule named is needed for that."""
    scope = {
        "free": "sequences of calls of any length",
        "environment": "sequences of calls of any length that meet the environment's preconditions",
    }[excluded.scope]
    states = "the only state" if excluded.nodes == 1 else f"all {excluded.nodes} states"
    sentences = [f"Proved for {scope}: a search through {states} found no exception."]
    for rule, trace in excluded.counterexamples.items():
        sentences.append(f"Without {rule} there is one: {', '.join(step_texts(trace)) or 'the empty trace'}.")
    if excluded.undecided:
        sentences.append(f"Whether {join_names(excluded.undecided)} could be left out was not decided.")
    return " ".join(sentences)


IssueKind = Literal[
    "unreachable tool",
    "refusal",
    "result",
    "parameter",
    "phrase",
    "initial state",
    "list",
    "provision",
    "rule",
]


class DeclarationIssue(BaseModel):
    """Something that is wrong with a declaration, or suspicious enough to be looked at.

    Attributes:
        kind: what it is about.
        place: where it stands: ``tool 'PayBill', parameter 'amount'``.
        what: the flaw as one sentence.
        remedy: what to do about it.
        proof: why to believe it, or an example; empty where the declaration says it outright.
    """

    model_config = ConfigDict(frozen=True)

    kind: IssueKind
    place: str
    what: str
    remedy: str
    proof: str = ""
