"""What a rule means in traces: one that gives it something to judge and keeps it, and one that breaks it."""

from dataclasses import dataclass

from lawtrace.environments.declaration import Environment
from lawtrace.solver.analysis.findings import Witness, witness_of
from lawtrace.solver.analysis.proofs import Prover
from lawtrace.solver.analysis.questions import Inquiry, occasion_of
from lawtrace.solver.analysis.scopes import environment_scope, free_scope
from lawtrace.solver.analysis.search import LIMIT, Found
from lawtrace.solver.rules import Rule


@dataclass(frozen=True, slots=True)
class Examples:
    """Shortest traces where the environment's preconditions are met; None where there is none, or none was found."""

    keeping: Witness | None
    breaking: Witness | None


def find_examples(environment: Environment, rule: Rule, *, limit: int = LIMIT) -> Examples:
    """A trace in which the rule is triggered and kept, and one that breaks it."""
    prover = Prover(free_scope(environment), environment_scope(environment), limit)
    inquiry = Inquiry.into(environment, [rule], prover)
    keeping = prover.anywhere(occasion_of(inquiry.bodies[rule.id]), inquiry.components)
    breaking = prover.anywhere(inquiry.breaches[rule.id], {})
    return Examples(
        witness_of(keeping) if isinstance(keeping, Found) else None,
        witness_of(breaking) if isinstance(breaking, Found) else None,
    )
