"""The rows of the stage files between tools and attempts: traces and tasks.

States and results appear in outside form (JSON as the tools show it), so that a file can be read without lawtrace.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State, decode_state, encode_state
from lawtrace.schemas.choices import STYLES, Style, TaskMode, TaskVariant
from lawtrace.schemas.events import Event, Json, Origin
from lawtrace.solver.masking.instructions import Instruction
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import PlannedCall, Trace

StateRow = dict[str, Json]


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Contrast(_Row):
    """What makes a contrast pair: one field of one row of the initial state.

    Attributes:
        pair: the id of the pair; its two sides have the same.
        fact: the name of the fact that differs.
        table, key, field: where it is.
        value: on this side, as JSON; ``other``: on the other side.
        declined: why nothing lawful does what is asked on this side, one obstacle each; empty where something does.
        longest: up to how many calls that is proved; None where something lawful does it.
    """

    pair: str
    fact: str
    table: str
    key: str
    field: str
    value: Json
    other: Json
    declined: tuple[str, ...] = ()
    longest: int | None = None


def request_id(row: "TraceRow | _TaskFields") -> str:
    """The same for the sides of a contrast pair, which are one request; another for each other trace or task."""
    return row.id if row.contrast is None else f"pair {row.contrast.pair}"


class CallRow(_Row):
    """One call of a reference trace: the event and the origin of each argument."""

    event: Event
    origins: dict[str, Origin]


class TraceRow(_Row):
    """A reference trace with its initial and final state. The sides of a contrast pair follow each other, and the first
    carries the request out."""

    schema_version: Literal["lawtrace.trace/2"] = "lawtrace.trace/2"
    id: str
    environment: str
    mode: TaskMode
    initial_state: StateRow
    calls: tuple[CallRow, ...]
    final_state: StateRow
    contrast: Contrast | None = None

    @classmethod
    def of(
        cls,
        id: str,  # noqa: A002
        environment: Environment,
        mode: TaskMode,
        trace: Trace,
        contrast: Contrast | None = None,
    ) -> "TraceRow":
        return cls(
            id=id,
            environment=environment.name,
            mode=mode,
            initial_state=encode_state(trace.initial, environment.entities),
            calls=tuple(CallRow(event=call.event, origins=dict(call.origins)) for call in trace.calls),
            final_state=encode_state(trace.final, environment.entities),
            contrast=contrast,
        )

    def trace(self, environment: Environment) -> Trace:
        return Trace(
            decode_state(self.initial_state, environment.entities),
            tuple(PlannedCall(call.event, call.origins) for call in self.calls),
            decode_state(self.final_state, environment.entities),
        )


class PublishedCase(_Row):
    """Data of an imported task for the `published` grading profile, as published.

    Attributes:
        object_name: the name under which published programs find the tools.
        variables: the variables of its init block.
        initial_state: the published initial state.
        final_state: the expected one, with the audit log.
        claimed_rules: ids of the rules that the task claims to test, triggered or not.
    """

    object_name: str
    variables: dict[str, Json]
    initial_state: StateRow
    final_state: StateRow
    claimed_rules: tuple[str, ...] = ()


class _TaskFields(_Row):
    """The fields of a task and of its row, see `Task`."""

    schema_version: Literal["lawtrace.task/2"] = "lawtrace.task/2"
    id: str
    variant: TaskVariant = "authorized"
    source: str = "synthesized"
    environment: str
    applicable: tuple[str, ...]
    initial_state: StateRow
    target_state: StateRow
    calls: tuple[CallRow, ...] = ()
    asked_calls: tuple[CallRow, ...] = ()
    contrast: Contrast | None = None
    program: str
    literal: dict[Style, str] = Field(default_factory=dict[Style, str])
    instructions: dict[Style, Instruction]
    rounds: dict[Style, int] = Field(default_factory=dict[Style, int])
    notes: tuple[str, ...] = ()
    published: PublishedCase | None = None

    def _common(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _TaskFields.model_fields}


class TaskRow(_TaskFields):
    """A task as a row of a task file. Its rules are in the header of the file, under the digest ``rule_set``."""

    rule_set: str

    def task(self, rules: tuple[Rule, ...]) -> "Task":
        return Task.model_construct(rules=rules, **self._common())


class Task(_TaskFields):
    """A task in both styles: a pair over one reference trace.

    Attributes:
        variant: authorized or denied; rates never mix the two.
        source: ``synthesized``, or the publication of an imported task.
        applicable: the ids of the rules that are triggered on the reference trace.
        calls: the reference trace; empty for an imported task.
        asked_calls: where the reference declines what is asked, the trace that the request was made from.
        contrast: the contrast pair that the task is a side of; None if it is in none.
        program: the reference program, printed from the trace.
        literal: style -> the literal program, which makes only the requested calls.
        rounds: style -> number of rounds of its conversation.
        notes: changes and findings of an import, in sentences.
        published: data of an imported task for the `published` profile; None for others.
        rules: the whole rule set; every rule judges an attempt.
    """

    rules: tuple[Rule, ...]

    def row(self, rule_set: str) -> TaskRow:
        return TaskRow.model_construct(rule_set=rule_set, **self._common())

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> "Task":
        """As in pydantic, without the cached values, which may be wrong for the copy."""
        copied = super().model_copy(update=update, deep=deep)
        for name in ("_states", "styles"):
            vars(copied).pop(name, None)
        return copied

    def initial(self, environment: Environment) -> State:
        return self._decoded(environment)[0]

    def target(self, environment: Environment) -> State:
        return self._decoded(environment)[1]

    def _decoded(self, environment: Environment) -> tuple[State, State]:
        """Both states in inside form, cached because one task judges many attempts."""
        if environment not in self._states:
            entities = environment.entities
            initial, target = decode_state(self.initial_state, entities), decode_state(self.target_state, entities)
            self._states[environment] = (initial, target)
        return self._states[environment]

    @cached_property
    def _states(self) -> dict[Environment, tuple[State, State]]:
        return {}

    @property
    def planned(self) -> tuple[PlannedCall, ...]:
        """The calls of the reference trace."""
        return tuple(PlannedCall(call.event, call.origins) for call in self.calls)

    @property
    def requested(self) -> tuple[PlannedCall, ...]:
        """The calls of the trace that the request was made from; not the reference where that declines it."""
        calls = self.asked_calls or self.calls
        return tuple(PlannedCall(call.event, call.origins) for call in calls)

    @property
    def declined(self) -> bool:
        """Whether the reference declines what is asked, because there is no lawful way to do it."""
        return bool(self.asked_calls)

    @property
    def scenario(self) -> str:
        """The group of the task in tables: its environment, with denied sessions apart."""
        return self.environment if self.variant == "authorized" else f"{self.environment}, denied"

    @cached_property
    def styles(self) -> tuple[Style, ...]:
        return tuple(style for style in STYLES if style in self.instructions)
