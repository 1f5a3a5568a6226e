"""Normal form of formulas for all engines: few operators, distinct variables, quantifiers pushed inwards.

What remains is the core (`lawtrace.solver.logic.core`). Negation stands before atoms, comparisons, `exists` and
temporal operators only. `exists x` is pushed to where x occurs: through `|`, through the operand of a temporal operator
that has to become true, and through `&` to a part about the future that alone names x.

Where only the future finds the values of x, as in `forall x: !(!f U g)`, what breaks the rule is told from the step at
which g is true: `g & !Y O f`. That can be done at the beginning of a trace, and if f and g are not about the future.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count

from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.conditions import Comparison
from lawtrace.solver.logic.core import in_core
from lawtrace.solver.logic.scoping import map_formula
from lawtrace.solver.logic.terms import NUMBERED, BoundVariable, Leaf, Term, map_leaves


def normal_form(formula: s.Formula) -> s.Formula:
    """An equivalent formula in normal form. Variables that are bound twice get new names, which no rule can contain."""
    return _Normaliser().rule(formula)


def original_names(text: str) -> str:
    """The text of a formula in normal form, or of a variable of it, with the names before `normal_form`."""
    return re.sub(f"{NUMBERED}[0-9]+", "", text)


def negated(formula: s.Formula) -> s.Formula:
    """The negation of a formula in normal form, in normal form."""
    match formula:
        case s.Top():
            return s.Bottom()
        case s.Bottom():
            return s.Top()
        case s.Not(operand):
            return operand
        case s.And(parts):
            return disjunction(map(negated, parts))
        case s.Or(parts):
            return conjunction(map(negated, parts))
        case _:
            return s.Not(formula)


def conjunction(parts: Iterable[s.Formula]) -> s.Formula:
    """The flat conjunction, without parts that are true."""
    return _flat(s.And, parts, s.Top(), s.Bottom())


def disjunction(parts: Iterable[s.Formula]) -> s.Formula:
    """The flat disjunction, without parts that are false."""
    return _flat(s.Or, parts, s.Bottom(), s.Top())


def _flat(
    junction: type[s.And | s.Or], parts: Iterable[s.Formula], neutral: s.Formula, absorbing: s.Formula
) -> s.Formula:
    flat: list[s.Formula] = []
    for part in parts:
        flat += part.operands if isinstance(part, junction) else [part]
    flat = [part for part in dict.fromkeys(flat) if part != neutral]
    if absorbing in flat:
        return absorbing
    return junction(*flat) if len(flat) > 1 else flat[0] if flat else neutral


def exists(variables: frozenset[str], formula: s.Formula) -> s.Formula:
    """`exists variables: formula`, with the quantifier as far inside as it goes."""
    variables &= s.free_variables(formula)
    if not variables:
        return formula
    match formula:
        case s.Or(parts):
            return disjunction([exists(variables, part) for part in parts])
        case s.And(parts):
            parts = _quantified_in_future(variables, parts)
            variables &= frozenset[str]().union(*map(s.free_variables, parts))
            outside = [part for part in parts if not variables & s.free_variables(part)]
            inside = [part for part in parts if variables & s.free_variables(part)]
            if not inside:
                return conjunction(outside)
            if len(inside) == 1:
                return conjunction([*outside, exists(variables, inside[0])])
            return conjunction([*outside, s.Exists(tuple(sorted(variables)), conjunction(inside))])
        case s.Exists(inner, body):
            return exists(variables | frozenset(inner), body)
        case s.Next() | s.Yesterday():
            return replace(formula, operand=exists(variables, formula.operand))
        case s.Until() | s.Since():
            right = exists(variables - s.free_variables(formula.left), formula.right)
            outer = variables & s.free_variables(formula.left)
            pushed = replace(formula, right=right)
            return s.Exists(tuple(sorted(outer)), pushed) if outer else pushed
        case _:
            return s.Exists(tuple(sorted(variables)), formula)


def _quantified_in_future(variables: frozenset[str], parts: Sequence[s.Formula]) -> list[s.Formula]:
    """The parts of a conjunction, with the variables that only one part about the future names quantified in it: no
    other part would find their values.
    """

    def elsewhere(part: s.Formula) -> frozenset[str]:
        return frozenset[str]().union(*(s.free_variables(other) for other in parts if other is not part))

    return [exists(variables - elsewhere(part), part) if _asks_future(part) else part for part in parts]


def _is_about_every_step(formula: s.Formula) -> bool:
    """Whether it is `forall x: G f`, with one variable or more."""
    body = s.body_of(formula)
    return isinstance(formula, s.ForAll) and isinstance(body, s.Always) and body.window.unlimited


def _in_front(variables: frozenset[str], violation: s.Formula) -> s.Formula:
    """`exists variables: violation`, with the quantifier in front, so that their values are found. Only what one part
    about the future alone names is quantified there.
    """
    variables &= s.free_variables(violation)
    if isinstance(violation, s.And):
        violation = conjunction(_quantified_in_future(variables, violation.operands))
        variables &= s.free_variables(violation)
    elif _asks_future(violation):
        return exists(variables, violation)
    return s.Exists(tuple(sorted(variables)), violation) if variables else violation


def disjuncts(formula: s.Formula) -> tuple[s.Formula, ...]:
    """The parts of a disjunction; another formula is the only one."""
    return formula.operands if isinstance(formula, s.Or) else (formula,)


def _at_start(variables: frozenset[str], violation: s.Formula) -> s.Formula:
    """`exists variables: violation` at the first step. If only `f U g` in it names the variables, it is told from the
    step at which g is true.
    """
    parts = violation.operands if isinstance(violation, s.And) else (violation,)
    named = [part for part in parts if variables & s.free_variables(part)]
    if any(not isinstance(part, s.Not | s.Until) for part in named):
        return exists(variables, violation)
    for part in named:
        if not isinstance(part, s.Until) or (len(named) == 1 and not variables & s.free_variables(part.left)):
            continue
        others = [_told_later(other) for other in parts if other is not part]
        if part.window.unlimited and is_past(part.left) and None not in others:
            known = (other for other in others if other is not None)
            step = conjunction([part.right, _always_before(part.left), *known])
            return s.Until(s.Top(), s.Exists(tuple(sorted(variables)), step))
    return exists(variables, violation)


def _told_later(formula: s.Formula) -> s.Formula | None:
    """What is true at a step iff the formula is true at the first one; None if it is not found out then."""
    match formula:
        case s.Not(operand):
            later = _told_later(operand)
            return None if later is None else negated(later)
        case s.And(parts) | s.Or(parts):
            told = [_told_later(part) for part in parts]
            known = [part for part in told if part is not None]
            join = conjunction if isinstance(formula, s.And) else disjunction
            return join(known) if len(known) == len(told) else None
        case s.Until(left, right, window) if window.unlimited and is_past(left) and is_past(right):
            if left == s.Top():
                return disjunction([_once(right), formula])
            met = _once(conjunction([right, _always_before(left)]))
            return disjunction([met, conjunction([negated(_once(negated(left))), formula])])
        case _ if is_past(formula):
            return _once(conjunction([formula, negated(s.Yesterday(s.Top()))]))
        case _:
            return None


def _once(formula: s.Formula) -> s.Formula:
    return formula if formula == s.Bottom() else s.Since(s.Top(), formula)


def _always_before(formula: s.Formula) -> s.Formula:
    return formula if formula == s.Top() else negated(s.Yesterday(_once(negated(formula))))


def is_past(formula: s.Formula) -> bool:
    """Whether a formula in normal form does not look at the future."""
    return not any(isinstance(part, s.Next | s.Until) for part in s.subformulas(formula))


def _asks_future(formula: s.Formula) -> bool:
    """Whether the formula finds no values because the future decides it."""
    if isinstance(formula, s.And | s.Or):
        return any(map(_asks_future, formula.operands))
    return isinstance(formula, s.Next | s.Until) or (isinstance(formula, s.Exists) and _asks_future(formula.body))


def readable(formula: s.Formula) -> s.Formula:
    """A formula in normal form with the usual abbreviations F, G, O and H, for messages."""
    match formula:
        case s.Not(s.Until(s.Top(), s.Not(operand), window)):
            return s.Always(readable(operand), window)
        case s.Not(s.Since(s.Top(), s.Not(operand), window)):
            return s.Historically(readable(operand), window)
        case s.Until(s.Top(), operand, window):
            return s.Eventually(readable(operand), window)
        case s.Since(s.Top(), operand, window):
            return s.Once(readable(operand), window)
        case _:
            return s.map_children(formula, readable)


class _Normaliser:
    def __init__(self) -> None:
        self._names: dict[str, count[int]] = {}

    def rule(self, formula: s.Formula) -> s.Formula:
        """The normal form of a rule. The variables of `forall x: G f` stay in front of each way to break it."""
        every_step = _is_about_every_step(formula)
        if not every_step and not isinstance(formula, s.ForAll):
            return self.normal(formula)
        variables = frozenset[str]()
        while isinstance(formula, s.ForAll):
            names, formula = self._renamed(formula.variables, formula.body)
            variables |= frozenset(names)
        if every_step and isinstance(formula, s.Always):
            cases = disjuncts(self.normal(s.Not(formula.operand)))
            return negated(s.Until(s.Top(), disjunction([_in_front(variables, case) for case in cases])))
        return conjunction([negated(_at_start(variables, case)) for case in disjuncts(self.normal(s.Not(formula)))])

    def normal(self, formula: s.Formula) -> s.Formula:
        match formula:
            case s.Top() | s.Bottom() | s.Atom():
                return formula
            case s.Compare():
                return self._test(formula)
            case s.Not(operand):
                return negated(self.normal(operand))
            case s.And(parts):
                return conjunction(map(self.normal, parts))
            case s.Or(parts):
                return disjunction(map(self.normal, parts))
            case s.Iff(left, right):  # each side once, so that its variables are renamed once
                one, other = self.normal(left), self.normal(right)
                return disjunction([conjunction([one, other]), conjunction([negated(one), negated(other)])])
            case s.ForAll(variables, body):
                names, body = self._renamed(variables, body)
                return negated(exists(frozenset(names), negated(self.normal(body))))
            case s.Exists(variables, body):
                names, body = self._renamed(variables, body)
                return exists(frozenset(names), self.normal(body))
            case s.Next(operand, window) | s.Yesterday(operand, window):
                return type(formula)(self.normal(operand), window)
            case s.Until(left, right, window) | s.Since(left, right, window):
                return type(formula)(self.normal(left), self.normal(right), window)
            case _:
                return self.normal(in_core(formula))

    def _test(self, formula: s.Compare) -> s.Formula:
        def renamed(leaf: Leaf) -> Term:
            if not isinstance(leaf, s.RelationAggregate):
                return leaf
            names = {name: self._fresh(name) for name in leaf.variables}
            inner = rename_variables(leaf.formula, names)
            term = None if leaf.term is None else map_leaves(leaf.term, _renaming(names))
            return replace(leaf, term=term, variables=tuple(names.values()), formula=self.normal(inner))

        left, sign, right = formula.comparison.left, formula.comparison.operator, formula.comparison.right
        return s.Compare(Comparison(map_leaves(left, renamed), sign, map_leaves(right, renamed)))

    def _renamed(self, variables: tuple[str, ...], body: s.Formula) -> tuple[tuple[str, ...], s.Formula]:
        names = {name: self._fresh(name) for name in variables}
        return tuple(names.values()), rename_variables(body, names)

    def _fresh(self, name: str) -> str:
        number = next(self._names.setdefault(name, count(1)))
        return name if number == 1 else f"{name}{NUMBERED}{number}"


def rename_variables(formula: s.Formula, names: Mapping[str, str]) -> s.Formula:
    """A formula in which free variables have other names."""
    changed = {old: new for old, new in names.items() if old != new}
    return map_formula(formula, _renaming(changed)) if changed else formula


def _renaming(names: dict[str, str]) -> Callable[[Leaf], Term]:
    return lambda leaf: BoundVariable(names.get(leaf.name, leaf.name)) if isinstance(leaf, BoundVariable) else leaf
