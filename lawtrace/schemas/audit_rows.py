"""Rows of audit files: the verdict on one recorded conversation, or on one log."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from lawtrace.schemas.events import Event, Json, event_labels, name_events
from lawtrace.schemas.models import StrictModel
from lawtrace.schemas.questions import Legality, ReadingsVerdict
from lawtrace.schemas.verdict_rows import RuleVerdict


class OlderVerdict(StrictModel):
    """The verdict on one record by the version of the rules that an audit compares with."""

    outcome: Legality
    rules: tuple[RuleVerdict, ...]


class LogCounts(StrictModel):
    """How much there is in a log, of which a row lists only what is evidence.

    Attributes:
        violations: by rule, how many there are: time points, with values of the variables.
        open: by rule, how many time points and values the future decides.
    """

    time_points: int
    events: int
    violations: Mapping[str, int]
    open: Mapping[str, int]


class AuditRow(StrictModel):
    """The verdict on one recorded conversation, or on one log.

    Attributes:
        place: file and row.
        conversation: its id; of a log the name of its file.
        labels: what the source says of it: reward, scores, task.
        outcome: ``lawful`` if the law is kept under all readings of open questions, ``unlawful`` if it is broken under
            all, ``arguable`` if that turns on one, else ``undetermined``; ``invalid`` if the record cannot be judged.
        reason: why it is invalid, or one sentence for each broken or undetermined rule, with call and message.
        events: the judged events, with user and agent messages; ``broken_at`` of a rule is an index into them. The
            ``message`` of an event is the number of its message in the source, from 1. Of a log only the events that
            are evidence, each with its time point, from 0, as its ``message``.
        against: the verdict by an older version of the rules, if the audit compares with one.
        at_reference: the broken rules whose finding is at a call that the task demands, with the same arguments.
        notes: irregularities that do not prevent a verdict, such as a call without a recorded result.
        readings: what the record does under the readings of open questions, for those on which it turns.
        log: of a log, how much there is in it. The steps of its evidence are time points instead of events.
    """

    schema_version: Literal["lawtrace.audit/3"] = "lawtrace.audit/3"
    place: str
    conversation: str
    labels: Mapping[str, Json]
    outcome: Literal[Legality, "invalid"]
    reason: str
    rules: tuple[RuleVerdict, ...]
    events: tuple[Event, ...]
    notes: tuple[str, ...]
    against: OlderVerdict | None = Field(default=None, exclude_if=lambda value: value is None)
    at_reference: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    readings: tuple[ReadingsVerdict, ...] = Field(default=(), exclude_if=lambda value: not value)
    log: LogCounts | None = Field(default=None, exclude_if=lambda value: value is None)

    @property
    def broken(self) -> tuple[RuleVerdict, ...]:
        """The rules that do not hold."""
        return tuple(rule for rule in self.rules if rule.broken)

    @property
    def undetermined(self) -> tuple[RuleVerdict, ...]:
        """The rules that are neither kept nor broken, with the reason."""
        return tuple(rule for rule in self.rules if rule.undetermined)

    @property
    def event_labels(self) -> list[str]:
        """What readers call each event; see `lawtrace.schemas.events.name_events`."""
        return event_labels(self.events) if self.log is None else [f"t{event.message}" for event in self.events]

    def events_of(self, step: int) -> Sequence[int]:
        """The indexes of the events of a step of the evidence."""
        if self.log is None:
            return (step,)
        return [index for index, event in enumerate(self.events) if event.message == str(step)]


def place_of(verdict: RuleVerdict) -> str:
    """The call and the message that a verdict is about, for readers: `` (call 3, message 12)``; may be empty."""
    call = name_events([verdict.call]) if verdict.call and not verdict.call.startswith("m") else ""
    parts = [part for part in (call, f"message {verdict.message}" if verdict.message else "") if part]
    return f" ({', '.join(parts)})" if parts else ""


def sentence_of(verdict: RuleVerdict, note: str = "") -> str:
    """A finding in words: rule, place, why. ``note``: what is said of the place."""
    return f"{verdict.rule}{place_of(verdict)}{note}: {verdict.explanation or verdict.undetermined}"
