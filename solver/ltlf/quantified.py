"""Quantified rules: bind a variable, instantiate it with a value, rename it."""

from collections.abc import Callable

from lawtrace.environments.errors import FormulaError
from lawtrace.solver.ltlf.conditions import (
    BoundVariable,
    Condition,
    FieldPath,
    IsTrue,
    LiteralValue,
    Operand,
    Scalar,
    condition_parts,
    map_operands,
)
from lawtrace.solver.ltlf.syntax import And, Atom, Bottom, ForAll, Formula, Or, Top, atoms_of, children


def quantify(variable: str, body: Formula) -> ForAll:
    """`forall variable: body`, for a body in which the variable is parsed as a field.

    Raises:
        FormulaError: the name cannot be a variable, or the body uses it in an unsupported way.
    """
    bound = BoundVariable(variable)

    def binding(operand: Operand) -> Operand:
        if not isinstance(operand, FieldPath) or operand.path[0] != variable:
            return operand
        if len(operand.path) > 1:
            raise FormulaError(f"`{operand}`: the variable `{variable}` is one value and has no parts")
        return bound

    for atom in atoms_of([body]):
        if atom.condition is not None:
            _reject_bare_variable(atom.condition, variable)
    return ForAll(variable, _map_formula_operands(body, binding))


def instantiate(formula: ForAll, value: Scalar) -> Formula:
    """The formula for one value: the body with the value in place of the variable."""
    constant = LiteralValue(value)
    return _map_formula_operands(
        formula.body, lambda operand: constant if isinstance(operand, BoundVariable) else operand
    )


def rename_variable(formula: ForAll, variable: str) -> ForAll:
    """The same rule with another variable name."""
    other = BoundVariable(variable)
    body = _map_formula_operands(formula.body, lambda operand: other if isinstance(operand, BoundVariable) else operand)
    return ForAll(variable, body)


def _reject_bare_variable(condition: Condition, variable: str) -> None:
    if isinstance(condition, IsTrue) and condition.field.path[0] == variable:
        raise FormulaError(f"`{condition}` stands alone: compare it with a field, as in `field == {variable}`")
    for part in condition_parts(condition):
        _reject_bare_variable(part, variable)


def _map_formula_operands(formula: Formula, change: Callable[[Operand], Operand]) -> Formula:
    """The formula with each operand of each condition replaced."""
    parts = [_map_formula_operands(part, change) for part in children(formula)]
    match formula:
        case Atom(tool, condition, attempted):
            return Atom(tool, None if condition is None else map_operands(condition, change), attempted)
        case Top() | Bottom():
            return formula
        case And() | Or():
            return type(formula)(*parts)
        case _:
            return type(formula)(*parts)
