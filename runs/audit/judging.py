"""Recorded conversations against a rule set: a verdict on each, with the turn that broke the rule."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from environments.declaration import Environment
from environments.events import CallOutcome, Event, Json
from environments.kinds import WrongFormat, WrongType
from environments.simulation import decode_arguments
from runs.audit.transcripts import RecordedCall, RecordedConversation, Utterance
from runs.grading.safety import judge_rules
from runs.grading.verdict import RuleVerdict
from solver.rules import Rule

__all__ = ["AuditRow", "audit"]


class AuditRow(BaseModel):
    """The verdict on one conversation.

    Attributes:
        place: file and row.
        conversation: its id.
        outcome: ``kept`` if every rule was, ``broken`` if one was not, ``invalid`` if it cannot be judged.
        reason: why it is invalid, or one sentence for each rule that is broken.
        events: what was judged, user and agent turns included; ``broken_at`` of a rule is a number in this list.
        notes: what was odd and did not prevent a verdict, such as a call without a recorded answer.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["lawtrace.audit/1"] = "lawtrace.audit/1"
    place: str
    conversation: str
    outcome: Literal["kept", "broken", "invalid"]
    reason: str
    rules: tuple[RuleVerdict, ...]
    events: tuple[Event, ...]
    notes: tuple[str, ...]


def audit(environment: Environment, rules: Sequence[Rule], conversation: RecordedConversation) -> AuditRow:
    """Judge one conversation. A tool that the environment does not know makes it invalid: nothing is guessed."""
    if conversation.trouble is not None:
        return _invalid(conversation, conversation.trouble)
    unknown = [
        turn.tool
        for turn in conversation.turns
        if isinstance(turn, RecordedCall) and turn.tool not in environment.tools
    ]
    if unknown:
        names = ", ".join(dict.fromkeys(unknown))
        return _invalid(conversation, f"it calls {names}, which {environment.name} does not have")
    events = tuple(_event(environment, turn) for turn in conversation.turns)
    verdicts = judge_rules(rules, events, ())
    broken = [verdict for verdict in verdicts if not verdict.kept]
    return AuditRow(
        place=conversation.place,
        conversation=conversation.id,
        outcome="broken" if broken else "kept",
        reason="; ".join(f"{verdict.rule}: {verdict.explanation}" for verdict in broken),
        rules=verdicts,
        events=events,
        notes=tuple(_notes(conversation.turns, events)),
    )


def _invalid(conversation: RecordedConversation, reason: str) -> AuditRow:
    return AuditRow(
        place=conversation.place,
        conversation=conversation.id,
        outcome="invalid",
        reason=reason,
        rules=(),
        events=(),
        notes=(),
    )


def _event(environment: Environment, turn: Utterance | RecordedCall) -> Event:
    if isinstance(turn, Utterance):
        return Event(turn.speaker, {"text": turn.text, "words": [*turn.words]})
    tool, arguments = environment.tools[turn.tool], turn.arguments or {}
    outcome: CallOutcome = "completed"
    error = turn.error
    try:
        if turn.arguments is None:
            raise WrongType("the arguments are not a JSON object")
        decode_arguments(tool, arguments)
    except (WrongType, WrongFormat) as problem:
        outcome, error = "rejected", error or f"InvalidCallError: {problem}"
    else:
        if turn.error is not None or _is_an_exception(turn.result):
            outcome, error = "raised", turn.error or str(turn.result)
        elif not turn.answered or (isinstance(turn.result, dict) and turn.result.get("success") is False):
            outcome = "failed"
    result = None if outcome in ("raised", "rejected") else turn.result
    return Event(turn.tool, arguments, outcome, result, error)


def _is_an_exception(result: Json) -> bool:
    """Whether the recorded answer is the text of an exception, such as ``NotFoundException: ...``, and no result."""
    return isinstance(result, str) and re.match(r"\w*(Exception|Error)\b", result) is not None


def _notes(turns: Iterable[Utterance | RecordedCall], events: Iterable[Event]) -> Iterable[str]:
    for number, (turn, event) in enumerate(zip(turns, events, strict=True), 1):
        if not isinstance(turn, RecordedCall):
            continue
        if not turn.answered:
            yield f"turn {number}: no answer of {turn.tool} is recorded; it does not count as completed"
        elif event.outcome == "rejected" and turn.error is None and not _is_an_exception(turn.result):
            yield f"turn {number}: {turn.tool} was answered, yet {event.error}; it does not count as completed"
