"""The equations on traces without time: of sets of atoms, or of events with the values that occur in them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.violations import Scalar
from lawtrace.solver.logic.conditions import Comparison, Condition, IsTrue, condition_parts, condition_variables
from lawtrace.solver.logic.syntax import Atom, ForAll, Formula, atoms_of, map_children
from lawtrace.solver.logic.terms import FieldPath, is_value
from tests.support import equations
from tests.support.equations import Step


def true_atoms(event: Event, atoms: Iterable[Atom]) -> frozenset[Atom]:
    """The atoms that are true in a step in which exactly this event happens."""
    return frozenset(atom for atom in atoms if atom.matches(event))


def fact(name: str) -> Atom:
    """An atom that can be true in one step with any others of these: a condition on one tool."""
    return Atom("Step", IsTrue(FieldPath((name,))))


def of_facts(formula: Formula) -> Formula:
    """The formula with a fact for each atom."""
    return fact(str(formula)) if isinstance(formula, Atom) else map_children(formula, of_facts)


def holds(formula: Formula, trace: Sequence[Collection[Atom]]) -> bool:
    """Whether the trace, possibly empty, satisfies the formula. Each element is the set of atoms true in that step."""

    def apart(part: Formula) -> Formula:  # each atom is a tool of its own
        return Atom(str(part)) if isinstance(part, Atom) else map_children(part, apart)

    steps = [Step(0, tuple(Event(str(atom), {}) for atom in true)) for true in trace]
    return equations.holds(apart(formula), steps, ())


def holds_on(formula: Formula, events: Sequence[Event]) -> bool:
    """Whether the trace of these events satisfies the formula, which may be quantified."""
    values = [value for event in events for value in occurring_values(formula, event)]
    return equations.holds(formula, [Step(event.time or 0, (event,)) for event in events], values)


def occurring_values(formula: Formula, event: Event) -> list[Scalar]:
    """The values that occur for the variable in an event, possibly repeated."""
    comparisons = [
        comparison
        for atom in atoms_of([formula])
        if atom.tool == event.tool and (atom.attempted or event.completed) and atom.condition is not None
        for comparison in _comparisons(atom.condition)
    ]
    (variable,) = formula.variables if isinstance(formula, ForAll) else ("",)
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
