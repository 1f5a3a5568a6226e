"""Stages that measure rules, tasks and oracle: what each needs, produces and depends on."""

from collections.abc import Mapping

from lawtrace.agents.concurrency import run_in_worker_thread
from lawtrace.runs.stages import artifacts as files
from lawtrace.runs.stages.build import extracts
from lawtrace.runs.stages.habits import find_task_habits, habit_steps
from lawtrace.runs.stages.stage import Made, Stage, StageContext, StageInputs
from lawtrace.runs.store.stage_store import AnyFile, Products
from lawtrace.runs.tasks import trace_of
from lawtrace.schemas.findings import ExtractionScore, Findings, OracleStrengthRow
from lawtrace.solver.coverage.mutations import measure_mutation_score


async def _measure_strength(context: StageContext, products: Products) -> Made:
    environment, rules = context.domain.environment, products[files.RULES]
    used = {task.id for task in products[files.TASKS]}
    traces = [(row.id, trace_of(row, environment)) for row in products[files.TRACES] if row.id in used]
    with context.progress.stage("strength of the oracle", len(traces)) as step:
        strength = await run_in_worker_thread(lambda: measure_mutation_score(environment, rules, traces, step))
    return Made().add(files.ORACLE_STRENGTH, [OracleStrengthRow(strength=strength)])


async def _find_habits(context: StageContext, products: Products) -> Made:
    tasks = products[files.TASKS]
    with context.progress.stage("habits", habit_steps(tasks)) as step:
        rows = await run_in_worker_thread(lambda: find_task_habits(context.domain.environment, tasks, step))
    return Made().add(files.HABITS, rows)


def _findings_need(inputs: StageInputs) -> tuple[AnyFile, ...]:
    return (
        files.RULES,
        files.TASK_FUNNEL,
        *(() if inputs.given else (files.ORACLE_STRENGTH,)),
        files.HABITS,
        *((files.EXTRACTED_RULES, files.FORMALIZED) if extracts(inputs) else ()),
        *((files.BASELINE,) if inputs.recipe.models.trace_writer is not None else ()),
    )


def _findings_depend(inputs: StageInputs) -> Mapping[str, object]:
    return {**inputs.environment_key(), "length": inputs.recipe.tasks.length, "rules": inputs.recipe.rules}


async def _find(context: StageContext, products: Products) -> Made:
    from lawtrace.runs.stages.model_baseline import measure_baseline

    funnel = next((row.funnel for row in products[files.TASK_FUNNEL]), None)
    oracle = None if context.given else products[files.ORACLE_STRENGTH][0]
    baseline = None
    if files.BASELINE in products and context.recipe.models.trace_writer is not None:
        name, length = context.role_models.name_of("trace_writer"), context.recipe.tasks.length
        baseline = measure_baseline(context.domain, products[files.BASELINE], model=name, length=length)
    score = None
    if extracts(context):
        score = await run_in_worker_thread(lambda: _extraction_score(context, products))
    findings = Findings(
        funnel=funnel,
        strength=oracle and oracle.strength,
        extraction=score,
        baseline=baseline,
        habits=tuple(products[files.HABITS]),
    )
    return Made().add(files.FINDINGS, [findings])


def _extraction_score(context: StageContext, products: Products) -> ExtractionScore | None:
    """The score of the extracted rules against the gold rules; None if a conversation failed."""
    from lawtrace.runs.stages.rules_stage import count_extraction, score_sessions

    groups, extracted = products[files.FORMALIZED], products[files.EXTRACTED_RULES]
    if not all(one.is_read for one in groups):
        return None
    score = count_extraction(groups, extracted)
    return score_sessions(score, groups, extracted, context) if context.domain.environment.simulated else score


async def _check_quality(context: StageContext, products: Products) -> Made:
    from lawtrace.runs.stages.quality import check_tasks

    tasks = products[files.TASKS]
    with context.progress.stage(f"checks, {context.domain.environment.name}", len(tasks)) as step:
        rows = await check_tasks(context, tasks, products[files.HABITS], step)
    undecided = any(finding.detail == "the reader failed" for row in rows for finding in row.findings)
    return Made(complete=not undecided).add(files.QUALITY, rows)


MEASURING_STAGES: tuple[Stage[StageInputs, StageContext], ...] = (
    Stage(
        name="oracle_strength",
        produces=(files.ORACLE_STRENGTH,),
        needs=lambda _: (files.RULES, files.TRACES, files.TASKS),
        depends=StageInputs.environment_key,
        run=_measure_strength,
    ),
    Stage(
        name="habits",
        produces=(files.HABITS,),
        needs=lambda _: (files.TASKS,),
        depends=StageInputs.environment_key,
        run=_find_habits,
    ),
    Stage(name="findings", produces=(files.FINDINGS,), needs=_findings_need, depends=_findings_depend, run=_find),
    Stage(
        name="quality",
        produces=(files.QUALITY,),
        needs=lambda _: (files.TASKS, files.HABITS),
        depends=lambda inputs: {**inputs.environment_key(), **inputs.roles_key("independent_reader")},
        run=_check_quality,
    ),
)
