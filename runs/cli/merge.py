"""``lawtrace merge``: join the shards of one command."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.audit.options import AuditOptions
from lawtrace.runs.cli.audit import audit_by
from lawtrace.runs.cli.options import EnvironmentFolderOption, FailUnderOption, ForceOption
from lawtrace.runs.cli.output_files import check_folder
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.cli.run_results import run_result_of
from lawtrace.runs.cli.stage_runs import resumable
from lawtrace.runs.cli.thresholds import check_bound
from lawtrace.runs.cli.traces_synthesize import merge_traces
from lawtrace.runs.full_run import merge_run
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.stages.resolve import recorded_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder, new_run_folder
from lawtrace.runs.store.shards import FoundShard, check_shards, find_shards, read_options
from lawtrace.schemas.errors import InputError


def merge(
    shards: Annotated[list[Path], typer.Argument(help="Folders with shards, or their files.")],
    out: Annotated[
        Path | None, typer.Option(help="Output file, or run folder; default as for the command of the shards.")
    ] = None,
    env: EnvironmentFolderOption = None,
    fail_under: FailUnderOption = None,
    force: ForceOption = False,
) -> CommandResult:
    """Merge all shards of one command.

    Writes what the command writes without --shard, and ends with the same exit code.
    """
    found = check_shards(find_shards(shards))
    command = found[0].record.command
    if fail_under is not None and command != "run":
        raise InputError(f"--fail-under has no meaning for shards of `lawtrace {command}`: they have no Pass@1")
    match command:
        case "audit":
            options = read_options(found[0], AuditOptions)
            return audit_by(options, out or Path("audit.jsonl"), merged=found, force=force)
        case "traces synthesize":
            return merge_traces(found, out or Path("traces.jsonl"), env, force=force)
        case _:
            return _merge_run(found, out, env, fail_under)


def _merge_run(
    shards: Sequence[FoundShard], out: Path | None, env: str | None, fail_under: float | None
) -> CommandResult:
    events, command = shards[0].events, shards[0].record.command
    if events is None:
        raise InputError(f"{shards[0]}: has no event log; it is not a shard of `lawtrace {command}`")
    if out is not None:
        check_folder(out)
    with EventLogFile.open(events) as event_log:
        recorded = event_log.recipe
        recipe = recorded_recipe(event_log, env)
    check_bound(recipe, fail_under)
    folder = RunFolder(out) if out else new_run_folder(recipe.name)
    with resumable(folder.path):
        finished = merge_run(recipe, folder, shards, recorded=recorded, progress=ProgressBars())
    return run_result_of(finished, fail_under)
