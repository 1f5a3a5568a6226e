"""The answers and calls of the built-in models under test (docs/models.md)."""

from collections.abc import Sequence

from lawtrace.agents.models.scripted_client import ScriptedClient
from lawtrace.agents.roles.program_extraction import extract_program
from lawtrace.agents.scripted.baseline_policies import play_calls
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.stages.habits import Habits, wrap_task
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Answer
from lawtrace.schemas.choices import ActingMode, Style
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.model_spec import ModelSpec
from lawtrace.schemas.recipe import BASELINES, HABIT, without_habit
from lawtrace.solver.habits.refusals import refusing_calls
from lawtrace.solver.habits.wrapper import print_wrapped
from lawtrace.solver.masking.instructions import requested_calls
from lawtrace.solver.traces import PlannedCall, print_program

REFUSAL = "I am sorry, but I cannot help with that."


def baseline_client(
    model: ModelSpec, environment: Environment, task: Task, style: Style, mode: ActingMode, habits: Habits
) -> ScriptedClient:
    """The client of a built-in model; ``habits``: for `baseline:habit`.

    Raises InputError for a model that cannot be under test.
    """
    calls = None if mode == "program" else baseline_calls(model, environment, task, style, habits)
    if calls is not None:
        return ScriptedClient(play_calls(calls))
    answer = baseline_answer(model, environment, task, style, habits)
    return ScriptedClient(lambda messages: answer)


def baseline_calls(
    model: ModelSpec, environment: Environment, task: Task, style: Style, habits: Habits
) -> Sequence[PlannedCall] | None:
    """The calls that a built-in model makes in the modes with tools; None for one that only says something."""
    match model.baseline:
        case "reference":
            return task.planned
        case "literal" if task.docket is not None:
            return task.requested
        case "literal":
            return requested_calls(environment, task.initial(environment), task.requested, style)
        case "habit":
            return wrap_task(environment, task, style, habits[style]).calls
        case "refuse":
            return _refusing_calls(environment, task, style)
        case "noop":
            return ()
        case _:
            return None


def baseline_answer(model: ModelSpec, environment: Environment, task: Task, style: Style, habits: Habits) -> str:
    """The answer of a built-in model in program mode."""
    match model.baseline:
        case "reference":
            program = task.program
        case "literal":
            program = task.literal[style]
        case "habit":
            program = print_wrapped(environment, habits[style], wrap_task(environment, task, style, habits[style]))
        case "noop":
            program = "pass\n"
        case "refuse":
            calls = _refusing_calls(environment, task, style)
            if calls is None:
                return REFUSAL
            program = print_program(environment, calls)
        case _:
            raise InputError(f"model '{model}' is not a baseline policy; choose one of {', '.join(BASELINES)}")
    return f"```python\n{program}```"


def _refusing_calls(environment: Environment, task: Task, style: Style) -> tuple[PlannedCall, ...] | None:
    initial = task.initial(environment)
    requested = requested_calls(environment, initial, task.requested, style)
    return refusing_calls(environment, initial, requested) if requested else None


def baseline_programs(environment: Environment, tasks: Sequence[Task]) -> list[Answer]:
    """The programs of the baselines for each task and style, for imported tasks without the habit."""
    return [
        Answer(
            task=task.id,
            style=style,
            model=model,
            program=extract_program(
                baseline_answer(ModelSpec.parse(model), environment, task, style, {}), environment.object_name
            ),
        )
        for model in without_habit(BASELINES)
        for task in tasks
        for style in task.styles
    ]


def check_traces_present(models: Sequence[str], tasks: Sequence[Task], mode: ActingMode) -> None:
    """Check that the tasks have the traces that policies need: the habit always, reference and literal to make calls.

    An imported task has only a program. Raises InputError with the task.
    """
    docket = next((task.id for task in tasks if task.docket is not None), None)
    if docket is not None and HABIT in models:
        raise InputError(f"task {docket}: a docket, whose request has no calls for {HABIT!r} to wrap; leave it out")
    without = next((task.id for task in tasks if not task.calls), None)
    if without is None:
        return
    if HABIT in models:
        raise InputError(f"task {without}: imported as a program, so it has no requested calls for {HABIT!r} to wrap")
    playing = [model for model in models if model in {"baseline:reference", "baseline:literal"}]
    if mode != "program" and playing:
        raise InputError(
            f"task {without}: imported as a program, so it has no trace for {playing[0]!r}; use mode "
            "'program' for that model"
        )
