"""Scopes of variables: bind them in a body, put values in their place, rename them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal

from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.violations import Scalar
from lawtrace.solver.logic.conditions import Comparison, Condition, IsTrue, condition_parts, map_operands
from lawtrace.solver.logic.syntax import (
    Atom,
    Compare,
    EventAggregate,
    Exists,
    ForAll,
    Formula,
    RelationAggregate,
    free_variables,
    map_children,
    subformulas,
)
from lawtrace.solver.logic.terms import BoundVariable, Element, FieldPath, Leaf, LiteralValue, Term, map_leaves


def quantify(quantifier: Literal["forall", "exists"], variables: tuple[str, ...], body: Formula) -> ForAll | Exists:
    """A quantified formula, for a body in which the variables are parsed as fields.

    Raises:
        FormulaError: a name cannot be a variable, or the body uses it in an unsupported way.
    """
    for node in subformulas(body):
        if isinstance(node, ForAll | Exists) and (twice := set(node.variables) & set(variables)):
            raise FormulaError(f"`{min(twice)}` is bound again inside: give one of the two another name")
    bound = bind(variables, body)
    return ForAll(variables, bound) if quantifier == "forall" else Exists(variables, bound)


def bind(variables: tuple[str, ...], formula: Formula) -> Formula:
    """The formula with the fields of these names read as variables."""
    for node in subformulas(formula):
        if isinstance(node, Atom) and node.condition is not None:
            _reject_bare_variable(node.condition, variables)
    return map_formula(formula, _binding(variables))


def bind_term(variables: tuple[str, ...], term: Term) -> Term:
    """The term with the fields of these names read as variables."""
    return map_leaves(term, _binding(variables))


def bind_elements(name: str, condition: Condition) -> Condition:
    """The condition with the fields of this name read as elements of a list."""

    def binding(leaf: Leaf) -> Term:
        if isinstance(leaf, FieldPath) and leaf.path[0] == name:
            return Element(name, leaf.path[1:])
        return leaf

    return map_operands(condition, binding)


def instantiate(formula: Formula, values: Mapping[str, Scalar]) -> Formula:
    """The formula with values in place of free variables. A quantifier in front that binds one of them goes."""
    if isinstance(formula, ForAll) and set(formula.variables) <= set(values):
        formula = formula.body
    constants = {name: LiteralValue(value) for name, value in values.items()}

    def constant(leaf: Leaf) -> Term:
        return constants.get(leaf.name, leaf) if isinstance(leaf, BoundVariable) else leaf

    return map_formula(formula, constant)


def rename_variable(formula: ForAll, variable: str) -> ForAll:
    """The same rule with another name of its one variable."""
    (old,) = formula.variables
    renamed = map_formula(formula.body, lambda leaf: BoundVariable(variable) if leaf == BoundVariable(old) else leaf)
    return ForAll((variable,), renamed)


def require_closed(formula: Formula) -> None:
    """Raise FormulaError if a variable is not bound."""
    if free := free_variables(formula):
        name = min(free)
        raise FormulaError(f"`{name}` is not bound in `{formula}`: begin with `forall {name}: ...`")


def map_formula(formula: Formula, change: Callable[[Leaf], Term]) -> Formula:
    """The formula with each field, literal and variable of each term replaced."""

    match formula:
        case Atom():
            return _map_atom(formula, change)
        case Compare(Comparison(left, sign, right)):

            def term(leaf: Leaf) -> Term:
                return _map_aggregate(leaf, change)

            return Compare(Comparison(map_leaves(left, term), sign, map_leaves(right, term)))
        case _:
            return map_children(formula, lambda part: map_formula(part, change))


def _map_atom(atom: Atom, change: Callable[[Leaf], Term]) -> Atom:
    return atom if atom.condition is None else replace(atom, condition=map_operands(atom.condition, change))


def _map_aggregate(leaf: Leaf, change: Callable[[Leaf], Term]) -> Term:
    match leaf:
        case EventAggregate():
            return replace(
                leaf,
                term=None if leaf.term is None else map_leaves(leaf.term, change),
                atom=_map_atom(leaf.atom, change),
                since=None if leaf.since is None else _map_atom(leaf.since, change),
            )
        case RelationAggregate():
            return replace(
                leaf,
                term=None if leaf.term is None else map_leaves(leaf.term, change),
                formula=map_formula(leaf.formula, change),
            )
        case _:
            return change(leaf)


def _binding(variables: tuple[str, ...]) -> Callable[[Leaf], Term]:
    bound = {variable: BoundVariable(variable) for variable in variables}

    def binding(leaf: Leaf) -> Term:
        if not isinstance(leaf, FieldPath) or leaf.path[0] not in bound:
            return leaf
        name = str(leaf.path[0])
        if len(leaf.path) > 1:
            raise FormulaError(f"`{leaf}`: the variable `{name}` is one value and has no parts")
        return bound[name]

    return binding


def _reject_bare_variable(condition: Condition, variables: tuple[str, ...]) -> None:
    if (
        isinstance(condition, IsTrue)
        and isinstance(condition.field, FieldPath)
        and condition.field.path[0] in variables
    ):
        raise FormulaError(f"`{condition}` stands alone: compare it with a field, as in `field == {condition}`")
    for part in condition_parts(condition):
        _reject_bare_variable(part, variables)
