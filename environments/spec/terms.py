"""Constructors of terms for declarations, and queries on what a term reads."""

from collections.abc import Callable

from lawtrace.environments.spec import expressions as e
from lawtrace.environments.spec.clock import EPOCH_DAY, EPOCH_MOMENT, SECONDS_PER_DAY
from lawtrace.environments.spec.expressions import Argument, RowCondition, RowVariable, Term, Variable, as_term
from lawtrace.environments.spec.state import Entity
from lawtrace.environments.spec.types import Value

NOW = e.Now("the current time")
"""The time at which the call begins, in seconds since 1970."""
CURRENT_MOMENT = e.Now("the current moment", 60, EPOCH_MOMENT)
"""The same as a MOMENT: the minute in which the call begins."""
TODAY = e.Now("today", SECONDS_PER_DAY, EPOCH_DAY)
"""The same as a DATE: the day on which the call begins."""

# Constructors that need no more than their node.
argument = Argument
constant = e.Constant
is_empty = e.IsEmpty
fresh_key = e.FreshKey


def exists(entity: Entity, condition: RowCondition) -> Term:
    """Some row of the entity's table meets the condition."""
    row = RowVariable(entity)
    return e.Exists(entity, row, condition(row))


def is_unknown(entity: Entity, name: str) -> Term:
    """No row of the entity has the argument ``name`` as its key."""
    return ~exists(entity, lambda row: getattr(row, entity.key) == argument(name))


def value_of(entity: Entity, condition: RowCondition, field: str, otherwise: Value = None) -> Term:
    """The ``field`` of the first row that meets the condition, else ``otherwise``."""
    e.check_field(entity, field)
    row = RowVariable(entity)
    return e.ValueOf(entity, row, condition(row), field, otherwise)


def item_variable() -> tuple[Variable, Term]:
    """A variable for the items of a list, and the term for its item."""
    variable = Variable("item")
    return variable, e.BoundValue(variable)


def any_item(items: Term, condition: Callable[[Term], Term]) -> Term:
    """Some item of the list meets the condition."""
    variable, item = item_variable()
    return e.AnyItem(items, variable, condition(item))


def count_of(items: Term) -> Term:
    """How many items the list has."""
    return e.Total(items, item_variable()[0], e.Constant(1))


def total_of(items: Term, value: Callable[[Term], Term]) -> Term:
    """The sum of a number over the items of the list."""
    variable, item = item_variable()
    return e.Total(items, variable, value(item))


def if_given(optional: Term, body: Term, default: object = True) -> Term:
    return e.IfGiven(optional, body, as_term(default))


def is_given(optional: Argument) -> Term:
    return e.IfGiven(optional, e.Constant(True), e.Constant(False))


def choose(condition: Term, then: object, otherwise: object) -> Term:
    return e.Choose(condition, as_term(then), as_term(otherwise))


def apply(words: str, function: Callable[..., Value], *operands: object) -> Term:
    return e.Apply(words, function, tuple(as_term(operand) for operand in operands))


def contains_text(text: Term, part: Term) -> Term:
    """``part`` occurs in ``text``, ignoring case."""
    return apply("{0} contains {1}", _contains, text, part)


def _contains(whole: str, part: str) -> bool:
    return part.lower() in whole.lower()


def is_blank(text: Term) -> Term:
    """The text is empty or white space."""
    return apply("{0} is blank", _is_blank, text)


def _is_blank(text: str) -> bool:
    return not text.strip()


def arguments_of(term: Term) -> set[str]:
    """The arguments that the term reads."""
    return {part.name for part in term.walk() if isinstance(part, Argument)}


def texts_of(term: Term) -> set[str]:
    """The constant texts in the term."""
    return {part.value for part in term.walk() if isinstance(part, e.Constant) and isinstance(part.value, str)}


def fields_of(term: Term) -> set[tuple[str, str]]:
    """The row fields that the term reads, each with its table."""
    found: set[tuple[str, str]] = set()
    for part in term.walk():
        match part:
            case e.BoundValue(table=str(table), field=str(name)) | e.ValueOf(entity=Entity(table=table), field=name):
                found.add((table, name))
            case _:
                pass
    return found


def reads_time(term: Term) -> bool:
    """Whether the term depends on when the call begins."""
    return any(isinstance(part, e.Now) for part in term.walk())


def tables_of(term: Term) -> set[str]:
    """The tables that the term reads."""
    return {part.entity.table for part in term.walk() if isinstance(part, e.Exists | e.ValueOf | e.FreshKey)}


def unguarded_arguments(term: Term, given: frozenset[str] = frozenset()) -> set[str]:
    """The arguments that the term computes with outside of an ``if_given`` on them.

    A missing argument is None there: it equals nothing, and every other operation raises.
    """
    match term:
        case Argument(name):
            return {name} - given
        case e.IfGiven(Argument(name), body, default):
            return unguarded_arguments(body, given | {name}) | unguarded_arguments(default, given)
        case e.BinaryOperation("="):
            parts = [part for part in term.parts() if not isinstance(part, Argument)]
        case _:
            parts = [*term.parts()]
    return set[str]().union(*(unguarded_arguments(part, given) for part in parts))
