"""Safety: whether the events of a trace decide which values of variables have to be tried.

A subformula is *safe* for some known variables if it finds the values of its others: an atom those that it equates with
fields, `x == term` the value of a term whose variables are known, S and Y what their operand finds. A conjunction is
safe if its parts can be evaluated in an order in which each is; a disjunction if each part finds the same variables.
Negations, comparisons and formulas about the future find nothing: all their variables must be known.
An error says what is missing, and what would make the rule safe if an event of it can.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.conditions import Comparison, conjuncts, equations
from lawtrace.solver.logic.normal_form import original_names, readable
from lawtrace.solver.logic.terms import BoundVariable, Term, leaves
from lawtrace.solver.logic.violations import cases


class UnsafeFormulaError(FormulaError):
    """A formula does not say which values its variables have.

    Attributes:
        part: the subformula in normal form that would need to.
        variable: one of the variables.
    """

    def __init__(self, part: s.Formula, missing: frozenset[str], remedy: str = "") -> None:
        self.part, self.variable = part, min(missing)
        name, text = original_names(self.variable), shortened(original_names(str(readable(part))))
        remedy = remedy or f"name a call that has it next to it, as in `Tool(field == {name}) & ...`"
        super().__init__(f"`{text}` does not say which values `{name}` has, and not all can be tried: {remedy}")

    @property
    def place(self) -> tuple[str, str]:
        """The text of the call or comparison in the part that names the variable, and the variable."""
        leaves = (one for one in s.subformulas(self.part) if isinstance(one, s.Atom | s.Compare))
        naming = (str(leaf) for leaf in leaves if self.variable in s.free_variables(leaf))
        return original_names(next(naming, "")), original_names(self.variable)


def shortened(text: str) -> str:
    """A text that is printed in a message, without its end if it is long."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


_SHOWN: Final = 120


def finds(formula: s.Formula, bound: frozenset[str]) -> bool:
    """Whether the formula finds the values of its variables that are not bound, if it is true."""
    free = s.free_variables(formula)
    if free <= bound:
        return True
    match formula:
        case s.Atom(_, condition):
            return free <= bound | {name for name, _, _ in equations(condition)}
        case s.Compare(Comparison(left, "==", right)):
            return any(
                isinstance(one, BoundVariable) and one.name not in bound and s.term_variables(other) <= bound
                for one, other in ((left, right), (right, left))
            )
        case s.Exists(variables, body):
            return finds(body, bound - frozenset(variables))
        case s.And(parts):
            waiting, known = list(parts), bound
            while waiting:
                part = next((part for part in waiting if finds(part, known)), None)
                if part is None:
                    return False
                waiting.remove(part)
                known |= s.free_variables(part)
            return True
        case s.Or(parts):
            return all(s.free_variables(part) | bound >= free and finds(part, bound) for part in parts)
        case s.Since(_, right):
            return free <= s.free_variables(right) and finds(right, frozenset())
        case s.Yesterday(operand):
            return finds(operand, frozenset())
        case _:
            return False


def check_safety(normal: s.Formula) -> None:
    """Raises UnsafeFormulaError if a rule, given in normal form, is not safe."""
    for case in cases(normal):
        check = _check_finding if case.every_step else _check_test
        try:
            check(case.formula, frozenset())
        except UnsafeFormulaError as error:
            remedy = _remedy(error.variable, case.formula, normal) if case.every_step else ""
            raise UnsafeFormulaError(error.part, frozenset({error.variable}), remedy) from None


def _remedy(variable: str, violation: s.Formula, normal: s.Formula) -> str:
    """What says which values a variable has: that a call of the rule which has it was made before."""
    ands = [one for one in s.subformulas(violation) if isinstance(one, s.And)]
    later = [part for one in ands for part in one.operands if isinstance(part, s.Until | s.Next)]
    for atom in (atom for part in later for atom in s.subformulas(part) if isinstance(atom, s.Atom)):
        if variable in {name for name, _, _ in equations(atom.condition)}:
            call = f"{atom.tool}(field == {original_names(variable)})"
            return f"a later call does not say it; let the rule begin there: `{call} & O ... -> ...`"
    for atom in s.subformulas(normal):
        for part in conjuncts(atom.condition) if isinstance(atom, s.Atom) else ():
            if variable not in {name for name, _, _ in equations(part)}:
                continue
            call = s.Since(s.Top(), replace(atom, condition=part))
            try:
                _check_finding(s.And(call, violation), frozenset())
            except UnsafeFormulaError as error:
                if error.variable == variable:
                    continue
            return f"add `& {original_names(str(readable(call)))}` to what stands before `->`"
    return ""


def _check_test(formula: s.Formula, bound: frozenset[str]) -> None:
    """Check that the formula can be tested once the values of the bound variables are known."""
    if missing := s.free_variables(formula) - bound:
        raise UnsafeFormulaError(formula, missing)
    _check_finding(formula, bound)


def _check_finding(formula: s.Formula, bound: frozenset[str]) -> None:
    """Check that the formula finds the values of its variables that are not bound."""
    free = s.free_variables(formula)
    match formula:
        case s.Exists(variables, body):
            _check_finding(body, bound - frozenset(variables))
        case s.Atom() | s.Compare():
            if not finds(formula, bound):
                known = equations(formula.condition) if isinstance(formula, s.Atom) else []
                raise UnsafeFormulaError(formula, free - bound - {name for name, _, _ in known})
            if isinstance(formula, s.Compare):
                _check_terms((formula.comparison.left, formula.comparison.right))
        case s.And(parts):
            waiting = list(parts)
            while waiting:
                part = next((part for part in waiting if finds(part, bound)), None)
                if part is None:
                    raise UnsafeFormulaError(waiting[0], s.free_variables(waiting[0]) - bound)
                _check_finding(part, bound)
                waiting.remove(part)
                bound |= s.free_variables(part)
        case s.Or(parts):
            for part in parts:
                if missing := free - s.free_variables(part) - bound:
                    raise UnsafeFormulaError(part, missing)
                _check_finding(part, bound)
        case s.Since(left, right):  # it finds values, for a table of them
            if missing := s.free_variables(left) - s.free_variables(right):
                raise UnsafeFormulaError(formula, missing)
            _check_finding(right, frozenset())
            _check_test(left, free)
        case s.Yesterday(operand):
            _check_finding(operand, frozenset())
        case _:  # it finds none
            if missing := free - bound:
                raise UnsafeFormulaError(formula, missing)
            for operand in reversed(s.children(formula)):
                _check_test(operand, free)


def _check_terms(terms: Iterable[Term]) -> None:
    """Check the aggregates in the terms."""
    for leaf in (leaf for term in terms for leaf in leaves(term)):
        match leaf:
            case s.EventAggregate(atom=atom, since=since):
                _check_finding(atom, frozenset())
                if since is not None:
                    if missing := since.variables - atom.variables:
                        raise UnsafeFormulaError(since, missing)
                    _check_finding(since, frozenset())
            case s.RelationAggregate(variables=variables, formula=formula, term=term):
                _check_finding(formula, s.free_variables(formula) - frozenset(variables))
                _check_terms(() if term is None else (term,))
            case _:
                pass
