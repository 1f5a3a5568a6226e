"""``lawtrace messages``: read the conversations of a run, or follow a live run."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.options import BrokenRuleOption, FactOption, JsonOption, VerdictOption
from lawtrace.runs.cli.output import STDOUT, print_command_result, print_json, print_note
from lawtrace.runs.report.attempt_filter import ANY, AttemptFilter
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.report.terminal_messages import print_heading, print_messages, print_outcome
from lawtrace.runs.report.verdict_index import VerdictIndex
from lawtrace.runs.store import event_log_queries as queries
from lawtrace.runs.store.event_log_database import is_being_written
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.model_usage import prices_of
from lawtrace.runs.store.recording import RECORDED, RecordingHead, write_recording
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.schemas.call_options import Price
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json

POLL_SECONDS = 0.3


def messages(
    directory: Annotated[Path, typer.Argument(help="The folder of a run, or a recording.")],
    stage: Annotated[str | None, typer.Option(help="Only conversations of this stage, such as tasks.")] = None,
    task: Annotated[str | None, typer.Option(help="Only conversations about this task.")] = None,
    unit: Annotated[str | None, typer.Option(help="Only conversations about this part of the input.")] = None,
    style: Annotated[str | None, typer.Option(help="Only conversations in this style.")] = None,
    model: Annotated[str | None, typer.Option(help="Only conversations of this model, in a role or tested.")] = None,
    trial: Annotated[int | None, typer.Option(help="Only this trial, from 0.")] = None,
    variant: Annotated[str | None, typer.Option(help="Only this variant of an ablation.")] = None,
    verdict: VerdictOption = None,
    rule: BrokenRuleOption = None,
    fact: FactOption = None,
    role: Annotated[str | None, typer.Option(help="Only messages of this role.")] = None,
    turn: Annotated[int | None, typer.Option(help="Only messages of this turn, from 0.")] = None,
    message: Annotated[str | None, typer.Option(help="Only the message with this id.")] = None,
    prompts: Annotated[bool, typer.Option("--prompts", help="Print what the models were sent, too.")] = False,
    text: Annotated[str | None, typer.Option(help="Only messages with words that begin like these.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of conversations.")] = 1000,
    follow: Annotated[bool, typer.Option("--follow", help="Follow a run in progress.")] = False,
    save: Annotated[
        Path | None, typer.Option(help="Save all conversations in a file to be replayed, NAME.jsonl.xz.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Read the conversations of a run."""
    wanted = queries.MessageQuery(
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
    attempts = AttemptFilter(verdict, rule, fact)
    with EventLogFile.open(directory) as event_log:
        if save is not None:
            if wanted != queries.ANY_MESSAGE:
                raise InputError("--save keeps all conversations; leave the filters out")
            head = RecordingHead(lawtrace_version=event_log.written_by, created=event_log.created)
            write_recording(save, head, event_log.timed_entries(kind=RECORDED))
            print_command_result(CommandResult({}, out=save), as_json=as_json)
            return
        prices = prices_of(event_log)
        show = partial(
            print_messages,
            STDOUT,
            prices=prices,
            request_of=partial(queries.request_behind, event_log) if prompts else None,
        )
        if follow:
            if attempts != ANY or as_json:
                raise InputError(
                    "--follow can only be combined with --stage, --task, --unit, --style, --model, --trial, --variant, "
                    "--role, --turn, --text and --prompts"
                )
            _follow(event_log, directory, wanted, show)
            return
        if message is not None:
            found_message = queries.find_message(event_log, message)
            if found_message is None:
                raise InputError(f"{directory}: no message has the id {message!r}")
            turn = found_message.line.context.turn
            wanted = replace(wanted, conversations=[found_message.conversation], turn=turn)
        index = VerdictIndex(RunFolder(directory))
        if attempts != ANY:
            names = index.conversations(attempts)
            wanted = replace(wanted, conversations=list(queries.conversation_numbers(event_log, names).values()))
        found = queries.find_conversations(event_log, wanted, limit=limit + 1)
        if not found:
            why = queries.unknown_value(event_log, wanted) or "no conversation matches"
            raise InputError(f"{directory}: {why}; `lawtrace messages {directory}` shows all")
        conversations = [(one, queries.conversation_messages(event_log, one.id, wanted)) for one in found[:limit]]
        if as_json:
            lines = [_message_json(event_log, one, prices, prompts=prompts) for _, of in conversations for one in of]
            print_json({"conversations": len(conversations), "messages": lines})
            return
        for conversation, of in conversations:
            _show(index, conversation, of, show)
        if len(found) > limit:
            print_note("... and more; raise --limit to see them")


def _show(
    index: VerdictIndex,
    conversation: queries.LoggedConversation,
    messages: Sequence[queries.LoggedMessage],
    show: Callable[..., None],
) -> None:
    complete = len(messages) == conversation.lines
    print_heading(STDOUT, conversation.place, "" if complete else f"{len(messages)} of {conversation.lines} messages")
    found = index.of_conversation(conversation.place)
    show(messages, index.causes(found.verdict) if found and found.verdict else ())
    if found is not None:
        print_outcome(STDOUT, found.outcome, found.reason)


def _follow(event_log: EventLogFile, directory: Path, wanted: queries.MessageQuery, show: Callable[..., None]) -> None:
    """Print messages as they are written, until the run ends."""
    keys: dict[int, queries.ConversationKey] = {}
    last = before = 0
    while True:
        active = is_being_written(directory)  # Read first: later messages are printed in the next round.
        for message in queries.find_messages(event_log, wanted, after=last):
            if message.conversation not in keys:
                found = queries.find_conversations(
                    event_log, queries.MessageQuery(conversations=[message.conversation])
                )
                keys[message.conversation] = found[0].place
            if message.conversation != before:
                print_heading(STDOUT, keys[message.conversation])
            show([message])
            last, before = message.number, message.conversation
        if not active:
            return
        time.sleep(POLL_SECONDS)


def _message_json(
    event_log: EventLogFile, message: queries.LoggedMessage, prices: Mapping[str, Price], *, prompts: bool
) -> dict[str, Json]:
    """A message with the figures of its model call and, with `prompts`, what the model was sent."""
    line: dict[str, Json] = {"id": message.id, "at": message.at, **message.line.model_dump(mode="json")}
    line["call"] = None if message.call is None else {**asdict(message.call), "cost": message.call.cost(prices)}
    if prompts:
        line["request"] = [sent.model_dump(mode="json") for sent in queries.request_behind(event_log, message)]
    return line
