"""Recorded runs of AgentDojo: one JSON file for each user task and injection. Tools answer with records as YAML."""

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar, Final

import yaml

from lawtrace.environments.literals import as_json, fields_of
from lawtrace.environments.yaml_text import load_yaml
from lawtrace.runs.audit.sources.chat_messages import read_messages
from lawtrace.runs.audit.sources.source import Record, Source
from lawtrace.runs.audit.transcripts import RecordedAnswer, Transcript, make_transcript
from lawtrace.schemas.events import Json

_PARTS: Final = ("suite_name", "pipeline_name", "user_task_id", "injection_task_id", "attack_type")


MAX_CHARACTERS = 2**17
"""How long a text may be that is read as YAML; a longer one stays a text."""


class AgentDojo(Source):
    title: ClassVar = "AgentDojo runs"

    @staticmethod
    def recognizes(value: Json) -> bool:
        fields = fields_of(value)
        return "user_task_id" in fields and isinstance(fields.get("messages"), list)

    def name(self, record: Record) -> str:
        fields = fields_of(record.value)
        return ", ".join(str(fields[part]) for part in _PARTS if fields.get(part) is not None)

    def read(self, record: Record) -> Iterable[Transcript]:
        fields = fields_of(record.value)
        labels = {key: fields[key] for key in ("utility", "security", *_PARTS) if fields.get(key) is not None}
        messages = [
            replace(message, answers=[*map(_with_record, message.answers)])
            for message in read_messages(fields["messages"])
        ]
        yield make_transcript(record.place, self.name(record), messages, labels)


def _with_record(answer: RecordedAnswer) -> RecordedAnswer:
    """The answer with the record, or the list, that its text writes as YAML.

    Other texts can be YAML by chance, such as "Note: closed today". So one line is a text, and more are a record
    only if YAML would have written them so.
    """
    if not isinstance(answer.content, str) or len(answer.content) > MAX_CHARACTERS:
        return answer
    try:
        value = load_yaml(answer.content)
        lines = answer.content.count("\n") + 1
        one_field = lines == 1 and fields_of(value)
        if not one_field and yaml.safe_dump(value).strip() == answer.content.strip():
            return replace(answer, content=as_json(value))
    except (ValueError, yaml.YAMLError, RecursionError):
        pass
    return answer
