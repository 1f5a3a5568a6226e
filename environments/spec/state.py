"""Entities, the tables that hold them, and the state of an environment.

A state has one table per entity. A table is a tuple of rows. A row maps field names to values in internal form and has
a presence flag. Rows are appended or replaced, never removed: a deleted row stays with its flag off. So a call touches
only the tables it changes, and a key is never used twice.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from lawtrace.environments.spec.types import INTEGER, ObjectOf, Value, ValueType, WrongValue
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an entity.

    Attributes:
        type: of its values.
        optional: whether a row may lack it (internally None; in JSON the key is absent).
        order_dependent: whether its value depends on the order of calls, as a running balance does. Goals do not fix
            the order, so such fields are ignored when final states are compared.
    """

    type: ValueType
    optional: bool = False
    order_dependent: bool = False


@dataclass(frozen=True, slots=True)
class Entity:
    """A table of rows. ``key`` names the identifying field. Rows that tools create get generated keys, ``key_prefix`` +
    number or ``key_of(number)``, and such keys are compared up to renaming. A key that is a number is the next one."""

    table: str
    singular: str
    key: str
    fields: Mapping[str, Field]
    key_prefix: str | None = None
    key_of: Callable[[int], str] | None = None

    def __post_init__(self) -> None:
        if self.key not in self.fields:
            raise InputError(f"entity {self.table!r}: its key {self.key!r} is not one of its fields; declare it")

    @property
    def generates_keys(self) -> bool:
        return self.key_prefix is not None or self.key_of is not None

    def generated_key(self, rows: "tuple[Row, ...]") -> str | int:
        """A key that no row has, whether present or absent."""
        taken = {row.values[self.key] for row in rows}
        if self.fields[self.key].type == INTEGER:
            return 1 + max((key for key in taken if isinstance(key, int)), default=0)
        number = len(rows) + 1
        while (key := self.key_of(number) if self.key_of else f"{self.key_prefix}{number:05d}") in taken:
            number += 1
        return key

    def row_type(self, names: Iterable[str]) -> ObjectOf:
        """The type of objects with these fields of a row."""
        declared = {name: self.fields[name] for name in names}
        optional = tuple(name for name, one in declared.items() if one.optional)
        return ObjectOf({name: one.type for name, one in declared.items()}, optional)

    def decode_row(self, raw: dict[str, Json]) -> "Row":
        try:
            record = self.row_type(self.fields).decode(raw)
        except WrongValue as error:
            raise InputError(f"table {self.table!r}, {error}") from error
        return Row({name: record[name] for name in self.fields})

    def encode_row(self, row: "Row", names: Iterable[str] | None = None) -> dict[str, Json]:
        """The fields of the row that have values, or those of certain names, as JSON."""
        return {
            name: self.fields[name].type.encode(value)
            for name in (self.fields if names is None else names)
            if (value := row.values.get(name)) is not None
        }


@dataclass(frozen=True, slots=True)
class Fact:
    """One field of the initial state that decides what the law asks: whether a consent is given or withdrawn.

    Two initial states that differ in one fact are the two sides of a contrast pair.

    Attributes:
        name: for readers: ``consent for this purpose``.
        values: of the field, in internal form: at least two that the law treats differently.
    """

    name: str
    entity: Entity
    field: str
    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        place = f"fact {self.name!r}"
        if self.field not in self.entity.fields or self.field == self.entity.key:
            raise InputError(f"{place}: {self.field!r} must be a field of {self.entity.table!r} other than its key")
        if len(set(self.values)) < 2:
            raise InputError(f"{place}: give at least two different values, not {list(self.values)}")


@dataclass(frozen=True, slots=True)
class Row:
    """A row: values by field, and its presence (a bool, or a truth value of the logic in use)."""

    values: Mapping[str, Value]
    present: Value = True


@dataclass(frozen=True, slots=True)
class State:
    """State of an environment: rows by table name. Immutable; a changed state shares unchanged tables.

    `end`: of an initial state, when its session ends, in seconds since 1970; None for the length that is declared.
    """

    tables: Mapping[str, tuple[Row, ...]] = field(default_factory=dict[str, tuple[Row, ...]])
    end: int | None = None

    def rows(self, table: str) -> Iterator[Row]:
        """The present rows in order of creation. Only for concrete states."""
        return (row for row in self.tables[table] if row.present)

    def with_table(self, table: str, rows: tuple[Row, ...]) -> "State":
        return State({**self.tables, table: rows}, self.end)


def encode_state(state: State, entities: Mapping[str, Entity]) -> dict[str, Json]:
    """A concrete state as JSON: table name -> key -> row."""
    return {
        table: {str(row.values[entity.key]): entity.encode_row(row) for row in state.rows(table)}
        for table, entity in entities.items()
    }


def decode_state(raw: Mapping[str, Json], entities: Mapping[str, Entity]) -> State:
    """Read a state from JSON. Missing tables are empty. Raises InputError naming the place."""
    unknown = set(raw) - set(entities)
    if unknown:
        raise InputError(f"state: unknown table {sorted(unknown)[0]!r}; the environment has {list(entities)}")
    tables: dict[str, tuple[Row, ...]] = {}
    for table, entity in entities.items():
        rows = raw.get(table) or {}
        if not isinstance(rows, dict):
            raise InputError(f"state: table {table!r} must be an object of rows by key")
        decoded: list[Row] = []
        for key, row in rows.items():
            if not isinstance(row, dict):
                raise InputError(f"state: table {table!r}, row {key!r} must be an object")
            decoded.append(entity.decode_row(row))
            if str(decoded[-1].values[entity.key]) != key:
                raise InputError(f"state: table {table!r}: row {key!r} has another {entity.key!r} inside")
        tables[table] = tuple(decoded)
    return State(tables)


def rows_about(state: State, names: frozenset[str], *, others: bool = False) -> State:
    """The rows in which one of the names occurs; the others if asked for."""

    def is_about(row: Row) -> bool:
        return any(
            not names.isdisjoint(cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,))
            for value in row.values.values()
        )

    return State({table: tuple(row for row in rows if is_about(row) != others) for table, rows in state.tables.items()})
