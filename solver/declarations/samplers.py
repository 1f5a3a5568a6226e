"""Samplers of a declaration as data: what users state, and the rows of initial states."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final, cast

from lawtrace.environments import spec as s
from lawtrace.environments.spec.clock import SECONDS_PER_DAY
from lawtrace.environments.spec.expressions import RowCondition
from lawtrace.environments.spec.samplers import Arguments
from lawtrace.environments.spec.types import Calendar, WrongValue
from lawtrace.schemas.errors import InputError, near_names
from lawtrace.solver.declarations.toml_tables import TomlTable
from lawtrace.solver.declarations.value_terms import Names

SAMPLERS: Final = (
    "one_of", "field", "word", "unused", "between", "digits", "days", "hours", "several", "object", "any", "case",
)  # fmt: skip
_TRIES: Final = 200


@dataclass(frozen=True, slots=True)
class Digits(s.Sampler):
    """A text in which each # is a random digit."""

    form: str

    def draw(self, random: Random, state: s.State, arguments: Arguments = s.NO_ARGUMENTS) -> s.Value:
        return "".join(str(random.randrange(10)) if one == "#" else one for one in self.form)


@dataclass(frozen=True, slots=True)
class NearTime(s.Sampler):
    """A time some days, or some full hours, from the one in the first row of ``entity``, which has the type ``now``."""

    entity: s.Entity
    field: str
    now: Calendar
    kind: Calendar
    hours: bool
    nearest: int
    furthest: int

    def draw(self, random: Random, state: s.State, arguments: Arguments = s.NO_ARGUMENTS) -> s.Value:
        now = self.now.seconds(next(state.rows(self.entity.table)).values[self.field])
        if self.hours:
            time = now - now % 3600 + 3600 * random.randint(self.nearest, self.furthest)
        elif self.nearest < 0:
            time = now - SECONDS_PER_DAY * random.randint(-self.furthest, -self.nearest)
        else:
            time = now + SECONDS_PER_DAY * random.randint(self.nearest, self.furthest)
        return (time - self.kind.seconds(0)) // self.kind.unit


@dataclass(frozen=True)
class ByCase(s.Sampler):
    """Drawn by the sampler for the value of an earlier argument or field."""

    name: str
    cases: Mapping[s.Value, s.Sampler]

    @property
    def depends_on(self) -> frozenset[str]:
        return frozenset({self.name})

    def draw(self, random: Random, state: s.State, arguments: Arguments = s.NO_ARGUMENTS) -> s.Value:
        sampler = self.cases.get(arguments[self.name])
        return None if sampler is None else sampler.draw(random, state, arguments)


def read_sampler(table: TomlTable, kind: s.ValueType, names: Names) -> s.Sampler:
    """The sampler that a table says, for values of a type. `names`: those that conditions may use."""

    def decoded(value: Any, key: str) -> s.Value:  # noqa: ANN401 (a value of TOML)
        try:
            return kind.decode(value)
        except WrongValue as error:
            table.fail(f"{value!r:.60}: {error}", key)

    def pair(key: str) -> tuple[Any, Any]:
        values = table.items(key)
        if len(values) != 2:
            table.fail(f"`{key}` needs two values, the lowest and the highest", key)
        return values[0], values[1]

    def whole_numbers(key: str) -> tuple[int, int]:
        lowest, highest = pair(key)
        if type(lowest) is not int or type(highest) is not int:
            table.fail(f"`{key}` needs two whole numbers", key)
        return lowest, highest

    def field(key: str) -> tuple[s.Entity, str]:
        return read_field(table, key, names.tables)

    found = [key for key in SAMPLERS if table.has(key)]
    if len(found) != 1:
        table.fail(f"say one way to draw a value: {', '.join(SAMPLERS)}")
    match key := found[0]:
        case "one_of":
            sampler: s.Sampler = s.OneOf(tuple(decoded(value, key) for value in table.items(key)))
        case "field":
            entity, column = field(key)
            where = None
            if table.has("where"):
                where = row_condition(table, "where", entity, names)
            sampler = s.FieldValue(entity, column, where)
        case "word":
            sampler = s.WordsOf(*field(key)) if isinstance(kind, s.ListOf) else s.WordOf(*field(key))
        case "unused":
            sampler = s.UnusedValue(tuple(decoded(value, key) for value in table.items(key)), *field("in"))
        case "between":
            lowest, highest = (decoded(value, key) for value in pair(key))
            if not isinstance(lowest, int) or lowest > highest:
                table.fail("`between` needs two numbers, amounts or times, the lowest first", key)
            sampler = s.Amount(lowest, highest)
        case "digits":
            sampler = Digits(table.get(key, str))
        case "days" | "hours":
            nearest, furthest = whole_numbers(key)
            entity, column = field("from")
            now = entity.fields[column].type
            if not isinstance(kind, Calendar) or not isinstance(now, Calendar):
                table.fail(f"`{key}` draws a day or a moment, from another one", key)
            sampler = NearTime(entity, column, now, kind, key == "hours", nearest, furthest)
        case "several":
            inner = kind.items if isinstance(kind, s.ListOf) else table.fail("`several` draws a list, and this is none")
            numbers = whole_numbers("number") if table.has("number") else (1, 2)
            sampler = s.Several(read_sampler(table.table(key), inner, names), *numbers)
        case "object":
            parts = kind.fields if isinstance(kind, s.ObjectOf) else table.fail("`object` draws one, and this is none")
            inside = {name: read_value(table.table(key), name, part, names) for name, part in parts.items()}
            sampler = s.EachField({name: one for name, one in inside.items() if one is not None})
        case "any":
            options = [read_sampler(one, kind, names) for one in table.tables(key)]
            if not all(isinstance(one, s.FiniteSampler) for one in options):
                table.fail("`any` joins samplers that can list their values", key)
            sampler = s.AnySampler(tuple(cast("list[s.FiniteSampler]", options)))
        case _:
            name = table.get(key, str)
            if name not in names.arguments:
                table.fail(f"{name!r} comes not before this{near_names(name, names.arguments)}", key, name)
            of = table.table("of")
            cases = {names.arguments[name].decode(one): read_value(of, one, kind, names) for one in of.values}
            sampler = ByCase(name, {value: one for value, one in cases.items() if one is not None})
    table.end(SAMPLERS)
    return sampler


def read_field(table: TomlTable, key: str, tables: Mapping[str, s.Entity]) -> tuple[s.Entity, str]:
    """The field of a table that a text names, as in `bookings.name`."""
    said = table.get(key, str)
    name, _, column = said.partition(".")
    if name not in tables or column not in tables[name].fields:
        known = [f"{one}.{each}" for one, entity in tables.items() for each in entity.fields]
        table.fail(f"{name}.{column} is no field of a table{near_names(f'{name}.{column}', known)}", key, said)
    return tables[name], column


def options_of(kind: s.ValueType) -> tuple[s.Value, ...]:
    """All values of a type that has few; empty for others."""
    return kind.options if isinstance(kind, s.Choice) else (True, False) if kind == s.BOOLEAN else ()


def read_value(table: TomlTable, key: str, kind: s.ValueType, names: Names) -> s.Sampler | None:
    """The sampler at a key, or a constant as one. Without the key, any option of a choice; else None."""
    given = table.raw(key)
    if given is None:
        options = options_of(kind)
        return s.OneOf(options) if options else None
    if isinstance(given, dict):
        return read_sampler(table.table(key), kind, names)
    try:
        return s.OneOf((kind.decode(given),))
    except WrongValue as error:
        table.fail(f"`{key}`: {error}", key)


def row_condition(table: TomlTable, key: str, entity: s.Entity, names: Names) -> RowCondition:
    """A condition on a row, which it names `row`. It is read once here, so that its errors have a place."""

    def where(row: s.RowVariable) -> s.Term:
        return table.expression(key, names.with_row(row, entity).condition)

    where(s.RowVariable(entity))
    return where


@dataclass(frozen=True, slots=True)
class InitialRows:
    """Rows of an initial state.

    Attributes:
        number: the fewest and the most of them, for each row of `each`, or once.
        samplers: of the fields, in order. A sampler may use the fields before it.
    """

    entity: s.Entity
    number: tuple[int, int]
    each: s.Entity | None
    samplers: Mapping[str, s.Sampler]
    sorted_by: str | None
    place: str


def populate_with(entities: Mapping[str, s.Entity], initial: Sequence[InitialRows]) -> Callable[[Random], s.State]:
    """The function that draws initial states. Keys are unique."""

    def populate(random: Random) -> s.State:
        state = s.State(dict.fromkeys(entities, ()))
        for one in initial:
            drawn = list[s.Row]()
            parents: list[s.Row | None] = [None] if one.each is None else [*state.rows(one.each.table)]
            for parent in parents:
                for _ in range(random.randint(*one.number)):
                    rows = (*state.tables[one.entity.table], *drawn)
                    drawn.append(_drawn(one, parent, rows, random, state))
            if one.sorted_by is not None:
                drawn.sort(key=_field_of(one.sorted_by))
            state = state.with_table(one.entity.table, (*state.tables[one.entity.table], *drawn))
        return state

    return populate


def _field_of(name: str) -> Callable[[s.Row], s.Value]:
    return lambda row: row.values[name]


def _drawn(one: InitialRows, parent: s.Row | None, rows: tuple[s.Row, ...], random: Random, state: s.State) -> s.Row:
    key, taken = one.entity.key, {row.values[one.entity.key] for row in rows}
    shared = one.each.key if one.each is not None else ""
    for _ in range(_TRIES):
        values: dict[str, s.Value] = {}
        if parent is not None and shared in one.entity.fields:
            values[shared] = parent.values[shared]
        for name, sampler in one.samplers.items():
            values[name] = sampler.draw(random, state.with_table(one.entity.table, rows), values)
        if key not in values:
            values[key] = one.entity.generated_key(rows)
        if values[key] not in taken:
            break
    else:
        raise InputError(f"{one.place}: no value is left for the key {key!r}; let more be drawn, or fewer rows")
    for name, declared in one.entity.fields.items():
        if values.get(name) is None and not declared.optional:
            raise InputError(f"{one.place}: no value could be drawn for {name!r}; give it a sampler that has one")
    return s.Row({name: values.get(name) for name in one.entity.fields})
