"""Authorization granted and not just asked for: what a rule demands of a session in which it is denied.

Published rules say *asked* where they mean *granted*: ``!((!CheckAuthorization) U PayBill)`` is kept by whoever asks,
is refused, and pays all the same. Where authorization is always granted the two mean the same; where it is denied, a
rule of that form is judged beside its stricter sister.
"""

from collections.abc import Sequence

from lawtrace.environments.compliance import AUTHORIZATION_TOOL, AUTHORIZED
from lawtrace.solver.ltlf import Atom, OperationalRestriction, equivalent, match_template
from lawtrace.solver.rules import Rule


def granted_forms(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """For each rule that asks for an authorization check first, the one that asks for a check that was passed; but
    none that is among the rules already. They rest on the same provisions."""
    forms: list[Rule] = []
    for rule in rules:
        match match_template(rule.parsed):
            case OperationalRestriction(Atom(tool, None, attempted=False), occasion) if tool == AUTHORIZATION_TOOL:
                form = Rule(
                    id=f"{rule.id}-granted",
                    formula=f"!((!{AUTHORIZATION_TOOL}(result.{AUTHORIZED})) U ({occasion}))",
                    regulation=rule.regulation,
                    provisions=rule.provisions,
                    derived="A check that was refused is no authorization; the rule beside it asks for a check alone.",
                    rationale=rule.rationale,
                )
                if not any(equivalent(form.automaton, other.automaton) for other in rules):
                    forms.append(form)
            case _:
                pass
    return tuple(forms)
