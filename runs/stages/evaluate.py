"""Stages from tasks to verdicts: what each needs, produces and depends on."""

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack

from lawtrace.agents.concurrency import gather, run_in_worker_thread
from lawtrace.environments.sandbox import Limits, Sandbox, SandboxPool
from lawtrace.runs.stages.artifacts import ATTEMPTS, HABITS, TASKS, VERDICTS
from lawtrace.runs.stages.stage import MAX_TRIES, Made, RoleCalls, Stage, StageContext, StageInputs
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_store import Products
from lawtrace.schemas.attempt_rows import Answer, Attempt
from lawtrace.schemas.model_spec import ModelSpec
from lawtrace.schemas.recipe import HABIT
from lawtrace.schemas.verdict_rows import Verdict

PARTIAL_SECONDS = 20.0
"""How often a run writes the attempts that it has, at least; a twentieth of the time goes into writing at most."""
USUAL_MESSAGES = 3
"""Messages of the user in a dialogue, if the model asks for what it needs."""


def _attempts_depend(inputs: StageInputs) -> Mapping[str, object]:
    prompts = ("executor_system", "executor_tools_system", "executor_user")
    recipe = inputs.recipe
    users = {"seed": recipe.seed, "user": inputs.roles_key("user") if recipe.models.user is not None else None}
    return {
        **inputs.environment_key(),
        "attempts": recipe.attempts.named,
        "prompts": {name: inputs.prompts[name].hash for name in prompts},
        "parameters": recipe.parameters,
        **({"law": inputs.published.digest} if inputs.published and recipe.attempts.shows_documents else {}),
        **({"seed": recipe.seed} if recipe.attempts.regulation_words is not None else {}),
        **(users if recipe.attempts.mode == "dialogue" else {}),
    }


def _attempt_calls(inputs: StageInputs) -> Iterator[RoleCalls]:
    tasks, attempts = inputs.recipe.tasks, inputs.recipe.attempts
    pairs, length = tasks.count * len(attempts.styles) * attempts.trials, tasks.length
    if inputs.given:
        pairs = attempts.trials * sum(style in attempts.styles for task in inputs.given for style in task.styles)
        length = max(len(task.calls) for task in inputs.given)
    turns = 1 if attempts.mode == "program" else attempts.tools.turns
    for model in attempts.all_models:
        yield RoleCalls("executor", model, pairs * min(turns, length + 1), pairs * turns)
    if attempts.mode == "dialogue" and inputs.recipe.models.user is not None:
        talking = pairs * sum(not ModelSpec.parse(model).is_scripted for model in attempts.all_models)
        yield RoleCalls("user", inputs.recipe.models.user, talking * USUAL_MESSAGES, talking * turns * MAX_TRIES)


def attempt_sandboxes(context: StageContext) -> SandboxPool:
    """The sandboxes of the models under test."""
    return SandboxPool(Limits(seconds=context.recipe.attempts.seconds))


def prepare_execution(context: StageContext, products: Products, stack: ExitStack) -> Callable[[Answer], Attempt]:
    """Executes answers in a worker."""
    from lawtrace.runs.stages.attempts_stage import AnswerExecutor

    sandbox = stack.enter_context(Sandbox(Limits(seconds=context.recipe.attempts.seconds)))
    executor = AnswerExecutor(context.domain.environment, products[TASKS], context.law.regulation)
    return lambda answer: executor.execute(sandbox, answer)


def _executor(context: StageContext, products: Products, stack: ExitStack) -> Callable[[Answer], Awaitable[Attempt]]:
    """Executes answers on the cluster of the run, or else here."""
    from lawtrace.runs.stages.attempts_stage import AnswerExecutor
    from lawtrace.runs.stages.stage_job import StageJob

    if context.cluster is not None:
        return context.cluster.maker(StageJob[Answer, Attempt].of(context, products, (TASKS,), prepare_execution))
    executor = AnswerExecutor(context.domain.environment, products[TASKS], context.law.regulation)
    return executor.on(stack.enter_context(attempt_sandboxes(context)))


async def _attempt(context: StageContext, products: Products) -> Made:
    from lawtrace.runs.stages.attempts_stage import AttemptMaker, AttemptUnit, planned_units

    units = context.shard.of(planned_units(context, products))
    by_id = {task.id: task for task in products[TASKS]}
    made: dict[str, tuple[Attempt, Verdict]] = {}
    safe, next_write = 0, time.monotonic() + PARTIAL_SECONDS

    def write_partial() -> None:
        nonlocal next_write
        started = time.monotonic()
        _write_partial(context, [made[unit.key] for unit in units if unit.key in made])
        took = time.monotonic() - started
        next_write = started + took + max(PARTIAL_SECONDS, 20 * took)

    def note() -> str:
        judged = f"{safe} of {len(made)} safe successes" if made else ""
        return "; ".join(filter(None, [judged, str(context.clients.spent)]))

    with context.progress.stage("attempts", len(units), note) as step:

        def tally(attempt: Attempt) -> None:
            """Judge an attempt for the progress; the stage of the verdicts takes what was judged here."""
            nonlocal safe
            verdict = context.judge.keep(by_id[attempt.answer.task], attempt)
            made[attempt.answer.id] = attempt, verdict
            safe += verdict.outcome == "safe_success"
            step()
            if time.monotonic() >= next_write:
                write_partial()

        async def make(unit: AttemptUnit) -> Attempt:
            attempt = await maker.make(unit)
            await run_in_worker_thread(lambda: tally(attempt))
            return attempt

        try:
            with ExitStack() as stack:
                maker = AttemptMaker(context, products, _executor(context, products, stack))
                rows = await gather(make(unit) for unit in units)
        except BaseException:
            write_partial()
            raise
    if not context.shard.is_whole:  # verdicts are made of all shards; these are for the report of this one
        write_partial()
    return Made(complete=all(row.invalid is None for row in rows)).add(ATTEMPTS, rows)


def _write_partial(context: StageContext, made: Sequence[tuple[Attempt, Verdict]]) -> None:
    """What a run has made so far, for `lawtrace report` if it stops or is killed. The resumed run makes the files
    again; those of a run that ended before are kept."""
    folder = RunFolder(context.variant_folder or context.folder)
    if made and not folder.findings.exists():
        ATTEMPTS.write(folder.attempts, [attempt for attempt, _ in made])
        VERDICTS.write(folder.verdicts, [verdict for _, verdict in made])


async def _judge(context: StageContext, products: Products) -> Made:
    by_id = {task.id: task for task in products[TASKS]}
    attempts = products[ATTEMPTS]
    rows: list[Verdict] = []
    safe = 0

    def work() -> None:
        nonlocal safe
        for attempt in attempts:
            rows.append(context.judge.take(by_id[attempt.answer.task], attempt))
            safe += rows[-1].outcome == "safe_success"
            step()

    with context.progress.stage("verdicts", len(attempts), lambda: f"{safe} safe successes") as step:
        await run_in_worker_thread(work)
    return Made().add(VERDICTS, rows)


ATTEMPTING_STAGES: tuple[Stage[StageInputs, StageContext], ...] = (
    Stage(
        name="attempts",
        produces=(ATTEMPTS,),
        needs=lambda inputs: (TASKS, HABITS) if HABIT in inputs.recipe.attempts.all_models else (TASKS,),
        depends=_attempts_depend,
        run=_attempt,
        sharded=True,
        calls=_attempt_calls,
    ),
    Stage(
        name="verdicts",
        produces=(VERDICTS,),
        needs=lambda _: (TASKS, ATTEMPTS),
        depends=StageInputs.environment_key,
        run=_judge,
    ),
)
