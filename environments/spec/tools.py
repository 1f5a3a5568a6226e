"""Tools: parameters and the sources of their arguments, refusals, effects, results, and wording for instructions."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lawtrace.environments.spec.effects import (
    Effect,
    KeyResult,
    Result,
    RowsResult,
    as_declared,
    is_success,
    recorded_rows,
)
from lawtrace.environments.spec.expressions import Term
from lawtrace.environments.spec.samplers import Sampler
from lawtrace.environments.spec.state import Entity
from lawtrace.environments.spec.types import Value, ValueType, WrongValue
from lawtrace.schemas.events import Event, Json


def declared_here() -> tuple[str, int]:
    """File and line of the code outside this package that is running."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("lawtrace.environments.spec"):
        frame = frame.f_back
    return ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


@dataclass(frozen=True, slots=True)
class Phrases:
    """Templates for the wording of a call in an instruction, used by the offline instruction generator.

    ``{name}`` stands for an argument; a looked-up argument appears as the ``noun_phrase`` of its look-up.
    ``[name: words]`` appears only if the argument is given and, if boolean, true.

    Attributes:
        step: the call as an imperative sentence.
        outcome: the resulting state as a statement, for calls that change tables that goals cover.
        noun_phrase: what a look-up finds or a call creates.
    """

    step: str
    outcome: str | None = None
    noun_phrase: str | None = None

    def of(self, arguments: Mapping[str, Json]) -> "Phrases":
        """The phrases of a call with these arguments."""
        return self

    @property
    def variants(self) -> Mapping[str, "Phrases"]:
        """The phrases by the value that they depend on."""
        return {"": self}

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.step, self.outcome or "", self.noun_phrase or "")


@dataclass(frozen=True, slots=True)
class PhrasesByArgument:
    """Phrases that depend on the value of an argument: an appointment is viewed, moved or cancelled."""

    parameter: str
    cases: Mapping[str, Phrases]

    def of(self, arguments: Mapping[str, Json]) -> Phrases:
        return self.cases[str(arguments[self.parameter])]

    @property
    def variants(self) -> Mapping[str, Phrases]:
        return self.cases

    @property
    def texts(self) -> tuple[str, ...]:
        return (f"{{{self.parameter}}}", *(text for phrases in self.cases.values() for text in phrases.texts))


@dataclass(frozen=True, slots=True)
class FromUser:
    """The user states the argument.

    Attributes:
        sampler: draws a realistic value.
        share: of the calls in which an optional argument is given.
        when: condition on the earlier arguments; if set, the argument is given exactly where it holds.
    """

    sampler: Sampler
    share: float = 1.0
    when: Term | None = None


@dataclass(frozen=True, slots=True)
class FromLookup:
    """The argument is the key of a row that an earlier result showed, or a list of such keys for a list type."""

    entity: Entity


@dataclass(frozen=True, slots=True)
class FromTrace:
    """The argument is computed from the tools and the events so far. ``name`` identifies the function in files."""

    name: str
    function: Callable[[Mapping[str, "Tool"], tuple[Event, ...]], Value]


Source = FromUser | FromLookup | FromTrace


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a tool.

    Attributes:
        malformed: the documented exception for a value of the right JSON type in a wrong format. None: such a call is
            rejected like one with a value of a wrong type.
    """

    name: str
    type: ValueType
    description: str
    source: Source
    required: bool = True
    default: Value = None
    malformed: str | None = "InvalidRequestException"


@dataclass(frozen=True, slots=True)
class Raises:
    """A documented exception and its condition. A call that raises changes nothing."""

    exception: str
    description: str
    when: Term | None = None
    """None: raised only for arguments in a wrong format."""


@dataclass(frozen=True, slots=True)
class Fails:
    """A condition under which the tool answers that it did not succeed. Such a call changes nothing."""

    description: str
    when: Term


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """Declaration of a tool.

    Attributes:
        summary: what it does, in a sentence or two; models read it.
        emits: name of the audit event of a completed call, if there is one.
        compliance: whether it only serves the rules. Masking hides such tools.
        critical: whether coverage of critical tools (S.C.) counts it.
        duration: seconds that a completed call takes, a number or a term over the arguments and the time (``NOW``).
            A negative value counts as zero.
        phrases: wording of a call. Compliance tools have none, since users never ask for them.
        leak_words: word stems that would reveal a compliance tool in an instruction.
        returns: the type of the whole result of a tool without state, which has no ``results``: an object, a list, a
            text. None: nothing is known of it.
        hint: when to call the tool. Left out of the documentation by default, since it reveals the rules.
        error_texts: of a tool without state, patterns for the beginning of results that are texts of errors.
        undeclared: why nothing is declared of what the tool does; None if it is. A simulated call of it is refused.
        declared_at: file and line of the declaration, for errors.
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
    duration: int | Term = 1
    phrases: Phrases | PhrasesByArgument | None = None
    leak_words: tuple[str, ...] = ()
    hint: str | None = None
    returns: ValueType | None = None
    error_texts: tuple[str, ...] = ()
    undeclared: str | None = None
    declared_at: tuple[str, int] = field(default_factory=lambda: declared_here(), init=False, compare=False, repr=False)

    def parameter(self, name: str) -> Parameter:
        return next(parameter for parameter in self.parameters if parameter.name == name)

    def named_result(self, result: Json) -> Json:
        """A recorded result by the names of ``results``: without them it is the only result beside success. Rows
        that are recorded as objects by their keys become a list, those inside of rows too."""
        own = [one for one in self.results if not is_success(one)]
        if not (isinstance(result, dict) and any(one.name in result for one in self.results)):
            if result is None or len(own) != 1 or not _may_be(own[0], result):
                return result
            result = {own[0].name: result}
        rows = (one for one in own if isinstance(one, RowsResult) and one.name in result)
        return {**result, **{one.name: as_declared(one, result[one.name]) for one in rows}}

    @property
    def refusals(self) -> tuple[Term, ...]:
        """The conditions under which a call does not complete."""
        raised = (raised.when for raised in self.raises)
        return (*(when for when in raised if when is not None), *(failure.when for failure in self.fails))

    @property
    def terms(self) -> tuple[Term, ...]:
        """All conditions and values of the declaration."""
        declared = (*self.effects, *self.results)
        duration = (self.duration,) if isinstance(self.duration, Term) else ()
        return (*self.refusals, *duration, *(term for part in declared for term in part.terms()))

    @property
    def revealing_results(self) -> tuple[RowsResult | KeyResult, ...]:
        """The results that show keys to the caller: rows with their key, and the key of a new row."""
        return (*self.lookups, *(result for result in self.results if isinstance(result, KeyResult)))

    @property
    def lookups(self) -> tuple[RowsResult, ...]:
        """The results in which a caller finds a row by its content and reads its key."""
        rows = (result for result in self.results if isinstance(result, RowsResult) and result.reveals_key)
        return tuple(result for result in rows if result.entity.key in result.fields)

    @property
    def listings(self) -> tuple[RowsResult, ...]:
        """The results that list rows with their keys."""
        rows = (result for result in self.results if isinstance(result, RowsResult) and not result.single)
        return tuple(result for result in rows if result.entity.key in result.fields)

    @property
    def referred_tables(self) -> frozenset[str]:
        """The tables of whose rows a call names keys."""
        sources = (parameter.source for parameter in self.parameters)
        return frozenset(source.entity.table for source in sources if isinstance(source, FromLookup))

    @property
    def written_tables(self) -> frozenset[str]:
        return frozenset(effect.entity.table for effect in self.effects)


def _may_be(result: Result, value: Json) -> bool:
    """Whether a recorded value can be that of a result."""
    if isinstance(result, RowsResult):
        rows = recorded_rows(result, value)
        return rows is not None and (not result.single or any(name in row for row in rows for name in result.fields))
    try:
        result.type.decode(value)
    except WrongValue:
        return False
    return True
