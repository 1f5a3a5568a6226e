"""The declaration of an environment.

This single declaration gives the simulator that executes calls (``environments/runtime/simulation.py``), the encoding
of the solver, and the documentation and JSON schema for models (``environments/runtime/documentation.py``).

Preconditions of a tool and knowledge of its caller are separate. ``raises`` and ``fails`` are the documented refusals
and the only preconditions; no rule of a regulation is among them, or a program could not break it. The ``source`` of a
parameter says where a caller takes the argument from; only the planner requires that the caller can know it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from random import Random

from lawtrace.environments.spec.agenda import Happening
from lawtrace.environments.spec.clock import Clock
from lawtrace.environments.spec.expressions import Term
from lawtrace.environments.spec.state import Entity, Fact, State
from lawtrace.environments.spec.terms import reads_time, tables_of
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.types import Choice
from lawtrace.environments.spec.validation import validate_agenda, validate_clock, validate_tool
from lawtrace.schemas.errors import InputError


@dataclass(frozen=True, eq=False)
class Environment:
    """Entities with their state, and the tools that read or change it.

    Attributes:
        name: name on the command line.
        version: which declaration, law and manual these are. Tasks name it, and are not judged with another one.
        title: name for readers (``Financial``).
        object_name: the object with the tools in a program.
        summary: purpose of the tools; models read it.
        populate: makes a random initial state in which every row that a trace needs can be looked up unambiguously.
        populate_docket: the same for a docket: a state in which the queue lists so many matters.
        clock: when a session starts and ends.
        agenda: what happens without a call.
        facts: fields of the initial state that decide what the law asks.
        declines: the tool that tells the user that a request is declined, and why. No compliance tool, since what it
            writes is the goal where there is no lawful way to do what was asked.
        declined_as: the value of the argument ``request`` of that tool for what each tool does, by tool, where it says
            what is declined.
        simulated: whether there is a state, so that calls can be simulated. The tools of an environment without state
            have parameters and types of results, no effects; audits need nothing else.
    """

    name: str
    title: str
    object_name: str
    summary: str
    entities: Mapping[str, Entity]
    tools: Mapping[str, Tool]
    populate: Callable[[Random], State] = field(repr=False)
    clock: Clock = field(default=Clock(), repr=False)
    facts: tuple[Fact, ...] = ()
    declines: str | None = None
    declined_as: Mapping[str, str] = field(default_factory=dict[str, str])
    simulated: bool = True
    version: str = "1"
    agenda: tuple[Happening, ...] = ()
    populate_docket: Callable[[Random, int], State] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("entities", "tools"):
            if not isinstance(given := getattr(self, name), Mapping):
                raise InputError(
                    f"environment {self.name!r}: {name} must be a mapping from names, not {type(given).__name__}"
                )
        for what, named in (
            ("tool", {name: tool.name for name, tool in self.tools.items()}),
            ("table", {name: entity.table for name, entity in self.entities.items()}),
        ):
            if odd := [(key, name) for key, name in named.items() if key != name]:
                raise InputError(f"environment {self.name!r}: the {what} {odd[0][1]!r} has the key {odd[0][0]!r}")
        validate_clock(self.name, self.clock)
        for fact in self.facts:
            if self.entities.get(fact.entity.table) is not fact.entity:
                raise InputError(f"environment {self.name!r}: the table of the fact {fact.name!r} is not declared")
        if self.declines is not None and (self.declines not in self.tools or self.tools[self.declines].compliance):
            raise InputError(
                f"environment {self.name!r}: {self.declines!r}, which declines requests, must be one of its tools "
                "and no compliance tool"
            )
        if odd := [name for name in self.declined_as if name not in self.tools]:
            raise InputError(f"environment {self.name!r}: declined_as names {odd[0]!r}, which is not one of its tools")
        for tool in self.tools.values():
            validate_tool(self.name, self.entities, tool, simulated=self.simulated)
        object.__setattr__(self, "agenda", tuple(self.agenda))  # a list is taken, too
        if self.agenda and not self.simulated:
            raise InputError(f"environment {self.name!r}: it has no state, so there is no agenda to declare")
        validate_agenda(self.name, self.entities, self.agenda)

    @cached_property
    def compliance_tools(self) -> frozenset[str]:
        return frozenset(name for name, tool in self.tools.items() if tool.compliance)

    @cached_property
    def finders(self) -> Mapping[str, tuple[Tool, ...]]:
        """The tools that look up rows, by table."""
        found = {tool: {one.entity.table for one in tool.lookups} for tool in self.tools.values()}
        return {table: tuple(tool for tool in found if table in found[tool]) for table in self.entities}

    @cached_property
    def critical_tools(self) -> frozenset[str]:
        return frozenset(name for name, tool in self.tools.items() if tool.critical)

    def changed_tables(self, tool: Tool) -> frozenset[str]:
        """The tables that a call changes, at once or by what it plans."""
        written = tool.written_tables
        planned = (happening.changed_tables for happening in self.agenda if happening.entity.table in written)
        return written.union(*planned)

    @cached_property
    def compliance_tables(self) -> frozenset[str]:
        """The tables that no tools but compliance tools change. They concern safety, not the goal."""
        business = [self.changed_tables(tool) for tool in self.tools.values() if not tool.compliance]
        compliance = [self.changed_tables(tool) for tool in self.tools.values() if tool.compliance]
        return frozenset[str]().union(*compliance) - frozenset[str]().union(*business)

    @cached_property
    def changing_tools(self) -> frozenset[str]:
        """The tools that change tables that a goal is about."""
        return frozenset(
            name for name, tool in self.tools.items() if self.changed_tables(tool) - self.compliance_tables
        )

    @cached_property
    def decline_options(self) -> Mapping[str, Choice]:
        """What the tool that declines offers as reasons, by parameter; without the kind of request that it names."""
        types = {one.name: one.type for one in self.tools[self.declines].parameters} if self.declines else {}
        choices = {name: of for name, of in types.items() if isinstance(of, Choice)}
        return {name: of for name, of in choices.items() if name != "request" or not self.declined_as}

    @cached_property
    def hidden_tables(self) -> frozenset[str]:
        """The tables that a model is not shown as part of a state: those of safety, and those of planned things."""
        return self.compliance_tables.union(happening.entity.table for happening in self.agenda)

    @cached_property
    def moving_tables(self) -> frozenset[str]:
        """The tables that change without a call, as time passes."""
        return frozenset[str]().union(*(happening.changed_tables for happening in self.agenda))

    def depends_on_time(self, term: Term) -> bool:
        """Whether the value of a term depends on when the call begins, even if no call comes before."""
        return reads_time(term) or not self.moving_tables.isdisjoint(tables_of(term))

    @cached_property
    def reads_time(self) -> bool:
        """Whether refusals, effects or results of some tool depend on the time."""
        return bool(self.agenda) or any(reads_time(term) for tool in self.tools.values() for term in tool.terms)

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
