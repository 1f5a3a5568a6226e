"""A full run with its reports. The command line and the Python API both call it, so they write the same files."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lawtrace.environments.progress import StageProgress
from lawtrace.runs.call_plan import plan_of
from lawtrace.runs.recipe_checks import check_access
from lawtrace.runs.runner import (
    RunResult,
    ShardResult,
    VariantResult,
    refuse_ablation,
    run_recipe,
    run_shard,
    run_variants,
)
from lawtrace.runs.stages.artifacts import ATTEMPTS
from lawtrace.runs.stages.cluster_jobs import Cluster
from lawtrace.runs.stages.resolve import checked_recipe_environment, curated_rules, resolve_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.merging import is_complete, merge_shards
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.shards import FoundShard, Shard, begin_record, end_record
from lawtrace.runs.web.export import WrittenReport, write_run_report
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.errors import OperationalError
from lawtrace.schemas.events import Json
from lawtrace.schemas.recipe import Recipe


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run with its report.

    Attributes:
        result: None for an ablation.
        variants: the variants of an ablation; empty for any other run.
    """

    folder: RunFolder
    result: RunResult | None
    variants: Sequence[VariantResult]
    report: WrittenReport


def start_run(
    recipe: Recipe,
    folder: RunFolder,
    *,
    progress: StageProgress | None = None,
    reuse: Path | None = None,
    cluster: Cluster | None = None,
) -> FinishedRun:
    """Run a prepared recipe in a new folder. Raises InputError, before the folder is made, if an endpoint is not set
    up; otherwise as `continue_run`."""
    check_access(plan_of(recipe))
    with EventLogFile.create(folder.path, recipe=recipe.model_dump(mode="json")) as event_log:
        return continue_run(recipe, folder, event_log, progress=progress, reuse=reuse, cluster=cluster)


def continue_run(
    recipe: Recipe,
    folder: RunFolder,
    event_log: EventLogFile,
    *,
    progress: StageProgress | None = None,
    reuse: Path | None = None,
    cluster: Cluster | None = None,
    unanswered: Mapping[str, Path] | None = None,
) -> FinishedRun:
    """Run all stages of a recipe, of each variant of an ablation, and write the reports.

    ``cluster``: other processes that make units. ``unanswered``: key -> a file that lacks answers, and is used
    nevertheless; not for an ablation.

    Raises:
        EmptyStageError, NoResponseError: a stage has no result that the next one can use.
        OperationalError: no variant of an ablation has verdicts.
    """
    result, variants = None, list[VariantResult]()
    if recipe.ablation:
        every = run_variants(recipe, folder, event_log=event_log, progress=progress, reuse=reuse, cluster=cluster)
        variants = asyncio.run(every)
    else:
        work = run_recipe(
            recipe, folder, event_log=event_log, progress=progress, reuse=reuse, cluster=cluster, unanswered=unanswered
        )
        result = asyncio.run(work)
    if variants and all(one.result is None for one in variants):
        raise OperationalError(f"no variant has verdicts; first failure: {variants[0].ended}")
    return FinishedRun(folder, result, variants, write_run_report(folder.path, recipe.environment))


def start_shard(
    recipe: Recipe, folder: RunFolder, shard: Shard, *, progress: StageProgress | None = None, reuse: Path | None = None
) -> ShardResult[Attempt]:
    """Make the attempts of a shard of a run in a new folder. Raises InputError as `start_run`, otherwise as
    `run_shard`."""
    check_access(plan_of(recipe))
    refuse_ablation(recipe)
    with EventLogFile.create(folder.path, recipe=recipe.model_dump(mode="json")) as event_log:
        return continue_shard(recipe, folder, event_log, shard, progress=progress, reuse=reuse)


def continue_shard(
    recipe: Recipe,
    folder: RunFolder,
    event_log: EventLogFile,
    shard: Shard,
    *,
    progress: StageProgress | None = None,
    reuse: Path | None = None,
) -> ShardResult[Attempt]:
    """Make the attempts of a shard of a run, beside which its record is written. Raises as `run_shard`."""
    record = begin_record("run", shard, folder.attempts, events=".")
    result = asyncio.run(run_shard(recipe, folder, shard, event_log=event_log, progress=progress, reuse=reuse))
    end_record(record, folder.attempts, key=result.key, units=result.units, complete=not result.unanswered)
    return result


def merge_run(
    recipe: Recipe, folder: RunFolder, shards: Sequence[FoundShard], *, recorded: Json, progress: StageProgress
) -> FinishedRun:
    """Merge all shards of a run in a new folder, and make what is left: verdicts, findings and the report.

    ``recorded``: the recipe for the event log, as in those of the shards.

    Raises InputError, before anything is written, if the folder has a run, or the environment, the rules or other files
    of the recipe are missing or have changed.
    """
    curated_rules(resolve_recipe(recipe), checked_recipe_environment(recipe))
    attempts = merge_shards(shards, folder.path, recipe=recorded, stage="attempts", file=ATTEMPTS, progress=progress)
    unanswered = {} if is_complete(shards) else {shards[0].record.key: attempts}
    with EventLogFile.append_to(folder.path) as event_log:
        return continue_run(recipe, folder, event_log, progress=progress, unanswered=unanswered)
