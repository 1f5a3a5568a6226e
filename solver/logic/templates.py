"""The two templates of most regulatory rules, and their recognition.

    Operational Restriction    !((!check) U action)          no action before the first check
    Instruction Adherence      G(trigger -> F outcome)       after every trigger, eventually the outcome

check, action, trigger and outcome are propositional: a tool, a disjunction of tools, or any other Boolean combination
of atoms. The other common form of each is recognised as well: `check R !action`, which is the dual, and
`G(!trigger | F outcome)`. DECLARE's precedence, `(!action) W check`, is not an Operational Restriction: it allows the
first check and the first action in one step. A quantified formula is an instance of its body's template.
"""

from dataclasses import dataclass

from lawtrace.solver.logic.syntax import (
    Always,
    Eventually,
    Formula,
    Implies,
    Not,
    Or,
    Release,
    Until,
    body_of,
    is_propositional,
)


@dataclass(frozen=True, slots=True)
class OperationalRestriction:
    """No `action` before the first `check`."""

    check: Formula
    action: Formula

    @property
    def formula(self) -> Formula:
        return Not(Until(Not(self.check), self.action))


@dataclass(frozen=True, slots=True)
class InstructionAdherence:
    """After every `trigger`, eventually the `outcome`."""

    trigger: Formula
    outcome: Formula

    @property
    def formula(self) -> Formula:
        return Always(Implies(self.trigger, Eventually(self.outcome)))


Template = OperationalRestriction | InstructionAdherence


def match_template(formula: Formula) -> Template | None:
    """The template that a formula is an instance of; None for a general formula."""
    match body_of(formula):
        case Not(Until(Not(check), action)) | Release(check, Not(action)):
            template = OperationalRestriction(check, action)
        case Always(Implies(trigger, Eventually(outcome)) | Or((Not(trigger), Eventually(outcome)))):
            template = InstructionAdherence(trigger, outcome)
        case _:
            return None
    if isinstance(template, OperationalRestriction):
        parts = (template.check, template.action)
    else:
        parts = (template.trigger, template.outcome)
    return template if all(map(is_propositional, parts)) else None
