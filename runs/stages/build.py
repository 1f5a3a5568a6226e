"""Stages from the regulation to tasks: what each needs, produces and depends on.

The work is done in other modules of this package, which are imported when a stage runs: a plan of the calls waits for
no client of a model.
"""

from collections.abc import Iterator, Mapping
from math import ceil

from lawtrace.agents.concurrency import run_in_worker_thread
from lawtrace.agents.conversations.formalized_group import provision_groups, rules_of
from lawtrace.agents.conversations.request_sizes import MAX_UNUSABLE_ANSWERS, PROGRAMS_PER_REQUEST
from lawtrace.environments.regulations.regulation import Provision
from lawtrace.runs.stages.artifacts import BASELINE, EXTRACTED_RULES, FORMALIZED, RULES, TASK_FUNNEL, TASKS, TRACES
from lawtrace.runs.stages.resolve import curated_rules_digest
from lawtrace.runs.stages.stage import (
    MAX_TRIES,
    EmptyStageError,
    Made,
    NoResponseError,
    RoleCalls,
    Stage,
    StageContext,
    StageInputs,
)
from lawtrace.runs.store.stage_files import file_digest
from lawtrace.runs.store.stage_store import Products, stage_key
from lawtrace.runs.tasks import task_mode
from lawtrace.schemas.choices import EXTRACTION_ROLES, RoleName
from lawtrace.schemas.findings import TaskFunnelRow
from lawtrace.schemas.recipe import DEFAULT_DOCKET


def extracts(inputs: StageInputs) -> bool:
    """Whether models write rules in this run."""
    return bool(inputs.recipe.formalizers)


def groups_of(inputs: StageInputs) -> dict[str, tuple[Provision, ...]]:
    """The groups of provisions of which rules are written, by the recipe of a run."""
    return provision_groups(inputs.extracted_regulation, inputs.recipe.rules.provisions)


def _extraction_depends(inputs: StageInputs) -> Mapping[str, object]:
    recipe, options = inputs.recipe, inputs.recipe.rules
    return {
        **inputs.environment_key(),
        "regulation": stage_key(inputs.extracted_regulation),
        "provisions": options.provisions,
        "rounds": recipe.conversation.rounds,
        "feedback": options.feedback,
        "models": [recipe.formalizers, recipe.models.ltl_critic, options.annotators],
        "prompts": [inputs.prompts[role].hash for role in EXTRACTION_ROLES],
        "parameters": recipe.parameters,
        "answers": options.answers and file_digest(options.answers),
    }


async def _extract(context: StageContext, _: Products) -> Made:
    from lawtrace.agents.models.budget import BudgetExhausted
    from lawtrace.runs.stages.rules_stage import formalize

    groups = groups_of(context)
    with context.progress.stage("groups of provisions", len(groups)) as step:
        found = await formalize(context, groups, step)
    stopped = next((one.stopped for one in found if one.stopped), None)
    error = None if stopped is None else BudgetExhausted(stopped)
    made = Made(complete=all(one.is_read for one in found), error=error)
    return made.add(EXTRACTED_RULES, rules_of(found)).add(FORMALIZED, found)


def _extraction_calls(inputs: StageInputs) -> Iterator[RoleCalls]:
    recipe, groups = inputs.recipe, len(groups_of(inputs))
    most = groups * recipe.conversation.rounds * MAX_TRIES
    for model in recipe.formalizers:
        yield RoleCalls("policy_extractor", model, groups, 2 * most)
        if recipe.rules.feedback != "none":
            yield RoleCalls("ltl_critic", recipe.models.ltl_critic or model, groups, 2 * most)
    for model in recipe.rules.annotators:
        yield RoleCalls("annotator", model, groups, most)


async def _choose_rules(context: StageContext, products: Products) -> Made:
    if context.recipe.rules.source == "curated":
        return Made().add(RULES, context.rules)
    unread = next((one for one in products[FORMALIZED] if not one.is_read), None)
    if unread is not None:
        raise NoResponseError(f"the rules could not be extracted: {unread.group}: {unread.failure}")
    if not products[EXTRACTED_RULES]:
        raise EmptyStageError(
            "the extraction left no valid rule; use rules.source = 'curated', or see the reasons with "
            f"`lawtrace messages {context.folder}`"
        )
    return Made().add(RULES, products[EXTRACTED_RULES])


def _rules_depend(inputs: StageInputs) -> Mapping[str, object]:
    if inputs.recipe.rules.source == "extracted":
        return inputs.environment_key()
    return {**inputs.environment_key(), "rules": curated_rules_digest(inputs.recipe)}


def traces_depend(inputs: StageInputs) -> Mapping[str, object]:
    options = inputs.recipe.tasks
    count = options.count + options.spare
    return {
        **inputs.environment_key(),
        "seed": inputs.recipe.seed,
        "count": count,
        "length": options.length,
        "trace_mode": task_mode(options, inputs.domain.environment),
        "constraints": options.constraints,
        "difficulty": options.difficulty,
        **({"docket": options.docket} if options.docket != DEFAULT_DOCKET else {}),
        **({"part_size": options.part_size} if count > options.part_size else {}),
    }


async def _synthesize(context: StageContext, products: Products) -> Made:
    from lawtrace.runs.stages.traces_stage import TracePlan, make_traces

    plan = TracePlan.of(context)
    with context.progress.stage("traces", plan.count) as step:
        return Made().add(TRACES, await make_traces(context, products, plan.parts(), step))


def _baseline_depends(inputs: StageInputs) -> Mapping[str, object]:
    recipe = inputs.recipe
    size = {"count": recipe.tasks.count, "length": recipe.tasks.length, "seed": recipe.seed}
    return {**inputs.environment_key(), **size, **inputs.roles_key("trace_writer")}


def _baseline_calls(inputs: StageInputs) -> Iterator[RoleCalls]:
    count, model = inputs.recipe.tasks.count, str(inputs.recipe.models.spec("trace_writer"))
    # Worst case: one program per usable answer, after the maximum number of unusable ones.
    most = count * (1 + MAX_UNUSABLE_ANSWERS) * MAX_TRIES
    yield RoleCalls("trace_writer", model, ceil(count / PROGRAMS_PER_REQUEST), most)


async def _write_baseline(context: StageContext, products: Products) -> Made:
    from lawtrace.runs.stages.model_baseline import run_baseline, write_baseline_programs

    rules, count = products[RULES], context.recipe.tasks.count
    with context.progress.stage("programs by the model", count) as step:
        written = await write_baseline_programs(context, rules, step)
    rows = await run_in_worker_thread(lambda: run_baseline(context, rules, written.programs))
    error = None
    if written.failure is not None:
        error = NoResponseError(f"only {len(rows)} of {count} programs of the baseline were written: {written.failure}")
    return Made(complete=error is None, error=error).add(BASELINE, rows)


def writing_roles(inputs: StageInputs) -> list[RoleName]:
    roles: list[RoleName] = ["instruction_generator", "independent_reader"]
    return [*roles, "masking_evaluator"] if inputs.recipe.conversation.evaluator else roles


def _tasks_depend(inputs: StageInputs) -> Mapping[str, object]:
    conversation, options = inputs.recipe.conversation, inputs.recipe.tasks
    return {
        **inputs.environment_key(),
        "rounds": conversation.rounds,
        "evaluator": conversation.evaluator,
        "count": options.count,
        **inputs.roles_key(*writing_roles(inputs)),
    }


def _writing_calls(inputs: StageInputs) -> Iterator[RoleCalls]:
    recipe = inputs.recipe
    most = 2 * (recipe.tasks.count + recipe.tasks.spare) * recipe.conversation.rounds * MAX_TRIES
    for role in writing_roles(inputs):
        yield RoleCalls(role, str(recipe.models.spec(role)), 2 * recipe.tasks.count, most)


async def _build(context: StageContext, products: Products) -> Made:
    from lawtrace.runs.stages.tasks_stage import build_tasks

    built = await build_tasks(context, products[RULES], products[TRACES])
    error = None
    if not built.tasks:
        reasons = ", ".join(f"{reason} ({number} times)" for reason, number in built.dropped.items())
        unanswered = all(reason.endswith(": failure") for reason in built.dropped)
        kind = NoResponseError if unanswered else EmptyStageError
        error = kind(f"no task was accepted: {reasons}; see `lawtrace messages {context.folder}`")
    unanswered = any(reason.endswith(": failure") for reason in built.dropped)
    made = Made(complete=error is None and not unanswered, error=error)
    return made.add(TASKS, built.tasks).add(TASK_FUNNEL, [TaskFunnelRow(funnel=built.funnel())])


async def _give(context: StageContext, _: Products) -> Made:
    rules = dict.fromkeys(rule for task in context.given for rule in task.rules)
    return Made().add(RULES, [*rules]).add(TASKS, context.given).add(TASK_FUNNEL, ())


def _given_depend(inputs: StageInputs) -> Mapping[str, object]:
    return {**inputs.environment_key(), "given": inputs.recipe.tasks.model_dump(include={"sha256", "ids", "limit"})}


GIVEN_TASKS = Stage(name="tasks", produces=(RULES, TASKS, TASK_FUNNEL), depends=_given_depend, run=_give)
"""The stage of the tasks that a recipe names; they bring their rules."""


BUILDING_STAGES: tuple[Stage[StageInputs, StageContext], ...] = (
    Stage(
        name="extraction",
        produces=(EXTRACTED_RULES, FORMALIZED),
        depends=_extraction_depends,
        run=_extract,
        calls=_extraction_calls,
    ),
    Stage(
        name="rules",
        produces=(RULES,),
        needs=lambda inputs: (EXTRACTED_RULES, FORMALIZED) if inputs.recipe.rules.source == "extracted" else (),
        depends=_rules_depend,
        run=_choose_rules,
    ),
    Stage(name="traces", produces=(TRACES,), needs=lambda _: (RULES,), depends=traces_depend, run=_synthesize),
    Stage(
        name="baseline",
        produces=(BASELINE,),
        needs=lambda _: (RULES,),
        depends=_baseline_depends,
        run=_write_baseline,
        calls=_baseline_calls,
    ),
    Stage(
        name="tasks",
        produces=(TASKS, TASK_FUNNEL),
        needs=lambda _: (RULES, TRACES),
        depends=_tasks_depend,
        run=_build,
        calls=_writing_calls,
    ),
)
