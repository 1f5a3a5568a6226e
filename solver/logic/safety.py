"""Safety: whether the events of a trace decide which values of variables have to be tried.

A subformula is *safe* for some known variables if it finds the values of its others: an atom those that it equates with
fields, `x == term` the value of a term whose variables are known, S and Y what their operand finds. A conjunction is
safe if its parts can be evaluated in an order in which each is; a disjunction if each part finds the same variables.
Negations, comparisons and formulas about the future find nothing: all their variables must be known.
(`Evaluator.finds` decides it; this module says what is missing, with an example that would be safe.)
"""

from collections.abc import Sequence
from dataclasses import replace

from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.logic.conditions import AndCondition, Comparison
from lawtrace.solver.logic.normal_form import original_names, readable
from lawtrace.solver.logic.syntax import (
    Always,
    And,
    Atom,
    Eventually,
    Exists,
    ForAll,
    Formula,
    Implies,
    Not,
    Since,
    free_variables,
)
from lawtrace.solver.logic.terms import BoundVariable, FieldPath


class UnsafeFormulaError(FormulaError):
    """A formula does not say which values its variables have.

    Attributes:
        part: the text of the subformula that would need to.
        variable: one of the variables.
    """

    def __init__(self, part: Formula, missing: frozenset[str], example: Formula) -> None:
        self.part = original_names(str(readable(part)))
        self.variable = original_names(min(missing))
        super().__init__(
            f"`{self.part}` does not say which values `{self.variable}` has, so every value there is would have to be "
            f"tried: name an event that has it, as in `{original_names(str(example))}`"
        )


def unsafe(part: Formula, missing: frozenset[str]) -> UnsafeFormulaError:
    """The error for a subformula in normal form that needs the values of some variables."""
    names = tuple(sorted(free_variables(part)))
    written, event = readable(part), _naming(names)
    if isinstance(written, Not):
        return UnsafeFormulaError(part, missing, ForAll(names, Always(Implies(event, written.operand))))
    return UnsafeFormulaError(part, missing, Exists(names, Eventually(And(event, written))))


def unsafe_since(formula: Since, missing: frozenset[str]) -> UnsafeFormulaError:
    """The error for `f S g` with variables in f that g lacks."""
    right = And(_naming(tuple(sorted(missing))), readable(formula.right))
    return UnsafeFormulaError(formula, missing, replace(formula, left=readable(formula.left), right=right))


def _naming(variables: Sequence[str]) -> Atom:
    """A call that says which values the variables have, for examples."""
    fields = ("field", "other", "third", *(f"field_{number}" for number in range(4, len(variables) + 1)))
    parts = [
        Comparison(FieldPath((field,)), "==", BoundVariable(name))
        for field, name in zip(fields, variables, strict=False)
    ]
    return Atom("Tool", parts[0] if len(parts) == 1 else AndCondition(tuple(parts)))
