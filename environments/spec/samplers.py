"""Samplers: they draw realistic values of the arguments that users state.

A sampler draws a value in internal form for a given state. It may depend on earlier arguments: the time of an
appointment is one at which the chosen doctor is free. Numeric samplers state their bounds, so that the solver can
choose within them.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from random import Random
from types import MappingProxyType
from typing import ClassVar, Final, Protocol

from lawtrace.environments.spec.expressions import Compiled, EvaluationScope, RowCondition, RowVariable
from lawtrace.environments.spec.logic import PLAIN
from lawtrace.environments.spec.state import Entity, Row, State
from lawtrace.environments.spec.terms import arguments_of
from lawtrace.environments.spec.types import Record, Value

Arguments = Mapping[str, Value]
NO_ARGUMENTS: Final[Arguments] = MappingProxyType({})


class Sampler(Protocol):
    @property
    def depends_on(self) -> frozenset[str]:
        """Names of the earlier arguments that a value depends on."""
        return frozenset()

    def draw(self, random: Random, state: State, arguments: Arguments = NO_ARGUMENTS) -> Value:
        """Draw a value in internal form, given the state and the earlier arguments; None if there is none."""
        ...


class FiniteSampler(Sampler):
    """A sampler that can list its values."""

    __slots__ = ()

    @abstractmethod
    def candidates(self, state: State) -> tuple[Value, ...]:
        """All values that it can draw for any earlier arguments; for a list, all its items."""

    def draw(self, random: Random, state: State, arguments: Arguments = NO_ARGUMENTS) -> Value:
        values = self.candidates(state)
        return random.choice(values) if values else None


@dataclass(frozen=True, slots=True)
class Amount(Sampler):
    """An amount of money between two inclusive bounds, in cents."""

    lowest: int
    highest: int

    def draw(self, random: Random, state: State, arguments: Arguments = NO_ARGUMENTS) -> Value:
        return random.randint(self.lowest, self.highest)


@dataclass(frozen=True, slots=True)
class OneOf(FiniteSampler):
    """One of the given values."""

    values: tuple[Value, ...]

    def candidates(self, state: State) -> tuple[Value, ...]:
        return self.values


@dataclass(frozen=True, slots=True)
class AnySampler(FiniteSampler):
    """A value of one of several samplers, such as the name of a doctor or a specialty."""

    samplers: tuple[FiniteSampler, ...]

    @property
    def depends_on(self) -> frozenset[str]:
        return frozenset[str]().union(*(sampler.depends_on for sampler in self.samplers))

    def candidates(self, state: State) -> tuple[Value, ...]:
        return tuple(word for sampler in self.samplers for word in sampler.candidates(state))

    def draw(self, random: Random, state: State, arguments: Arguments = NO_ARGUMENTS) -> Value:
        return random.choice(self.samplers).draw(random, state, arguments)


@dataclass(frozen=True, slots=True)
class Digits(Sampler):
    """A string of ``length`` digits that does not start with zero."""

    length: int

    def draw(self, random: Random, state: State, arguments: Arguments = NO_ARGUMENTS) -> Value:
        return str(random.randint(10 ** (self.length - 1), 10**self.length - 1))


@dataclass(frozen=True, slots=True)
class _NearNow(Sampler):
    """A day or moment near the environment's current one, which is a field of the first row of ``entity``."""

    entity: Entity
    field: str
    nearest: int
    furthest: int

    step: ClassVar[int]
    """Days or minutes in a unit; negative for the past."""

    def draw(self, random: Random, state: State, arguments: Arguments = NO_ARGUMENTS) -> Value:
        now = next(state.rows(self.entity.table)).values[self.field]
        return now - now % self.step + self.step * random.randint(self.nearest, self.furthest)


class DayAfter(_NearNow):
    __slots__ = ()
    step = 1


class DayBefore(_NearNow):
    __slots__ = ()
    step = -1


class HoursFromNow(_NearNow):
    """A full hour. Negative bounds are in the past."""

    __slots__ = ()
    step = 60


@dataclass(frozen=True, slots=True)
class UnusedValue(FiniteSampler):
    """One of the given values that no row has in the field: a name for something new."""

    values: tuple[Value, ...]
    entity: Entity
    field: str

    def candidates(self, state: State) -> tuple[Value, ...]:
        taken = {row.values[self.field] for row in state.rows(self.entity.table)}
        return tuple(value for value in self.values if value not in taken)


class _OfRows(FiniteSampler):
    """A sampler of rows that meet a condition."""

    entity: Entity
    where: RowCondition | None

    @property
    def depends_on(self) -> frozenset[str]:
        return frozenset(arguments_of(self.where(RowVariable(self.entity))) if self.where else ())

    @cached_property
    def _meets(self) -> Compiled | None:
        row = RowVariable(self.entity)
        return None if self.where is None else self.where(row).compile(PLAIN, row)

    @abstractmethod
    def _value(self, row: Row) -> Value:
        """What a user states of a row."""

    def candidates(self, state: State) -> tuple[Value, ...]:
        return tuple(dict.fromkeys(map(self._value, state.rows(self.entity.table))))

    def draw(self, random: Random, state: State, arguments: Arguments = NO_ARGUMENTS) -> Value:
        rows = [*state.rows(self.entity.table)]
        if self._meets is not None:
            scope = EvaluationScope(state, arguments)
            rows = [row for row in rows if self._meets(scope, row)]
        return self._value(random.choice(rows)) if rows else None


@dataclass(frozen=True)
class FieldValue(_OfRows):
    """The value of a field in a row, as a user would state it.

    Attributes:
        where: condition on the rows; it may use earlier arguments.
        part: the part of the value that the user states, such as the day of a moment.
    """

    entity: Entity
    field: str
    where: RowCondition | None = None
    part: Callable[[Value], Value] | None = None

    def _value(self, row: Row) -> Value:
        value = row.values[self.field]
        return value if self.part is None else self.part(value)


@dataclass(frozen=True)
class FieldsOf(_OfRows):
    """An object whose fields are values of one row: by field of the object, the field of the row.

    Attributes:
        where: condition on the rows; it may use earlier arguments.
    """

    entity: Entity
    fields: Mapping[str, str]
    where: RowCondition | None = None

    def __hash__(self) -> int:
        return hash((self.entity.table, *self.fields.items()))

    def _value(self, row: Row) -> Record:
        return Record({name: row.values[field] for name, field in self.fields.items()})


@dataclass(frozen=True, slots=True)
class EachField(Sampler):
    """An object whose fields are drawn one by one. A field may depend on earlier arguments, not on other fields."""

    fields: Mapping[str, Sampler]

    def __hash__(self) -> int:
        return hash((*self.fields.items(),))

    @property
    def depends_on(self) -> frozenset[str]:
        return frozenset[str]().union(*(sampler.depends_on for sampler in self.fields.values()))

    def draw(self, random: Random, state: State, arguments: Arguments = NO_ARGUMENTS) -> Value:
        return Record({name: sampler.draw(random, state, arguments) for name, sampler in self.fields.items()})


@dataclass(frozen=True, slots=True)
class Several(Sampler):
    """A list of different values of one sampler, between two inclusive numbers of them."""

    sampler: Sampler
    fewest: int = 1
    most: int = 2

    @property
    def depends_on(self) -> frozenset[str]:
        return self.sampler.depends_on

    def draw(self, random: Random, state: State, arguments: Arguments = NO_ARGUMENTS) -> Value:
        wanted = random.randint(self.fewest, self.most)
        drawn: dict[Value, None] = {}
        for _ in range(4 * wanted):
            if len(drawn) < wanted:
                drawn[self.sampler.draw(random, state, arguments)] = None
        found = tuple(value for value in drawn if value is not None)
        return found if len(found) >= self.fewest else None


@dataclass(frozen=True, slots=True)
class WordOf(FiniteSampler):
    """One word of a text field of a row, or the whole text."""

    entity: Entity
    field: str

    def candidates(self, state: State) -> tuple[str, ...]:
        texts = [row.values[self.field] for row in state.rows(self.entity.table)]
        return tuple(dict.fromkeys(word for text in texts for word in (*text.split(), text)))


@dataclass(frozen=True, slots=True)
class WordsOf(FiniteSampler):
    """One or two words of a text field of a row, as a list."""

    entity: Entity
    field: str

    def candidates(self, state: State) -> tuple[str, ...]:
        names = (row.values[self.field] for row in state.rows(self.entity.table))
        return tuple(dict.fromkeys(word for name in names for word in name.split()))

    def draw(self, random: Random, state: State, arguments: Arguments = NO_ARGUMENTS) -> Value:
        row = random.choice(list(state.rows(self.entity.table)))
        words = row.values[self.field].split()
        count = min(len(words), random.randint(1, 2))
        start = random.randint(0, len(words) - count)
        return tuple(words[start : start + count])
