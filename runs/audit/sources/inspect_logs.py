"""Logs of Inspect: ``.eval`` archives and JSON logs, a conversation for each sample and epoch.

Archives that are compressed in a way that Python cannot read are read with Inspect's own reader, where it is installed
(``pip install 'lawtrace[inspect]'``).
"""

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from lawtrace.environments.literals import fields_of, items_of
from lawtrace.runs.audit.sources.chat_messages import read_messages
from lawtrace.runs.audit.sources.json_files import MAX_RECORD_BYTES, unreadable
from lawtrace.runs.audit.sources.source import Record, Source
from lawtrace.runs.audit.transcripts import Transcript, make_transcript
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json

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
        messages = items_of(_resolve(sample["messages"], attachments) if attachments else sample["messages"])
        labels = {scorer: fields_of(score).get("value") for scorer, score in fields_of(sample.get("scores")).items()}
        yield make_transcript(record.place, self.name(record), read_messages(messages), labels)


def _resolve(value: Json, attachments: Mapping[str, Any]) -> Json:
    """The value with the texts that a log keeps apart put back in their places."""
    if isinstance(value, str):
        return attachments.get(value.removeprefix(_ATTACHMENT), value) if value.startswith(_ATTACHMENT) else value
    if isinstance(value, dict):
        return {key: _resolve(inner, attachments) for key, inner in fields_of(value).items()}
    if isinstance(value, list):
        return [_resolve(inner, attachments) for inner in items_of(value)]
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
                yield Record(where, member.filename, json.loads(archive.read(member)))
            except NotImplementedError:
                yield from _read_with_inspect(path)
                return
            except (ValueError, RecursionError, zipfile.BadZipFile) as error:
                yield unreadable(where, member.filename, f"not JSON: {error}")


def _read_with_inspect(path: Path) -> Iterator[Record]:
    try:
        logs: Any = import_module("inspect_ai.log")
    except ImportError as error:
        reason = "its compression is not Python's own; to read it, pip install 'lawtrace[inspect]'"
        raise InputError(f"{path}: {reason}") from error
    for sample in logs.read_eval_log_samples(str(path), all_samples_required=False):
        name = f"{sample.id}, epoch {sample.epoch}"
        yield Record(f"{path}, sample {name}", name, json.loads(sample.model_dump_json()))
