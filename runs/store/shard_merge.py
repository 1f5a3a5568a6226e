"""Merging of shards of attempts: their rows, their event logs and the files of the stages before."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from lawtrace.agents.event_log import Entry, StageFinished
from lawtrace.environments.errors import InputError
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_merge import merge_event_logs
from lawtrace.runs.store.shards import FoundShard, merged_lines
from lawtrace.runs.store.stage_files import file_digest, write_lines
from lawtrace.runs.store.stage_store import copy_file

STAGE = "attempts"
FILE = "attempts.jsonl"


def merge_attempts(shards: Sequence[FoundShard], event_log: EventLogFile) -> Path:
    """Merge all shards of attempts, in order, into the event log and its folder; return the file with all rows.

    The event log then has what one process would have recorded: every entry of the shards once, and the stage of the
    attempts as one.

    Raises InputError if a shard lacks its event log or a file of an earlier stage.
    """
    folder = event_log.path.parent
    with ExitStack() as stack:
        logs: list[EventLogFile] = []
        for shard in shards:
            if shard.events is None:
                raise InputError(f"{shard}: has no event log; it is not a shard of attempts")
            logs.append(stack.enter_context(EventLogFile.open(shard.events)))
        for log in logs:
            _copy_stage_files(log, folder)
        merge_event_logs(event_log, logs, keep=lambda entry: not _is_part(entry))
    path, record = folder / FILE, shards[0].record
    rows = write_lines(path, merged_lines(shards))
    key = record.key if all(shard.record.complete for shard in shards) else ""
    event_log.record(StageFinished(stage=STAGE, key=key, file=FILE, sha256=file_digest(path), rows=rows))
    return path


def _is_part(entry: Entry) -> bool:
    """Whether the entry is about the file of one shard only."""
    return isinstance(entry, StageFinished) and entry.stage == STAGE


def _copy_stage_files(event_log: EventLogFile, folder: Path) -> None:
    """Copy the files that the stages before the attempts wrote, unless another shard had them."""
    for entry in event_log.entries(kind="stage"):
        if isinstance(entry, StageFinished) and not _is_part(entry) and not (folder / entry.file).exists():
            source = event_log.path.parent / entry.file
            if not source.is_file():
                raise InputError(f"{source}: missing; copy the whole folder of the shard")
            copy_file(source, folder / entry.file)
