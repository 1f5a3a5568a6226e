"""A full run with its reports. The command line and the Python API both call it, so they write the same files."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

from lawtrace.environments.progress import StageProgress
from lawtrace.runs.call_plan import plan_of
from lawtrace.runs.recipe_checks import check_access
from lawtrace.runs.runner import SessionOptions, ShardResult, VariantResult, run_shard, run_variants
from lawtrace.runs.stages.artifacts import ATTEMPTS
from lawtrace.runs.stages.resolve import ResolvedRecipe, resolve_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.merging import is_complete, merge_shards
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.shards import FoundShard, ShardRecord
from lawtrace.runs.web.export import WrittenReport, write_run_report
from lawtrace.schemas.errors import InputError, OperationalError
from lawtrace.schemas.events import Json
from lawtrace.schemas.recipe import Recipe


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run with its report. A run without an ablation is its only variant, without a name."""

    folder: RunFolder
    variants: Sequence[VariantResult]
    report: WrittenReport


def start_run(
    resolved: ResolvedRecipe, folder: RunFolder, **options: Unpack[SessionOptions]
) -> FinishedRun | ShardResult:
    """Run a prepared recipe, or a shard of it, in a new folder. Raises InputError, before the folder is made, if an
    endpoint is not set up or an ablation is to be divided; otherwise as `continue_run`."""
    check_access(plan_of(resolved), folder.path.name, resolved.recipe.attempts.models)
    if options.get("shard") and resolved.recipe.ablation:
        raise InputError(
            "a recipe with [ablation] has no shards: its variants share files; run each as a recipe of its own, or "
            "divide it with --on"
        )
    with EventLogFile.create(folder.path, recipe=resolved.recipe.model_dump(mode="json")) as event_log:
        return continue_run(resolved, event_log, **options)


def continue_run(
    resolved: ResolvedRecipe, event_log: EventLogFile, **options: Unpack[SessionOptions]
) -> FinishedRun | ShardResult:
    """Make the attempts of the shard, with its record beside them; without one, run all stages of a recipe, of each
    variant of an ablation, and write the reports.

    Raises as `lawtrace.runs.runner.run_variants`, and OperationalError if no variant of an ablation has verdicts.
    """
    shard = options.get("shard")
    if shard is None:
        return _finish(resolved, event_log, **options)
    folder = RunFolder(event_log.path.parent)
    record = ShardRecord.of("run", shard, folder.attempts, events=".")
    record.write(folder.attempts)
    made = asyncio.run(run_shard(resolved, event_log, **options))
    record.finish(folder.attempts, key=made.key, units=made.units, complete=not made.unanswered)
    return made


def _finish(resolved: ResolvedRecipe, event_log: EventLogFile, **options: Unpack[SessionOptions]) -> FinishedRun:
    folder = RunFolder(event_log.path.parent)
    variants = asyncio.run(run_variants(resolved, event_log, **options))
    if all(one.result is None for one in variants):
        raise OperationalError(f"no variant has verdicts; first failure: {variants[0].row.ended}")
    return FinishedRun(folder, variants, write_run_report(folder.path, resolved=resolved))


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
        return _finish(resolved, event_log, progress=progress, unanswered=unanswered)
