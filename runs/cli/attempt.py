"""``lawtrace attempt``: run a model on a file of tasks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.options import ClusterOption, OutOption, ShardOption
from lawtrace.runs.cli.output_files import stage_log_folder
from lawtrace.runs.cli.recipe_flags import ATTEMPT_FLAGS, RecipeFlags, recipe_flags, stage_recipe
from lawtrace.runs.cli.shards import cluster_at, shard_result_of
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.runner import Session, ShardResult, shard_result
from lawtrace.runs.stages.artifacts import ATTEMPTS, TASKS
from lawtrace.runs.store.shards import WHOLE, Shard, ShardRecord
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.schemas.attempt_rows import Attempt


@recipe_flags(*ATTEMPT_FLAGS, "seed", env="folder")
def attempt(
    flags: RecipeFlags,
    tasks: Annotated[Path, typer.Option(help="Task file (JSON lines).")],
    limit: Annotated[int | None, typer.Option(min=1, help="Only this many tasks, from the first.")] = None,
    shard: ShardOption = None,
    on: ClusterOption = None,
    out: OutOption = Path("attempts.jsonl"),
) -> CommandResult:
    """Run a model on tasks.

    For each task and style the model writes a program, which runs in the sandbox, or calls tools. Exit code 1 if an
    attempt has no answer.
    """
    part = None if shard is None else Shard.parse(shard)
    rows, domain = read_tasks(tasks, flags.env)
    inputs = stage_recipe(flags, domain.environment.name)
    name = f"attempt by {', '.join(inputs.recipe.attempts.all_models)} on {tasks}{f', first {limit}' if limit else ''}"
    record = ShardRecord.of("attempt", part or WHOLE, out, name=name, events=stage_log_folder(out).name)

    async def work(session: Session) -> ShardResult:
        if part is not None:
            record.write(out)
        runner = session.runner(inputs)
        runner.give(TASKS, rows[:limit])
        await runner.make(ATTEMPTS)
        return shard_result(runner)

    with cluster_at(on, shard) as cluster:
        made = run_stages(inputs.recipe, out, name, work, force=flags.force, shard=part, cluster=cluster)
    ATTEMPTS.write(out, made.rows)
    if part is None:
        return attempts_result(made.rows, out)
    record.finish(out, key=made.key, units=made.units, complete=not made.unanswered)
    return shard_result_of(made, part, out)


def attempts_result(attempts: Sequence[Attempt], out: Path) -> CommandResult:
    """How many attempts there are; exit code 1 if one has no answer."""
    missing = [row.invalid for row in attempts if row.invalid is not None]
    notes: list[str] = []
    if missing:
        notes.append(f"{len(missing)} attempts have no answer to judge. The last: {missing[-1]}")
        notes.append("The same command asks for these again, and for nothing else.")
    summary = {"attempts": len(attempts), "unanswered": len(missing)}
    return CommandResult(summary, [f"{len(attempts)} attempts."], out, notes, 1 if missing else 0)
