"""What an environment declares about itself, once.

From this single declaration come the simulator that executes calls (``simulation.py``), the encoding that the solver
plans with, and the documentation and JSON schema that models read (``documentation.py``).

What the *world* demands and what the *caller* must know are kept apart. ``raises`` and ``fails`` are the documented
ways in which a tool refuses; they are the only preconditions, and no rule of a regulation is ever among them, or a
program could not break it. Where a caller takes an argument from is a parameter's ``source``; only the planner
demands that the caller could know it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from random import Random

from environments.domains import Domain
from environments.errors import InputError
from environments.events import Event, Json
from environments.kinds import BOOLEAN, Kind, ListOf, Value
from environments.results import KeyResult, Part, Result, RowsResult, ValueResult
from environments.state import Entity, State
from environments.terms import (
    Argument,
    RowCondition,
    Term,
    arguments_of,
    item_variable,
    row_variable,
    tables_of,
    unguarded_arguments,
)

__all__ = [
    "Delete",
    "Environment",
    "Fails",
    "FromLookup",
    "FromTrace",
    "FromUser",
    "Insert",
    "InsertEach",
    "KeyResult",
    "Parameter",
    "Part",
    "Phrases",
    "PhrasesBy",
    "Raises",
    "Result",
    "RowsResult",
    "Source",
    "Tool",
    "Update",
    "ValueResult",
]


@dataclass(frozen=True, slots=True)
class FromUser:
    """The user says it. ``domain`` draws a sensible value. An optional parameter is given in a ``share`` of the calls,
    or, with ``when``, exactly where that holds of the arguments before it."""

    domain: Domain
    share: float = 1.0
    when: Term | None = None


@dataclass(frozen=True, slots=True)
class FromLookup:
    """The key of a row of that entity, which the caller must have seen in an earlier result; a list of such keys where
    the parameter's kind is a list."""

    entity: Entity


@dataclass(frozen=True, slots=True)
class FromTrace:
    """A function of the calls so far, which nobody says and no result contains. ``name`` says what it is."""

    name: str
    function: Callable[["Environment", tuple[Event, ...]], Value]


Source = FromUser | FromLookup | FromTrace


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter. ``malformed`` names the documented exception for a value of the right type in a wrong format; None
    where the document has no exception for it, so that such a value is none that the tool takes."""

    name: str
    kind: Kind
    description: str
    source: Source
    required: bool = True
    default: Value = None
    malformed: str | None = "InvalidRequestException"


@dataclass(frozen=True, slots=True)
class Raises:
    """A documented exception and the condition under which it is raised. Nothing changes then."""

    exception: str
    description: str
    when: Term | None = None
    """None: only for arguments in a wrong format."""


@dataclass(frozen=True, slots=True)
class Fails:
    """A condition under which the tool answers that it did not succeed. Nothing changes then."""

    description: str
    when: Term


@dataclass(frozen=True, slots=True)
class Update:
    """Set fields in the rows that meet the condition. ``values`` gives a term for each field, from the row."""

    entity: Entity
    where: RowCondition
    values: Mapping[str, RowCondition]

    def terms(self) -> list[Term]:
        """The condition and the values, over one row."""
        row = row_variable(self.entity)
        return [self.where(row), *(value(row) for value in self.values.values())]


@dataclass(frozen=True, slots=True)
class Insert:
    """Append a row with a generated key."""

    entity: Entity
    values: Mapping[str, Term]

    def terms(self) -> list[Term]:
        """The values."""
        return [*self.values.values()]


@dataclass(frozen=True, slots=True)
class InsertEach:
    """Append a row with a generated key for each item of a list argument. ``values`` gives the terms from the item."""

    entity: Entity
    items: Argument
    values: Callable[[Term], Mapping[str, Term]]

    def terms(self) -> list[Term]:
        """The list, and the values over one item."""
        return [self.items, *self.values(item_variable()[1]).values()]


@dataclass(frozen=True, slots=True)
class Delete:
    """Take away the rows that meet the condition."""

    entity: Entity
    where: RowCondition

    def terms(self) -> list[Term]:
        """The condition, over one row."""
        return [self.where(row_variable(self.entity))]


Effect = Update | Insert | InsertEach | Delete


@dataclass(frozen=True, slots=True)
class Phrases:
    """How a user puts a call of the tool into words.

    ``{name}`` stands for an argument; a looked-up one appears as the ``thing`` of its look-up. ``[name: words]``
    appears only if that argument is given and, for a truth, true. The offline instruction generator writes with them.

    Attributes:
        step: a business step, as an order.
        outcome: the change of state as a fact wished for, for calls that change what a goal is about.
        thing: what a look-up finds or a call makes, as a noun phrase.
    """

    step: str
    outcome: str | None = None
    thing: str | None = None

    def of(self, arguments: Mapping[str, Json]) -> "Phrases":
        """The phrases of a call with these arguments."""
        return self

    @property
    def variants(self) -> Mapping[str, "Phrases"]:
        """The phrases for every value that they depend on."""
        return {"": self}

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.step, self.outcome or "", self.thing or "")


@dataclass(frozen=True, slots=True)
class PhrasesBy:
    """Phrases that depend on the value of an argument: an appointment is viewed, or moved, or cancelled."""

    parameter: str
    cases: Mapping[str, Phrases]

    def of(self, arguments: Mapping[str, Json]) -> Phrases:
        """The phrases of a call with these arguments."""
        return self.cases[str(arguments[self.parameter])]

    @property
    def variants(self) -> Mapping[str, Phrases]:
        """The phrases for every value that they depend on."""
        return self.cases

    @property
    def texts(self) -> tuple[str, ...]:
        return (f"{{{self.parameter}}}", *(text for phrases in self.cases.values() for text in phrases.texts))


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """One tool.

    Attributes:
        summary: what it does, in a sentence or two; models read it.
        emits: the name of the event that the audit list must carry for each completed call, if any.
        compliance: whether masking hides it because it only serves the rules.
        critical: whether S.C. coverage counts it.
        phrases: how a user puts a call into words; compliance tools have none, since users never ask for them.
        telltales: word stems that would give a compliance tool away in an instruction.
        hint: when the documentation says the tool should be called. Off by default: it gives the rules away.
    """

    name: str
    summary: str
    parameters: tuple[Parameter, ...] = ()
    raises: tuple[Raises, ...] = ()
    fails: tuple[Fails, ...] = ()
    effects: tuple[Effect, ...] = ()
    results: tuple[Result, ...] = ()
    emits: str | None = None
    compliance: bool = False
    critical: bool = False
    phrases: Phrases | PhrasesBy | None = None
    telltales: tuple[str, ...] = ()
    hint: str | None = None

    def parameter(self, name: str) -> Parameter:
        return next(parameter for parameter in self.parameters if parameter.name == name)

    @property
    def teaching(self) -> tuple[RowsResult | KeyResult, ...]:
        """The results through which a call makes a row known: rows that carry their key, and the key of a new row."""
        return (*self.lookups, *(result for result in self.results if isinstance(result, KeyResult)))

    @property
    def lookups(self) -> tuple[RowsResult, ...]:
        """The results in which a caller finds a row by what it looks like, and reads its key."""
        rows = (result for result in self.results if isinstance(result, RowsResult) and result.teaches)
        return tuple(result for result in rows if result.entity.key in result.fields)

    @property
    def written_tables(self) -> frozenset[str]:
        return frozenset(effect.entity.table for effect in self.effects)


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
        for tool in self.tools.values():
            check_tool(self, tool)

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


def check_tool(environment: Environment, tool: Tool) -> None:
    """What makes a declaration meaningless is an error when it is built. Raises InputError naming tool and place."""
    place = f"environment {environment.name!r}, tool {tool.name!r}"
    names = {parameter.name for parameter in tool.parameters}
    for entity in _entities(tool):
        if environment.entities.get(entity.table) is not entity:
            raise InputError(f"{place}: it speaks of {entity.table!r}, which is no table of the environment")
    for term in _terms(tool):
        if unheld := tables_of(term) - set(environment.entities):
            raise InputError(f"{place}: a term looks at {sorted(unheld)[0]!r}, which is no table of the environment")
        unknown = arguments_of(term) - names
        if unknown:
            raise InputError(f"{place}: a term uses the argument {sorted(unknown)[0]!r}, which it does not declare")
    optional = {name for name in names if not tool.parameter(name).required and tool.parameter(name).default is None}
    if unguarded := optional & _computed_with(tool):
        name = sorted(unguarded)[0]
        raise InputError(f"{place}: {name!r} may be left out, and a term computes with it outside of an if_given on it")
    for effect in tool.effects:
        if isinstance(effect, Delete):
            continue
        values = _values(effect)
        unknown = set(values) - set(effect.entity.fields)
        if unknown:
            raise InputError(f"{place}: an effect sets {sorted(unknown)[0]!r}, no field of {effect.entity.singular}")
        if not isinstance(effect, Update) and not effect.entity.generates_keys:
            raise InputError(
                f"{place}: it inserts a {effect.entity.singular}, whose key has no prefix to generate from"
            )
        if effect.entity.key in values:
            raise InputError(f"{place}: an effect sets {effect.entity.key!r}, the key of {effect.entity.singular}")
        if unset := _unset_fields(effect):
            raise InputError(f"{place}: it inserts a {effect.entity.singular} without its field {unset[0]!r}")
    for result in tool.results:
        _check_result(place, tool, result)
    documented = {raised.exception for raised in tool.raises}
    for parameter in tool.parameters:
        if _can_be_malformed(parameter.kind) and parameter.malformed not in {None, *documented}:
            raise InputError(
                f"{place}: {parameter.name!r} can be malformed, but {parameter.malformed} is not documented"
            )
    for number, parameter in enumerate(tool.parameters):
        before = {earlier.name for earlier in tool.parameters[:number]}
        if isinstance(parameter.source, FromUser) and (later := parameter.source.domain.looks_at - before):
            raise InputError(
                f"{place}: {parameter.name!r} is drawn by {sorted(later)[0]!r}, which must come before it to be known"
            )
    if (tool.phrases is None) != tool.compliance:
        raise InputError(f"{place}: a business tool needs phrases, and a compliance tool has none")
    if unknown := _phrased(tool.phrases) - names:
        raise InputError(f"{place}: its phrases speak of {sorted(unknown)[0]!r}, which is no parameter")
    says_success = any(result.name == "success" and _is_boolean(result) for result in tool.results)
    if tool.fails and not says_success:
        raise InputError(f"{place}: it can fail, but documents no boolean result 'success' to say so")


def _check_result(place: str, tool: Tool, result: Result) -> None:
    if isinstance(result, RowsResult):
        for listed in (result, *result.parts):
            if unknown := set(listed.fields) - set(listed.entity.fields):
                raise InputError(f"{place}: {listed.name!r} lists {sorted(unknown)[0]!r}, which its rows do not have")
        if twice := {part.name for part in result.parts} & set(result.fields):
            raise InputError(f"{place}: {result.name!r} has the field {sorted(twice)[0]!r} twice")
    if isinstance(result, KeyResult):
        inserting = [effect for effect in tool.effects if isinstance(effect, Insert | InsertEach)]
        inserts = [effect for effect in inserting if effect.entity is result.entity]
        if len(inserts) != 1 or isinstance(inserts[0], InsertEach):
            several = "one for each item of a list" if len(inserts) == 1 else str(len(inserts))
            raise InputError(
                f"{place}: {result.name!r} is the key of the {result.entity.singular} that it inserts, but it inserts "
                f"{several}; it must be one"
            )


def _terms(tool: Tool) -> list[Term]:
    terms = [raised.when for raised in tool.raises if raised.when is not None]
    terms += [failure.when for failure in tool.fails]
    for declared in (*tool.effects, *tool.results):
        terms += declared.terms()
    return terms


def _computed_with(tool: Tool) -> set[str]:
    """The arguments that terms need to have a value. An effect may keep one that was left out in an optional field."""
    kept = {
        id(value)
        for effect in tool.effects
        if isinstance(effect, Insert)
        for name, value in effect.values.items()
        if name in effect.entity.fields and effect.entity.fields[name].optional and isinstance(value, Argument)
    }
    return set[str]().union(*(unguarded_arguments(term) for term in _terms(tool) if id(term) not in kept))


def _entities(tool: Tool) -> list[Entity]:
    """The entities that the declaration names outside of terms."""
    sources = [parameter.source for parameter in tool.parameters]
    return [
        *(source.entity for source in sources if isinstance(source, FromLookup)),
        *(effect.entity for effect in tool.effects),
        *(result.entity for result in tool.results if not isinstance(result, ValueResult)),
        *(part.entity for result in tool.results if isinstance(result, RowsResult) for part in result.parts),
    ]


def _values(effect: Update | Insert | InsertEach) -> Mapping[str, object]:
    return effect.values(item_variable()[1]) if isinstance(effect, InsertEach) else effect.values


def _unset_fields(effect: Update | Insert | InsertEach) -> list[str]:
    """The fields that a row to be inserted must have and would lack."""
    if isinstance(effect, Update):
        return []
    needed = {name for name, declared in effect.entity.fields.items() if not declared.optional} - {effect.entity.key}
    return sorted(needed - set(_values(effect)))


def _phrased(phrases: Phrases | PhrasesBy | None) -> set[str]:
    """The parameters that the phrases speak of, as ``{name}`` or ``[name: words]``."""
    texts = phrases.texts if phrases else ()
    return {name for text in texts for name in re.findall(r"[{\[](\w+)[}:]", text)}


def _can_be_malformed(kind: Kind) -> bool:
    if isinstance(kind, ListOf):
        return _can_be_malformed(kind.items)
    schema = kind.schema()
    return bool({"pattern", "enum", "format"} & set(schema)) or schema["type"] in {"number", "integer"}


def _is_boolean(result: Result) -> bool:
    return isinstance(result, ValueResult) and result.kind is BOOLEAN
