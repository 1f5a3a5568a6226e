"""Terms: the expressions of preconditions, effects and results.

A term is a small immutable tree, built by operator overloading over arguments and rows:

    exists(ACCOUNTS, lambda a: (a.account_number == argument("account_number")) & (a.balance >= argument("amount")))

It prints as a readable sentence for certificates and documentation. It is compiled once to a closure over an
:class:`EvaluationScope`, whose values are Python values or solver expressions, depending on the logic
(``environments/spec/terms/logic.py``). Simulator and solver use the same closure, so they cannot disagree.

``==`` builds a term, so terms have no equality of their own: they hash by identity, and ``bool(term)`` raises, which
catches ``and``, ``or``, ``not`` and chained comparisons at once.
"""

from lawtrace.environments.spec.terms.builders import (
    any_item,
    apply,
    argument,
    arguments_of,
    choose,
    constant,
    contains_text,
    exists,
    fields_of,
    fresh_key,
    if_given,
    is_empty,
    is_given,
    item_variable,
    row_variable,
    tables_of,
    unguarded_arguments,
    value_of,
)
from lawtrace.environments.spec.terms.expressions import SUCCEEDED, Argument, Compiled, EvaluationScope, Term
from lawtrace.environments.spec.terms.row_terms import RowCondition, RowVariable, Variable, bind, distinct

__all__ = [
    "SUCCEEDED",
    "Argument",
    "Compiled",
    "EvaluationScope",
    "RowCondition",
    "RowVariable",
    "Term",
    "Variable",
    "any_item",
    "apply",
    "argument",
    "arguments_of",
    "bind",
    "choose",
    "constant",
    "contains_text",
    "distinct",
    "exists",
    "fields_of",
    "fresh_key",
    "if_given",
    "is_empty",
    "is_given",
    "item_variable",
    "row_variable",
    "tables_of",
    "unguarded_arguments",
    "value_of",
]
