"""Finding conversations by their verdicts, and messages as JSON."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from lawtrace.runs.report.transcript_diff import ConversationDiff
from lawtrace.runs.report.verdict_index import VerdictIndex
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import LoggedMessage, request_behind
from lawtrace.schemas.call_options import Price
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json


def judged_conversations(index: VerdictIndex, directory: Path, outcome: str | None, rule: str | None) -> list[str]:
    """The ids of the conversations with the outcome, or whose verdict names the rule. Raises InputError without any."""
    if index.kind is not None and rule is not None:
        raise InputError(f"{directory}: a {index.kind.name} run has no rules; omit --rule")
    if not index.verdicts:
        raise InputError(f"{directory}: the run has no verdicts; omit --verdict and --rule")
    found = index.select(outcome=outcome, rule=rule)
    if not found and rule is not None:
        names = sorted({name for verdict in index.verdicts for name in (*verdict.broken, *verdict.undetermined)})
        raise InputError(f"{directory}: no attempt matches; broken or undetermined rules: {', '.join(names) or 'none'}")
    return [one.graded.conversation for one in found]


def message_json(
    event_log: EventLogFile, message: LoggedMessage, prices: Mapping[str, Price], *, prompts: bool
) -> dict[str, Json]:
    """A message with the figures of its model call and, with `prompts`, what the model was sent."""
    line: dict[str, Json] = {"id": message.id, "at": message.at, **message.line.model_dump(mode="json")}
    line["call"] = None if message.call is None else {**asdict(message.call), "cost": message.call.cost(prices)}
    if prompts:
        line["request"] = [sent.model_dump(mode="json") for sent in request_behind(event_log, message)]
    return line


def diff_json(diff: ConversationDiff) -> Json:
    """The first difference of two conversations as JSON."""
    place, _ = diff.places
    return {
        "stage": place.stage,
        "task": place.task,
        "unit": place.unit,
        "style": place.style,
        "kind": place.conversation_kind,
        "models": list(diff.models),
        "trial": place.trial,
        "same": diff.same,
        "first": diff.lines[0] and diff.lines[0].line.model_dump(mode="json"),
        "second": diff.lines[1] and diff.lines[1].line.model_dump(mode="json"),
        "words": [{"kind": piece.kind, "text": piece.text} for piece in diff.pieces],
    }
