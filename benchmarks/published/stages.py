"""The stages of `lawtrace grade` that judge programs by the published profiles."""

from collections.abc import Mapping

from benchmarks.published.grading import judge_attempts_published
from lawtrace.agents.concurrency import run_in_worker_thread
from lawtrace.runs.stages.artifacts import ATTEMPTS, TASKS, VERDICTS
from lawtrace.runs.stages.stage import Made, Stage, StageContext, StageInputs
from lawtrace.runs.store.stage_store import Products, StageFile
from lawtrace.schemas.choices import GradingProfile
from lawtrace.schemas.verdict_rows import PUBLISHED_PROFILES, Verdict

VERDICTS_BY_PROFILE: Mapping[GradingProfile, StageFile[Verdict]] = {
    "strict": VERDICTS,
    **{profile: StageFile(f"verdicts.{profile}.jsonl", Verdict) for profile in PUBLISHED_PROFILES},
}


def _published_verdicts(profile: GradingProfile) -> Stage[StageInputs, StageContext]:
    file = VERDICTS_BY_PROFILE[profile]

    async def judge(context: StageContext, products: Products) -> Made:
        tasks, attempts = {task.id: task for task in products[TASKS]}, products[ATTEMPTS]
        with context.progress.stage(f"verdicts, {profile}", len(attempts)) as step:
            rows = await run_in_worker_thread(
                lambda: judge_attempts_published(tasks, attempts, context.sandbox, profile, step)
            )
        return Made().add(file, rows)

    return Stage(
        name=f"verdicts {profile}",
        produces=(file,),
        needs=lambda _: (TASKS, ATTEMPTS),
        depends=StageInputs.environment_key,
        run=judge,
    )


PUBLISHED_STAGES = tuple(map(_published_verdicts, PUBLISHED_PROFILES))
