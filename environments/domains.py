"""Where sensible values for what the user says come from: one small class a sort of value.

A domain draws a value for a given state, in inside form. Numeric domains also state their bounds, so that the solver
can choose within them.
"""

from dataclasses import dataclass
from random import Random
from typing import Protocol

from environments.kinds import Value
from environments.state import Entity, State

__all__ = ["Amount", "DayAfter", "DayBefore", "Digits", "Domain", "FieldValue", "Options", "WordsOf"]


class Domain(Protocol):
    def draw(self, random: Random, state: State) -> Value:
        """A sensible value in the given state, inside form."""
        ...


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of money between two bounds, in cents, both included."""

    lowest: int
    highest: int

    def draw(self, random: Random, state: State) -> Value:
        return random.randint(self.lowest, self.highest)


@dataclass(frozen=True, slots=True)
class Options:
    """One of a few values."""

    values: tuple[Value, ...]

    def draw(self, random: Random, state: State) -> Value:
        return random.choice(self.values)


@dataclass(frozen=True, slots=True)
class Digits:
    """A string of that many digits that does not start with zero."""

    length: int

    def draw(self, random: Random, state: State) -> Value:
        return str(random.randint(10 ** (self.length - 1), 10**self.length - 1))


@dataclass(frozen=True, slots=True)
class _Day:
    """A day near the environment's own today, which is a field of the first row of ``entity``."""

    entity: Entity
    field: str
    nearest: int
    furthest: int

    def _distance(self, random: Random) -> int:
        return random.randint(self.nearest, self.furthest)

    def _today(self, state: State) -> int:
        return next(state.rows(self.entity.table)).values[self.field]


@dataclass(frozen=True, slots=True)
class DayAfter(_Day):
    def draw(self, random: Random, state: State) -> Value:
        return self._today(state) + self._distance(random)


@dataclass(frozen=True, slots=True)
class DayBefore(_Day):
    def draw(self, random: Random, state: State) -> Value:
        return self._today(state) - self._distance(random)


@dataclass(frozen=True, slots=True)
class FieldValue:
    """The value of a field in some row: what a user who means that row would say."""

    entity: Entity
    field: str

    def words(self, state: State) -> tuple[str, ...]:
        """Everything that it can draw."""
        return tuple(dict.fromkeys(row.values[self.field] for row in state.rows(self.entity.table)))

    def draw(self, random: Random, state: State) -> Value:
        return random.choice([row.values[self.field] for row in state.rows(self.entity.table)])


@dataclass(frozen=True, slots=True)
class WordsOf:
    """One or two words out of a text field of some row, as a list."""

    entity: Entity
    field: str

    def words(self, state: State) -> tuple[str, ...]:
        """The single words that it can draw."""
        names = (row.values[self.field] for row in state.rows(self.entity.table))
        return tuple(dict.fromkeys(word for name in names for word in name.split()))

    def draw(self, random: Random, state: State) -> Value:
        row = random.choice(list(state.rows(self.entity.table)))
        words = row.values[self.field].split()
        count = min(len(words), random.randint(1, 2))
        start = random.randint(0, len(words) - count)
        return tuple(words[start : start + count])
