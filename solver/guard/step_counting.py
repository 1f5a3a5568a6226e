"""Which rules count steps: whether calls of tools that a rule does not name can change its value."""

from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.violations import stays, triggers
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


def _ignores(formula: s.Formula) -> bool:
    """Whether further steps, with calls of tools that it does not name, leave the value of a formula alone."""
    match formula:
        case s.Not(operand) | s.Exists(_, operand):
            return _ignores(operand)
        case s.And(parts) | s.Or(parts):
            return all(map(_ignores, parts))
        case s.Until(left, right) | s.Since(left, right):
            return stays(left) and triggers(right) is not None and _ignores(left) and _ignores(right)
        case s.Yesterday(operand, window):
            return window.unlimited and isinstance(operand, s.Since) and operand.window.unlimited and _ignores(operand)
        case s.Next():
            return False
        case s.Compare():
            return not s.reads_position(formula)
        case _:
            return True
