"""Denied sessions: variants of tasks in which authorization is refused and the correct behaviour is to stop.

The twin of a task has the same instruction and the same state, except that the session is not authorized. Its reference
asks for authorization, is refused, and stops; its target is an unchanged state. Its rules also include strengthened
forms that require the check to be passed (`lawtrace.solver.rule_transforms`).
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.simulation import simulate_call
from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.sandbox import Sandbox
from lawtrace.environments.spec.compliance import AUTHORIZATION_TOOL, AUTHORIZED
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import ValueResult
from lawtrace.environments.spec.state import Row, State, encode_state
from lawtrace.environments.spec.terms import tables_of
from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.runs.stages.execution import run_program
from lawtrace.runs.tasks import Task
from lawtrace.schemas.choices import TaskVariant
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.task_rows import CallRow
from lawtrace.solver.rule_transforms import strengthen_authorization_rules
from lawtrace.solver.traces import PlannedCall, print_program

if TYPE_CHECKING:  # a recipe is checked without it
    from lawtrace.runs.stages.tasks_stage import BuiltTasks


def add_denied_sessions(
    environment: Environment, built: "BuiltTasks", variants: Collection[TaskVariant], sandbox: Sandbox
) -> "BuiltTasks":
    """The built tasks of the requested variants: the authorized tasks, then their twins where possible.

    Raises InputError if the environment does not declare what an authorized session is.
    """
    tasks = list(built.tasks) if "authorized" in variants else []
    dropped = Counter(built.dropped)
    for task in built.tasks if "denied" in variants else ():
        twin = _denied_task(environment, task)
        reason = _rejection_reason(environment, task, twin, sandbox)
        if reason is None:
            tasks.append(twin)
        else:
            dropped[reason] += 1
    return replace(built, tasks=tasks, dropped=dropped)


def deny_authorization(environment: Environment, state: State) -> State:
    """The same state in a session that is not authorized.

    Raises InputError if the environment has no `AUTHORIZATION_TOOL`, or if the tool's result is not read from a field
    ``authorized`` of one table.
    """
    tool = environment.tools.get(AUTHORIZATION_TOOL)
    results = tool.results if tool else ()
    tables = {
        table
        for result in results
        if isinstance(result, ValueResult) and result.name == AUTHORIZED
        for table in tables_of(result.term)
        if AUTHORIZED in environment.entities[table].fields
    }
    for table in tables:
        rows = tuple(Row({**row.values, AUTHORIZED: False}, row.present) for row in state.tables[table])
        denied = state.with_table(table, rows)
        event, _ = simulate_call(environment, denied, AUTHORIZATION_TOOL, {}, environment.clock.start(denied))
        if event.completed and event.result == {AUTHORIZED: False}:
            return denied
    raise InputError(
        f"environment {environment.name!r}: a denied session needs a tool {AUTHORIZATION_TOOL} whose result "
        f"{AUTHORIZED!r} is read from a field {AUTHORIZED!r} of its session; see environments/spec/compliance.py"
    )


def _denied_task(environment: Environment, task: Task) -> Task:
    rules = (*task.rules, *strengthen_authorization_rules(task.rules))
    session = Session(environment, deny_authorization(environment, task.initial(environment)))
    initial = session.state
    asked = PlannedCall(session.call(AUTHORIZATION_TOOL, {}).event, {})
    return task.model_copy(
        update={
            "id": f"{task.id}-denied",
            "variant": "denied",
            "rules": rules,
            "initial_state": encode_state(initial, environment.entities),
            "target_state": encode_state(session.state, environment.entities),
            "ends": (),
            "applicable": tuple(
                verdict.rule for verdict in judge_rules(rules, session.events, (), end=session.end) if verdict.triggered
            ),
            "calls": (CallRow(event=asked.event, origins={}),),
            "asked_calls": task.calls,
            "program": print_program(environment, [asked]),
        }
    )


def _rejection_reason(environment: Environment, task: Task, twin: Task, sandbox: Sandbox) -> str | None:
    """Why the twin cannot be judged reliably; None if it can."""
    initial = twin.initial(environment)
    stopped = run_program(sandbox, environment, initial, twin.program, {})
    if stopped.execution.died or compare_states(environment, initial, twin.target(environment), stopped.final):
        return "denied: its reference does not stop with everything as it was"
    if not all(verdict.kept for verdict in judge_rules(twin.rules, stopped.events, (), end=stopped.end)):
        return "denied: a rule is broken by stopping"
    # Continuing as if authorized must break a rule; otherwise the rules do not distinguish the variants.
    carried_on = run_program(sandbox, environment, initial, task.program, {})
    if not any(verdict.broken for verdict in judge_rules(twin.rules, carried_on.events, (), end=carried_on.end)):
        return "denied: no rule asks for authorization"
    return None
