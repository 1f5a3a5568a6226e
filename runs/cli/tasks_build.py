"""``lawtrace tasks build``: build tasks from traces.

Shards write the instructions of the requests that are tried first, which are written whatever the answers are. Which
are tried after them depends on the answers to all, so where too few are accepted, the command without ``--shard`` goes
on.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from lawtrace.agents.concurrency import run_in_worker_thread
from lawtrace.agents.conversations.instruction_writing import InstructionResult
from lawtrace.runs.cli.options import ClusterOption, OutOption, ShardOption
from lawtrace.runs.cli.output_files import check_output, stage_log_folder
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.cli.recipe_flags import (
    DIFFICULTY,
    MODEL_CALLS,
    TRACE_CONSTRAINTS,
    RecipeFlags,
    recipe_flags,
    stage_recipe,
)
from lawtrace.runs.cli.shards import cluster_at, refuse_extraction, shard_result_of
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.runner import Session, ShardResult, open_session
from lawtrace.runs.stages.artifacts import RULES, TASK_FUNNEL, TASKS, TRACES
from lawtrace.runs.stages.build import BUILDING_STAGES, build, tasks_depend
from lawtrace.runs.stages.resolve import resolve_recipe, with_allowed_environment
from lawtrace.runs.stages.stage import StageContext, StageInputs
from lawtrace.runs.stages.tasks_stage import WrittenPair, first_requests, write_pairs
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.merging import merge_shards
from lawtrace.runs.store.shards import FoundShard, Shard, ShardRecord, merged_lines, read_options
from lawtrace.runs.store.stage_files import describe_row_error, read_rows, write_rows
from lawtrace.runs.store.stage_store import Products, stage_key
from lawtrace.schemas.choices import STYLES, Style
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.schemas.models import StrictModel
from lawtrace.schemas.recipe import Recipe
from lawtrace.schemas.task_rows import TraceRow

COMMAND = "tasks build"
NOT_ASKED: WrittenPair = dict.fromkeys(STYLES, InstructionResult(None, 0, "not asked"))


class WrittenRequest(StrictModel):
    """The instructions of a request, by the id of its trace, in both styles; the second is missing if the first was not
    accepted."""

    request: str
    pair: dict[Style, InstructionResult]


@recipe_flags(
    "rules", "count", "length", "trace_mode", *TRACE_CONSTRAINTS, *DIFFICULTY, "texts", "variant", *MODEL_CALLS, "seed"
)
def build_tasks(
    flags: RecipeFlags,
    traces: Annotated[Path | None, typer.Option(help="Trace file (JSON lines); default: synthesize traces.")] = None,
    shard: ShardOption = None,
    on: ClusterOption = None,
    out: OutOption = Path("tasks.jsonl"),
) -> CommandResult:
    """Build tasks from traces, with checked instructions.

    Instructions are written in both styles and checked by code and by the reviewing roles.

    Exit code 1 if fewer tasks than requested were accepted.
    """
    if traces is not None and any(key.startswith(("tasks.constraints.", "tasks.difficulty.")) for key in flags.values):
        named = ", ".join(f"--{name.replace('_', '-')}" for name in (*TRACE_CONSTRAINTS, *DIFFICULTY))
        raise InputError(f"--traces cannot be combined with options about the synthesis: {named}")
    inputs = stage_recipe(flags)
    recipe = inputs.recipe
    given = None if traces is None else read_rows(traces, TraceRow)
    if shard is not None:
        return _write_shard(inputs, traces, given, Shard.parse(shard), on, out, force=flags.force)

    async def work(session: Session) -> Products:
        runner = session.runner(inputs)
        if given is not None:
            runner.give(TRACES, given)
        return await runner.make(TASKS, incomplete=True)

    with cluster_at(on) as cluster:
        products = run_stages(recipe, out, COMMAND, work, *_beside(out, given), force=flags.force, cluster=cluster)
    return _result(products, recipe, given, out)


def _beside(out: Path, given: Sequence[TraceRow] | None) -> list[Path]:
    """The files that are written beside the tasks."""
    return [out.with_suffix(".traces.jsonl")] if given is None else []


def _result(products: Products, recipe: Recipe, given: Sequence[TraceRow] | None, out: Path) -> CommandResult:
    """Write tasks and traces; exit code 1 if there are too few tasks."""
    tasks, (funnel,) = products[TASKS], products[TASK_FUNNEL]
    TASKS.write(out, tasks)
    for file in _beside(out, given):
        TRACES.write(file, products[TRACES])
    tried, dropped = funnel.funnel.traces, funnel.funnel.dropped
    reasons = "".join(f"\n  dropped {number}: {reason}" for reason, number in sorted(dropped.items()))
    not_asked = any(reason.endswith(": not asked") for reason in dropped)
    more = "The same command without --shard asks for further instructions, and repeats no answer."
    return CommandResult(
        {"tasks": len(tasks), "traces": tried, "dropped": {**dropped}},
        [f"{len(tasks)} paired tasks from {tried} traces.{reasons}"],
        out,
        [more] if not_asked else [],
        0 if len(tasks) == recipe.tasks.count * len(recipe.tasks.variants) else 1,
    )


class _Options(StrictModel):
    """What a merge needs besides the instructions. ``traces``: the file that was given."""

    recipe: Recipe
    traces: Path | None


def _write_shard(
    inputs: StageInputs,
    traces: Path | None,
    given: Sequence[TraceRow] | None,
    shard: Shard,
    on: str | None,
    out: Path,
    *,
    force: bool,
) -> CommandResult:
    recipe = inputs.recipe
    if recipe.tasks.texts is not None:
        raise InputError("--shard divides what models write; with texts written by hand there is nothing to divide")
    refuse_extraction(recipe)
    record = ShardRecord.of(COMMAND, shard, out, events=stage_log_folder(out).name)

    async def work(session: Session) -> ShardResult[WrittenRequest]:
        record.write(out)
        runner = session.runner(inputs)
        if given is not None:
            runner.give(TRACES, given)
        products, context = await runner.make(RULES, TRACES), runner.context
        requests = await run_in_worker_thread(lambda: first_requests(context, products[RULES], products[TRACES]))
        own = shard.of(requests)
        with context.progress.stage("instructions", len(own)) as step:
            pairs = await write_pairs(context, own, step)
        rows = [WrittenRequest(request=row.id, pair=pair) for row, pair in zip(own, pairs, strict=True)]
        failed = [f"request {row.request}" for row in rows if any(one.ending == "failure" for one in row.pair.values())]
        return ShardResult(rows, _tasks_key(context, products), len(requests), failed)

    with cluster_at(on, str(shard)):
        made = run_stages(recipe, out, COMMAND, work, force=force, shard=shard)
    write_rows(out, made.rows)
    options = _Options(recipe=recipe, traces=traces)
    record.finish(out, key=made.key, units=made.units, complete=not made.unanswered, options=options)
    return shard_result_of(made, shard, out, rows="requests")


def _tasks_key(context: StageContext, products: Products) -> str:
    """A hash over all that the tasks depend on."""
    return stage_key("tasks", version("lawtrace"), tasks_depend(context), products[RULES], products[TRACES])


def merge_tasks(shards: Sequence[FoundShard], out: Path, env: str | None, *, force: bool) -> CommandResult:
    """Build tasks from the instructions of all shards. No model is called."""
    first = shards[0]
    options = read_options(first, _Options)
    try:
        rows = [WrittenRequest.model_validate_json(line) for line in merged_lines(shards)]
    except ValidationError as error:
        raise InputError(f"{first}: cannot be read: {describe_row_error(error)}") from error
    recipe = with_allowed_environment(options.recipe, env, first.file)
    inputs = resolve_recipe(recipe).inputs
    given = None if options.traces is None else read_rows(options.traces, TraceRow)
    check_output(out, *_beside(out, given), force=force)

    written: dict[str, WrittenPair] = {row.request: row.pair for row in rows}

    async def look_up(rows: Sequence[TraceRow]) -> list[WrittenPair]:
        return [written.get(row.id, NOT_ASKED) for row in rows]

    (stage,) = (stage for stage in BUILDING_STAGES if TASKS in stage.produces)
    of_shards = replace(stage, run=partial(build, write=look_up))

    async def work(event_log: EventLogFile) -> Products:
        async with open_session(recipe, event_log, progress=ProgressBars()) as session:
            runner = session.runner(inputs, stages=(of_shards,))
            if given is not None:
                runner.give(TRACES, given)
            products = await runner.make(RULES, TRACES)
            if _tasks_key(runner.context, products) != first.record.key:
                raise InputError(f"{first}: its rules, traces or environment changed since; make the shards again")
            return await runner.make(TASKS, incomplete=True)

    described: Json = {"stage": COMMAND, "sandbox": recipe.sandbox}
    folder = merge_shards(
        shards, stage_log_folder(out), recipe=described, stage="tasks", file=None, progress=ProgressBars()
    )
    with EventLogFile.append_to(folder) as event_log:
        products = asyncio.run(work(event_log))
    return _result(products, recipe, given, out)
