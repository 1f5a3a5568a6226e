"""Recorded runs of tau-bench (version 1) and tau2.

Version 1 writes a list of trajectories, each with the messages in ``traj`` and the reward beside them. tau2 writes an
object with ``simulations``; its messages carry times, and in some of its domains the user calls tools, too.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from lawtrace.environments.literals import fields_of, items_of
from lawtrace.runs.audit.sources.chat_messages import read_messages
from lawtrace.runs.audit.sources.source import Record, Source
from lawtrace.runs.audit.transcripts import Transcript, make_transcript
from lawtrace.schemas.events import Json


class TauBench(Source):
    title: ClassVar = "tau-bench trajectories"

    @staticmethod
    def recognizes(value: Json) -> bool:
        fields = fields_of(value)
        return isinstance(fields.get("traj"), list) and "reward" in fields

    def name(self, record: Record) -> str:
        fields = fields_of(record.value)
        return f"task {fields.get('task_id', record.name)}, trial {fields.get('trial', 0)}"

    def read(self, record: Record) -> Iterable[Transcript]:
        fields = fields_of(record.value)
        labels = {key: fields.get(key) for key in ("reward", "task_id", "trial")}
        task = fields_of(fields_of(fields.get("info")).get("task"))
        reference = _actions(task.get("actions"), "kwargs")
        yield make_transcript(record.place, self.name(record), read_messages(fields["traj"]), labels, reference)


class Tau2(Source):
    title: ClassVar = "tau2 results"
    lists: ClassVar = ("simulations",)

    @staticmethod
    def recognizes(value: Json) -> bool:
        fields = fields_of(value)
        return isinstance(fields.get("messages"), list) and "task_id" in fields and "reward_info" in fields

    def name(self, record: Record) -> str:
        fields = fields_of(record.value)
        return f"task {fields['task_id']}, trial {fields.get('trial', 0)}"

    def read(self, record: Record) -> Iterable[Transcript]:
        fields = fields_of(record.value)
        labels = {key: fields.get(key) for key in ("task_id", "trial", "termination_reason") if key in fields}
        scored = fields_of(fields.get("reward_info"))
        checked = [fields_of(one).get("action") for one in items_of(scored.get("action_checks"))]
        labels = {"reward": scored.get("reward"), **labels}
        reference = _actions(checked, "arguments")
        yield make_transcript(record.place, self.name(record), read_messages(fields["messages"]), labels, reference)


def _actions(actions: object, arguments: str) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """The reference actions of a task, by tool. ``arguments``: the field that has those of a call."""
    for action in map(fields_of, items_of(actions)):
        if isinstance(action.get("name"), str):
            yield action["name"], fields_of(action.get(arguments))
