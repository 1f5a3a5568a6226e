"""Tasks to answers to attempts: the model under test answers, and its program or its calls are executed."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from lawtrace.agents.briefing import Briefing
from lawtrace.agents.concurrency import gather
from lawtrace.agents.conversations.attempts import ask_for_program, run_tool_conversation
from lawtrace.agents.event_log import EventLog
from lawtrace.agents.logs import log_context
from lawtrace.agents.models.model_call import CallFailed
from lawtrace.agents.models.recording import RecordedClient
from lawtrace.agents.models.stack import ModelClients
from lawtrace.agents.roles.executor import stated_start
from lawtrace.agents.roles.program_extraction import extract_program
from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.logs import get_logger
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.sandbox import SANDBOX, Jail, JailPool, JailUnavailable
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import encode_state
from lawtrace.prompts.loader import DEFAULT_PROMPTS, Prompts
from lawtrace.runs.stages.baseline_answers import baseline_client, check_traces_present
from lawtrace.runs.stages.dialogue_users import DialogueUsers
from lawtrace.runs.stages.given_law import Law
from lawtrace.runs.stages.habits import Habits
from lawtrace.runs.stages.program_execution import run_program
from lawtrace.runs.stages.session_attempts import execute_conversation, open_session
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Answer, Attempt
from lawtrace.schemas.choices import Style
from lawtrace.schemas.events import Json
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.model_spec import ModelParameters, ModelSpec
from lawtrace.schemas.recipe import AttemptOptions
from lawtrace.solver.guard.shield import Shields

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class AttemptUnit:
    """One attempt that is to be made. It depends on no other attempt.

    Attributes:
        name: the model's name in rows and event logs.
    """

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
            role="executor",
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


def attempt_units(
    tasks: Sequence[Task], options: AttemptOptions, clients: ModelClients, variant: str | None = None
) -> list[AttemptUnit]:
    """One unit for every model, task, style and trial, in that order."""
    models = [(spec, clients.name_of(spec, "executor")) for spec in map(ModelSpec.parse, options.models)]
    return [
        AttemptUnit(model, name, task, style, trial, variant)
        for model, name in models
        for task in tasks
        for style in task.styles
        if style in options.styles
        for trial in range(options.trials)
    ]


class AttemptMaker:
    """Makes attempts: the model answers, and its answer is executed as soon as it is there.

    Raises InputError if the tasks' rules cite provisions that the law as given does not contain.
    """

    def __init__(
        self,
        domain: Domain,
        tasks: Sequence[Task],
        options: AttemptOptions,
        *,
        clients: ModelClients,
        parameters: ModelParameters,
        event_log: EventLog,
        habits: Habits,
        law: Law,
        jails: JailPool,
        prompts: Prompts = DEFAULT_PROMPTS,
        users: DialogueUsers | None = None,
    ) -> None:
        """``habits``: the best habits, if `baseline:habit` is under test. ``users``: for mode ``dialogue``."""
        check_traces_present(options.models, tasks, options.mode)
        law.check(rule for task in tasks if task.published is None for rule in task.rules)
        briefings = {task: Briefing.of(options, given, prompts) for task, given in law.for_tasks(tasks).items()}
        shields = Shields(domain.environment, law.regulation)
        self._asking = _AnswerCollection(
            domain, shields, options, clients, parameters, event_log, briefings, law, habits, users
        )
        self._jails = jails

    async def collect(
        self, units: Sequence[AttemptUnit], on_attempt: Callable[[Attempt], None] = lambda _: None
    ) -> list[Attempt]:
        """One attempt for each unit, in order. Answers are requested concurrently. ``on_attempt`` is called in the
        thread that executed the answer."""
        return await gather(self.make(unit, on_attempt) for unit in units)

    async def make(self, unit: AttemptUnit, on_attempt: Callable[[Attempt], None] = lambda _: None) -> Attempt:
        """The attempt of a unit."""
        asking, answer = self._asking, await self._ask(unit)

        def execute(jail: Jail, answer: Answer) -> Attempt:
            attempt = _execute(asking.domain.environment, unit.task, answer, jail, asking.shields)
            on_attempt(attempt)
            return attempt

        return await asyncio.wrap_future(self._jails.submit(execute, answer))

    async def _ask(self, unit: AttemptUnit) -> Answer:
        context, options = unit.context, self._asking.options
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
        complete = self._asking.with_program if options.mode == "program" else self._asking.with_calls
        with log_context(context, attempt=answer.id):
            try:
                answer = await complete(answer, unit.model, unit.task, context)
            except CallFailed as error:
                answer = answer.model_copy(update={"invalid": f"endpoint: {error}"})
            log.info("attempt ended", mode=answer.mode, answered=answer.invalid is None)
        return answer


@dataclass(frozen=True, slots=True)
class _AnswerCollection:
    """The shared context of the conversations with the models under test."""

    domain: Domain
    shields: Shields
    options: AttemptOptions
    clients: ModelClients
    parameters: ModelParameters
    event_log: EventLog
    briefings: Mapping[str, Briefing]
    law: Law
    habits: Habits
    users: DialogueUsers | None

    async def with_program(self, answer: Answer, model: ModelSpec, task: Task, context: Context) -> Answer:
        """The answer with the text of the model and the program in it."""
        client = self._client(model, task, answer.style, context)
        written = await ask_for_program(
            self.domain.environment,
            task.instructions[answer.style],
            client=client,
            context=context,
            event_log=self.event_log,
            briefing=self._briefing(task),
            target_state=self._target_state(task, answer.style),
        )
        variables = task.instructions[answer.style].variables
        program = extract_program(written.text, self.domain.environment.object_name, variables)
        changes = {"text": written.text, "program": program, "message": written.message}
        return answer.model_copy(update={**changes, **_usage(client)})

    async def with_calls(self, answer: Answer, model: ModelSpec, task: Task, context: Context) -> Answer:
        """The answer with the conversation of a model that calls tools."""
        client = self._client(model, task, answer.style, context)
        session = open_session(self.domain.environment, task, answer.shield, self.shields)
        # A policy knows all values: nothing is left for a user to tell.
        users = None if model.is_scripted else self.users
        conversation = await run_tool_conversation(
            session,
            task.instructions[answer.style],
            client=client,
            context=context,
            event_log=self.event_log,
            limits=self.options.tools.limits(),
            briefing=self._briefing(task),
            target_state=self._target_state(task, answer.style),
            user=users and users.user(task, answer.style, session, context),
        )
        last = conversation.turns[-1]
        text = None if last.calls else last.text
        changes = {"text": text, "conversation": conversation, "message": last.message}
        return answer.model_copy(update={**changes, **_usage(client)})

    def _briefing(self, task: Task) -> Briefing:
        environment = self.domain.environment
        start = stated_start(environment, task.rules, task.initial(environment))
        return replace(self.briefings[task.id], session_start=start)

    def _client(self, model: ModelSpec, task: Task, style: Style, context: Context) -> RecordedClient:
        if not model.is_scripted:
            return self.clients.client_for(model, context, self.parameters)
        scripted = baseline_client(model, self.domain.environment, task, style, self.options.mode, self.habits)
        return self.clients.wrap(scripted, model, context, self.parameters)

    def _target_state(self, task: Task, style: Style) -> dict[str, Json] | None:
        """The target state given to the model, if the options say so."""
        if not self.options.target_state or style != "goal":
            return None
        hidden = self.domain.environment.compliance_tables
        return {table: rows for table, rows in task.target_state.items() if table not in hidden}


def _usage(client: RecordedClient) -> dict[str, int]:
    used = client.total_usage()
    return {"prompt_tokens": used.prompt_tokens, "completion_tokens": used.completion_tokens}


class AnswerExecutor:
    """Executes answers to tasks. ``regulation``: the text of the provisions that a shield cites; needed by answers with
    a shield."""

    def __init__(self, environment: Environment, tasks: Sequence[Task], regulation: Regulation | None) -> None:
        self._environment, self._shields = environment, Shields(environment, regulation)
        self._by_id = {task.id: task for task in tasks}

    def execute(self, jail: Jail, row: Answer | Attempt) -> Attempt:
        """Execute an answer: its program in the jail, or the calls of its conversation. Attempts are kept."""
        if isinstance(row, Attempt):
            return row
        return _execute(self._environment, self._by_id[row.task], row, jail, self._shields)


def execute_answers(
    environment: Environment,
    tasks: Sequence[Task],
    answers: Sequence[Answer | Attempt],
    jails: JailPool,
    on_program: Callable[[], None] = lambda: None,
    *,
    regulation: Regulation | None = None,
) -> list[Attempt]:
    """Execute each answer, in order (see `AnswerExecutor`)."""
    attempts: list[Attempt] = []
    for attempt in jails.map(AnswerExecutor(environment, tasks, regulation).execute, answers):
        attempts.append(attempt)
        on_program()
    return attempts


def _execute(environment: Environment, task: Task, answer: Answer, jail: Jail, shields: Shields) -> Attempt:
    if answer.invalid is not None:
        return Attempt(answer=answer, invalid=answer.invalid)
    if answer.conversation is not None:
        return execute_conversation(environment, task, answer, answer.conversation, shields)
    if answer.program is None or not answer.program.strip():
        return Attempt(answer=answer)
    initial, variables = task.initial(environment), task.instructions[answer.style].variables
    make_guard = partial(shields.open, task.rules, answer.shield)
    try:
        ran = run_program(jail, environment, initial, answer.program, variables, make_guard, message=answer.message)
    except JailUnavailable as error:
        return Attempt(answer=answer, invalid=f"jail: {error}")
    return Attempt(
        answer=answer,
        execution=ran.execution,
        sandbox=SANDBOX,
        events=ran.events,
        end=ran.end,
        objections=ran.objections,
        final_state=encode_state(ran.final, environment.entities),
    )
