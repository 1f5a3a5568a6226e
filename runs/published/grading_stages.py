"""The stages of `lawtrace grade`: submitted programs to attempts, and verdicts under the published profiles."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack

from lawtrace.agents.concurrency import run_in_worker_thread
from lawtrace.environments.choices import GradingProfile
from lawtrace.runs.ingest.programs import SubmittedRow
from lawtrace.runs.published.published_grading import judge_attempts_published
from lawtrace.runs.schemas.attempt_rows import Answer, Attempt
from lawtrace.runs.schemas.verdict_rows import PUBLISHED_PROFILES, Verdict
from lawtrace.runs.stages.attempting_stages import JAILS_OF_A_WORKER, attempt_jails
from lawtrace.runs.stages.attempts_stage import AnswerExecutor, execute_answers
from lawtrace.runs.stages.cluster_jobs import Unit
from lawtrace.runs.stages.files import ATTEMPTS, TASKS, VERDICTS
from lawtrace.runs.stages.stage import Made, Stage, StageContext, StageInputs
from lawtrace.runs.stages.stage_job import StageJob
from lawtrace.runs.store.stage_store import Products, StageFile

PROGRAMS: StageFile[SubmittedRow] = StageFile("programs.jsonl", Answer)
VERDICTS_BY_PROFILE: Mapping[GradingProfile, StageFile[Verdict]] = {
    "strict": VERDICTS,
    **{profile: StageFile(f"verdicts.{profile}.jsonl", Verdict) for profile in PUBLISHED_PROFILES},
}


async def _execute(context: StageContext, products: Products) -> Made:
    domain, programs = context.domain, products[PROGRAMS]
    with context.progress.stage("programs in the jail", len(programs)) as step:
        if context.cluster is not None:
            job = StageJob[SubmittedRow, Attempt].of(context, products, (TASKS,), prepare_programs)
            units = [Unit(str(row.key), row) for row in programs]
            made = context.cluster.products(job, units, on_product=lambda _: step())
            return Made().add(ATTEMPTS, [row async for row in made])

        def execute() -> Made:
            with attempt_jails(context) as jails:
                rows = execute_answers(
                    domain.environment, products[TASKS], programs, jails, step, regulation=domain.regulation
                )
            return Made().add(ATTEMPTS, rows)

        return await run_in_worker_thread(execute)


def prepare_programs(
    context: StageContext, products: Products, stack: ExitStack
) -> Callable[[SubmittedRow], Awaitable[Attempt]]:
    """What a worker makes attempts of submitted programs with."""
    jails = stack.enter_context(attempt_jails(context, JAILS_OF_A_WORKER))
    executor = AnswerExecutor(context.domain.environment, products[TASKS], context.domain.regulation)

    async def execute(row: SubmittedRow) -> Attempt:
        return await asyncio.wrap_future(jails.submit(executor.execute, row))

    return execute


def _published_verdicts(profile: GradingProfile) -> Stage[StageInputs, StageContext]:
    file = VERDICTS_BY_PROFILE[profile]

    async def judge(context: StageContext, products: Products) -> Made:
        tasks, attempts = {task.id: task for task in products[TASKS]}, products[ATTEMPTS]
        with context.progress.stage(f"verdicts, {profile}", len(attempts)) as step:
            rows = await run_in_worker_thread(
                lambda: judge_attempts_published(tasks, attempts, context.jail, profile, step)
            )
        return Made().add(file, rows)

    return Stage(
        name=f"verdicts {profile}",
        produces=(file,),
        needs=lambda _: (TASKS, ATTEMPTS),
        depends=StageInputs.environment_key,
        run=judge,
    )


GRADING_STAGES: tuple[Stage[StageInputs, StageContext], ...] = (
    Stage(
        name="programs",
        produces=(ATTEMPTS,),
        needs=lambda _: (TASKS, PROGRAMS),
        depends=lambda inputs: {**inputs.environment_key(), "seconds": inputs.recipe.attempts.seconds},
        run=_execute,
    ),
    *map(_published_verdicts, PUBLISHED_PROFILES),
)
"""Used in addition to the stages of a run; the first replaces the models under test."""
