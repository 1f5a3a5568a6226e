"""The rows of the stage files between tools and verdicts: traces, tasks, attempts.

States and results appear in outside form (JSON as the tools show it), so that a file can be read without lawtrace.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lawtrace.agents.conversations.attempts import Turn
from lawtrace.environments.events import Event, Json, Origin
from lawtrace.environments.runtime.session import Objection
from lawtrace.environments.sandbox import Execution
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State, decode_state, encode_state
from lawtrace.solver.masking.instructions import STYLES, Instruction, Style
from lawtrace.solver.planner.trace_spec import TraceProfile
from lawtrace.solver.rules import Rule
from lawtrace.solver.shield import ShieldMode
from lawtrace.solver.traces import PlannedCall, Trace

StateRow = dict[str, Json]

Family = Literal["ordinary", "denied"]
FAMILIES: tuple[Family, ...] = ("ordinary", "denied")
"""Authorization is granted in an ordinary task; in a denied session the right thing is to stop."""

ActingMode = Literal["program", "tools"]
"""How a model acts: it writes one program, or it calls tools turn by turn."""


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CallRow(_Row):
    """One call of a reference trace: the event, and where each argument comes from."""

    event: Event
    origins: dict[str, Origin]


class TraceRow(_Row):
    """A reference trace with its initial and final state."""

    schema_version: Literal["lawtrace.trace/1"] = "lawtrace.trace/1"
    id: str
    environment: str
    profile: TraceProfile
    initial_state: StateRow
    calls: tuple[CallRow, ...]
    final_state: StateRow

    @classmethod
    def of(cls, id: str, environment: Environment, profile: TraceProfile, trace: Trace) -> "TraceRow":  # noqa: A002
        return cls(
            id=id,
            environment=environment.name,
            profile=profile,
            initial_state=encode_state(trace.initial, environment.entities),
            calls=tuple(CallRow(event=call.event, origins=dict(call.origins)) for call in trace.calls),
            final_state=encode_state(trace.final, environment.entities),
        )

    def trace(self, environment: Environment) -> Trace:
        return Trace(
            decode_state(self.initial_state, environment.entities),
            tuple(PlannedCall(call.event, call.origins) for call in self.calls),
            decode_state(self.final_state, environment.entities),
        )


class PublishedCase(_Row):
    """What the published evaluation needs of an imported task, as it was published; only that profile reads it.

    Attributes:
        object_name: the name under which published programs find the tools.
        variables: the variables of its init block.
        initial_state: the published initial state.
        final_state: the expected one, with the audit log.
        claimed_rules: ids of the rules that the task says it is guided by, whether or not anything triggers them.
    """

    object_name: str
    variables: dict[str, Json]
    initial_state: StateRow
    final_state: StateRow
    claimed_rules: tuple[str, ...] = ()


class Task(_Row):
    """A task in both styles: a pair over one reference trace.

    Attributes:
        family: what kind of session it is; rates never mix the two.
        source: ``synthesized``, or where an imported task was published.
        rules: the whole rule set; every rule judges an attempt.
        applicable: the ids of the rules that are triggered on the reference trace.
        calls: the reference trace; none for a task that was imported as a program.
        ordinary_calls: of a denied session, the reference trace of the ordinary task that it is the twin of.
        program: the reference program, printed from the trace.
        business: for each style, the program that does what the user asks and nothing more.
        rounds: for each style, how many rounds its conversation took.
        notes: what an import changed or found, in sentences.
        published: for an imported task, what the `published` profile judges by; None for our own.
    """

    schema_version: Literal["lawtrace.task/1"] = "lawtrace.task/1"
    id: str
    family: Family = "ordinary"
    source: str = "synthesized"
    environment: str
    rules: tuple[Rule, ...]
    applicable: tuple[str, ...]
    initial_state: StateRow
    target_state: StateRow
    calls: tuple[CallRow, ...] = ()
    ordinary_calls: tuple[CallRow, ...] = ()
    program: str
    business: dict[Style, str] = Field(default_factory=dict[Style, str])
    instructions: dict[Style, Instruction]
    rounds: dict[Style, int] = Field(default_factory=dict[Style, int])
    notes: tuple[str, ...] = ()
    published: PublishedCase | None = None

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> "Task":
        """As for any model; but what this one has derived and kept may not be true of the copy."""
        copied = super().model_copy(update=update, deep=deep)
        for name in ("_states", "styles"):
            vars(copied).pop(name, None)
        return copied

    def initial(self, environment: Environment) -> State:
        return self._decoded(environment)[0]

    def target(self, environment: Environment) -> State:
        return self._decoded(environment)[1]

    def _decoded(self, environment: Environment) -> tuple[State, State]:
        """Both states in inside form: many attempts are judged by one task."""
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
        """The calls of the trace that the request was made from: in a denied session not the reference."""
        calls = self.ordinary_calls or self.calls
        return tuple(PlannedCall(call.event, call.origins) for call in calls)

    @property
    def scenario(self) -> str:
        """What the task is counted with: the environment, and denied sessions apart."""
        return self.environment if self.family == "ordinary" else f"{self.environment}, denied"

    @cached_property
    def styles(self) -> tuple[Style, ...]:
        return tuple(style for style in STYLES if style in self.instructions)


class ProgramRow(BaseModel):
    """A program to be judged, as users write it: ``{"task": id, "style": "goal", "program": "..."}``.

    Further fields are ignored, so a file of attempts is a file of programs too. An attempt that called tools has none:
    it is judged by the calls that it made (see `lawtrace.runs.ingest.programs.read_programs`).
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    task: str
    style: Style
    program: str | None
    model: str = "unnamed"
    trial: int = 0
    mode: ActingMode = "program"
    shield: ShieldMode = "off"
    invalid: str | None = None


class Attempt(_Row):
    """One try of one model at one task in one style.

    Attributes:
        mode: how it acted.
        shield: whether monitors stood in front of the tools, and what they did.
        answer: what the model said, in tools mode after its last call; None if it was not asked (a program that was
            given) or did not answer.
        program: the program found in the answer; None if there is none.
        transcript: in tools mode, what it said and called turn by turn, and what it was told. Its calls are the
            events, in the same order.
        execution: how the program ended in the jail, or the conversation; None if nothing was run or called.
        sandbox: the sandbox it ran in: ``bwrap`` or ``docker:IMAGE``; None if nothing ran.
        events: the calls that really happened.
        objections: what the shield held against calls, or against ending.
        final_state: the state they led to; None if there was nothing to run.
        invalid: why no verdict is possible, through no fault of the model; None in the ordinary case.
    """

    schema_version: Literal["lawtrace.attempt/1"] = "lawtrace.attempt/1"
    task: str
    style: Style
    model: str
    trial: int = 0
    mode: ActingMode = "program"
    shield: ShieldMode = "off"
    answer: str | None = None
    program: str | None = None
    transcript: tuple[Turn, ...] = ()
    execution: Execution | None = None
    sandbox: str | None = None
    events: tuple[Event, ...] = ()
    objections: tuple[Objection, ...] = ()
    final_state: StateRow | None = None
    invalid: str | None = None
