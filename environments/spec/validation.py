"""Validation of declarations: unknown tables and arguments, missing fields, undocumented refusals."""

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence

from lawtrace.environments.spec import expressions as e
from lawtrace.environments.spec.agenda import Happening
from lawtrace.environments.spec.clock import Clock
from lawtrace.environments.spec.effects import (
    Delete,
    Effect,
    Insert,
    InsertEach,
    KeyResult,
    Result,
    RowsResult,
    Update,
    ValueResult,
)
from lawtrace.environments.spec.expressions import Argument, Term, Variable
from lawtrace.environments.spec.open_types import needs_no_state
from lawtrace.environments.spec.state import Entity
from lawtrace.environments.spec.terms import arguments_of, item_variable, tables_of, unguarded_arguments
from lawtrace.environments.spec.tools import FromLookup, FromUser, Tool
from lawtrace.environments.spec.types import BOOLEAN, MOMENT, ListOf, ObjectOf, ValueType
from lawtrace.schemas.errors import InputError


class DeclarationError(InputError):
    """A tool is declared wrongly, at a file and a line."""

    def __init__(self, message: str, place: tuple[str, int]) -> None:
        super().__init__(message)
        self.place = place


def validate_tool(environment: str, entities: Mapping[str, Entity], tool: Tool, *, simulated: bool = True) -> None:
    """Check a tool. Raises DeclarationError naming the environment, the tool and the first problem.

    ``simulated``: whether the environment has a state.
    """
    for problem in _problems(entities, tool) if simulated else _problems_without_state(tool):
        raise DeclarationError(f"environment {environment!r}, tool {tool.name!r}: {problem}", tool.declared_at)


def validate_agenda(environment: str, entities: Mapping[str, Entity], agenda: Sequence[Happening]) -> None:
    """Check the agenda. Raises DeclarationError naming the environment, the table and the first problem."""
    planned = [happening.entity.table for happening in agenda]
    for happening in agenda:
        table = happening.entity.table
        problems = [f"the table {table!r} has two happenings; put the effects into one"] * (planned.count(table) > 1)
        for problem in (*problems, *_wrong_happening(entities, happening, planned)):
            where = f"environment {environment!r}, what happens to {table!r}"
            raise DeclarationError(f"{where}: {problem}", happening.declared_at)


def _wrong_happening(entities: Mapping[str, Entity], happening: Happening, planned: Sequence[str]) -> Iterator[str]:
    entity = happening.entity
    if entities.get(entity.table) is not entity:
        yield "the environment does not declare this table; add it to its entities"
    at = entity.fields.get(happening.at)
    if at is None or at.type is not MOMENT or at.optional:
        yield f"its time {happening.at!r} must be a field that is a MOMENT and not optional"
    if not happening.effects:
        yield "it has no effects, so nothing would happen; declare some"
    for name in sorted({name for term in happening.tool.terms for name in arguments_of(term)} - {*entity.fields}):
        yield f"a term uses the argument {name!r}, which is not a field of {entity.singular}; the fields of the row are"
    yield from _problems(entities, happening.tool)
    for effect in happening.effects:
        into = effect.entity.table
        if isinstance(effect, Insert | InsertEach) and into in planned:
            yield f"it inserts into {into!r}, which is planned itself; plan all of it in the initial state or by a tool"
        if isinstance(effect, Update) and into in planned:
            yield f"it changes rows of {into!r}, which are planned; delete them, or let a tool change them"


def validate_clock(environment: str, clock: Clock) -> None:
    """Check the clock. Raises InputError naming the environment."""
    if clock.length <= 0:
        raise InputError(f"environment {environment!r}, clock: the length must be positive, not {clock.length} s")


def _problems_without_state(tool: Tool) -> Iterator[str]:
    """A tool without state is a name with parameters; nothing that it could do is declared."""
    names = [parameter.name for parameter in tool.parameters]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield f"its parameter {name!r} is declared twice"
    if tool.results or tool.terms:
        yield "it has effects, refusals or results that are computed, and the environment has no state"


def _problems(entities: Mapping[str, Entity], tool: Tool) -> Iterator[str]:
    yield from _invalid_names(tool)
    for entity in _entities(tool):
        if entities.get(entity.table) is not entity:
            yield f"it uses the table {entity.table!r}, which the environment does not declare; add it to its entities"
    names = {parameter.name for parameter in tool.parameters}
    typed = {f"parameter {parameter.name!r}": parameter.type for parameter in tool.parameters}
    typed |= {f"result {result.name!r}": result.type for result in tool.results if isinstance(result, ValueResult)}
    for what, value_type in typed.items():
        if needs_no_state(value_type):
            yield f"its {what} has a type that only tools without state can have"
    if tool.returns is not None:
        yield "it declares its whole result; name its fields in `results`, so that it can be computed"
    for term in tool.terms:
        for table in sorted(tables_of(term) - set(entities)):
            yield f"a term reads the table {table!r}, which the environment does not declare; add it to its entities"
        for name in sorted(arguments_of(term) - names):
            yield f"a term uses the argument {name!r}, which the tool does not declare; add a parameter"
    yield from _wrong_parts(entities, tool)
    for name in sorted(_needed_arguments(tool)):
        if not tool.parameter(name).required and tool.parameter(name).default is None:
            yield f"{name!r} is optional, and a term computes with it outside of an if_given on it"
    if isinstance(tool.duration, Term):
        for table in sorted(tables_of(tool.duration)):
            yield f"its duration reads the table {table!r}; only arguments and the time may decide it"
    elif tool.duration < 0:
        yield f"its duration must not be negative, but is {tool.duration} s"
    for effect in tool.effects:
        yield from _invalid_fields(effect)
    for result in tool.results:
        yield from _invalid_result(tool, result)
    documented = {raised.exception for raised in tool.raises}
    for number, parameter in enumerate(tool.parameters):
        if parameter.type.can_be_malformed and parameter.malformed not in {None, *documented}:
            yield f"{parameter.name!r} can be malformed, but {parameter.malformed} is not documented; add it to raises"
        before = {earlier.name for earlier in tool.parameters[:number]}
        if isinstance(parameter.source, FromUser):
            for name in sorted(parameter.source.sampler.depends_on - before):
                yield f"the sampler of {parameter.name!r} depends on {name!r}, which must come before it"
    if (tool.phrases is None) != (tool.compliance or tool.undeclared is not None):
        yield "an ordinary tool needs phrases, and a compliance tool must not have any"
    # Phrases name parameters as ``{name}`` or ``[name: words]``.
    phrased = (
        {name for text in tool.phrases.texts for name in re.findall(r"[{\[](\w+)[}:]", text)} if tool.phrases else ()
    )
    for name in sorted(set(phrased) - names):
        yield f"its phrases name {name!r}, which is not one of its parameters"
    says_success = any(isinstance(r, ValueResult) and (r.name, r.type) == ("success", BOOLEAN) for r in tool.results)
    if tool.fails and not says_success:
        yield "it can fail, but has no boolean result 'success' that tells the caller; add one"


def _wrong_parts(entities: Mapping[str, Entity], tool: Tool) -> Iterator[str]:
    """Fields and items of values that have none."""
    types = TermTypes({parameter.name: parameter.type for parameter in tool.parameters}, entities)
    for term in tool.terms:
        yield from types.problems(term)
    for effect in tool.effects:
        if isinstance(effect, InsertEach):
            variable, item = item_variable()
            types.bind(variable, effect.items)
            for term in effect.values(item).values():
                yield from types.problems(term)
    for parameter in tool.parameters:
        keys = parameter.type.items if isinstance(parameter.type, ListOf) else parameter.type
        if isinstance(parameter.source, FromLookup) and keys.parts:
            yield f"{parameter.name!r} has parts, and the key of a row has none; let the user state it"


def _invalid_names(tool: Tool) -> Iterator[str]:
    """Programs call tools by keyword and read results as attributes, so every name must be a Python identifier."""
    for what, names in (
        ("its name", [tool.name]),
        ("its parameter", [parameter.name for parameter in tool.parameters]),
        ("its result", [result.name for result in tool.results]),
    ):
        for name in names:
            if not name.isidentifier() or keyword.iskeyword(name):
                yield f"{what} {name!r} cannot be written in a program; choose another name"
            if names.count(name) > 1:
                yield f"{what} {name!r} is declared twice"


def _invalid_fields(effect: Effect) -> Iterator[str]:
    if isinstance(effect, Delete):
        return
    entity = effect.entity
    values = effect.values(item_variable()[1]) if isinstance(effect, InsertEach) else effect.values
    for name in sorted(set(values) - set(entity.fields)):
        yield f"an effect sets {name!r}, which is not a field of {entity.singular}"
    if entity.key in values:
        yield f"an effect sets {entity.key!r}, the key of {entity.singular}; leave it out"
    if isinstance(effect, Update):
        return
    if not entity.generates_keys:
        yield f"it inserts into {entity.table!r}, whose keys cannot be generated; give the entity a key_prefix"
    needed = {name for name, declared in entity.fields.items() if not declared.optional} - {entity.key}
    for name in sorted(needed - set(values)):
        yield f"it inserts into {entity.table!r} without the required field {name!r}"


def _invalid_result(tool: Tool, result: Result) -> Iterator[str]:
    if isinstance(result, RowsResult):
        for listed in (result, *result.parts):
            for name in sorted(set(listed.fields) - set(listed.entity.fields)):
                yield f"{listed.name!r} lists the field {name!r}, which {listed.entity.singular} does not have"
        for name in sorted({part.name for part in result.parts} & set(result.fields)):
            yield f"{result.name!r} has the field {name!r} twice"
    if isinstance(result, KeyResult):
        inserts = [one for one in tool.effects if isinstance(one, Insert | InsertEach) and one.entity is result.entity]
        if len(inserts) != 1 or isinstance(inserts[0], InsertEach):
            yield f"{result.name!r} is the key of a new {result.entity.singular}, so the tool must insert exactly one"


def _needed_arguments(tool: Tool) -> set[str]:
    """Arguments that terms need a value of. An effect may store a missing one in an optional field."""
    kept = {
        id(value)
        for effect in tool.effects
        if isinstance(effect, Insert)
        for name, value in effect.values.items()
        if name in effect.entity.fields and effect.entity.fields[name].optional and isinstance(value, Argument)
    }
    return set[str]().union(*(unguarded_arguments(term) for term in tool.terms if id(term) not in kept))


def _entities(tool: Tool) -> list[Entity]:
    """Entities named outside of terms."""
    sources = [parameter.source for parameter in tool.parameters]
    return [
        *(source.entity for source in sources if isinstance(source, FromLookup)),
        *(effect.entity for effect in tool.effects),
        *(result.entity for result in tool.results if not isinstance(result, ValueResult)),
        *(part.entity for result in tool.results if isinstance(result, RowsResult) for part in result.parts),
    ]


class TermTypes:
    """The types of the terms of one tool.

    Args:
        arguments: the types of its parameters.
        entities: the tables, by name.
    """

    def __init__(self, arguments: Mapping[str, ValueType], entities: Mapping[str, Entity]) -> None:
        self._arguments = arguments
        self._entities = entities
        self._bound: dict[Variable, ValueType | None] = {}

    def problems(self, term: Term) -> Iterator[str]:
        """Fields and items that are read of values that do not have them."""
        match term:
            case e.FieldOf(record, name):
                yield from self.problems(record)
                found = self.type_of(record)
                if isinstance(found, ObjectOf) and name not in found.fields:
                    yield f"a term reads {term}; there is no such field, but {list(found.fields)}"
                elif found is not None and not isinstance(found, ObjectOf):
                    yield f"a term reads {term}, but {record} is not an object"
            case e.AnyItem(items, variable, part) | e.Total(items, variable, part):
                yield from self.problems(items)
                self.bind(variable, items)
                found = self.type_of(items)
                if found is not None and not isinstance(found, ListOf):
                    yield f"a term reads the items of {items}, which is not a list"
                yield from self.problems(part)
            case _:
                for part in term.parts():
                    yield from self.problems(part)

    def bind(self, variable: Variable, items: Term) -> None:
        """Note the type of a variable that stands for the items of a list."""
        found = self.type_of(items)
        self._bound[variable] = found.items if isinstance(found, ListOf) else None

    def type_of(self, term: Term) -> ValueType | None:
        """The type of the values of the term; None if it is not known."""
        match term:
            case Argument(name):
                return self._arguments.get(name)
            case e.BoundValue(variable, None):
                return self._bound.get(variable)
            case e.BoundValue(_, str(name), str(table)):
                return self._field(table, name)
            case e.ValueOf(entity=entity, field=name):
                return self._field(entity.table, name)
            case e.FieldOf(record, name):
                found = self.type_of(record)
                return found.fields.get(name) if isinstance(found, ObjectOf) else None
            case e.Choose(_, then, _):
                return self.type_of(then)
            case e.IfGiven(_, body, _):
                return self.type_of(body)
            case _:
                return None

    def _field(self, table: str, name: str) -> ValueType | None:
        entity = self._entities.get(table)
        field = entity.fields.get(name) if entity else None
        return field.type if field else None
