"""The best habit for the tasks of a run, which is the policy ``baseline:habit``."""

from collections.abc import Callable, Mapping, Sequence

from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.tasks import Task, trace_of
from lawtrace.schemas.choices import STYLES, Style
from lawtrace.schemas.findings import HabitRow, HabitRunnerUp
from lawtrace.schemas.habits import Habit
from lawtrace.schemas.task_rows import TraceRow
from lawtrace.solver.habits.grading import HabitCase, HabitScore
from lawtrace.solver.habits.search import find_habits, search_steps
from lawtrace.solver.habits.selection import Candidate, select_pairs
from lawtrace.solver.habits.wrapper import WrappedProgram, wrap_program
from lawtrace.solver.masking.instructions import requested_calls
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import PlannedCall, Trace, stated_reasons

Habits = Mapping[Style, Habit]
"""The best habit for each style."""


def habit_steps(tasks: Sequence[Task]) -> int:
    """How many steps of progress the search reports at most."""
    return len(STYLES) * search_steps(len(tasks))


def find_task_habits(
    environment: Environment, tasks: Sequence[Task], on_step: Callable[[], None] = lambda: None
) -> list[HabitRow]:
    """The best habit for each style; none for tasks without traces, and for dockets."""
    traced = [task for task in tasks if task.calls and task.docket is None]
    rows: list[HabitRow] = []
    searched: list[tuple[list[tuple[str, tuple[PlannedCall, ...]]], list[HabitScore]]] = []
    for style in STYLES:
        cases = _cases(environment, traced, style)
        if not cases:
            continue
        asked = [(case.id, case.requested) for case in cases]
        known = next((found for same, found in searched if same == asked), None)  # both styles may ask for the same
        found = known or find_habits(environment, cases, on_step=on_step)
        searched.append((asked, found))
        best, *others = found
        pairs = _pairs([task for task in traced if style in task.styles])
        runners_up = tuple(HabitRunnerUp(name=other.habit.name, passed=len(other.passed)) for other in others)
        rows.append(
            HabitRow(
                style=style,
                name=best.habit.name,
                habit=best.habit,
                passed=best.passed,
                tasks=best.tasks,
                pairs_passed=tuple(pair for pair, sides in pairs.items() if {*sides} <= {*best.passed}),
                pairs=len(pairs),
                runners_up=runners_up,
            )
        )
    return rows


def _pairs(tasks: Sequence[Task]) -> dict[str, list[str]]:
    """The ids of the sides of each contrast pair of which both sides are there."""
    sides: dict[str, list[str]] = {}
    for task in tasks:
        if task.contrast is not None:
            sides.setdefault(task.contrast.pair, []).append(task.id)
    return {pair: ids for pair, ids in sides.items() if len(ids) > 1}


def wrap_task(environment: Environment, task: Task, style: Style, habit: Habit) -> WrappedProgram:
    """The calls of a habit on a task."""
    return wrap_program(environment, task.initial(environment), _requested(environment, task, style), habit)


def select_requests(
    environment: Environment,
    rules: Sequence[Rule],
    requests: Sequence[tuple[TraceRow, ...]],
    count: int,
    on_round: Callable[[], None],
) -> list[int]:
    """The numbers of so many contrast pairs that habits pass least (`lawtrace.solver.habits.selection`).

    Of requests that say the same only the first can be selected.
    """
    said: dict[str, int] = {}
    asked: list[list[tuple[PlannedCall, ...]]] = []
    for number, (first, _) in enumerate(requests):
        trace = trace_of(first, environment)
        asked.append([requested_calls(environment, trace.initial, trace.calls, style) for style in STYLES])
        shown = [(call.event.tool, [call.event.arguments[name] for name in call.said]) for call in asked[-1][-1]]
        said.setdefault(repr(shown), number)
    numbers = sorted(said.values())
    styles = len(STYLES) if any(calls != one[0] for one in asked for calls in one) else 1
    candidates = [
        Candidate(
            tuple(_sides(environment, rules, calls, requests[number]) for calls in asked[number][:styles]),
            _features(environment, *requests[number]),
        )
        for number in numbers
    ]
    return [numbers[chosen] for chosen in select_pairs(environment, candidates, count, on_round=on_round)]


def _sides(
    environment: Environment, rules: Sequence[Rule], requested: tuple[PlannedCall, ...], rows: Sequence[TraceRow]
) -> tuple[HabitCase, ...]:
    """The sides of a contrast pair as a habit meets them."""
    return tuple(
        _case(
            row.id,
            trace_of(row, environment),
            requested,
            tuple(rules),
            declined=row.contrast is not None and bool(row.contrast.declined),
        )
        for row in rows
    )


def _features(environment: Environment, first: TraceRow, second: TraceRow) -> tuple[str, ...]:
    """What makes a contrast pair like others: its fact, its changes, both together, and the reason of its refusal."""
    assert first.contrast is not None
    changes = sorted(call.event.tool for call in first.calls if call.event.tool in environment.changing_tools)
    named = map(str, stated_reasons(environment, [call.event for call in second.calls]).values())
    fact = first.contrast.fact
    return (fact, " ".join(changes), *changes, *(f"{fact} {change}" for change in changes), *named)


def _cases(environment: Environment, tasks: Sequence[Task], style: Style) -> list[HabitCase]:
    return [
        _case(
            task.id,
            Trace(task.initial(environment), task.planned, task.target(environment)),
            _requested(environment, task, style),
            task.rules,
            declined=task.declined,
        )
        for task in tasks
        if task.calls and style in task.styles
    ]


def _case(
    id: str,  # noqa: A002
    trace: Trace,
    requested: tuple[PlannedCall, ...],
    rules: tuple[Rule, ...],
    *,
    declined: bool,
) -> HabitCase:
    """A reference trace as a habit meets it. `declined`: it does not make the requested calls."""
    reference = () if declined else trace.calls
    return HabitCase(id, trace.initial, trace.final, requested, rules, reference)


def _requested(environment: Environment, task: Task, style: Style) -> tuple[PlannedCall, ...]:
    return requested_calls(environment, task.initial(environment), task.requested, style)
