"""Tasks to attempts: the model under test writes a program, which runs in the jail, or calls tools."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from lawtrace.agents.conversations.attempts import ask_for_program, run_tool_conversation
from lawtrace.agents.event_log import Context, EventLog
from lawtrace.agents.model_spec import ModelParameters, ModelSpec
from lawtrace.agents.models.model_call import CallFailed
from lawtrace.agents.models.recording import RecordedClient
from lawtrace.agents.models.stack import ModelClients
from lawtrace.agents.roles.executor import Briefing, extract_program
from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Json
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.runtime.session import CallGuard, Session
from lawtrace.environments.sandbox import Execution, Jail, JailPool, JailUnavailable
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import encode_state
from lawtrace.prompts.loader import DEFAULT_PROMPTS, Prompts
from lawtrace.runs.recipe import AttemptOptions
from lawtrace.runs.schemas.task_rows import Attempt, ProgramRow, Task
from lawtrace.runs.stages.baseline_answers import baseline_client, check_traces_present
from lawtrace.runs.stages.concurrency import gather
from lawtrace.runs.stages.program_execution import run_program
from lawtrace.solver.masking.instructions import Style
from lawtrace.solver.shield import Shield, ShieldMode


async def collect_answers(
    setting: Domain,
    tasks: Sequence[Task],
    options: AttemptOptions,
    *,
    clients: ModelClients,
    parameters: ModelParameters,
    event_log: EventLog,
    prompts: Prompts = DEFAULT_PROMPTS,
    variant: str | None = None,
    on_answer: Callable[[], None] = lambda: None,
) -> list[Attempt]:
    """One answer for every model, task, style and trial, in that order, requested concurrently.

    In tools mode an answer is a whole attempt; in program mode its program has not run yet (see `execute_answers`).
    """
    if options.mode == "tools":
        check_traces_present(options.models, tasks)
    asking = _AnswerCollection(setting, options, clients, parameters, event_log, options.briefing(prompts), variant)

    async def ask(model: ModelSpec, task: Task, style: Style, trial: int) -> Attempt:
        name = clients.name_of(model, "executor")
        row = Attempt(task=task.id, style=style, model=name, trial=trial, mode=options.mode, shield=options.shield)
        answer = asking.for_calls if options.mode == "tools" else asking.for_program
        try:
            return await answer(model, task, row)
        except CallFailed as error:
            return row.model_copy(update={"invalid": f"endpoint: {error}"})
        finally:
            on_answer()

    return await gather(
        ask(ModelSpec.parse(model), task, style, trial)
        for model in options.models
        for task in tasks
        for style in task.styles
        if style in options.styles
        for trial in range(options.trials)
    )


@dataclass(frozen=True, slots=True)
class _AnswerCollection:
    """The shared context of the conversations of all attempts."""

    setting: Domain
    options: AttemptOptions
    clients: ModelClients
    parameters: ModelParameters
    event_log: EventLog
    briefing: Briefing
    variant: str | None

    async def for_program(self, model: ModelSpec, task: Task, row: Attempt) -> Attempt:
        """The row with the model's answer and its program."""
        context = _context(row, self.variant)
        answer = await ask_for_program(
            self.setting.environment,
            self.setting.regulation,
            task.instructions[row.style],
            client=self._client(model, task, context, row),
            context=context,
            event_log=self.event_log,
            briefing=self.briefing,
            target_state=self._handed_over(task, row.style),
        )
        program = extract_program(answer.text, self.setting.environment.object_name)
        return row.model_copy(update={"answer": answer.text, "program": program})

    async def for_calls(self, model: ModelSpec, task: Task, row: Attempt) -> Attempt:
        """The row with the model's calls. Without calls there is nothing to judge."""
        environment, context = self.setting.environment, _context(row, self.variant)
        session = Session(environment, task.initial(environment), _guard(row.shield, task, self.setting.regulation))
        acted = await run_tool_conversation(
            session,
            self.setting.regulation,
            task.instructions[row.style],
            client=self._client(model, task, context, row),
            context=context,
            event_log=self.event_log,
            limits=self.options.tools.limits(),
            briefing=self.briefing,
            target_state=self._handed_over(task, row.style),
        )
        last = acted.turns[-1]
        row = row.model_copy(update={"transcript": acted.turns, "answer": None if last.calls else last.text})
        if not session.events:
            return row
        return row.model_copy(
            update={
                "execution": Execution(acted.end, acted.reason, None, None, "", len(session.events)),
                "events": tuple(session.events),
                "objections": tuple(session.objections),
                "final_state": encode_state(session.state, environment.entities),
            }
        )

    def _client(self, model: ModelSpec, task: Task, context: Context, row: Attempt) -> RecordedClient:
        if not model.is_scripted:
            return self.clients.client_for(model, context, self.parameters)
        scripted = baseline_client(model, self.setting.environment, task, row.style, row.mode)
        return self.clients.wrap(scripted, model, context, self.parameters)

    def _handed_over(self, task: Task, style: Style) -> dict[str, Json] | None:
        if not self.options.target_state or style != "goal":
            return None
        hidden = self.setting.environment.compliance_tables
        return {table: rows for table, rows in task.target_state.items() if table not in hidden}


def _context(row: Attempt, variant: str | None) -> Context:
    return Context(
        stage="attempts",
        role="executor",
        model=row.model,
        task=row.task,
        style=row.style,
        tested_model=row.model,
        trial=row.trial,
        variant=variant,
    )


def execute_answers(
    environment: Environment,
    tasks: Sequence[Task],
    answers: Sequence[Attempt],
    jails: JailPool,
    on_program: Callable[[], None] = lambda: None,
    *,
    regulation: Regulation | None = None,
) -> list[Attempt]:
    """Run the program of each answer in a jail; the order of rows is kept.

    ``regulation``: the text of the provisions that a shield cites; needed by rows with a shield.
    """
    by_id = {task.id: task for task in tasks}
    rows: list[Attempt] = []

    def run(jail: Jail, answer: Attempt) -> Attempt:
        return _run(environment, by_id[answer.task], answer, jail, regulation)

    for row in jails.map(run, answers):
        rows.append(row)
        on_program()
    return rows


def execute_programs(
    environment: Environment,
    tasks: Sequence[Task],
    programs: Sequence[ProgramRow | Attempt],
    jails: JailPool,
    on_program: Callable[[], None] = lambda: None,
    *,
    regulation: Regulation | None = None,
) -> list[Attempt]:
    """Attempts from submitted programs with known tasks (see `lawtrace.runs.store.task_file.match_to_tasks`).

    Rows that are attempts already are kept unchanged, in order. ``regulation``: as in `execute_answers`.
    """
    answers = [
        row
        if isinstance(row, Attempt)
        else Attempt(
            task=row.task,
            style=row.style,
            model=row.model,
            trial=row.trial,
            shield=row.shield,
            program=row.program if row.program and row.program.strip() else None,
            invalid=row.invalid,
        )
        for row in programs
    ]
    return execute_answers(environment, tasks, answers, jails, on_program, regulation=regulation)


def _run(environment: Environment, task: Task, answer: Attempt, jail: Jail, regulation: Regulation | None) -> Attempt:
    if answer.program is None or answer.invalid is not None:
        return answer
    variables = task.instructions[answer.style].variables
    task_guard = partial(_guard, answer.shield, task, regulation)
    try:
        ran = run_program(jail, environment, task.initial(environment), answer.program, variables, task_guard)
    except JailUnavailable as error:
        return answer.model_copy(update={"invalid": f"jail: {error}"})
    final = encode_state(ran.final, environment.entities)
    return answer.model_copy(
        update={
            "execution": ran.execution,
            "events": ran.events,
            "objections": ran.objections,
            "final_state": final,
            "sandbox": jail.sandbox,
        }
    )


def _guard(shield: ShieldMode, task: Task, regulation: Regulation | None) -> CallGuard | None:
    """A new shield over the task's rules, for one session."""
    if shield == "off":
        return None
    if regulation is None:
        raise InputError(f"task {task.id}: a shield cites provisions and needs the regulation")
    return Shield(task.rules, regulation, shield)
