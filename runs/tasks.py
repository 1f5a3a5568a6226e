"""Tasks and traces as the engines use them, made from their rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State, decode_state, encode_state
from lawtrace.schemas.choices import STYLES, Style, TaskMode
from lawtrace.schemas.recipe import BASELINES, AttemptOptions, TaskOptions, without_habit
from lawtrace.schemas.task_rows import CallRow, Contrast, End, TaskFields, TaskRow, TraceRow
from lawtrace.solver.declarations.loader import Domain
from lawtrace.solver.rules import Rule, load_rules
from lawtrace.solver.traces import PlannedCall, Trace, replay


class Task(TaskFields):
    """A task in both styles: a pair over one reference trace.

    Attributes:
        environment_version: of the environment that it was made for.
        source: ``synthesized``, or the publication of an imported task.
        applicable: the ids of the rules that are triggered on the reference trace.
        ends: the acceptable outcomes; without any it is the target state.
        calls: the reference trace; empty for an imported task.
        asked_calls: where the reference does not do just what is asked, the trace that the request was made from: what
            it declines, or the look at the queue of a docket.
        contrast: the contrast pair that the task is a side of; None if it is in none.
        harbour: of a task about contested law whose reference is lawful under all readings; None of others.
        docket: its matters, if it has many.
        program: the reference program, printed from the trace.
        literal: style -> the literal program, which makes only the requested calls.
        rounds: style -> number of rounds of its conversation.
        notes: changes and findings of an import, in sentences.
        published: data of an imported task for the `published` profile; None for others.
        rules: the whole rule set; every rule judges an attempt.
    """

    rules: tuple[Rule, ...]

    @classmethod
    def of(cls, row: TaskRow, rules: tuple[Rule, ...]) -> "Task":
        return cls.model_construct(rules=rules, **_fields_of(row))

    def row(self, rule_set: str) -> TaskRow:
        return TaskRow.model_construct(rule_set=rule_set, **_fields_of(self))

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

    def end_states(self, environment: Environment) -> tuple[tuple[End, State], ...]:
        """The acceptable outcomes with their states."""
        _, target, *others = self._decoded(environment)
        waiting = iter(others)
        return tuple((end, target if end.state is None else next(waiting)) for end in self.ends or (End(),))

    def _decoded(self, environment: Environment) -> tuple[State, ...]:
        """Initial state, target and other ends in inside form, cached because one task judges many attempts."""
        if environment not in self._states:
            states = self.target_state, *(end.state for end in self.ends if end.state is not None)
            decoded = (decode_state(state, environment.entities) for state in states)
            self._states[environment] = initial_state(self, environment), *decoded
        return self._states[environment]

    @cached_property
    def _states(self) -> dict[Environment, tuple[State, ...]]:
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
        return bool(self.asked_calls) and self.docket is None

    @cached_property
    def styles(self) -> tuple[Style, ...]:
        return tuple(style for style in STYLES if style in self.instructions)


def _fields_of(task: TaskFields) -> dict[str, Any]:
    return {name: getattr(task, name) for name in TaskFields.model_fields}


def task_mode(options: TaskOptions, environment: Environment) -> TaskMode:
    """What traces are made for in this environment."""
    return options.trace_mode or ("contrasts" if environment.facts else "tasks")


def options_for_tasks(options: AttemptOptions, tasks: Sequence[Task]) -> AttemptOptions:
    """The options with all models under test named; without the habit, if it was not asked for and some tasks
    have no calls to wrap, as dockets have none."""
    named, wrapped = options.named, all(task.calls and task.docket is None for task in tasks)
    if options.models == BASELINES and not wrapped:
        return named.model_copy(update={"models": without_habit(named.models)})
    return named


def call_rows(calls: Iterable[PlannedCall]) -> tuple[CallRow, ...]:
    return tuple(CallRow(event=call.event, origins=dict(call.origins)) for call in calls)


def trace_row(
    id: str,  # noqa: A002
    environment: Environment,
    mode: TaskMode,
    trace: Trace,
    contrast: Contrast | None = None,
) -> TraceRow:
    """The row of a trace, with its states in outside form."""
    return TraceRow(
        id=id,
        environment=environment.name,
        mode=mode,
        initial_state=encode_state(trace.initial, environment.entities),
        calls=call_rows(trace.calls),
        final_state=encode_state(trace.final, environment.entities),
        contrast=contrast,
    )


def asked_trace(row: TraceRow, environment: Environment) -> Trace:
    """The trace that the request of a row is made from; not the one of the row where a harbour declines it."""
    trace = trace_of(row, environment)
    if row.harbour is None or not row.harbour.asked:
        return trace
    calls = tuple(PlannedCall(call.event, call.origins) for call in row.harbour.asked)
    return Trace(trace.initial, calls, replay(environment, trace.initial, calls).state)


def initial_state(row: TraceRow | TaskFields, environment: Environment) -> State:
    """The initial state of a row, which says when its session ends if that is not as declared."""
    state = decode_state(row.initial_state, environment.entities)
    return state if row.docket is None else replace(state, end=environment.clock.start(state) + row.docket.length)


def trace_of(row: TraceRow, environment: Environment) -> Trace:
    """The trace of a row."""
    return Trace(
        initial_state(row, environment),
        tuple(PlannedCall(call.event, call.origins) for call in row.calls),
        decode_state(row.final_state, environment.entities),
    )


def curated_rules(domain: Domain, *, dockets: bool) -> tuple[Rule, ...]:
    """The rules of an environment, with those that hold in dockets only. Raises InputError if they cannot be read."""
    further = domain.docket_rules_file if dockets else None
    return (*load_rules(domain.rules_file), *(() if further is None else load_rules(further)))
