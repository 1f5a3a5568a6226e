"""Safety: whether the events of a trace decide which values of variables have to be tried.

A subformula is *safe* for some known variables if it finds the values of its others: an atom those that it equates with
fields, `x == term` the value of a term whose variables are known, S and Y what their operand finds. A conjunction is
safe if its parts can be evaluated in an order in which each is; a disjunction if each part finds the same variables.
Negations, comparisons and formulas about the future find nothing: all their variables must be known.
An error says what is missing, with an example that would be safe.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.conditions import Comparison, all_of, equations
from lawtrace.solver.logic.normal_form import original_names, readable
from lawtrace.solver.logic.terms import BoundVariable, FieldPath, Term, leaves
from lawtrace.solver.logic.violations import cases


class UnsafeFormulaError(FormulaError):
    """A formula does not say which values its variables have.

    Attributes:
        part: the text of the subformula that would need to.
        variable: one of the variables.
    """

    def __init__(self, part: s.Formula, missing: frozenset[str], example: s.Formula) -> None:
        self.part = original_names(str(readable(part)))
        self.variable = original_names(min(missing))
        super().__init__(
            f"`{self.part}` does not say which values `{self.variable}` has, so every value there is would have to be "
            f"tried: name an event that has it, as in `{original_names(str(example))}`"
        )


def unsafe(part: s.Formula, missing: frozenset[str]) -> UnsafeFormulaError:
    """The error for a subformula in normal form that needs the values of some variables."""
    names = tuple(sorted(s.free_variables(part)))
    written, event = readable(part), _naming(names)
    if isinstance(written, s.Not):
        return UnsafeFormulaError(part, missing, s.ForAll(names, s.Always(s.Implies(event, written.operand))))
    return UnsafeFormulaError(part, missing, s.Exists(names, s.Eventually(s.And(event, written))))


def unsafe_since(formula: s.Since, missing: frozenset[str]) -> UnsafeFormulaError:
    """The error for `f S g` with variables in f that g lacks."""
    right = s.And(_naming(tuple(sorted(missing))), readable(formula.right))
    return UnsafeFormulaError(formula, missing, replace(formula, left=readable(formula.left), right=right))


def _naming(variables: Sequence[str]) -> s.Atom:
    """A call that says which values the variables have, for examples."""
    fields = ("field", "other", "third", *(f"field_{number}" for number in range(4, len(variables) + 1)))
    parts = [
        Comparison(FieldPath((field,)), "==", BoundVariable(name))
        for field, name in zip(fields, variables, strict=False)
    ]
    return s.Atom("Tool", all_of(parts))


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
        check(case.formula, frozenset())


def _check_test(formula: s.Formula, bound: frozenset[str]) -> None:
    """Check that the formula can be tested once the values of the bound variables are known."""
    if missing := s.free_variables(formula) - bound:
        raise unsafe(formula, missing)
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
                raise unsafe(formula, free - bound - {name for name, _, _ in known})
            if isinstance(formula, s.Compare):
                _check_terms((formula.comparison.left, formula.comparison.right))
        case s.And(parts):
            waiting = list(parts)
            while waiting:
                part = next((part for part in waiting if finds(part, bound)), None)
                if part is None:
                    raise unsafe(formula, s.free_variables(waiting[0]) - bound)
                _check_finding(part, bound)
                waiting.remove(part)
                bound |= s.free_variables(part)
        case s.Or(parts):
            for part in parts:
                if missing := free - s.free_variables(part) - bound:
                    raise unsafe(part, missing)
                _check_finding(part, bound)
        case s.Since(left, right):  # it finds values, for a table of them
            if missing := s.free_variables(left) - s.free_variables(right):
                raise unsafe_since(formula, missing)
            _check_finding(right, frozenset())
            _check_test(left, free)
        case s.Yesterday(operand):
            _check_finding(operand, frozenset())
        case _:  # it finds none
            if missing := free - bound:
                raise unsafe(formula, missing)
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
                        raise unsafe(since, missing)
                    _check_finding(since, frozenset())
            case s.RelationAggregate(variables=variables, formula=formula, term=term):
                _check_finding(formula, s.free_variables(formula) - frozenset(variables))
                _check_terms(() if term is None else (term,))
            case _:
                pass
