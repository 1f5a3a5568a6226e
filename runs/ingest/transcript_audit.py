"""Audit of transcripts: judges recorded conversations against a rule set."""

import re
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from lawtrace.environments.events import CallOutcome, Event, Json, message_event
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.tools import Tool
from lawtrace.runs.ingest.doubts import find_doubts, settle
from lawtrace.runs.ingest.transcripts import Transcript, TranscriptCall, TranscriptMessage
from lawtrace.runs.schemas.verdict_rows import RuleVerdict
from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.solver.rules import Rule


class AuditRow(BaseModel):
    """The verdict on one transcript.

    Attributes:
        place: file and row.
        conversation: its id.
        outcome: ``broken`` if a rule is broken, else ``undetermined`` if one is, else ``kept``; ``invalid`` if the
            transcript cannot be judged.
        reason: why it is invalid, or one sentence for each broken or undetermined rule.
        events: the judged events, with user and agent messages; ``broken_at`` of a rule is an index into them.
        notes: irregularities that do not prevent a verdict, such as a call without a recorded result.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["lawtrace.audit/1"] = "lawtrace.audit/1"
    place: str
    conversation: str
    outcome: Literal["kept", "broken", "undetermined", "invalid"]
    reason: str
    rules: tuple[RuleVerdict, ...]
    events: tuple[Event, ...]
    notes: tuple[str, ...]


def audit_transcript(
    environment: Environment, rules: Sequence[Rule], conversation: Transcript, *, complete: bool = False
) -> AuditRow:
    """Judge one transcript. A call of a tool that the environment does not have makes it invalid.

    ``complete``: the transcript is all that happened, so that a duty that is open at its end is broken.
    """
    if conversation.trouble is not None:
        return _invalid(conversation, conversation.trouble)
    unknown = [
        turn.tool
        for turn in conversation.turns
        if isinstance(turn, TranscriptCall) and turn.tool not in environment.tools
    ]
    if unknown:
        names = ", ".join(dict.fromkeys(unknown))
        return _invalid(conversation, f"it calls {names}, unknown in {environment.name}")
    events = tuple(_event(environment, turn) for turn in conversation.turns)
    doubts = find_doubts(environment, conversation.turns, events)
    judged = judge_rules(rules, events, (), complete=complete, explained=True)
    verdicts = tuple(
        settle(rule, verdict, doubts, events, complete=complete) for rule, verdict in zip(rules, judged, strict=True)
    )
    broken = [verdict for verdict in verdicts if verdict.broken]
    undetermined = [verdict for verdict in verdicts if verdict.undetermined]
    return AuditRow(
        place=conversation.place,
        conversation=conversation.id,
        outcome="broken" if broken else "undetermined" if undetermined else "kept",
        reason="; ".join(
            f"{verdict.rule}: {verdict.explanation or verdict.undetermined}" for verdict in (*broken, *undetermined)
        ),
        rules=verdicts,
        events=events,
        notes=tuple(doubt.reason for doubt in doubts),
    )


def _invalid(conversation: Transcript, reason: str) -> AuditRow:
    return AuditRow(
        place=conversation.place,
        conversation=conversation.id,
        outcome="invalid",
        reason=reason,
        rules=(),
        events=(),
        notes=(),
    )


def _event(environment: Environment, turn: TranscriptMessage | TranscriptCall) -> Event:
    if isinstance(turn, TranscriptMessage):
        return message_event(turn.speaker, turn.text, turn.time)
    tool, arguments = environment.tools[turn.tool], turn.arguments or {}
    error = turn.error or _reported_error(tool, turn.result)
    outcome: CallOutcome = "completed"
    if error is not None:
        outcome = "raised"
    elif not turn.answered or (isinstance(turn.result, dict) and turn.result.get("success") is False):
        outcome = "failed"
    return Event(turn.tool, arguments, outcome, turn.result if error is None else None, error, turn.time)


def _reported_error(tool: Tool, result: Json) -> str | None:
    """The error in a result: the text of an exception, such as ``NotFoundException: ...``, or an object with an
    undocumented field ``error`` or ``isError``."""
    if isinstance(result, str):
        return result if re.match(r"\w*(Exception|Error)\b", result) else None
    if not isinstance(result, dict):
        return None
    promised = {declared.name for declared in tool.results}
    return next((str(result[name]) for name in ("error", "isError") if result.get(name) and name not in promised), None)
