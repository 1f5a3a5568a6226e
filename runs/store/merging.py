"""Merging of event logs, and of the shards of a run: their rows, their logs and the files of the stages before."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from heapq import merge
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory

from lawtrace.environments.progress import StageProgress
from lawtrace.runs.store.event_log_database import check_can_create, event_log_path
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.shards import FoundShard, merged_lines
from lawtrace.runs.store.stage_files import file_digest, write_lines
from lawtrace.runs.store.stage_store import AnyFile, copy_file, stage_key
from lawtrace.schemas.errors import InputError, OperationalError
from lawtrace.schemas.events import Json
from lawtrace.schemas.log_entries import Entry, StageFinished

_MEASURED = {"latency_ms", "queued_ms", "waited_seconds"}


def entry_key(entry: Entry) -> str:
    """The content key of an entry: a hash over all that it says but measured times."""
    return stage_key(entry.model_dump(mode="json", exclude=_MEASURED))


def merge_event_logs(
    target: EventLogFile, sources: Sequence[EventLogFile], *, keep: Callable[[Entry], bool] = lambda _: True
) -> int:
    """Append the entries of the sources that the target lacks, in order of their times, in one transaction.

    An entry that occurs n times in one source, such as the same try of a call, is kept n times; in several sources, as
    often as in the one that has it most. So merging again adds nothing.

    Args:
        keep: whether an entry is merged.

    Returns how many entries were added.
    """
    there = Counter(map(entry_key, target.entries()))

    def missing() -> Iterator[tuple[str, Entry]]:
        for at, entry, key, number in merge(*map(_numbered, sources), key=itemgetter(0)):
            if number > there[key] and keep(entry):
                there[key] += 1
                yield at, entry

    return target.append(missing())


def _numbered(source: EventLogFile) -> Iterator[tuple[str, Entry, str, int]]:
    """The entries with time, key and their number among those with the same key, from 1."""
    seen = Counter[str]()
    for at, entry in source.timed_entries():
        key = entry_key(entry)
        seen[key] += 1
        yield at, entry, key, seen[key]


def merge_shards(
    shards: Sequence[FoundShard], folder: Path, *, recipe: Json, stage: str, file: AnyFile, progress: StageProgress
) -> Path:
    """Merge all shards of the units of a stage, in order, in a new folder; return the file with all rows.

    The event log in the folder then has what one process would have recorded: every entry of the shards once, and the
    stage as one. It is moved there when it is complete, so that an interrupted merge leaves no run to be resumed.

    Args:
        recipe: for the event log.
        file: what the stage writes.

    Raises InputError if the folder has a run, or a shard lacks its event log or a file of an earlier stage.
    """
    check_can_create(event_log_path(folder))
    with ExitStack() as stack:
        logs: list[EventLogFile] = []
        for shard in shards:
            if shard.events is None:
                raise InputError(f"{shard}: has no event log; it is not a shard of {stage}")
            logs.append(stack.enter_context(EventLogFile.open(shard.events)))
        files = _earlier_files(logs, stage)
        aside = Path(stack.enter_context(_folder_in(folder)))
        for name, source in files.items():
            copy_file(source, aside / name)
        with EventLogFile.create(aside, recipe=recipe) as event_log:
            entries: int = sum(log.rows("SELECT count(*) FROM entries")[0][0] for log in logs)
            with progress.stage("merge", entries) as step:

                def keep(entry: Entry) -> bool:
                    step()
                    return not isinstance(entry, StageFinished) or entry.file in files

                merge_event_logs(event_log, logs, keep=keep)
            path, key = aside / file.name, shards[0].record.key if is_complete(shards) else ""
            rows = write_lines(path, merged_lines(shards))
            event_log.record(StageFinished(stage=stage, key=key, file=file.name, sha256=file_digest(path), rows=rows))
        for made in (*files, file.name, event_log.path.name):
            (folder / made).parent.mkdir(parents=True, exist_ok=True)
            (aside / made).replace(folder / made)
    return folder / file.name


def is_complete(shards: Sequence[FoundShard]) -> bool:
    """Whether a model answered every unit."""
    return all(shard.record.complete for shard in shards)


def _folder_in(folder: Path) -> TemporaryDirectory[str]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return TemporaryDirectory(prefix="merging-", dir=folder)
    except OSError as error:
        raise OperationalError(f"cannot write in {folder}: {error.strerror}; choose another folder") from error


def _earlier_files(logs: Sequence[EventLogFile], stage: str) -> dict[str, Path]:
    """The files that stages other than the divided one wrote, each of the first shard that has it."""
    files: dict[str, Path] = {}
    for log in logs:
        for entry in log.entries(kind="stage"):
            if isinstance(entry, StageFinished) and entry.stage != stage:
                files.setdefault(entry.file, log.path.parent / entry.file)
    for source in files.values():
        if not source.is_file():
            raise InputError(f"{source}: missing; copy the whole folder of the shard")
    return files
