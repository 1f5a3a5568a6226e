"""``lawtrace attempt``: run a model on a file of tasks."""

from collections.abc import Sequence
from pathlib import Path

import typer

from lawtrace.runs.cli.output import print_note, print_outcome
from lawtrace.runs.cli.output_files import stage_log_folder
from lawtrace.runs.cli.recipe_flags import RecipeFlags
from lawtrace.runs.cli.recipe_overrides import stage_recipe
from lawtrace.runs.cli.shards import cluster_at, command_of_shard, end_shard
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.runner import Session, ShardResult, shard_result
from lawtrace.runs.stages.artifacts import ATTEMPTS, TASKS
from lawtrace.runs.store.shards import WHOLE, Shard, begin_record, end_record, record_path
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.schemas.attempt_rows import Attempt


def attempt(
    flags: RecipeFlags,
    *,
    tasks: Path,
    limit: int | None,
    shard: str | None,
    on: str | None,
    out: Path,
    as_json: bool,
) -> None:
    """Run the models on the tasks, and write their attempts."""
    part = WHOLE if shard is None else Shard.parse(shard)
    rows, domain = read_tasks(tasks, flags.env)
    recipe = stage_recipe(flags, domain.environment.name)
    name = f"attempt by {', '.join(recipe.attempts.all_models)} on {tasks}{f', first {limit}' if limit else ''}"
    command = name if shard is None else command_of_shard(name, part)
    records = (record_path(out),) if shard else ()

    async def work(session: Session) -> ShardResult[Attempt]:
        if shard is not None:
            begin_record("attempt", part, out, name=name, events=stage_log_folder(out).name)
        runner = session.runner(recipe)
        runner.give(TASKS, rows[:limit])
        await runner.make(ATTEMPTS)
        return shard_result(runner)

    with cluster_at(on, shard) as cluster:
        made = run_stages(recipe, out, command, work, *records, force=flags.force, shard=part, cluster=cluster)
    ATTEMPTS.write(out, made.rows)
    if shard is None:
        end_attempts(made.rows, out, as_json=as_json)
    begun = begin_record("attempt", part, out, name=name, events=stage_log_folder(out).name)
    end_record(begun, out, key=made.key, units=made.units, complete=not made.unanswered)
    end_shard(made, part, out, as_json=as_json)


def end_attempts(attempts: Sequence[Attempt], out: Path, *, as_json: bool) -> None:
    """Print how many attempts there are, and end with exit code 1 if one has no answer."""
    missing = [row.invalid for row in attempts if row.invalid is not None]
    summary = {"attempts": len(attempts), "unanswered": len(missing)}
    print_outcome(summary, f"{len(attempts)} attempts.", as_json=as_json, out=out)
    if missing:
        print_note(f"{len(missing)} attempts have no answer to judge. The last: {missing[-1]}")
        print_note("The same command asks for these again, and for nothing else.")
    raise typer.Exit(1 if missing else 0)
