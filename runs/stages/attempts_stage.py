"""Tasks to answers to attempts: the model under test answers, and its program or its calls are executed."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import get_args

from lawtrace.agents.conversations.attempts import EXECUTOR, ask_for_program, run_tool_conversation
from lawtrace.agents.models.model_call import CallFailed
from lawtrace.agents.models.recording import RecordedClient
from lawtrace.agents.own_agent import OwnAgentClient
from lawtrace.agents.roles.program_extraction import extract_program
from lawtrace.agents.roles.user import USER, DialogueUser
from lawtrace.environments.logs import get_logger, log_context
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.sandbox import SANDBOX, Sandbox, SandboxPool, SandboxUnavailable
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import encode_state
from lawtrace.runs.stages.artifacts import HABITS, TASKS
from lawtrace.runs.stages.attempted_tasks import AttemptedTasks
from lawtrace.runs.stages.baseline_answers import baseline_client, check_traces_present
from lawtrace.runs.stages.execution import execute_conversation, run_program
from lawtrace.runs.stages.habits import Habits
from lawtrace.runs.stages.stage import StageContext
from lawtrace.runs.store.stage_store import Products
from lawtrace.runs.tasks import Task, options_for_tasks
from lawtrace.schemas.attempt_rows import Answer, Attempt, EarlyEnd
from lawtrace.schemas.choices import Style
from lawtrace.schemas.events import Json
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.model_spec import ModelSpec
from lawtrace.schemas.recipe import HABIT
from lawtrace.solver.guard.shield import Shields

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class AttemptUnit:
    """One attempt that is to be made. It depends on no other attempt. ``name``: of the model in rows and event logs."""

    model: ModelSpec
    name: str
    task: Task
    style: Style
    trial: int
    variant: str | None = None

    @property
    def context(self) -> Context:
        """Its conversation in the event log."""
        return Context(
            stage="attempts",
            role=EXECUTOR,
            model=self.name,
            task=self.task.id,
            style=self.style,
            tested_model=self.name,
            trial=self.trial,
            variant=self.variant,
        )

    @property
    def key(self) -> str:
        """Its content key: the id of its conversation and of its answer."""
        return self.context.conversation_id


def planned_units(context: StageContext, products: Products) -> list[AttemptUnit]:
    """The attempts of all shards: one unit for every model, task, style and trial, in that order."""
    options = options_for_tasks(context.recipe.attempts, products[TASKS])
    models = [(spec, context.clients.name_of(spec, EXECUTOR)) for spec in map(ModelSpec.parse, options.models)]
    return [
        AttemptUnit(model, name, task, style, trial, context.variant)
        for model, name in models
        for task in products[TASKS]
        for style in task.styles
        if style in options.styles
        for trial in range(options.trials)
    ]


class AttemptMaker:
    """Makes attempts: the model answers, and its answer is executed as soon as it is there."""

    def __init__(
        self, context: StageContext, products: Products, execute: Callable[[Answer], Awaitable[Attempt]]
    ) -> None:
        """``products``: the tasks, and the best habits if `baseline:habit` is under test.

        Raises InputError as `AttemptedTasks` does.
        """
        tasks = products[TASKS]
        options = options_for_tasks(context.recipe.attempts, tasks)
        check_traces_present(options.models, tasks, options.mode)
        self._context, self._options, self._execute = context, options, execute
        self._habits: Habits = {row.style: row.habit for row in products[HABITS]} if HABIT in options.models else {}
        self._environment = context.domain.environment
        self._tasks = AttemptedTasks(context, tasks)

    async def make(self, unit: AttemptUnit) -> Attempt:
        """The attempt of a unit."""
        return await self._execute(await self._ask(unit))

    async def _ask(self, unit: AttemptUnit) -> Answer:
        options = self._options
        answer = Answer(
            id=unit.key,
            task=unit.task.id,
            style=unit.style,
            model=unit.name,
            trial=unit.trial,
            mode=options.mode,
            shield=options.shield,
            program=None,
        )
        with log_context(unit.context, attempt=answer.id):
            try:
                client = self._client(unit)
                complete = self._write_program if options.mode == "program" else self._call_tools
                changes, used = await complete(unit, client), client.total_usage()
                usage = {"prompt_tokens": used.prompt_tokens, "completion_tokens": used.completion_tokens}
                ended = client.finish_reason if client.finish_reason in get_args(EarlyEnd) else None
                answer = answer.model_copy(update={**changes, **usage, "ended": ended})
            except CallFailed as error:
                answer = answer.model_copy(update={"invalid": f"endpoint: {error}"})
            log.info("attempt ended", mode=answer.mode, answered=answer.invalid is None)
        return answer

    async def _write_program(self, unit: AttemptUnit, client: RecordedClient) -> dict[str, object]:
        """The text of the model, and the program in it."""
        instruction = unit.task.instructions[unit.style]
        written = await ask_for_program(
            self._environment,
            instruction,
            client=client,
            context=unit.context,
            event_log=self._context.event_log,
            prompt_context=self._tasks.prompt_context(unit.task),
            target_state=self._target_state(unit),
        )
        program = extract_program(written.text, self._environment.object_name, instruction.variables)
        return {"text": written.text, "program": program, "message": written.message}

    async def _call_tools(self, unit: AttemptUnit, client: RecordedClient) -> dict[str, object]:
        """The conversation of a model that calls tools."""
        session = self._tasks.open_session(unit.task)
        conversation = await run_tool_conversation(
            session,
            unit.task.instructions[unit.style],
            client=client,
            context=unit.context,
            event_log=self._context.event_log,
            limits=self._options.tools,
            prompt_context=self._tasks.prompt_context(unit.task),
            target_state=self._target_state(unit),
            user=self._user(unit, session),
        )
        last = conversation.turns[-1]
        return {"text": None if last.calls else last.text, "conversation": conversation, "message": last.message}

    def _user(self, unit: AttemptUnit, session: Session) -> DialogueUser | None:
        """The user of a dialogue. A policy knows all values: nothing is left for a user to tell."""
        if self._options.mode != "dialogue" or unit.model.is_scripted:
            return None
        context, script = self._context, self._tasks.scripted_user(unit.task, unit.style, session)
        if context.recipe.models.user is None:
            return DialogueUser(self._environment, script)
        voice = USER.agent(context.role_models, unit.context.at(role=USER.name), summary=self._environment.summary)
        return DialogueUser(self._environment, script, voice)

    def _client(self, unit: AttemptUnit) -> RecordedClient:
        clients = self._context.clients
        parameters = self._context.recipe.parameters.of(unit.model, EXECUTOR)
        if not unit.model.is_scripted:
            return clients.client_for(unit.model, unit.context, parameters)
        if unit.model.provider == "python":
            return clients.wrap(OwnAgentClient(unit.model.name), unit.model, unit.context, parameters)
        mode, habits = self._options.mode, self._habits
        scripted = baseline_client(unit.model, self._environment, unit.task, unit.style, mode, habits)
        return clients.wrap(scripted, unit.model, unit.context, parameters)

    def _target_state(self, unit: AttemptUnit) -> dict[str, Json] | None:
        """The target state given to the model, if the options say so."""
        if not self._options.target_state or unit.style != "goal":
            return None
        hidden = self._environment.hidden_tables
        return {table: rows for table, rows in unit.task.target_state.items() if table not in hidden}


class AnswerExecutor:
    """Executes answers to tasks. ``regulation``: the text of the provisions that a shield cites; needed by answers with
    a shield."""

    def __init__(self, environment: Environment, tasks: Sequence[Task], regulation: Regulation | None) -> None:
        self._environment, self._shields = environment, Shields(environment, regulation)
        self._by_id = {task.id: task for task in tasks}

    def on(self, pool: SandboxPool) -> Callable[[Answer | Attempt], Awaitable[Attempt]]:
        """Executes answers in the sandboxes of this process."""
        return lambda row: asyncio.wrap_future(pool.submit(self.execute, row))

    def execute(self, sandbox: Sandbox, row: Answer | Attempt) -> Attempt:
        """Execute an answer: its program in the sandbox, or the calls of its conversation. Attempts are kept."""
        if isinstance(row, Attempt):
            return row
        environment, shields, task = self._environment, self._shields, self._by_id[row.task]
        if row.invalid is not None:
            return Attempt(answer=row, invalid=row.invalid)
        if row.conversation is not None:
            return execute_conversation(environment, task, row, row.conversation, shields)
        if row.program is None or not row.program.strip():
            return Attempt(answer=row)
        initial, variables = task.initial(environment), task.instructions[row.style].variables
        make_guard = partial(shields.open, task.rules, row.shield)
        try:
            ran = run_program(sandbox, environment, initial, row.program, variables, make_guard, message=row.message)
        except SandboxUnavailable as error:
            return Attempt(answer=row, invalid=f"sandbox: {error}")
        return Attempt(
            answer=row,
            execution=ran.execution,
            sandbox=SANDBOX,
            events=ran.events,
            end=ran.end,
            objections=ran.objections,
            final_state=encode_state(ran.final, environment.entities),
        )
