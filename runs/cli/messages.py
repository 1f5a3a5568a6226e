"""``lawtrace messages``: read the conversations of a run, follow a live run, compare two runs."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from lawtrace.agents.models.call_settings import Price
from lawtrace.runs.cli.output import STDOUT, print_json, print_note
from lawtrace.runs.report.graded_units import GradedIndex, read_graded_index
from lawtrace.runs.report.run_kinds import GradedUnit
from lawtrace.runs.report.terminal_messages import no_request, print_diff, print_heading, print_messages, print_outcome
from lawtrace.runs.report.transcript_diff import ConversationDiff, diff_conversations
from lawtrace.runs.report.verdict_index import VerdictIndex, VerdictSummary
from lawtrace.runs.store.event_log_database import is_being_written
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import (
    ConversationKey,
    LoggedConversation,
    LoggedMessage,
    MessageQuery,
    conversation_messages,
    conversation_numbers,
    find_conversations,
    find_message,
    find_messages,
    request_behind,
)
from lawtrace.runs.store.model_usage import prices_of
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.schemas.verdict_rows import OUTCOMES

POLL_SECONDS = 0.3


def messages(
    *,
    directory: Path,
    stage: str | None,
    task: str | None,
    unit: str | None,
    style: str | None,
    model: str | None,
    trial: int | None,
    variant: str | None,
    verdict: str | None,
    rule: str | None,
    role: str | None,
    turn: int | None,
    message: str | None,
    prompts: bool,
    text: str | None,
    limit: int,
    follow: bool,
    diff: Path | None,
    as_json: bool,
) -> None:
    """Print the messages that fit."""
    wanted = MessageQuery(
        stage=stage,
        task=task,
        unit=unit,
        style=style,
        model=model,
        trial=trial,
        variant=variant,
        role=role,
        turn=turn,
        text=text,
    )
    with EventLogFile.open(directory) as event_log:
        prices = prices_of(event_log)
        show = partial(
            print_messages,
            STDOUT,
            prices=prices,
            request_of=partial(request_behind, event_log) if prompts else no_request,
        )
        if follow:
            if verdict is not None or rule is not None or diff is not None or as_json:
                raise InputError(
                    "--follow can only be combined with --stage, --task, --unit, --style, --model, --trial, --variant, "
                    "--role, --turn, --text and --prompts"
                )
            _follow(event_log, directory, wanted, show)
            return
        if message is not None:
            found_message = find_message(event_log, message)
            if found_message is None:
                raise InputError(f"{directory}: no message has the id {message!r}")
            turn = found_message.line.context.turn
            wanted = replace(wanted, conversations=[found_message.conversation], turn=turn)
        index, graded = VerdictIndex(RunFolder(directory)), read_graded_index(directory)
        if verdict is not None or rule is not None:
            if graded is not None:
                names = [unit.conversation.id for unit in _find_graded(graded, directory, verdict, rule)]
            else:
                names = [one.answer for one in _find_verdicts(index, directory, verdict, rule)]
            wanted = replace(wanted, conversations=list(conversation_numbers(event_log, names).values()))
        if diff is not None:
            with EventLogFile.open(diff) as other:
                diffs = list(diff_conversations(event_log, other, wanted))
            _show_diffs(diffs, (str(directory), str(diff)), limit, as_json)
            return
        found = find_conversations(event_log, wanted, limit=limit + 1)
        if not found:
            raise InputError(f"{directory}: no conversation matches; `lawtrace messages {directory}` shows all")
        conversations = [(one, conversation_messages(event_log, one.id, wanted)) for one in found[:limit]]
        if as_json:
            lines = [_message_json(event_log, one, prices, prompts=prompts) for _, of in conversations for one in of]
            print_json({"conversations": len(conversations), "messages": lines})
            return
        for conversation, of in conversations:
            _show(index, graded, conversation, of, show)
        if len(found) > limit:
            print_note("... and more; raise --limit to see them")


def _find_verdicts(
    index: VerdictIndex, directory: Path, outcome: str | None, rule: str | None
) -> Sequence[VerdictSummary]:
    if outcome is not None and outcome not in OUTCOMES:
        raise InputError(f"unknown outcome {outcome!r}; choose one of {', '.join(OUTCOMES)}")
    if not index.verdicts:
        raise InputError(f"{directory}: the run has no verdicts; omit --verdict and --rule")
    found = index.select(outcome=outcome, rule=rule)
    if not found and rule is not None:
        names = sorted({name for verdict in index.verdicts for name in (*verdict.broken, *verdict.undetermined)})
        raise InputError(f"{directory}: no attempt matches; broken or undetermined rules: {', '.join(names) or 'none'}")
    return found


def _find_graded(index: GradedIndex, directory: Path, outcome: str | None, rule: str | None) -> Sequence[GradedUnit]:
    if rule is not None:
        raise InputError(f"{directory}: a {index.kind.name} run has no rules; omit --rule")
    if not index.units:
        raise InputError(f"{directory}: the run has no answers; omit --verdict")
    return index.select(outcome=outcome)


def _message_json(
    event_log: EventLogFile, message: LoggedMessage, prices: Mapping[str, Price], *, prompts: bool
) -> dict[str, Json]:
    """A message with the figures of its model call and, with `prompts`, what the model was sent."""
    line: dict[str, Json] = {"id": message.id, "at": message.at, **message.line.model_dump(mode="json")}
    line["call"] = None if message.call is None else {**asdict(message.call), "cost": message.call.cost(prices)}
    if prompts:
        line["request"] = [sent.model_dump(mode="json") for sent in request_behind(event_log, message)]
    return line


def _show(
    index: VerdictIndex,
    graded: GradedIndex | None,
    conversation: LoggedConversation,
    messages: Sequence[LoggedMessage],
    show: Callable[..., None],
) -> None:
    complete = len(messages) == conversation.lines
    print_heading(STDOUT, conversation.place, "" if complete else f"{len(messages)} of {conversation.lines} messages")
    summary = index.of_conversation(conversation.place)
    if summary is None:
        show(messages)
        if graded is not None and (unit := graded.of_conversation(conversation.place)):
            print_outcome(STDOUT, unit.outcome, unit.reason)
        return
    show(messages, index.causes(summary))
    print_outcome(STDOUT, summary.outcome, summary.reason)


def _follow(event_log: EventLogFile, directory: Path, wanted: MessageQuery, show: Callable[..., None]) -> None:
    """Print messages as they are written, until the run ends."""
    keys: dict[int, ConversationKey] = {}
    last = before = 0
    while True:
        active = is_being_written(directory)  # Read first: later messages are printed in the next round.
        for message in find_messages(event_log, wanted, after=last):
            if message.conversation not in keys:
                found = find_conversations(event_log, MessageQuery(conversations=[message.conversation]))
                keys[message.conversation] = found[0].place
            if message.conversation != before:
                print_heading(STDOUT, keys[message.conversation])
            show([message])
            last, before = message.number, message.conversation
        if not active:
            return
        time.sleep(POLL_SECONDS)


def _show_diffs(found: Sequence[ConversationDiff], sides: tuple[str, str], limit: int, as_json: bool) -> None:
    if as_json:
        print_json({"differences": [_diff_json(one) for one in found]})
        return
    if not found:
        print_note("all conversations are the same")
    for one in found[:limit]:
        print_diff(STDOUT, one, sides)
    if len(found) > limit:
        print_note(f"... and {len(found) - limit} more conversations that differ")


def _diff_json(diff: ConversationDiff) -> Json:
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
