"""Constructors of terms for declarations, and queries on what a term reads."""

from collections.abc import Callable

from lawtrace.environments.spec.clock import EPOCH_DAY, EPOCH_MOMENT, SECONDS_PER_DAY
from lawtrace.environments.spec.expressions import (
    AnyItem,
    Apply,
    Argument,
    BinaryOperation,
    BoundValue,
    Choose,
    Constant,
    Exists,
    FreshKey,
    IfGiven,
    IsEmpty,
    Now,
    RowCondition,
    RowVariable,
    Term,
    Total,
    ValueOf,
    Variable,
    as_term,
    check_field,
)
from lawtrace.environments.spec.state import Entity
from lawtrace.environments.spec.types import Value

NOW = Now("the current time")
"""The time at which the call begins, in seconds since 1970."""
CURRENT_MOMENT = Now("the current moment", 60, EPOCH_MOMENT)
"""The same as a MOMENT: the minute in which the call begins."""
TODAY = Now("today", SECONDS_PER_DAY, EPOCH_DAY)
"""The same as a DATE: the day on which the call begins."""


def argument(name: str) -> Argument:
    """The argument of that name."""
    return Argument(name)


def constant(value: Value) -> Term:
    return Constant(value)


def exists(entity: Entity, condition: RowCondition) -> Term:
    """Some row of the entity's table meets the condition."""
    row = RowVariable(entity)
    return Exists(entity, row, condition(row))


def is_unknown(entity: Entity, name: str) -> Term:
    """No row of the entity has the argument ``name`` as its key."""
    return ~exists(entity, lambda row: getattr(row, entity.key) == argument(name))


def value_of(entity: Entity, condition: RowCondition, field: str, otherwise: Value = None) -> Term:
    """The ``field`` of the first row that meets the condition, else ``otherwise``."""
    check_field(entity, field)
    row = RowVariable(entity)
    return ValueOf(entity, row, condition(row), field, otherwise)


def item_variable() -> tuple[Variable, Term]:
    """A variable for the items of a list, and the term for its item."""
    variable = Variable("item")
    return variable, BoundValue(variable)


def any_item(items: Term, condition: Callable[[Term], Term]) -> Term:
    """Some item of the list meets the condition."""
    variable, item = item_variable()
    return AnyItem(items, variable, condition(item))


def count_of(items: Term) -> Term:
    """How many items the list has."""
    return Total(items, item_variable()[0], Constant(1))


def total_of(items: Term, value: Callable[[Term], Term]) -> Term:
    """The sum of a number over the items of the list."""
    variable, item = item_variable()
    return Total(items, variable, value(item))


def if_given(optional: Argument, body: Term, default: object = True) -> Term:
    return IfGiven(optional, body, as_term(default))


def is_given(optional: Argument) -> Term:
    return IfGiven(optional, Constant(True), Constant(False))


def is_empty(items: Term) -> Term:
    return IsEmpty(items)


def fresh_key(entity: Entity) -> Term:
    return FreshKey(entity)


def choose(condition: Term, then: object, otherwise: object) -> Term:
    return Choose(condition, as_term(then), as_term(otherwise))


def apply(words: str, function: Callable[..., Value], *operands: object) -> Term:
    return Apply(words, function, tuple(as_term(operand) for operand in operands))


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
    own = {term.name} if isinstance(term, Argument) else set[str]()
    return own.union(*(arguments_of(part) for part in term.parts()))


def texts_of(term: Term) -> set[str]:
    """The constant texts in the term."""
    own = {term.value} if isinstance(term, Constant) and isinstance(term.value, str) else set[str]()
    return own.union(*(texts_of(part) for part in term.parts()))


def unguarded_arguments(term: Term, given: frozenset[str] = frozenset()) -> set[str]:
    """The arguments that the term computes with outside of an ``if_given`` on them.

    A missing argument is None there: it equals nothing, and every other operation raises.
    """
    match term:
        case Argument(name):
            return {name} - given
        case IfGiven(optional, body, default):
            return unguarded_arguments(body, given | {optional.name}) | unguarded_arguments(default, given)
        case BinaryOperation("="):
            parts = [part for part in term.parts() if not isinstance(part, Argument)]
        case _:
            parts = [*term.parts()]
    return set[str]().union(*(unguarded_arguments(part, given) for part in parts))


def _field_read(term: Term) -> tuple[str, str] | None:
    """The field that the term itself (not one inside it) reads, with its table."""
    match term:
        case BoundValue(table=str(table), field=str(name)):
            return table, name
        case ValueOf():
            return term.entity.table, term.field
        case _:
            return None


def fields_of(term: Term) -> set[tuple[str, str]]:
    """The row fields that the term reads, each with its table."""
    own = _field_read(term)
    return ({own} if own else set[tuple[str, str]]()).union(*(fields_of(part) for part in term.parts()))


def reads_time(term: Term) -> bool:
    """Whether the term depends on when the call begins."""
    return isinstance(term, Now) or any(reads_time(part) for part in term.parts())


def tables_of(term: Term) -> set[str]:
    """The tables that the term reads."""
    own = {term.entity.table} if isinstance(term, Exists | ValueOf | FreshKey) else set[str]()
    return own.union(*(tables_of(part) for part in term.parts()))
