"""Tasks to attempts: the model under test is asked, its program runs in the jail."""

from collections.abc import Callable, Sequence

from agents.clients.errors import CallFailed
from agents.clients.recording import RecordedClient
from agents.clients.scripted import ScriptedClient
from agents.clients.spec import ModelParameters, ModelSpec
from agents.clients.stack import ModelClients
from agents.conversations.executing import ask_for_program
from agents.ledger import Context, Ledger
from agents.roles.executor import extract_program
from environments.catalogue import Setting
from environments.declaration import Environment
from environments.errors import InputError
from environments.events import Json
from environments.jail import Jail
from environments.state import encode_state
from runs.grading.execution import run_program
from runs.recipe import AttemptOptions
from runs.side_by_side import side_by_side
from runs.stages.rows import AttemptRow, ProgramRow, TaskRow
from solver.masking import Style

__all__ = ["ask_for_attempts", "check_tasks_exist", "run_answers", "run_programs"]


async def ask_for_attempts(
    setting: Setting,
    tasks: Sequence[TaskRow],
    options: AttemptOptions,
    *,
    clients: ModelClients,
    parameters: ModelParameters,
    ledger: Ledger,
    on_answer: Callable[[], None] = lambda: None,
) -> list[AttemptRow]:
    """One answer for every model, task, style and trial, in that order; many are asked at once, none has run yet."""

    async def ask(model: ModelSpec, task: TaskRow, style: Style, trial: int) -> AttemptRow:
        context = Context(
            stage="attempts",
            role="executor",
            model=str(model),
            task=task.id,
            style=style,
            conversation=str(model),
            trial=trial,
        )
        row = AttemptRow(task=task.id, style=style, model=str(model), trial=trial)
        hands_over = options.target_state and style == "goal"
        try:
            answer = await ask_for_program(
                setting.environment,
                setting.regulation,
                task.instructions[style],
                client=_client(model, task, style, context, clients, parameters),
                context=context,
                ledger=ledger,
                hints=options.hints,
                target_state=_handed_over(setting.environment, task) if hands_over else None,
            )
        except CallFailed as error:
            return row.model_copy(update={"invalid": f"endpoint: {error}"})
        finally:
            on_answer()
        program = extract_program(answer, setting.environment.object_name)
        return row.model_copy(update={"answer": answer, "program": program})

    return await side_by_side(
        ask(ModelSpec.parse(model), task, style, trial)
        for model in options.models
        for task in tasks
        for style in task.styles
        if style in options.styles
        for trial in range(options.trials)
    )


def run_answers(
    environment: Environment,
    tasks: Sequence[TaskRow],
    answers: Sequence[AttemptRow],
    jail: Jail,
    on_program: Callable[[], None] = lambda: None,
) -> list[AttemptRow]:
    """Run the program of each answer in the jail; rows come out in the order in which they came in."""
    by_id = {task.id: task for task in tasks}
    rows: list[AttemptRow] = []
    for answer in answers:
        rows.append(_run(environment, by_id[answer.task], answer, jail))
        on_program()
    return rows


def run_programs(
    environment: Environment,
    tasks: Sequence[TaskRow],
    programs: Sequence[ProgramRow],
    jail: Jail,
    on_program: Callable[[], None] = lambda: None,
) -> list[AttemptRow]:
    """Attempts from programs that are given, whose tasks there are (see `check_tasks_exist`)."""
    answers = [
        AttemptRow(
            task=row.task,
            style=row.style,
            model=row.model,
            trial=row.trial,
            program=row.program if row.program and row.program.strip() else None,
            invalid=row.invalid,
        )
        for row in programs
    ]
    return run_answers(environment, tasks, answers, jail, on_program)


def check_tasks_exist(tasks: Sequence[TaskRow], rows: Sequence[ProgramRow | AttemptRow], place: str) -> None:
    """Raises InputError for a row about a task, or a style of it, that there is not."""
    by_id = {task.id: task for task in tasks}
    for number, row in enumerate(rows, 1):
        if row.task not in by_id:
            raise InputError(f"{place}, row {number}: there is no task {row.task!r} in the file of tasks")
        if row.style not in by_id[row.task].instructions:
            raise InputError(f"{place}, row {number}: task {row.task!r} has no {row.style} instruction")


def _run(environment: Environment, task: TaskRow, answer: AttemptRow, jail: Jail) -> AttemptRow:
    if answer.program is None or answer.invalid is not None:
        return answer
    variables = task.instructions[answer.style].variables
    ran = run_program(jail, environment, task.initial(environment), answer.program, variables)
    final = encode_state(ran.final, environment.entities)
    return answer.model_copy(update={"execution": ran.execution, "events": ran.events, "final_state": final})


def _client(
    model: ModelSpec, task: TaskRow, style: Style, context: Context, clients: ModelClients, parameters: ModelParameters
) -> RecordedClient:
    if not model.built_in:
        return clients.client_for(model, context, parameters)
    answer = built_in_answer(model, task, style)
    return clients.wrap(ScriptedClient(lambda messages: answer), model, context, parameters)


def built_in_answer(model: ModelSpec, task: TaskRow, style: Style) -> str:
    """What a built-in model under test says: DESIGN.md section 3, *Models are named, not coded*."""
    match model.provider:
        case "reference":
            return _fenced(task.program)
        case "business":
            return _fenced(task.business[style])
        case "idle":
            return _fenced("pass\n")
        case "refuse":
            return "I am sorry, but I cannot help with that."
        case _:
            raise InputError(f"model '{model}' cannot be put under test; name an endpoint or reference, business, ...")


def _fenced(program: str) -> str:
    return f"```python\n{program}```"


def _handed_over(environment: Environment, task: TaskRow) -> dict[str, Json]:
    return {table: rows for table, rows in task.target_state.items() if table not in environment.compliance_tables}
