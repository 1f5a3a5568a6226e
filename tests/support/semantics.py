"""Reference semantics: evaluates the equations of `lawtrace.solver.logic.syntax` literally, the oracle of all tests.

It is slow on purpose (each operator looks at every step it quantifies over) and shares no code with the automata.
Attempts are judged by `lawtrace.solver.monitoring.monitor`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache

from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.violations import Scalar
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.conditions import Comparison, Condition, condition_parts, condition_variables
from lawtrace.solver.logic.scoping import instantiate
from lawtrace.solver.logic.terms import is_value


def true_atoms(event: Event, atoms: Iterable[s.Atom]) -> frozenset[s.Atom]:
    """The atoms that are true in a step in which exactly this event happens."""
    return frozenset(atom for atom in atoms if atom.matches(event))


def holds(formula: s.Formula, trace: Sequence[Collection[s.Atom]]) -> bool:
    """Whether the trace, possibly empty, satisfies the formula. Each element is the set of atoms true in that step."""
    n = len(trace)

    @cache
    def at(f: s.Formula, i: int) -> bool:  # t, i |= f
        match f:
            case s.Top():
                return True
            case s.Bottom():
                return False
            case s.Atom():
                return i < n and f in trace[i]
            case s.Not(g):
                return not at(g, i)
            case s.And(operands):
                return all(at(g, i) for g in operands)
            case s.Or(operands):
                return any(at(g, i) for g in operands)
            case s.Implies(g, h):
                return not at(g, i) or at(h, i)
            case s.Iff(g, h):
                return at(g, i) == at(h, i)
            case s.Next(g):
                return i + 1 < n and at(g, i + 1)
            case s.WeakNext(g):
                return i + 1 >= n or at(g, i + 1)
            case s.Eventually(g):
                return any(at(g, j) for j in range(i, n))
            case s.Always(g):
                return all(at(g, j) for j in range(i, n))
            case s.Until(g, h):
                return any(at(h, j) and all(at(g, k) for k in range(i, j)) for j in range(i, n))
            case s.Release(g, h):
                return all(at(h, j) or any(at(g, k) for k in range(i, j)) for j in range(i, n))
            case s.WeakUntil(g, h):
                return at(s.Until(g, h), i) or at(s.Always(g), i)
            case s.Yesterday(g):
                return i > 0 and at(g, i - 1)
            case s.Once(g):
                return any(at(g, j) for j in range(min(i + 1, n)))
            case s.Historically(g):
                return all(at(g, j) for j in range(min(i + 1, n)))
            case s.Since(g, h):
                return any(at(h, j) and all(at(g, k) for k in range(j + 1, i + 1)) for j in range(min(i + 1, n)))
            case _:
                raise FormulaError(f"`{f}` is not about atoms alone")

    return at(formula, 0)


def holds_on(formula: s.Formula, events: Sequence[Event]) -> bool:
    """Whether the trace of these events satisfies the formula, which may be quantified."""
    if not isinstance(formula, s.ForAll):
        atoms = s.atoms_of([formula])
        return holds(formula, [true_atoms(event, atoms) for event in events])
    values = [value for event in events for value in occurring_values(formula, event)]
    return all(holds_on(instantiate(formula, {formula.variables[0]: value}), events) for value in values)


def occurring_values(formula: s.ForAll, event: Event) -> list[Scalar]:
    """The values that occur for the variable in an event, possibly repeated."""
    comparisons = [
        comparison
        for atom in s.atoms_of([formula])
        if atom.tool == event.tool and (atom.attempted or event.completed) and atom.condition is not None
        for comparison in _comparisons(atom.condition)
    ]
    (variable,) = formula.variables
    candidates = [*_scalars(event.result), *_scalars(dict(event.arguments))]
    return [
        value for value in candidates if any(comparison.holds(event, {variable: value}) for comparison in comparisons)
    ]


def _comparisons(condition: Condition) -> Iterator[Comparison]:
    """The comparisons with a variable in a condition."""
    if isinstance(condition, Comparison) and condition_variables(condition):
        yield condition
    for part in condition_parts(condition):
        yield from _comparisons(part)


def _scalars(value: Json) -> Iterator[Scalar]:
    """All scalars in a JSON value, at any depth."""
    if isinstance(value, bool | int | float | str) and is_value(value):
        yield value
    if isinstance(value, Mapping):  # names of fields are values, too: `x in result.payees`
        yield from value
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _scalars(part)
