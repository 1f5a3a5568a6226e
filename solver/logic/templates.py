"""The two templates of most regulatory rules, and their recognition.

    Operational Restriction    !((!check) U action)          no action before the first check
    Instruction Adherence      G(trigger -> F outcome)       after every trigger, eventually the outcome

check, action, trigger and outcome are propositional: a tool, a disjunction of tools, or any other Boolean combination
of atoms. The other common form of each is recognised as well: `check R !action`, which is the dual, and
`G(!trigger | F outcome)`. DECLARE's precedence, `(!action) W check`, is not an Operational Restriction: it allows the
first check and the first action in one step. A quantified formula is an instance of its body's template.
"""

from dataclasses import dataclass

from lawtrace.solver.logic import syntax as s


@dataclass(frozen=True, slots=True)
class OperationalRestriction:
    """No `action` before the first `check`."""

    check: s.Formula
    action: s.Formula

    @property
    def formula(self) -> s.Formula:
        return s.Not(s.Until(s.Not(self.check), self.action))


@dataclass(frozen=True, slots=True)
class InstructionAdherence:
    """After every `trigger`, eventually the `outcome`."""

    trigger: s.Formula
    outcome: s.Formula

    @property
    def formula(self) -> s.Formula:
        return s.Always(s.Implies(self.trigger, s.Eventually(self.outcome)))


Template = OperationalRestriction | InstructionAdherence


def match_template(formula: s.Formula) -> Template | None:
    """The template that a formula is an instance of; None for a general formula."""
    match s.body_of(formula):
        case s.Not(s.Until(s.Not(check), action)) | s.Release(check, s.Not(action)):
            found, parts = OperationalRestriction(check, action), (check, action)
        case s.Always(s.Implies(trigger, s.Eventually(outcome)) | s.Or((s.Not(trigger), s.Eventually(outcome)))):
            found, parts = InstructionAdherence(trigger, outcome), (trigger, outcome)
        case _:
            return None
    return found if all(map(s.is_propositional, parts)) else None
