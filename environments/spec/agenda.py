"""The agenda: what happens in an environment without a call.

Each row of some table is a planned thing with a time. When its time comes it takes effect once, and the row is deleted.
Initial states have such rows, and so do states after calls that insert one: with `CURRENT_MOMENT` plus a delay for what
a call starts, or with a day that the caller chose for what it schedules. Nothing is announced: callers learn of it by
look-ups. ``environments/runtime/simulation.py`` says in which order things happen.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from lawtrace.environments.spec.effects import Effect
from lawtrace.environments.spec.samplers import OneOf
from lawtrace.environments.spec.state import Entity
from lawtrace.environments.spec.tools import FromUser, Parameter, Phrases, Tool, declared_here


@dataclass(frozen=True, eq=False)
class Happening:
    """What happens when the time of a row comes.

    Attributes:
        description: what happens, in a sentence; models read it.
        entity: the planned things. Each row happens once, and is deleted then.
        at: the field with its time, a `MOMENT`.
        effects: those of a tool whose arguments are the fields of the row, and which is called at that time.
        declared_at: file and line of the declaration, for errors.
    """

    description: str
    entity: Entity
    at: str
    effects: tuple[Effect, ...]
    declared_at: tuple[str, int] = field(default_factory=lambda: declared_here(), init=False, compare=False, repr=False)

    @cached_property
    def tool(self) -> Tool:
        """The tool that the row calls, so to say. It has no results."""
        parameters = tuple(
            Parameter(name, one.type, "-", FromUser(OneOf((None,))), not one.optional, malformed=None)
            for name, one in self.entity.fields.items()
        )
        return Tool(self.entity.table, self.description, parameters, effects=self.effects, phrases=Phrases("-"))

    @property
    def changed_tables(self) -> frozenset[str]:
        """The tables of its effects, and its own, whose row is deleted."""
        return self.tool.written_tables | {self.entity.table}

    def restricted(self, tables: Iterable[str]) -> "Happening":
        """The same with effects on these tables only."""
        kept = frozenset(tables)
        return replace(self, effects=tuple(effect for effect in self.effects if effect.entity.table in kept))
