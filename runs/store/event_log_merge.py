"""Merging of event logs: the entries of several logs in one, each once."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from operator import itemgetter

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_store import stage_key
from lawtrace.schemas.log_entries import Entry

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
    there = Counter(entry_key(entry) for entry in target.entries())
    return target.append(_missing(merge(*map(_numbered, sources), key=itemgetter(0)), there, keep))


def merge_conversations(
    target: EventLogFile,
    names: Sequence[str],
    entries: Sequence[tuple[str, Entry]],
    *,
    keep: Callable[[Entry], bool] = lambda _: True,
    seen: Counter[str] | None = None,
) -> int:
    """Append the entries of some conversations, each with its time, that the target lacks (see `merge_event_logs`).

    ``seen``: content key -> how many entries of the same source were merged before; it is updated.
    """
    there = Counter(entry_key(entry) for name in names for entry in target.conversation(name))
    return target.append(_missing(_numbered_entries(entries, seen), there, keep))


def _numbered(source: EventLogFile) -> Iterator[tuple[str, Entry, str, int]]:
    return _numbered_entries(source.timed_entries())


def _numbered_entries(
    entries: Iterable[tuple[str, Entry]], seen: Counter[str] | None = None
) -> Iterator[tuple[str, Entry, str, int]]:
    """The entries of a source with time, key and their number among those with the same key, from 1."""
    seen = Counter() if seen is None else seen
    for at, entry in entries:
        key = entry_key(entry)
        seen[key] += 1
        yield at, entry, key, seen[key]


def _missing(
    found: Iterable[tuple[str, Entry, str, int]], there: Counter[str], keep: Callable[[Entry], bool]
) -> Iterator[tuple[str, Entry]]:
    for at, entry, key, number in found:
        if number > there[key] and keep(entry):
            there[key] += 1
            yield at, entry
