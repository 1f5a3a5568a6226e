"""Merging of shards of a run: their rows, their event logs and the files of the stages before."""

from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path

from lawtrace.agents.event_log import StageFinished
from lawtrace.environments.errors import InputError
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_merge import merge_event_logs
from lawtrace.runs.store.shards import FoundShard, merged_lines
from lawtrace.runs.store.stage_files import file_digest, write_lines
from lawtrace.runs.store.stage_store import AnyFile, copy_file


def merge_shards(
    shards: Sequence[FoundShard],
    event_log: EventLogFile,
    *,
    stage: str,
    file: AnyFile,
    later: Collection[str] = (),
) -> Path:
    """Merge all shards of the units of a stage, in order, into the event log and its folder; return the file with all
    rows.

    The event log then has what one process would have recorded: every entry of the shards once, and the stage as one.

    Args:
        file: what the stage writes.
        later: stages that every shard went on to make of its own rows. Their calls are merged, and their files are not.

    Raises InputError if a shard lacks its event log or a file of an earlier stage.
    """
    folder, parts = event_log.path.parent, {stage, *later}
    with ExitStack() as stack:
        logs: list[EventLogFile] = []
        for shard in shards:
            if shard.events is None:
                raise InputError(f"{shard}: has no event log; it is not a shard of {stage}")
            logs.append(stack.enter_context(EventLogFile.open(shard.events)))
        for log in logs:
            _copy_stage_files(log, folder, parts)
        merge_event_logs(
            event_log, logs, keep=lambda entry: not (isinstance(entry, StageFinished) and entry.stage in parts)
        )
    path, record = folder / file.name, shards[0].record
    rows = write_lines(path, merged_lines(shards))
    key = record.key if is_complete(shards) else ""
    event_log.record(StageFinished(stage=stage, key=key, file=file.name, sha256=file_digest(path), rows=rows))
    return path


def is_complete(shards: Sequence[FoundShard]) -> bool:
    """Whether a model answered every unit."""
    return all(shard.record.complete for shard in shards)


def _copy_stage_files(event_log: EventLogFile, folder: Path, parts: Collection[str]) -> None:
    """Copy the files that the stages before wrote, unless another shard had them."""
    for entry in event_log.entries(kind="stage"):
        if isinstance(entry, StageFinished) and entry.stage not in parts and not (folder / entry.file).exists():
            source = event_log.path.parent / entry.file
            if not source.is_file():
                raise InputError(f"{source}: missing; copy the whole folder of the shard")
            copy_file(source, folder / entry.file)
