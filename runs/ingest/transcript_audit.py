"""Audit of transcripts: judges recorded conversations against a rule set."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from lawtrace.environments.events import CallOutcome, Event, Json, event_labels, message_event, name_events
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.types import ObjectOf
from lawtrace.runs.ingest.doubts import Doubt, Settlement, find_doubts
from lawtrace.runs.ingest.rule_changes import compare_rules
from lawtrace.runs.ingest.transcripts import Transcript, TranscriptCall, TranscriptMessage, Turn
from lawtrace.runs.schemas.verdict_rows import RuleVerdict
from lawtrace.runs.scoring.judge import RuleJudge
from lawtrace.solver.rules import Rule

AT_REFERENCE: Final = "the task demands this call"
"""What readers are told of a finding at a reference action."""


class OlderVerdict(BaseModel):
    """The verdict on one transcript by the version of the rules that an audit compares with."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    outcome: Literal["kept", "broken", "undetermined"]
    rules: tuple[RuleVerdict, ...]


class AuditRow(BaseModel):
    """The verdict on one transcript.

    Attributes:
        place: file and row.
        conversation: its id.
        labels: what the source says of it: reward, scores, task.
        outcome: ``broken`` if a rule is broken, else ``undetermined`` if one is, else ``kept``; ``invalid`` if the
            transcript cannot be judged.
        reason: why it is invalid, or one sentence for each broken or undetermined rule, with call and message.
        events: the judged events, with user and agent messages; ``broken_at`` of a rule is an index into them. The
            ``message`` of an event is the number of its message in the source, from 1.
        against: the verdict by an older version of the rules, if the audit compares with one.
        at_reference: the broken rules whose finding is at a call that the task demands, with the same arguments.
        notes: irregularities that do not prevent a verdict, such as a call without a recorded result.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["lawtrace.audit/2"] = "lawtrace.audit/2"
    place: str
    conversation: str
    labels: Mapping[str, Json]
    outcome: Literal["kept", "broken", "undetermined", "invalid"]
    reason: str
    rules: tuple[RuleVerdict, ...]
    events: tuple[Event, ...]
    notes: tuple[str, ...]
    against: OlderVerdict | None = Field(default=None, exclude_if=lambda value: value is None)
    at_reference: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)


class TranscriptAuditor:
    """Judges one transcript after the other by the same rules.

    Attributes:
        rules: their ids.
        changes: of the rules that these are compared with; None if they are not compared.
    """

    def __init__(
        self,
        environment: Environment,
        rules: Sequence[Rule],
        *,
        complete: bool = False,
        against: Sequence[Rule] | None = None,
    ) -> None:
        """``complete``: a transcript is all that happened, so that a duty that is open at its end is broken.

        ``against``: an older version of the rules, by which each transcript is judged, too.
        """
        self._environment: Final = environment
        self.rules: Final = tuple(rule.id for rule in rules)
        self.changes: Final = None if against is None else compare_rules(against, rules)
        self._rules: Final = _RuleSet(rules, environment, complete=complete)
        self._older: Final = None if against is None else _RuleSet(against, environment, complete=complete)

    def audit(self, transcript: Transcript) -> AuditRow:
        """Judge one transcript. It is invalid if it calls tools, and the environment has none of them."""
        environment = self._environment
        if transcript.trouble is not None:
            return _invalid(transcript, transcript.trouble)
        turns = [turn for turn in transcript.turns if not _is_users_own(environment, turn)]
        called = [turn.tool for turn in turns if isinstance(turn, TranscriptCall)]
        unknown = [tool for tool in called if tool not in environment.tools]
        names = ", ".join(dict.fromkeys(unknown))
        if unknown and len(unknown) == len(called):
            return _invalid(transcript, f"it calls {names}, unknown in {environment.name}")
        notes = list(transcript.notes)
        if unknown:
            notes.append(f"{len(unknown)} call(s) of a tool that is not declared: {names}")
        if backwards := _first_step_back(turns):
            notes.append(f"the clock goes back at message {backwards}; its times are not used")
        events = tuple(_event(environment, turn, timed=not backwards) for turn in turns)
        doubts = find_doubts(environment, turns, events)
        verdicts = self._rules.judge(events, doubts)
        older = None if self._older is None else self._older.judge(events, doubts)
        broken = [verdict for verdict in verdicts if verdict.broken]
        undetermined = [verdict for verdict in verdicts if verdict.undetermined]
        demanded = [verdict for verdict in broken if _is_demanded(verdict, events, transcript)]
        return AuditRow(
            place=transcript.place,
            conversation=transcript.id,
            labels=transcript.labels,
            outcome=_outcome(verdicts),
            reason="; ".join(_sentence(one, demanded=one in demanded) for one in (*broken, *undetermined)),
            rules=verdicts,
            events=events,
            notes=(*notes, *(doubt.reason for doubt in doubts)),
            against=None if older is None else OlderVerdict(outcome=_outcome(older), rules=older),
            at_reference=tuple(verdict.rule for verdict in demanded),
        )


class _RuleSet:
    """One version of the rules, ready to judge events."""

    def __init__(self, rules: Sequence[Rule], environment: Environment, *, complete: bool) -> None:
        self._complete: Final = complete
        self._judge: Final = RuleJudge(rules, states=False, located=True)
        self._settlements: Final = [Settlement(rule, environment, complete=complete) for rule in rules]

    def judge(self, events: Sequence[Event], doubts: Sequence[Doubt]) -> tuple[RuleVerdict, ...]:
        judged = self._judge.judge(events, complete=self._complete, explained=True)
        settled = [
            settlement.settle(verdict, doubts, events)
            for settlement, verdict in zip(self._settlements, judged, strict=True)
        ]
        labels = event_labels(events) if any(verdict.at is not None for verdict in settled) else []
        return tuple(_with_place(verdict, events, labels) for verdict in settled)


def _outcome(verdicts: Sequence[RuleVerdict]) -> Literal["kept", "broken", "undetermined"]:
    if any(verdict.broken for verdict in verdicts):
        return "broken"
    return "undetermined" if any(verdict.undetermined for verdict in verdicts) else "kept"


def _with_place(verdict: RuleVerdict, events: Sequence[Event], labels: Sequence[str]) -> RuleVerdict:
    """The verdict with the number of the call and of the message that it is about."""
    if verdict.at is None:
        return verdict
    return verdict.model_copy(update={"call": labels[verdict.at], "message": events[verdict.at].message})


def _is_demanded(verdict: RuleVerdict, events: Sequence[Event], transcript: Transcript) -> bool:
    """Whether the event of a finding is a call that the task demands."""
    if verdict.at is None or not transcript.reference:
        return False
    event = events[verdict.at]
    return (event.tool, event.arguments) in transcript.reference


def _sentence(verdict: RuleVerdict, *, demanded: bool) -> str:
    asked = f" ({AT_REFERENCE})" if demanded else ""
    return f"{verdict.rule}{place_of(verdict)}{asked}: {verdict.explanation or verdict.undetermined}"


def place_of(verdict: RuleVerdict) -> str:
    """The call and the message that a verdict is about, for readers: `` (call 3, message 12)``; may be empty."""
    call = name_events([verdict.call]) if verdict.call and not verdict.call.startswith("m") else ""
    parts = [part for part in (call, f"message {verdict.message}" if verdict.message else "") if part]
    return f" ({', '.join(parts)})" if parts else ""


def _is_users_own(environment: Environment, turn: Turn) -> bool:
    """Whether the user called a tool of their own, which rules on the agent's tools do not know."""
    return isinstance(turn, TranscriptCall) and turn.caller == "user" and turn.tool not in environment.tools


def _first_step_back(turns: Sequence[Turn]) -> int | None:
    """The number of the first message that is earlier than the one before it; None if there is none."""
    latest = None
    for turn in turns:
        if turn.time is not None and latest is not None and turn.time < latest:
            return turn.number
        latest = turn.time if turn.time is not None else latest
    return None


def _invalid(transcript: Transcript, reason: str) -> AuditRow:
    return AuditRow(
        place=transcript.place,
        conversation=transcript.id,
        labels=transcript.labels,
        outcome="invalid",
        reason=reason,
        rules=(),
        events=(),
        notes=transcript.notes,
    )


def _event(environment: Environment, turn: Turn, *, timed: bool) -> Event:
    time = turn.time if timed else None
    message = None if turn.number is None else str(turn.number)
    if isinstance(turn, TranscriptMessage):
        return message_event(turn.speaker, turn.text, time, message)
    tool, arguments = environment.tools.get(turn.tool), turn.arguments or {}
    error = turn.error or _reported_error(tool, turn.result)
    outcome: CallOutcome = "completed"
    if error is not None:
        outcome = "raised"
    elif not turn.answered or (isinstance(turn.result, dict) and turn.result.get("success") is False):
        outcome = "failed"
    return Event(turn.tool, arguments, outcome, turn.result if error is None else None, error, time, message)


def _reported_error(tool: Tool | None, result: Json) -> str | None:
    """The error in a result: the text of an exception, such as ``NotFoundException: ...``, or an object with an
    undocumented field ``error`` or ``isError``."""
    if isinstance(result, str):
        return result if re.match(r"\w*(Exception|Error)\b", result) else None
    if not isinstance(result, dict):
        return None
    promised = {declared.name for declared in tool.results} if tool else set[str]()
    if tool and isinstance(tool.returns, ObjectOf):
        promised |= tool.returns.fields.keys()
    return next((str(result[name]) for name in ("error", "isError") if result.get(name) and name not in promised), None)
