"""A full run with its reports. The command line and the Python API both call it, so they write the same files."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

from lawtrace.environments.progress import StageProgress
from lawtrace.runs.call_plan import plan_of
from lawtrace.runs.recipe_checks import check_access
from lawtrace.runs.runner import (
    RunResult,
    SessionOptions,
    ShardResult,
    VariantResult,
    refuse_ablation,
    run_recipe,
    run_shard,
    run_variants,
)
from lawtrace.runs.stages.artifacts import ATTEMPTS
from lawtrace.runs.stages.resolve import ResolvedRecipe, resolve_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.merging import is_complete, merge_shards
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.shards import WHOLE, FoundShard, begin_record, end_record
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


def start_run(resolved: ResolvedRecipe, folder: RunFolder, **options: Unpack[SessionOptions]) -> FinishedRun:
    """Run a prepared recipe in a new folder. Raises InputError, before the folder is made, if an endpoint is not set
    up; otherwise as `continue_run`."""
    check_access(plan_of(resolved))
    with EventLogFile.create(folder.path, recipe=resolved.recipe.model_dump(mode="json")) as event_log:
        return continue_run(resolved, folder, event_log, **options)


def continue_run(
    resolved: ResolvedRecipe, folder: RunFolder, event_log: EventLogFile, **options: Unpack[SessionOptions]
) -> FinishedRun:
    """Run all stages of a recipe, of each variant of an ablation, and write the reports.

    Raises:
        EmptyStageError, NoResponseError: a stage has no result that the next one can use.
        OperationalError: no variant of an ablation has verdicts.
    """
    result, variants = None, list[VariantResult]()
    if resolved.recipe.ablation:
        variants = asyncio.run(run_variants(resolved, folder, event_log, **options))
    else:
        result = asyncio.run(run_recipe(resolved, folder, event_log, **options))
    if variants and all(one.result is None for one in variants):
        raise OperationalError(f"no variant has verdicts; first failure: {variants[0].ended}")
    return FinishedRun(folder, result, variants, write_run_report(folder.path, resolved=resolved))


def start_shard(resolved: ResolvedRecipe, folder: RunFolder, **options: Unpack[SessionOptions]) -> ShardResult[Attempt]:
    """Make the attempts of a shard of a run in a new folder. Raises InputError as `start_run`, otherwise as
    `run_shard`."""
    check_access(plan_of(resolved))
    refuse_ablation(resolved.recipe)
    with EventLogFile.create(folder.path, recipe=resolved.recipe.model_dump(mode="json")) as event_log:
        return continue_shard(resolved, folder, event_log, **options)


def continue_shard(
    resolved: ResolvedRecipe, folder: RunFolder, event_log: EventLogFile, **options: Unpack[SessionOptions]
) -> ShardResult[Attempt]:
    """Make the attempts of a shard of a run, beside which its record is written. Raises as `run_shard`."""
    record = begin_record("run", options.get("shard", WHOLE), folder.attempts, events=".")
    result = asyncio.run(run_shard(resolved, folder, event_log, **options))
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
    resolved = resolve_recipe(recipe)
    attempts = merge_shards(shards, folder.path, recipe=recorded, stage="attempts", file=ATTEMPTS, progress=progress)
    unanswered = {} if is_complete(shards) else {shards[0].record.key: attempts}
    with EventLogFile.append_to(folder.path) as event_log:
        return continue_run(resolved, folder, event_log, progress=progress, unanswered=unanswered)
