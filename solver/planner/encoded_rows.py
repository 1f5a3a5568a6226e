"""Which rows of large tables Z3 is told of.

A trace of a few calls refers to a few rows, and rows that differ only in values that are nearly all different, such as
names and amounts, can stand for each other. So of a large table some rows of each class are encoded, and a query costs
the same for all larger tables. The trace is made in the whole state.
"""

from collections.abc import Set
from functools import lru_cache
from itertools import chain, islice, zip_longest

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import Row, State
from lawtrace.environments.spec.terms import texts_of
from lawtrace.environments.spec.types import Value

SMALL_TABLE = 24
"""Up to how many rows a table is encoded as it is."""
CLASS_VALUES = 4
"""Up to how many different values of a field make classes of rows."""


def encoded_rows(environment: Environment, state: State, number: int) -> State:
    """The state with `number` rows of each large table, and further ones to which the encoded rows refer by key.

    A class of rows has the same values in fields of few values, and the same texts of those that tools name.
    """
    large = {table: rows for table, rows in state.tables.items() if len(rows) > SMALL_TABLE}
    if not large:
        return state
    named = _texts_named(environment)
    keys = {table: environment.entities[table].key for table in large}
    chosen = {table: set(islice(_class_by_class(rows, keys[table], named), number)) for table, rows in large.items()}
    referred = {
        value
        for table, rows in state.tables.items()
        for row in ([rows[place] for place in chosen[table]] if table in large else rows)
        for name, value in row.values.items()
        if isinstance(value, str) and name != keys.get(table)
    }
    for table, rows in large.items():
        kept = [row for place, row in enumerate(rows) if place in chosen[table] or row.values[keys[table]] in referred]
        state = state.with_table(table, tuple(kept))
    return state


def _class_by_class(rows: tuple[Row, ...], key: str, named: Set[Value]) -> chain[int]:
    """The numbers of the rows: the first of each class, then the second of each, and so on."""
    values_of = {name: {row.values[name] for row in rows} for name in rows[0].values if name != key}
    telling = [name for name, values in values_of.items() if len(values) <= CLASS_VALUES]
    naming = [name for name in rows[0].values if name == key or not named.isdisjoint(values_of[name])]
    classes: dict[tuple[Value, ...], list[int]] = {}
    for place, row in enumerate(rows):
        texts = [row.values[name] if row.values[name] in named else None for name in naming]
        classes.setdefault((*(row.values[name] for name in telling), *texts), []).append(place)
    in_turn = zip_longest(*classes.values())
    return chain.from_iterable([place for place in places if place is not None] for places in in_turn)


@lru_cache(maxsize=16)
def _texts_named(environment: Environment) -> frozenset[Value]:
    """The texts that the declarations of the tools name."""
    return frozenset(text for tool in environment.tools.values() for term in tool.terms for text in texts_of(term))
