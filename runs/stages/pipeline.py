"""The stages of a run over tasks: regulation and tools -> rules -> traces -> tasks -> attempts -> verdicts -> findings.

Each stage declares here what it needs, what it produces and what its result depends on. The work is done in the other
modules of this package, which are imported when a stage runs: a plan of the calls waits for no client of a model.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from lawtrace.agents.concurrency import run_in_worker_thread
from lawtrace.agents.model_spec import ENDPOINTS
from lawtrace.agents.roles import EXTRACTION_ROLES, RoleName
from lawtrace.environments.sandbox import JailPool, Limits, choose_backend
from lawtrace.runs.recipe import BASELINES, HABIT, AttemptOptions, without_habit
from lawtrace.runs.schemas.attempt_rows import Attempt
from lawtrace.runs.schemas.findings import (
    BaselineRow,
    ExtractionScore,
    Findings,
    HabitRow,
    OracleStrengthRow,
    TaskFunnelRow,
)
from lawtrace.runs.schemas.quality_rows import QualityRow
from lawtrace.runs.schemas.task_rows import TraceRow
from lawtrace.runs.schemas.verdict_rows import Outcome, Verdict
from lawtrace.runs.scoring.judge import judge
from lawtrace.runs.stages.cluster_jobs import Unit
from lawtrace.runs.stages.habits import HABIT_STEPS, Habits, find_task_habits
from lawtrace.runs.stages.oracle_strength import check_deletions
from lawtrace.runs.stages.resolve import curated_rules, curated_rules_digest, gold_rules, texts_digest
from lawtrace.runs.stages.stage import EmptyStageError, Made, NoResponseError, Stage, StageContext, StageInputs
from lawtrace.runs.stages.written_texts import requests_of_traces, require_texts
from lawtrace.runs.store.provenance_file import ProvenanceLine, provenance_of
from lawtrace.runs.store.stage_store import AnyFile, Products, StageFile, stage_key
from lawtrace.runs.store.task_file import TaskFile
from lawtrace.runs.store.text_file import read_texts, texts_file
from lawtrace.solver.coverage.mutations import measure_mutation_score
from lawtrace.solver.rules import Rule

if TYPE_CHECKING:
    from lawtrace.runs.stages.attempts_stage import AttemptMaker, AttemptUnit
    from lawtrace.runs.stages.dialogue_users import DialogueUsers

EXTRACTED_RULES = StageFile("extracted_rules.jsonl", Rule)
PROVENANCE = StageFile("extracted_rules.provenance.jsonl", ProvenanceLine)
RULES = StageFile("rules.jsonl", Rule)
TRACES = StageFile("traces.jsonl", TraceRow)
BASELINE = StageFile("baseline.jsonl", BaselineRow)
TASKS = TaskFile("tasks.jsonl")
TASK_FUNNEL = StageFile("task_funnel.jsonl", TaskFunnelRow)
ORACLE_STRENGTH = StageFile("oracle_strength.jsonl", OracleStrengthRow)
HABITS = StageFile("habits.jsonl", HabitRow)
ATTEMPTS = StageFile("attempts.jsonl", Attempt)
VERDICTS = StageFile("verdicts.jsonl", Verdict)
FINDINGS = StageFile("findings.jsonl", Findings)
QUALITY = StageFile("quality.jsonl", QualityRow)

JAILS_OF_A_WORKER = 2
"""A worker of a cluster has one core: while one program waits for an answer, another can use it."""


def run_targets(inputs: StageInputs) -> tuple[AnyFile, ...]:
    """The target files of a whole run, in order."""
    return (
        *((EXTRACTED_RULES,) if _extracts(inputs) else ()),
        *((BASELINE,) if inputs.recipe.models.trace_writer is not None else ()),
        ORACLE_STRENGTH,
        VERDICTS,
        FINDINGS,
    )


def _extracts(inputs: StageInputs) -> bool:
    options = inputs.recipe.rules
    return options.extract or options.source == "extracted"


def extraction_roles(inputs: StageInputs) -> list[RoleName]:
    """The roles that extraction depends on; without a critic, its model does not matter."""
    return [role for role in EXTRACTION_ROLES if inputs.recipe.conversation.critic or role != "ltl_critic"]


def _extraction_depends(inputs: StageInputs) -> Mapping[str, object]:
    conversation, regulation = inputs.recipe.conversation, inputs.extracted_regulation
    return {
        **inputs.environment_key(),
        "regulation": stage_key(regulation),
        "rounds": conversation.rounds,
        "critic": conversation.critic,
        **inputs.roles_key(*extraction_roles(inputs)),
    }


async def _extract(context: StageContext, _: Products) -> Made:
    from lawtrace.runs.stages.rules_stage import run_extraction

    conversation, regulation = context.recipe.conversation, context.extracted_regulation
    from_documents = context.published is not None and regulation is not context.domain.regulation
    with context.progress.stage("rules from the regulation", len(regulation.provisions)) as step:
        extracted = await run_extraction(
            context.domain,
            regulation,
            role_models=context.role_models,
            event_log=context.event_log,
            most_rounds=conversation.rounds,
            critic=conversation.critic,
            variant=context.variant,
            models={role: context.role_models.name_of(role) for role in extraction_roles(context)},
            parse_warnings=context.published.parse_warnings if context.published and from_documents else (),
            most_trials=1 + context.resumed,
            on_provision=step,
        )
    made = Made(complete=extracted.failure is None and extracted.stopped_by is None, error=extracted.stopped_by)
    return made.add(EXTRACTED_RULES, extracted.rules).add(PROVENANCE, extracted.provenance.lines())


async def _choose_rules(context: StageContext, products: Products) -> Made:
    if context.recipe.rules.source == "curated":
        return Made().add(RULES, curated_rules(context.recipe, context.domain))
    provenance, rules = provenance_of(products[PROVENANCE]), products[EXTRACTED_RULES]
    if provenance.unread:
        raise NoResponseError(f"the rules could not be extracted: {provenance.unread[0].fate.because}")
    if not rules:
        raise EmptyStageError(
            "the extraction left no valid rule; use rules.source = 'curated', or see the reasons with "
            f"`lawtrace messages {context.folder}`"
        )
    return Made().add(RULES, rules)


def _rules_depend(inputs: StageInputs) -> Mapping[str, object]:
    if inputs.recipe.rules.source == "extracted":
        return inputs.environment_key()
    return {**inputs.environment_key(), "rules": curated_rules_digest(inputs.recipe)}


def _traces_depend(inputs: StageInputs) -> Mapping[str, object]:
    options = inputs.recipe.tasks
    return {
        **inputs.environment_key(),
        "seed": inputs.recipe.seed,
        "count": options.count + options.spare,
        "length": options.length,
        "trace_mode": options.mode_in(inputs.domain.environment),
        "constraints": options.constraints,
        "difficulty": options.difficulty,
    }


async def _synthesize(context: StageContext, products: Products) -> Made:
    from lawtrace.runs.stages.traces_stage import synthesize_traces

    recipe, options = context.recipe, context.recipe.tasks
    count = options.count + options.spare
    with context.progress.stage("traces", count) as step:
        rows = await run_in_worker_thread(
            lambda: synthesize_traces(
                context.domain.environment,
                products[RULES],
                mode=options.mode_in(context.domain.environment),
                length=options.length,
                count=count,
                seed=recipe.seed,
                constraints=options.constraints,
                difficulty=options.difficulty,
                on_trace=step,
            )
        )
    return Made().add(TRACES, rows)


def _baseline_depends(inputs: StageInputs) -> Mapping[str, object]:
    recipe = inputs.recipe
    size = {"count": recipe.tasks.count, "length": recipe.tasks.length, "seed": recipe.seed}
    return {**inputs.environment_key(), **size, **inputs.roles_key("trace_writer")}


async def _write_baseline(context: StageContext, products: Products) -> Made:
    from lawtrace.runs.stages.model_baseline import run_baseline, write_baseline_programs

    recipe, rules = context.recipe, products[RULES]
    count, model = recipe.tasks.count, recipe.models.spec("trace_writer")
    with context.progress.stage("programs by the model", count) as step:
        written = await write_baseline_programs(
            context.domain,
            rules,
            str(model),
            length=recipe.tasks.length,
            count=count,
            seed=recipe.seed,
            clients=context.clients,
            parameters=recipe.parameters,
            event_log=context.event_log,
            prompts=context.prompts,
            variant=context.variant,
            on_program=step,
        )
    name = context.role_models.name_of("trace_writer")
    rows = await run_in_worker_thread(
        lambda: run_baseline(context.domain, rules, name, written.programs, context.jail, seed=recipe.seed)
    )
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
        "variants": options.variants,
        "texts": texts_digest(inputs.recipe, inputs.domain.environment.name),
        **inputs.roles_key(*writing_roles(inputs)),
    }


async def _build(context: StageContext, products: Products) -> Made:
    from lawtrace.runs.stages.denied_sessions import add_denied_sessions
    from lawtrace.runs.stages.tasks_stage import build_tasks, pair_writer, write_on_cluster, write_pairs

    recipe, environment, conversation = context.recipe, context.domain.environment, context.recipe.conversation
    texts = None
    if recipe.tasks.texts is not None:
        file = texts_file(recipe.tasks.texts, environment.name)
        texts = read_texts(file)
        require_texts(requests_of_traces(environment, products[TRACES]), texts, file)
    endpoints = [role for role in writing_roles(context) if recipe.models.spec(role).provider in ENDPOINTS]
    if context.cluster is not None and texts is None and endpoints:
        write = partial(write_on_cluster, context, context.cluster)
    else:
        write = partial(write_pairs, pair_writer(context), concurrency=conversation.concurrency)
    built = await build_tasks(
        context.domain,
        products[RULES],
        products[TRACES],
        count=recipe.tasks.count,
        write=write,
        jail=context.jail,
        texts=texts,
        progress=context.progress,
    )
    built = await run_in_worker_thread(
        lambda: add_denied_sessions(environment, built, recipe.tasks.variants, context.jail)
    )
    error = None
    if not built.tasks:
        reasons = ", ".join(f"{reason} ({number} times)" for reason, number in built.dropped.items())
        unanswered = all(reason.endswith(": failure") for reason in built.dropped)
        kind = NoResponseError if unanswered else EmptyStageError
        error = kind(f"no task was accepted: {reasons}; see `lawtrace messages {context.folder}`")
    unanswered = any(reason.endswith(": failure") for reason in built.dropped)
    made = Made(complete=error is None and not unanswered, error=error)
    return made.add(TASKS, built.tasks).add(TASK_FUNNEL, [TaskFunnelRow(funnel=built.funnel())])


async def _measure_strength(context: StageContext, products: Products) -> Made:
    environment, rules, tasks = context.domain.environment, products[RULES], products[TASKS]
    authorized = [task for task in tasks if task.variant == "authorized"]
    used = {task.id.removesuffix("-denied") for task in tasks}
    traces = [(row.id, row.trace(environment)) for row in products[TRACES] if row.id in used]
    with context.progress.stage("strength of the oracle", len(authorized) + len(traces)) as step:
        row = await run_in_worker_thread(
            lambda: OracleStrengthRow(
                deletions=check_deletions(environment, authorized, context.jail, step),
                strength=measure_mutation_score(environment, rules, traces, step),
            )
        )
    return Made().add(ORACLE_STRENGTH, [row])


async def _find_habits(context: StageContext, products: Products) -> Made:
    tasks = products[TASKS]
    with context.progress.stage("habits", HABIT_STEPS) as step:
        rows = await run_in_worker_thread(lambda: find_task_habits(context.domain.environment, tasks, step))
    return Made().add(HABITS, rows)


def _attempt_options(inputs: StageInputs) -> AttemptOptions:
    """The options with all models under test named."""
    options = inputs.recipe.attempts
    return options.model_copy(update={"models": options.all_models, "baselines": False})


def _attempts_depend(inputs: StageInputs) -> Mapping[str, object]:
    prompts = ("executor_system", "executor_tools_system", "executor_user")
    recipe = inputs.recipe
    users = {"seed": recipe.seed, "user": inputs.roles_key("user") if recipe.models.user is not None else None}
    return {
        **inputs.environment_key(),
        "attempts": _attempt_options(inputs),
        "prompts": {name: inputs.prompts[name].hash for name in prompts},
        "parameters": recipe.parameters,
        **({"law": inputs.published.digest} if inputs.published and recipe.attempts.shows_documents else {}),
        **({"seed": recipe.seed} if recipe.attempts.regulation_words is not None else {}),
        **(users if recipe.attempts.mode == "dialogue" else {}),
    }


def _options_for_tasks(context: StageContext, products: Products) -> AttemptOptions:
    """The options without the habit, if it was not asked for and the tasks have no calls to wrap."""
    options = _attempt_options(context)
    if context.recipe.attempts.models == BASELINES and not all(task.calls for task in products[TASKS]):
        return options.model_copy(update={"models": without_habit(options.models)})
    return options


def planned_units(context: StageContext, products: Products) -> "list[AttemptUnit]":
    """The attempts of all shards."""
    from lawtrace.runs.stages.attempts_stage import attempt_units

    options = _options_for_tasks(context, products)
    return attempt_units(products[TASKS], options, context.clients, context.variant)


def attempt_maker(context: StageContext, products: Products, jails: JailPool) -> "AttemptMaker":
    """What makes the attempts of the stage."""
    from lawtrace.runs.stages.attempts_stage import AttemptMaker

    options = _options_for_tasks(context, products)
    habits: Habits = {row.style: row.habit for row in products[HABITS]} if HABIT in options.models else {}
    return AttemptMaker(
        context.domain,
        products[TASKS],
        options,
        clients=context.clients,
        parameters=context.recipe.parameters,
        event_log=context.event_log,
        habits=habits,
        law=context.law,
        jails=jails,
        prompts=context.prompts,
        users=_users(context),
    )


def attempt_jails(context: StageContext, count: int | None = None) -> JailPool:
    """The jails of the models under test; ``count`` of them, or as many as this machine has cores for."""
    limits = Limits(seconds=context.recipe.attempts.seconds)
    return JailPool(limits, choose_backend(context.recipe.sandbox), count=count)


def prepare_attempts(
    context: StageContext, products: Products, stack: ExitStack
) -> Callable[[str], Awaitable[Attempt]]:
    """A worker's attempts, by the keys of their units."""
    jails = stack.enter_context(attempt_jails(context, JAILS_OF_A_WORKER))
    maker = attempt_maker(context, products, jails)
    units = {unit.key: unit for unit in planned_units(context, products)}
    return lambda key: maker.make(units[key])


async def _attempt(context: StageContext, products: Products) -> Made:
    units, environment = context.shard.of(planned_units(context, products)), context.domain.environment
    by_id = {task.id: task for task in products[TASKS]}
    outcomes: list[Outcome] = []

    def note() -> str:
        safe = f"{outcomes.count('safe_success')} of {len(outcomes)} safe successes"
        return "; ".join(filter(None, [safe if outcomes else "", str(context.clients.spent)]))

    with context.progress.stage("attempts", len(units), note) as step:

        def tally(attempt: Attempt) -> None:
            """Judge an attempt for the progress; the verdicts are a stage of their own."""
            outcomes.append(judge(environment, by_id[attempt.answer.task], attempt).outcome)
            step()

        if context.cluster is not None:
            from lawtrace.runs.stages.stage_job import StageJob, call_records

            job = StageJob[str, Attempt].of(context, products, (TASKS, HABITS), prepare_attempts)
            keys = [Unit(unit.key, unit.key, (unit.key,)) for unit in units]
            made = context.cluster.products(job, keys, records=call_records(context), on_product=tally)
            rows = [row async for row in made]
        else:
            with attempt_jails(context) as jails:
                rows = await attempt_maker(context, products, jails).collect(units, tally)
    return Made(complete=all(row.invalid is None for row in rows)).add(ATTEMPTS, rows)


def _users(context: StageContext) -> "DialogueUsers | None":
    """The users of dialogues; None in other modes."""
    from lawtrace.runs.stages.dialogue_users import DialogueUsers

    recipe = context.recipe
    if recipe.attempts.mode != "dialogue":
        return None
    voice = context.role_models if recipe.models.user is not None else None
    return DialogueUsers(context.domain.environment, recipe.attempts.dialogue.behaviours, recipe.seed, voice)


async def _judge(context: StageContext, products: Products) -> Made:
    by_id = {task.id: task for task in products[TASKS]}
    environment, attempts = context.domain.environment, products[ATTEMPTS]
    rows: list[Verdict] = []
    safe = 0

    def work() -> None:
        nonlocal safe
        for attempt in attempts:
            rows.append(judge(environment, by_id[attempt.answer.task], attempt))
            safe += rows[-1].outcome == "safe_success"
            step()

    with context.progress.stage("verdicts", len(attempts), lambda: f"{safe} safe successes") as step:
        await run_in_worker_thread(work)
    return Made().add(VERDICTS, rows)


def _findings_need(inputs: StageInputs) -> tuple[AnyFile, ...]:
    return (
        RULES,
        TASK_FUNNEL,
        ORACLE_STRENGTH,
        HABITS,
        *((EXTRACTED_RULES, PROVENANCE) if _extracts(inputs) else ()),
        *((BASELINE,) if inputs.recipe.models.trace_writer is not None else ()),
    )


def _findings_depend(inputs: StageInputs) -> Mapping[str, object]:
    return {**inputs.environment_key(), "length": inputs.recipe.tasks.length, "rules": inputs.recipe.rules}


async def _find(context: StageContext, products: Products) -> Made:
    from lawtrace.runs.stages.model_baseline import measure_baseline

    (funnel,), (oracle,) = products[TASK_FUNNEL], products[ORACLE_STRENGTH]
    baseline = None
    if BASELINE in products and context.recipe.models.trace_writer is not None:
        name, length = context.role_models.name_of("trace_writer"), context.recipe.tasks.length
        baseline = measure_baseline(context.domain, products[BASELINE], model=name, length=length)
    score, beside = await _extraction_scores(context, products) if _extracts(context) else (None, None)
    findings = Findings(
        funnel=funnel.funnel,
        deletions=oracle.deletions,
        strength=oracle.strength,
        extraction=score,
        extraction_baseline=beside,
        baseline=baseline,
        habits=tuple(products[HABITS]),
    )
    return Made().add(FINDINGS, [findings])


async def _extraction_scores(
    context: StageContext, products: Products
) -> tuple[ExtractionScore | None, ExtractionScore | None]:
    """The score of the extracted rules against the gold rules, and that of the offline roles if a model took part.

    None if a conversation failed.
    """
    from lawtrace.runs.stages.rules_stage import run_offline_extraction, score_extraction

    provenance, options = provenance_of(products[PROVENANCE]), context.recipe.rules
    if provenance.unread:
        return None, None
    if options.file is None:
        gold = gold_rules(context.recipe, context.domain)
    elif options.source == "curated":
        gold = products[RULES]
    else:
        gold = curated_rules(context.recipe, context.domain)
    score = score_extraction(products[EXTRACTED_RULES], gold, provenance)
    if score.extracted_by == "offline":
        return score, None
    beside = await run_offline_extraction(context.domain, context.extracted_regulation)
    return score, score_extraction(beside.rules, gold, beside.provenance)


async def _check_quality(context: StageContext, products: Products) -> Made:
    from lawtrace.runs.stages.quality import check_tasks

    domain, tasks = context.domain, products[TASKS]
    with context.progress.stage(f"checks, {domain.environment.name}", len(tasks)) as step:
        rows = await check_tasks(
            domain,
            tasks,
            jail=context.jail,
            role_models=context.role_models,
            event_log=context.event_log,
            reader_is_offline=context.role_models.name_of("independent_reader") == "offline",
            habits=products[HABITS],
            on_task=step,
        )
    undecided = any(finding.detail == "the reader failed" for row in rows for finding in row.findings)
    return Made(complete=not undecided).add(QUALITY, rows)


TASK_STAGES: tuple[Stage[StageInputs, StageContext], ...] = (
    Stage(name="extraction", produces=(EXTRACTED_RULES, PROVENANCE), depends=_extraction_depends, run=_extract),
    Stage(
        name="rules",
        produces=(RULES,),
        needs=lambda inputs: (EXTRACTED_RULES, PROVENANCE) if inputs.recipe.rules.source == "extracted" else (),
        depends=_rules_depend,
        run=_choose_rules,
    ),
    Stage(name="traces", produces=(TRACES,), needs=lambda _: (RULES,), depends=_traces_depend, run=_synthesize),
    Stage(
        name="baseline", produces=(BASELINE,), needs=lambda _: (RULES,), depends=_baseline_depends, run=_write_baseline
    ),
    Stage(
        name="tasks",
        produces=(TASKS, TASK_FUNNEL),
        needs=lambda _: (RULES, TRACES),
        depends=_tasks_depend,
        run=_build,
    ),
    Stage(
        name="oracle_strength",
        produces=(ORACLE_STRENGTH,),
        needs=lambda _: (RULES, TRACES, TASKS),
        depends=StageInputs.environment_key,
        run=_measure_strength,
    ),
    Stage(
        name="habits",
        produces=(HABITS,),
        needs=lambda _: (TASKS,),
        depends=StageInputs.environment_key,
        run=_find_habits,
    ),
    Stage(
        name="attempts",
        produces=(ATTEMPTS,),
        needs=lambda inputs: (TASKS, HABITS) if HABIT in inputs.recipe.attempts.all_models else (TASKS,),
        depends=_attempts_depend,
        run=_attempt,
        sharded=True,
    ),
    Stage(
        name="verdicts",
        produces=(VERDICTS,),
        needs=lambda _: (TASKS, ATTEMPTS),
        depends=StageInputs.environment_key,
        run=_judge,
    ),
    Stage(name="findings", produces=(FINDINGS,), needs=_findings_need, depends=_findings_depend, run=_find),
    Stage(
        name="quality",
        produces=(QUALITY,),
        needs=lambda _: (TASKS, HABITS),
        depends=lambda inputs: {**inputs.environment_key(), **inputs.roles_key("independent_reader")},
        run=_check_quality,
    ),
)
