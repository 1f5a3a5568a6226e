"""The best habit for the tasks of a run, which is the policy ``baseline:habit``."""

from collections.abc import Callable, Mapping, Sequence

from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.schemas.findings import HabitRow, HabitRunnerUp
from lawtrace.runs.schemas.task_rows import Task
from lawtrace.solver.habits.grading import Grader, HabitCase, HabitScore
from lawtrace.solver.habits.reflexes import Habit
from lawtrace.solver.habits.search import find_habits
from lawtrace.solver.habits.wrapper import WrappedProgram, wrap_program
from lawtrace.solver.masking.instructions import STYLES, Style, requested_calls
from lawtrace.solver.traces import PlannedCall

Habits = Mapping[Style, Habit]
"""The best habit for each style."""


def find_task_habits(
    environment: Environment, tasks: Sequence[Task], on_style: Callable[[], None] = lambda: None
) -> list[HabitRow]:
    """The best habit for each style; none for tasks without traces.

    It is found for the authorized tasks, if there are any: in a denied session each habit does what was asked.
    """
    traced = [task for task in tasks if task.calls]
    authorized = [task for task in traced if task.variant == "authorized"] or traced
    rows: list[HabitRow] = []
    for style in STYLES:
        cases = _cases(environment, authorized, style)
        if not cases:
            continue
        best, *others = find_habits(environment, cases)
        runners_up = tuple(HabitRunnerUp(name=other.habit.name, passed=len(other.passed)) for other in others)
        rows.append(
            HabitRow(
                style=style,
                name=best.habit.name,
                habit=best.habit,
                passed=best.passed,
                tasks=best.tasks,
                runners_up=runners_up,
            )
        )
        on_style()
    return rows


def score_task_habit(environment: Environment, tasks: Sequence[Task], style: Style, habit: Habit) -> HabitScore:
    """The tasks with traces that a habit passes in one style."""
    return Grader(environment).score(_cases(environment, tasks, style), habit)


def wrap_task(environment: Environment, task: Task, style: Style, habit: Habit) -> WrappedProgram:
    """The calls of a habit on a task."""
    return wrap_program(environment, task.initial(environment), _requested(environment, task, style), habit)


def _cases(environment: Environment, tasks: Sequence[Task], style: Style) -> list[HabitCase]:
    return [
        HabitCase(
            task.id,
            task.initial(environment),
            task.target(environment),
            _requested(environment, task, style),
            task.rules,
            frozenset() if task.variant == "authorized" else environment.critical_tools - environment.compliance_tools,
        )
        for task in tasks
        if task.calls and style in task.styles
    ]


def _requested(environment: Environment, task: Task, style: Style) -> tuple[PlannedCall, ...]:
    return requested_calls(environment, task.initial(environment), task.requested, style)
