"""Short forms of what most declarations repeat: a table, a parameter, a refusal, a change, a look-up.

Each is made of the parts of the language and adds nothing to it. *The row that the call names* is the row of the table
whose field ``by`` equals the argument of that name; without ``by``, the one with this key.
"""

from collections.abc import Callable, Mapping

from lawtrace.environments.spec.compliance import INVALID_REQUEST
from lawtrace.environments.spec.effects import Insert, RowsResult, Update, ValueResult
from lawtrace.environments.spec.expressions import RowCondition, RowVariable, Term, as_term
from lawtrace.environments.spec.samplers import FieldValue, OneOf
from lawtrace.environments.spec.state import Entity, Field
from lawtrace.environments.spec.terms import argument, contains_text, exists, is_blank, is_unknown, value_of
from lawtrace.environments.spec.tools import FromLookup, FromUser, Parameter, Phrases, Raises, Tool
from lawtrace.environments.spec.types import TEXT, Choice, Value, ValueType

NOT_FOUND = "NotFoundException"


def table(
    name: str,
    singular: str,
    /,
    *,
    prefix: str | None = None,
    key_of: Callable[[int], str] | None = None,
    **fields: ValueType | Field,
) -> Entity:
    """A table. The first field is its key; ``prefix`` or ``key_of`` makes the keys of rows that tools create."""
    declared = {field: kind if isinstance(kind, Field) else Field(kind) for field, kind in fields.items()}
    return Entity(name, singular, next(iter(fields)), declared, prefix, key_of)


def tables_of(names: Mapping[str, object]) -> dict[str, Entity]:
    """The tables among the names of a module, ``tables_of(globals())``, in the order in which they were declared."""
    return {entity.table: entity for entity in names.values() if isinstance(entity, Entity)}


def tools_of(names: Mapping[str, object]) -> tuple[Tool, ...]:
    """The tools among the names of a module, ``tools_of(globals())``, in the order in which they were declared."""
    return tuple(tool for tool in names.values() if isinstance(tool, Tool))


def is_named(entity: Entity, by: str | None = None) -> RowCondition:
    """Whether a row is the one that the call names."""
    field = by or entity.key
    return lambda row: getattr(row, field) == argument(field)


def key(entity: Entity, description: str) -> Parameter:
    """A parameter: the key of a row that an earlier result showed."""
    return Parameter(entity.key, entity.fields[entity.key].type, description, FromLookup(entity))


def option(name: str, choice: Choice, description: str) -> Parameter:
    """A parameter: one of the options, which the user states."""
    return Parameter(name, choice, description, FromUser(OneOf(choice.options)))


def stated(
    entity: Entity, field: str, description: str, where: RowCondition | None = None, *, name: str | None = None
) -> Parameter:
    """A parameter: the value that a field has in some row, which the user states. It is named like the field."""
    return Parameter(name or field, entity.fields[field].type, description, FromUser(FieldValue(entity, field, where)))


def unknown(entity: Entity, exception: str = NOT_FOUND) -> Raises:
    """The refusal of a key that no row has."""
    return Raises(exception, f"There is no {entity.singular} with that '{entity.key}'.", is_unknown(entity, entity.key))


def blank(name: str) -> Raises:
    """The refusal of a text without any characters but spaces."""
    return Raises(INVALID_REQUEST, f"The '{name}' is blank.", is_blank(argument(name)))


def has(entity: Entity, /, *, by: str | None = None, **values: Value) -> Term:
    """Whether the table has the row that the call names, with these values."""

    def meets(row: RowVariable) -> Term:
        condition = is_named(entity, by)(row)
        for field, value in values.items():
            condition = condition & (getattr(row, field) == value)
        return condition

    return exists(entity, meets)


def field_of(entity: Entity, field: str, otherwise: Value, *, by: str | None = None) -> Term:
    """A field of the row that the call names."""
    return value_of(entity, is_named(entity, by), field, otherwise)


def show(entity: Entity, field: str, description: str, otherwise: Value, *, by: str | None = None) -> ValueResult:
    """A result: a field of the row that the call names."""
    return ValueResult(field, description, entity.fields[field].type, field_of(entity, field, otherwise, by=by))


def show_row(name: str, description: str, entity: Entity, *fields: str, by: str | None = None) -> RowsResult:
    """A result: the row that the call names with these fields, or null."""
    return RowsResult(name, description, entity, is_named(entity, by), fields, single=True)


def register(entity: Entity, /, *arguments: str, **values: Value) -> Insert:
    """An effect: a new row with these arguments in the fields of their names, and with these values and terms."""
    row = {name: argument(name) for name in arguments}
    return Insert(entity, {**row, **{name: as_term(value) for name, value in values.items()}})


def change(
    entity: Entity, /, *, by: str | None = None, **values: RowCondition | Term | bool | int | str | None
) -> Update:
    """An effect: these values, terms, or functions of the row in the row that the call names."""
    terms = {name: value if callable(value) else as_term(value) for name, value in values.items()}
    return Update(entity, is_named(entity, by), terms)


def queue(
    name: str, entity: Entity, *shown: str, where: RowCondition | None = None, summary: str, duration: int | Term = 1
) -> Tool:
    """A tool: lists the rows of a table that meet a condition in the order in which they arrived: those of the initial
    state in its order, then those that were added. It shows their key and the fields of ``shown``: what a desk sees of
    a matter before it opens it, and no deadline that follows from the law."""
    rows = RowsResult(
        entity.table,
        "The queue, in order of arrival.",
        entity,
        where or (lambda _: as_term(True)),
        (entity.key, *shown),
    )
    phrases = Phrases(f"Look at the {entity.table}.", noun_phrase=f"the {entity.singular} in the queue")
    return Tool(name, summary, results=(rows,), duration=duration, phrases=phrases)


def lookup(name: str, entity: Entity, field: str, *shown: str, summary: str, step: str) -> Tool:
    """A tool: finds rows by a part of a text field, and shows their key, this field and those of ``shown``."""
    part = argument(field)
    return Tool(
        name=name,
        summary=summary,
        phrases=Phrases(step=step, noun_phrase=f"{{{field}}}"),
        parameters=(
            Parameter(
                field, TEXT, "The name, or a part of it, in upper or lower case.", FromUser(FieldValue(entity, field))
            ),
        ),
        raises=(blank(field),),
        results=(
            RowsResult(
                entity.table,
                "What was found.",
                entity,
                lambda row: contains_text(getattr(row, field), part),
                (entity.key, field, *shown),
            ),
        ),
    )
