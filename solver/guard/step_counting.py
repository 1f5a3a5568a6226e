"""Which rules count steps: whether calls of tools that a rule does not name can change its value."""

from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.logic.syntax import (
    And,
    Compare,
    Exists,
    Formula,
    Next,
    Not,
    Or,
    Since,
    Top,
    Until,
    Yesterday,
    reads_position,
)
from lawtrace.solver.logic.violations import triggers
from lawtrace.solver.rules import Rule


def counts_steps(rule: Rule) -> bool:
    """Whether a call of a tool that the rule does not name can change its value."""
    compiled = rule.compiled
    if isinstance(compiled, Automaton):
        other = compiled.alphabet.columns[0]
        return any(row[other] != state for state, row in enumerate(compiled.table))
    if any(not case.every_step for case in compiled.cases):
        return True
    return any(triggers(case.formula) is None or not _ignores(case.formula) for case in compiled.cases)


def _ignores(formula: Formula) -> bool:
    """Whether further steps, with calls of tools that it does not name, leave the value of a formula alone."""
    match formula:
        case Not(operand) | Exists(_, operand):
            return _ignores(operand)
        case And(parts) | Or(parts):
            return all(map(_ignores, parts))
        case Until(left, right) | Since(left, right):
            stays = isinstance(left, Top) or (isinstance(left, Not) and triggers(left.operand) is not None)
            return stays and triggers(right) is not None and _ignores(left) and _ignores(right)
        case Yesterday(operand, window):
            return window.unlimited and isinstance(operand, Since) and operand.window.unlimited and _ignores(operand)
        case Next():
            return False
        case Compare():
            return not reads_position(formula)
        case _:
            return True
