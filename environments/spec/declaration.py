"""What an environment declares about itself, once.

From this single declaration come the simulator that executes calls (``simulation.py``), the encoding that the solver
plans with, and the documentation and JSON schema that models read (``documentation.py``).

What the *world* demands and what the *caller* must know are kept apart. ``raises`` and ``fails`` are the documented
ways in which a tool refuses; they are the only preconditions, and no rule of a regulation is ever among them, or a
program could not break it. Where a caller takes an argument from is a parameter's ``source``; only the planner
demands that the caller could know it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from random import Random

from lawtrace.environments.errors import InputError
from lawtrace.environments.spec.state import Entity, State
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.validation import validate_tool


@dataclass(frozen=True, eq=False)
class Environment:
    """Entities with state, and the tools that read or change them.

    Attributes:
        name: what the command line calls it.
        title: what a reader calls it (``Financial``).
        object_name: the object that a program finds the tools on.
        summary: what the tools are for; models read it.
        populate: a random initial state in which every reference a trace needs can be looked up unambiguously.
    """

    name: str
    title: str
    object_name: str
    summary: str
    entities: Mapping[str, Entity]
    tools: Mapping[str, Tool]
    populate: Callable[[Random], State] = field(repr=False)

    def __post_init__(self) -> None:
        for what, named in (
            ("tool", {name: tool.name for name, tool in self.tools.items()}),
            ("table", {name: entity.table for name, entity in self.entities.items()}),
        ):
            if odd := [(key, name) for key, name in named.items() if key != name]:
                raise InputError(f"environment {self.name!r}: the {what} {odd[0][1]!r} is under the key {odd[0][0]!r}")
        for tool in self.tools.values():
            validate_tool(self.name, self.entities, tool)

    @cached_property
    def compliance_tools(self) -> frozenset[str]:
        return frozenset(name for name, tool in self.tools.items() if tool.compliance)

    @cached_property
    def critical_tools(self) -> frozenset[str]:
        return frozenset(name for name, tool in self.tools.items() if tool.critical)

    @cached_property
    def compliance_tables(self) -> frozenset[str]:
        """The tables that only compliance tools write: they belong to the safety oracle, not to the goal."""
        business = [tool.written_tables for tool in self.tools.values() if not tool.compliance]
        compliance = [tool.written_tables for tool in self.tools.values() if tool.compliance]
        return frozenset[str]().union(*compliance) - frozenset[str]().union(*business)

    @cached_property
    def changing_tools(self) -> frozenset[str]:
        """The business tools that change what a goal is about."""
        return frozenset(name for name, tool in self.tools.items() if tool.written_tables - self.compliance_tables)

    @cached_property
    def event_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(tool.emits for tool in self.tools.values() if tool.emits))

    @cached_property
    def exceptions(self) -> tuple[str, ...]:
        names = [raised.exception for tool in self.tools.values() for raised in tool.raises]
        return tuple(dict.fromkeys(names))

    @cached_property
    def signatures(self) -> dict[str, tuple[str, ...]]:
        """Parameter names by tool, in documented order."""
        return {name: tuple(parameter.name for parameter in tool.parameters) for name, tool in self.tools.items()}
