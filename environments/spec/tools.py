"""How users put calls into words: what the offline instruction generator writes with, declared beside each tool."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lawtrace.environments.events import Event, Json
from lawtrace.environments.spec.effects import Effect, KeyResult, Result, RowsResult
from lawtrace.environments.spec.samplers import Sampler
from lawtrace.environments.spec.state import Entity
from lawtrace.environments.spec.terms import Term
from lawtrace.environments.spec.types import Value, ValueType


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
    noun_phrase: str | None = None

    def of(self, arguments: Mapping[str, Json]) -> "Phrases":
        """The phrases of a call with these arguments."""
        return self

    @property
    def variants(self) -> Mapping[str, "Phrases"]:
        """The phrases for every value that they depend on."""
        return {"": self}

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.step, self.outcome or "", self.noun_phrase or "")


@dataclass(frozen=True, slots=True)
class PhrasesByArgument:
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


@dataclass(frozen=True, slots=True)
class FromUser:
    """The user says it. ``domain`` draws a sensible value. An optional parameter is given in a ``share`` of the calls,
    or, with ``when``, exactly where that holds of the arguments before it."""

    domain: Sampler
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
    function: Callable[[Mapping[str, "Tool"], tuple[Event, ...]], Value]


Source = FromUser | FromLookup | FromTrace


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter. ``malformed`` names the documented exception for a value of the right type in a wrong format; None
    where the document has no exception for it, so that such a value is none that the tool takes."""

    name: str
    kind: ValueType
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
    phrases: Phrases | PhrasesByArgument | None = None
    leak_words: tuple[str, ...] = ()
    hint: str | None = None

    def parameter(self, name: str) -> Parameter:
        return next(parameter for parameter in self.parameters if parameter.name == name)

    @property
    def refusals(self) -> tuple[Term, ...]:
        """The conditions under which a call does not complete."""
        raised = (raised.when for raised in self.raises)
        return (*(when for when in raised if when is not None), *(failure.when for failure in self.fails))

    @property
    def revealing_results(self) -> tuple[RowsResult | KeyResult, ...]:
        """The results through which a call makes a row known: rows that carry their key, and the key of a new row."""
        return (*self.lookups, *(result for result in self.results if isinstance(result, KeyResult)))

    @property
    def lookups(self) -> tuple[RowsResult, ...]:
        """The results in which a caller finds a row by what it looks like, and reads its key."""
        rows = (result for result in self.results if isinstance(result, RowsResult) and result.reveals_key)
        return tuple(result for result in rows if result.entity.key in result.fields)

    @property
    def written_tables(self) -> frozenset[str]:
        return frozenset(effect.entity.table for effect in self.effects)
