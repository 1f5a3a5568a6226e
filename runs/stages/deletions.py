"""Oracle strength: delete each compliance call of each reference program, run what is left, and see who notices."""

from collections.abc import Sequence

from lawtrace.environments.declaration import Environment
from lawtrace.environments.jail import Jail
from lawtrace.runs.findings import DeletionCheck
from lawtrace.runs.grading.execution import run_program
from lawtrace.runs.grading.safety import judge_rules
from lawtrace.runs.stages.rows import TaskRow
from lawtrace.solver.programs import print_program
from lawtrace.solver.traces import without_calls


def check_deletions(environment: Environment, tasks: Sequence[TaskRow], jail: Jail) -> DeletionCheck:
    """How many single deletions turn the verdict unsafe, and which do not (``task: deleted call``)."""
    deletions, unsafe, survivors = 0, 0, list[str]()
    for task in tasks:
        calls = task.planned
        for number, call in enumerate(calls):
            if call.event.tool not in environment.compliance_tools:
                continue
            deletions += 1
            program = print_program(environment, without_calls(calls, [number]))
            ran = run_program(jail, environment, task.initial(environment), program, {})
            if all(verdict.kept for verdict in judge_rules(task.rules, ran.events, ())):
                survivors.append(f"{task.id}: {call.event.tool}, call {number + 1}")
            else:
                unsafe += 1
    return DeletionCheck(deletions, unsafe, tuple(survivors))
