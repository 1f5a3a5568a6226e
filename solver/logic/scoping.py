"""Scopes of variables: bind them in a body, put values in their place, rename them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal

from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.violations import Scalar
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.conditions import Comparison, Condition, IsTrue, map_operands, subconditions
from lawtrace.solver.logic.terms import BoundVariable, Element, FieldPath, Leaf, LiteralValue, Term, map_leaves


def quantify(
    quantifier: Literal["forall", "exists"], variables: tuple[str, ...], body: s.Formula
) -> s.ForAll | s.Exists:
    """A quantified formula, for a body in which the variables are parsed as fields.

    Raises:
        FormulaError: a name cannot be a variable, or the body uses it in an unsupported way.
    """
    for node in s.subformulas(body):
        if isinstance(node, s.ForAll | s.Exists) and (twice := set(node.variables) & set(variables)):
            raise FormulaError(f"`{min(twice)}` is bound again inside: give one of the two another name")
    bound = bind(variables, body)
    return s.ForAll(variables, bound) if quantifier == "forall" else s.Exists(variables, bound)


def bind(variables: tuple[str, ...], formula: s.Formula) -> s.Formula:
    """The formula with the fields of these names read as variables."""
    for node in s.subformulas(formula):
        if isinstance(node, s.Atom) and node.condition is not None:
            for part in subconditions(node.condition):
                if isinstance(part, IsTrue) and isinstance(part.field, FieldPath) and part.field.path[0] in variables:
                    message = f"`{part}` stands alone: compare it with a field, as in `field == {part}`"
                    raise FormulaError(message)
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


def rename_fields(formula: s.Formula, names: Mapping[str, str]) -> s.Formula:
    """The formula with other names of fields and free variables."""

    def renamed(leaf: Leaf) -> Term:
        if isinstance(leaf, BoundVariable):
            return BoundVariable(names.get(leaf.name, leaf.name))
        if isinstance(leaf, FieldPath) and leaf.path[0] in names:
            return FieldPath((names[str(leaf.path[0])], *leaf.path[1:]))
        return leaf

    return map_formula(formula, renamed)


def instantiate(formula: s.Formula, values: Mapping[str, Scalar]) -> s.Formula:
    """The formula with values in place of free variables. A quantifier in front that binds one of them goes."""
    if isinstance(formula, s.ForAll) and set(formula.variables) <= set(values):
        formula = formula.body
    constants = {name: LiteralValue(value) for name, value in values.items()}

    def constant(leaf: Leaf) -> Term:
        return constants.get(leaf.name, leaf) if isinstance(leaf, BoundVariable) else leaf

    return map_formula(formula, constant)


def map_formula(formula: s.Formula, change: Callable[[Leaf], Term]) -> s.Formula:
    """The formula with each field, literal and variable of each term replaced.

    Where a variable is renamed, so is it where it is bound.
    """
    match formula:
        case s.Atom():
            return _map_atom(formula, change)
        case s.Compare(Comparison(left, sign, right)):

            def term(leaf: Leaf) -> Term:
                return _map_aggregate(leaf, change)

            return s.Compare(Comparison(map_leaves(left, term), sign, map_leaves(right, term)))
        case s.ForAll(variables, body) | s.Exists(variables, body):
            changed = map_formula(body, change)
            left = tuple(name for name in _renamed(variables, change) if name in s.free_variables(changed))
            return type(formula)(left, changed) if left else changed
        case _:
            return s.map_children(formula, lambda part: map_formula(part, change))


def _map_atom(atom: s.Atom, change: Callable[[Leaf], Term]) -> s.Atom:
    return atom if atom.condition is None else replace(atom, condition=map_operands(atom.condition, change))


def _map_aggregate(leaf: Leaf, change: Callable[[Leaf], Term]) -> Term:
    match leaf:
        case s.EventAggregate():
            return replace(
                leaf,
                term=None if leaf.term is None else map_leaves(leaf.term, change),
                atom=_map_atom(leaf.atom, change),
                since=None if leaf.since is None else _map_atom(leaf.since, change),
            )
        case s.RelationAggregate():
            return replace(
                leaf,
                term=None if leaf.term is None else map_leaves(leaf.term, change),
                variables=_renamed(leaf.variables, change),
                formula=map_formula(leaf.formula, change),
            )
        case _:
            return change(leaf)


def _renamed(variables: tuple[str, ...], change: Callable[[Leaf], Term]) -> tuple[str, ...]:
    terms = [change(BoundVariable(name)) for name in variables]
    return tuple(term.name for term in terms if isinstance(term, BoundVariable))


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
