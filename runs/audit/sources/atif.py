"""Trajectories in ATIF, the Agent Trajectory Interchange Format.

A trajectory has steps of a user, an agent or the system. An agent's step may call tools, and its observation brings the
results. Trajectories of sub-agents are conversations of their own.
"""

from collections.abc import Iterable
from typing import Any, ClassVar

from lawtrace.environments.literals import fields_of, items_of
from lawtrace.runs.audit.sources.chat_messages import text_of
from lawtrace.runs.audit.sources.source import Record, Source
from lawtrace.runs.audit.transcripts import (
    RecordedAnswer,
    RecordedCall,
    RecordedMessage,
    Transcript,
    id_of,
    make_transcript,
    read_arguments,
    read_time,
)
from lawtrace.schemas.events import Json


class Atif(Source):
    title: ClassVar = "ATIF trajectories"
    lists: ClassVar = ("trajectories",)

    @staticmethod
    def recognizes(value: Json) -> bool:
        return str(fields_of(value).get("schema_version", "")).startswith("ATIF") and "steps" in fields_of(value)

    def read(self, record: Record) -> Iterable[Transcript]:
        fields = fields_of(record.value)
        own = fields.get("trajectory_id") or fields.get("session_id")
        name = str(own or record.name)
        agent = fields_of(fields.get("agent"))
        labels = {"agent": agent.get("name"), "model": agent.get("model_name")}
        rewards = {key: value for key, value in fields_of(fields.get("final_metrics")).items() if "reward" in key}
        messages = [_message(fields_of(step)) for step in fields["steps"]]
        yield make_transcript(record.place, name, messages, {**labels, **rewards})
        for number, part in enumerate(items_of(fields.get("subagent_trajectories")), 1):
            yield from self.read(Record(f"{record.place}, sub-agent {number}", f"{name}, sub-agent {number}", part))


def _message(step: dict[str, Any]) -> RecordedMessage:
    """The message of a step, with the results that it observed: a step is the message that readers count."""
    source = step.get("source")
    if source not in {"user", "agent", "system"}:
        raise ValueError(f"a step of source {source!r} is not read")
    calls = [
        RecordedCall(str(call["function_name"]), read_arguments(call.get("arguments")), str(call["tool_call_id"]))
        for call in map(fields_of, items_of(step.get("tool_calls")))
    ]
    answers: list[RecordedAnswer] = []
    for place, result in enumerate(map(fields_of, items_of(fields_of(step.get("observation")).get("results")))):
        if calls:  # a result without an id is that of the call at its place
            call = id_of(result.get("source_call_id")) or calls[min(place, len(calls) - 1)].id
            answers.append(RecordedAnswer(_content(result.get("content")), None, call))
    speaker = None if source == "system" else source
    return RecordedMessage(speaker, text_of(step.get("message")), calls, answers, read_time(step.get("timestamp")))


def _content(content: Json) -> Json:
    return text_of(content) if isinstance(content, list) else content
