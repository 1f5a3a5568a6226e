"""The deletion check: delete each compliance call of each reference program and judge the rest."""

from collections.abc import Callable, Sequence

from lawtrace.environments.sandbox import Jail
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.runs.stages.program_execution import run_program
from lawtrace.runs.tasks import Task
from lawtrace.schemas.findings import DeletionCheck
from lawtrace.solver.traces import print_program, without_call


def check_deletions(
    environment: Environment, tasks: Sequence[Task], jail: Jail, on_task: Callable[[], None] = lambda: None
) -> DeletionCheck:
    """Count the single deletions that make the verdict unsafe, and list the others (``task: deleted call``)."""
    deletions, unsafe, survivors = 0, 0, list[str]()
    for task in tasks:
        calls = task.planned
        for number, call in enumerate(calls):
            if call.event.tool not in environment.compliance_tools:
                continue
            deletions += 1
            program = print_program(environment, without_call(calls, number))
            ran = run_program(jail, environment, task.initial(environment), program, {})
            if any(verdict.broken for verdict in judge_rules(task.rules, ran.events, (), end=ran.end)):
                unsafe += 1
            else:
                survivors.append(f"{task.id}: {call.event.tool}, call {number + 1}")
        on_task()
    return DeletionCheck(deletions, unsafe, tuple(survivors))
