"""Files to transcripts: the source of each file is detected from what it holds."""

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lawtrace.environments.literals import fields_of, items_of
from lawtrace.runs.audit.sources.agentdojo import AgentDojo
from lawtrace.runs.audit.sources.atif import Atif
from lawtrace.runs.audit.sources.chat_logs import ChatLogs
from lawtrace.runs.audit.sources.inspect_logs import InspectLogs, read_archive
from lawtrace.runs.audit.sources.json_files import read_json_records, unreadable
from lawtrace.runs.audit.sources.langfuse import Langfuse
from lawtrace.runs.audit.sources.mapped_lines import LogMapping, MappedLines
from lawtrace.runs.audit.sources.otel import OpenTelemetry
from lawtrace.runs.audit.sources.plain_events import PlainEvents
from lawtrace.runs.audit.sources.source import Record, Source
from lawtrace.runs.audit.sources.tau_bench import Tau2, TauBench
from lawtrace.runs.audit.transcripts import Transcript
from lawtrace.schemas.errors import InputError, input_errors
from lawtrace.schemas.events import Json

SOURCES: tuple[type[Source], ...] = (
    TauBench,
    Tau2,
    AgentDojo,
    InspectLogs,
    Atif,
    OpenTelemetry,
    Langfuse,
    PlainEvents,
    ChatLogs,
)
"""Tried in this order: those with fields of their own first."""

SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".eval", ".log"})
"""The files of a folder that are read."""


MAX_UNKNOWN = 1000
"""How many records of no known form may come before the first that is known."""


def find_files(paths: list[Path]) -> list[Path]:
    """The files to read: those named, and those of each folder by their names. Raises InputError for a missing one."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
            if not inside:
                raise InputError(f"{path}: no file in it ends with {', '.join(sorted(SUFFIXES))}")
            found += inside
        elif path.exists():
            found.append(path)
        else:
            raise InputError(f"{path}: cannot be read: No such file or directory")
    return found


@dataclass(frozen=True, slots=True)
class UnreadTranscript:
    """A transcript whose place and id are known, and which is read when it is needed: that takes most of the time of a
    file.

    Attributes:
        notes: what is odd in it already.
    """

    source: Source
    record: Record
    id: str
    notes: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        return self.record.place

    def read(self) -> Transcript:
        (one,) = _of_record(self.source, self.record)
        return replace(one, notes=(*one.notes, *self.notes)) if self.notes else one


AnyTranscript = Transcript | UnreadTranscript


def read_transcript(one: AnyTranscript) -> Transcript:
    """A transcript, read if it is not yet."""
    return one.read() if isinstance(one, UnreadTranscript) else one


def read_transcripts(path: Path, mapping: LogMapping | None = None) -> Iterator[Transcript]:
    """The transcripts of a file, one after the other. Raises InputError if nothing in the file can be read."""
    return map(read_transcript, find_transcripts(path, mapping))


def find_transcripts(path: Path, mapping: LogMapping | None = None) -> Iterator[AnyTranscript]:
    """The transcripts of a file, one after the other, as far as possible unread. An id that comes again is marked,
    since one may be a copy. With a mapping the file is read by it, and no source is detected.

    Raises InputError if nothing in the file can be read.
    """
    first: dict[str, str] = {}
    for one in _find(path) if mapping is None else _map(path, mapping):
        if one.id in first:
            note = f"its id is there before, at {first[one.id]}"
            one = replace(one, notes=(*one.notes, note))
        else:
            first[one.id] = one.place
        yield one


def _find(path: Path) -> Iterator[AnyTranscript]:
    lists = {name for source in SOURCES for name in source.lists}
    readers: dict[type[Source], Source] = {}
    unknown: list[Transcript] = []
    with input_errors(path, zipfile.BadZipFile):
        records = read_archive(path) if zipfile.is_zipfile(path) else read_json_records(path, lists)
        for record in records:
            if isinstance(record, Transcript):
                yield record
                continue
            kind = next((source for source in SOURCES if source.recognizes(record.value)), None)
            if kind is not None:
                source = readers.setdefault(kind, kind())
                name = _name(source, record)
                if name is None:
                    yield from _of_record(source, record)
                else:
                    yield UnreadTranscript(source, record, name)
            elif readers:
                yield _unknown(record)
            elif len(unknown) < MAX_UNKNOWN:
                unknown.append(_unknown(record))
            else:
                raise InputError(f"{path}: none of its first {MAX_UNKNOWN} records can be read: {unknown[0].trouble}")
        if not readers and unknown:
            raise InputError(f"{path}: {unknown[0].trouble}")
        yield from unknown
        for reader in readers.values():
            yield from reader.end()


def _map(path: Path, mapping: LogMapping) -> Iterator[Transcript]:
    source = MappedLines(mapping, path)
    with input_errors(path):
        for record in read_json_records(path, ()):
            yield from [record] if isinstance(record, Transcript) else _of_record(source, record)
        yield from source.end()


def _name(source: Source, record: Record) -> str | None:
    try:
        return source.name(record)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        return None


def _of_record(source: Source, record: Record) -> Iterator[Transcript]:
    try:
        yield from source.read(record)
    except ValueError as error:
        yield unreadable(record.place, record.name, f"{source.title}: {error}")
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        yield unreadable(record.place, record.name, f"{source.title}: a part is not as expected: {error!r}")


def _unknown(record: Record) -> Transcript:
    reason = f"{_describe(record.value)}; of no source that is read (see docs/sources.md)"
    return unreadable(record.place, record.name, reason)


def _describe(value: Json) -> str:
    if fields := fields_of(value):
        names = ", ".join([*fields][:6])
        return f"an object with the fields {names}{', ...' if len(fields) > 6 else ''}"
    if isinstance(value, list):
        return f"a list of {len(items_of(value))} values that are not messages"
    return f"a value of type {type(value).__name__}"
