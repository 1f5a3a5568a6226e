"""``lawtrace tasks build``: build tasks from traces."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import typer
from pydantic import BaseModel, ConfigDict, ValidationError

from lawtrace.runs.cli.output import print_note, print_outcome
from lawtrace.runs.cli.output_files import check_output, stage_log_folder
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.cli.recipe_flags import DIFFICULTY, TRACE_CONSTRAINTS, RecipeFlags
from lawtrace.runs.cli.recipe_overrides import stage_recipe
from lawtrace.runs.cli.shards import cluster_at, command_of_shard, end_shard, refuse_extraction
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.runner import Session, ShardResult, open_session
from lawtrace.runs.stages.artifacts import RULES, TASK_FUNNEL, TASKS, TRACES
from lawtrace.runs.stages.instruction_shards import (
    INSTRUCTIONS,
    WrittenRequest,
    tasks_key,
    tasks_of,
    write_instructions,
)
from lawtrace.runs.stages.resolve import checked_recipe_environment, with_allowed_environment
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.shard_merge import merge_shards
from lawtrace.runs.store.shards import FoundShard, Shard, begin_record, end_record, merged_lines, record_path
from lawtrace.runs.store.stage_files import describe_row_error, read_rows
from lawtrace.runs.store.stage_store import Products
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.schemas.recipe import Recipe
from lawtrace.schemas.task_rows import TraceRow

COMMAND = "tasks build"


def build_tasks(
    flags: RecipeFlags, *, traces: Path | None, shard: str | None, on: str | None, out: Path, as_json: bool
) -> None:
    """Build tasks from traces and write them, or write the instructions of a shard."""
    if traces is not None and any(key.startswith(("tasks.constraints.", "tasks.difficulty.")) for key in flags.values):
        named = ", ".join(f"--{name.replace('_', '-')}" for name in (*TRACE_CONSTRAINTS, *DIFFICULTY))
        raise InputError(f"--traces cannot be combined with options about the synthesis: {named}")
    recipe = stage_recipe(flags)
    given = None if traces is None else read_rows(traces, TraceRow)
    if shard is not None:
        options = _Options(recipe=recipe, traces=traces)
        _write_shard(options, given, Shard.parse(shard), on, out, force=flags.force, as_json=as_json)

    async def work(session: Session) -> Products:
        runner = session.runner(recipe)
        if given is not None:
            runner.give(TRACES, given)
        return await runner.make(TASKS, incomplete=True)

    with cluster_at(on) as cluster:
        products = run_stages(recipe, out, COMMAND, work, *_beside(out, given), force=flags.force, cluster=cluster)
    _end(products, recipe, given, out, as_json=as_json)


def _beside(out: Path, given: Sequence[TraceRow] | None) -> list[Path]:
    """The files that are written beside the tasks."""
    return [out.with_suffix(".traces.jsonl")] if given is None else []


def _end(products: Products, recipe: Recipe, given: Sequence[TraceRow] | None, out: Path, *, as_json: bool) -> NoReturn:
    """Write tasks and traces, print the result, and end with exit code 1 if there are too few tasks."""
    tasks, (funnel,) = products[TASKS], products[TASK_FUNNEL]
    TASKS.write(out, tasks)
    for file in _beside(out, given):
        TRACES.write(file, products[TRACES])
    tried, dropped = funnel.funnel.traces, funnel.funnel.dropped
    reasons = "".join(f"\n  dropped {number}: {reason}" for reason, number in sorted(dropped.items()))
    print_outcome(
        {"tasks": len(tasks), "traces": tried, "dropped": {**dropped}},
        f"{len(tasks)} paired tasks from {tried} traces.{reasons}",
        as_json=as_json,
        out=out,
    )
    if any(reason.endswith(": not asked") for reason in dropped):
        print_note("The same command without --shard asks for further instructions, and repeats no answer.")
    raise typer.Exit(0 if len(tasks) == recipe.tasks.count * len(recipe.tasks.variants) else 1)


class _Options(BaseModel):
    """What a merge needs besides the instructions. ``traces``: the file that was given."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    recipe: Recipe
    traces: Path | None


def _write_shard(
    options: _Options,
    given: Sequence[TraceRow] | None,
    shard: Shard,
    on: str | None,
    out: Path,
    *,
    force: bool,
    as_json: bool,
) -> NoReturn:
    recipe = options.recipe
    if recipe.tasks.texts is not None:
        raise InputError("--shard divides what models write; with texts written by hand there is nothing to divide")
    refuse_extraction(recipe)
    events = stage_log_folder(out).name

    async def work(session: Session) -> ShardResult[WrittenRequest]:
        begin_record(COMMAND, shard, out, events=events)
        runner = session.runner(recipe)
        if given is not None:
            runner.give(TRACES, given)
        products = await runner.make(RULES, TRACES)
        rows, units = await write_instructions(runner.context, products, shard)
        failed = [f"request {row.request}" for row in rows if not row.is_answered]
        return ShardResult(rows, tasks_key(runner.context, products), units, failed)

    with cluster_at(on, str(shard)):
        command = command_of_shard(COMMAND, shard)
        made = run_stages(recipe, out, command, work, record_path(out), force=force, shard=shard)
    INSTRUCTIONS.write(out, made.rows)
    end_record(
        begin_record(COMMAND, shard, out, events=events),
        out,
        key=made.key,
        units=made.units,
        complete=not made.unanswered,
        options=options.model_dump(mode="json"),
    )
    end_shard(made, shard, out, rows="requests", as_json=as_json)


def merge_tasks(shards: Sequence[FoundShard], out: Path, env: str | None, *, force: bool, as_json: bool) -> NoReturn:
    """Build tasks from the instructions of all shards, and print the result. No model is called."""
    first = shards[0]
    try:
        options = _Options.model_validate(first.record.options)
        rows = [WrittenRequest.model_validate_json(line) for line in merged_lines(shards)]
    except ValidationError as error:
        raise InputError(f"{first}: cannot be read: {describe_row_error(error)}") from error
    recipe = with_allowed_environment(options.recipe, env, first.file)
    checked_recipe_environment(recipe)
    given = None if options.traces is None else read_rows(options.traces, TraceRow)
    check_output(out, *_beside(out, given), force=force)

    async def work(event_log: EventLogFile) -> Products:
        folder = RunFolder(event_log.path.parent)
        async with open_session(recipe, folder, event_log, progress=ProgressBars()) as session:
            runner = session.runner(recipe, stages=(tasks_of({row.request: row.pair for row in rows}),))
            if given is not None:
                runner.give(TRACES, given)
            products = await runner.make(RULES, TRACES)
            if tasks_key(runner.context, products) != first.record.key:
                raise InputError(f"{first}: its rules, traces or environment changed since; make the shards again")
            return await runner.make(TASKS, incomplete=True)

    described: Json = {"stage": COMMAND, "sandbox": recipe.sandbox}
    folder = merge_shards(
        shards, stage_log_folder(out), recipe=described, stage="tasks", file=None, progress=ProgressBars()
    )
    with EventLogFile.append_to(folder) as event_log:
        products = asyncio.run(work(event_log))
    _end(products, recipe, given, out, as_json=as_json)
