"""Recorded runs of AgentDojo: one JSON file for each user task and injection."""

from collections.abc import Iterable
from typing import ClassVar, Final

from lawtrace.environments.events import Json
from lawtrace.runs.ingest.sources.chat_messages import read_messages
from lawtrace.runs.ingest.sources.source import Record, Source
from lawtrace.runs.ingest.transcripts import Transcript, fields_of, make_transcript

_PARTS: Final = ("suite_name", "pipeline_name", "user_task_id", "injection_task_id", "attack_type")


class AgentDojo(Source):
    title: ClassVar = "AgentDojo runs"

    @staticmethod
    def recognizes(value: Json) -> bool:
        fields = fields_of(value)
        return "user_task_id" in fields and isinstance(fields.get("messages"), list)

    def read(self, record: Record) -> Iterable[Transcript]:
        fields = fields_of(record.value)
        name = ", ".join(str(fields[part]) for part in _PARTS if fields.get(part) is not None)
        labels = {key: fields[key] for key in ("utility", "security", *_PARTS) if fields.get(key) is not None}
        yield make_transcript(record.place, name, read_messages(fields["messages"]), labels)
