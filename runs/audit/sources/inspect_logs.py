"""Logs of Inspect: ``.eval`` archives and JSON logs, a conversation for each sample and epoch.

Archives that are compressed in a way that Python cannot read are read with Inspect's own reader, where it is installed
(``pip install 'lawtrace[inspect]'``).
"""

import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from lawtrace.environments.literals import fields_of, items_of
from lawtrace.runs.audit.sources.chat_messages import read_messages
from lawtrace.runs.audit.sources.json_files import MAX_RECORD_BYTES, parse_record, unreadable
from lawtrace.runs.audit.sources.source import Record, Source
from lawtrace.runs.audit.transcripts import Transcript, make_transcript
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json

MAX_ATTACHED_CHARACTERS = 50_000_000
_ATTACHMENT = "attachment://"


class InspectLogs(Source):
    title: ClassVar = "Inspect logs"
    lists: ClassVar = ("samples",)

    @staticmethod
    def recognizes(value: Json) -> bool:
        fields = fields_of(value)
        return "id" in fields and "epoch" in fields and isinstance(fields.get("messages"), list)

    def name(self, record: Record) -> str:
        sample = fields_of(record.value)
        return f"{sample['id']}, epoch {sample['epoch']}"

    def read(self, record: Record) -> Iterable[Transcript]:
        sample = fields_of(record.value)
        attachments = fields_of(sample.get("attachments"))
        try:
            messages = items_of(_Resolved(attachments).value(sample["messages"]) if attachments else sample["messages"])
        except ValueError as error:
            yield unreadable(record.place, self.name(record), str(error))
            return
        labels = {scorer: fields_of(score).get("value") for scorer, score in fields_of(sample.get("scores")).items()}
        yield make_transcript(record.place, self.name(record), read_messages(messages), labels)


class _Resolved:
    """A value with the texts that a log keeps apart put back in their places."""

    def __init__(self, attachments: Mapping[str, Any]) -> None:
        self._attachments = attachments
        self._characters = 0

    def value(self, value: Json) -> Json:
        """Raises ValueError if the same texts are put back too often: a short file can stand for any length."""
        if isinstance(value, str) and value.startswith(_ATTACHMENT):
            text = self._attachments.get(value.removeprefix(_ATTACHMENT), value)
            self._characters += len(str(text))
            if self._characters > MAX_ATTACHED_CHARACTERS:
                raise ValueError(f"its attachments have more than {MAX_ATTACHED_CHARACTERS} characters in all places")
            return text
        if isinstance(value, dict):
            return {key: self.value(inner) for key, inner in fields_of(value).items()}
        if isinstance(value, list):
            return [self.value(inner) for inner in items_of(value)]
        return value


def read_archive(path: Path) -> Iterator[Record | Transcript]:
    """The samples of a ``.eval`` archive."""
    with zipfile.ZipFile(path) as archive:
        members = [member for member in archive.infolist() if member.filename.startswith("samples/")]
        if not members:
            raise InputError(f"{path}: an archive without samples/; expected a log of Inspect")
        for member in sorted(members, key=lambda member: member.filename):
            where = f"{path}, {member.filename}"
            if member.file_size > MAX_RECORD_BYTES:
                yield unreadable(where, member.filename, f"larger than {MAX_RECORD_BYTES // 2**20} MB")
                continue
            try:
                yield Record(where, member.filename, parse_record(archive.read(member)))
            except NotImplementedError:
                yield from _read_with_inspect(path)
                return
            except (ValueError, zipfile.BadZipFile, zlib.error) as error:
                yield unreadable(where, member.filename, str(error))


def _read_with_inspect(path: Path) -> Iterator[Record]:
    try:
        logs: Any = import_module("inspect_ai.log")
    except ImportError as error:
        reason = "its compression is not Python's own; to read it, pip install 'lawtrace[inspect]'"
        raise InputError(f"{path}: {reason}") from error
    for sample in logs.read_eval_log_samples(str(path), all_samples_required=False):
        name = f"{sample.id}, epoch {sample.epoch}"
        yield Record(f"{path}, sample {name}", name, json.loads(sample.model_dump_json()))
