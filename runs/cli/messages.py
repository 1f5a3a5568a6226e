"""``lawtrace messages``: reading the conversations of a run, following a live one, and seeing where two runs part."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Json
from lawtrace.runs.cli.output import STDOUT, print_json, print_note
from lawtrace.runs.report.blame import find_causes
from lawtrace.runs.report.terminal_messages import print_diff, print_heading, print_messages, print_verdict
from lawtrace.runs.report.transcript_diff import ConversationDiff, diff_conversations
from lawtrace.runs.report.verdict_index import VerdictIndex, VerdictSummary, conversation_of
from lawtrace.runs.schemas.verdict_rows import OUTCOMES
from lawtrace.runs.store.event_log_database import is_being_written
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import (
    ConversationKey,
    LoggedConversation,
    LoggedMessage,
    MessageQuery,
    conversation_ids,
    conversation_messages,
    find_conversations,
    find_messages,
)
from lawtrace.runs.store.run_folder import RunFolder

LOOK_AGAIN_SECONDS = 0.3


def messages(
    directory: Annotated[Path, typer.Argument(help="The folder of a run.")],
    stage: Annotated[str | None, typer.Option(help="Only conversations of this stage, such as tasks.")] = None,
    task: Annotated[str | None, typer.Option(help="Only conversations about this task.")] = None,
    unit: Annotated[str | None, typer.Option(help="Only conversations about this part of the input.")] = None,
    style: Annotated[str | None, typer.Option(help="Only conversations in this style.")] = None,
    model: Annotated[str | None, typer.Option(help="Only attempts of this model.")] = None,
    trial: Annotated[int | None, typer.Option(help="Only this repetition, from 0.")] = None,
    variant: Annotated[str | None, typer.Option(help="Only this variant of an ablation, by its name.")] = None,
    verdict: Annotated[
        str | None, typer.Option(help=f"Only attempts with this outcome: {', '.join(OUTCOMES)}.")
    ] = None,
    rule: Annotated[str | None, typer.Option(help="Only attempts that broke this rule.")] = None,
    role: Annotated[str | None, typer.Option(help="Only what this role says.")] = None,
    turn: Annotated[int | None, typer.Option(help="Only what is said in this turn, from 0.")] = None,
    text: Annotated[str | None, typer.Option(help="Only what has these words, each as the start of a word.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many conversations.")] = 1000,
    follow: Annotated[bool, typer.Option("--follow", help="Go on as long as the run is written.")] = False,
    diff: Annotated[Path | None, typer.Option(help="Another run: where the two part, word by word.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Read the conversations of a run."""
    wanted = MessageQuery(
        stage=stage,
        task=task,
        unit=unit,
        style=style,
        tested_model=model,
        trial=trial,
        variant=variant,
        role=role,
        turn=turn,
        text=text,
    )
    with EventLogFile.open(directory) as event_log:
        if follow:
            if verdict is not None or rule is not None or diff is not None or as_json:
                raise InputError(
                    "--follow goes with --stage, --task, --style, --model, --trial, --variant, --role, --turn, --text"
                )
            _follow(event_log, directory, wanted)
            return
        judged = VerdictIndex(RunFolder(directory))
        if verdict is not None or rule is not None:
            marks = _marks(judged, directory, verdict, rule)
            numbers = conversation_ids(event_log, "attempts")
            among = [numbers[place] for mark in marks if (place := conversation_of(mark)) in numbers]
            wanted = replace(wanted, conversations=among)
        if diff is not None:
            with EventLogFile.open(diff) as other:
                _show_partings(
                    list(diff_conversations(event_log, other, wanted)), (str(directory), str(diff)), limit, as_json
                )
            return
        found = find_conversations(event_log, wanted, limit=limit + 1)
        if not found:
            raise InputError(f"{directory}: no conversation is like that; `lawtrace messages {directory}` shows all")
        more = len(found) > limit
        talks = [(talk, conversation_messages(event_log, talk.id, wanted)) for talk in found[:limit]]
        if as_json:
            lines: list[Json] = [said.line.model_dump(mode="json") for _, said_there in talks for said in said_there]
            print_json({"conversations": len(talks), "messages": lines})
            return
        for talk, lines_there in talks:
            _show(event_log, judged, talk, lines_there)
        if more:
            print_note(f"... and more; --limit {2 * limit} shows the next, or ask for less")


def _marks(judged: VerdictIndex, directory: Path, verdict: str | None, rule: str | None) -> Sequence[VerdictSummary]:
    if verdict is not None and verdict not in OUTCOMES:
        raise InputError(f"there is no outcome {verdict!r}; one of {', '.join(OUTCOMES)}")
    if not judged.marks:
        raise InputError(f"{directory}: the run has no verdicts; leave --verdict and --rule out")
    marks = judged.select(outcome=verdict, rule=rule)
    if not marks and rule is not None:
        broken = sorted({name for mark in judged.marks for name in mark.broken})
        raise InputError(f"{directory}: no such verdict; the rules that broke: {', '.join(broken) or 'none'}")
    return marks


def _show(
    event_log: EventLogFile, judged: VerdictIndex, talk: LoggedConversation, lines: Sequence[LoggedMessage]
) -> None:
    mark = judged.at(talk.place)
    print_heading(STDOUT, talk.place, f"{len(lines)} of {talk.lines} messages" if len(lines) < talk.lines else "")
    if mark is None:
        print_messages(STDOUT, lines)
        return
    verdict = judged.verdict(mark)
    whole = lines if len(lines) == talk.lines else conversation_messages(event_log, talk.id)
    print_messages(STDOUT, lines, find_causes(verdict, whole))
    print_verdict(STDOUT, verdict)


def _follow(event_log: EventLogFile, directory: Path, wanted: MessageQuery) -> None:
    """Print what is said as it is said, until nobody writes the record any more."""
    places: dict[int, ConversationKey] = {}
    last = before = 0
    while True:
        going_on = is_being_written(directory)  # asked first: what is written after that is seen in the next round
        for said in find_messages(event_log, wanted, after=last):
            if said.conversation not in places:
                found = find_conversations(event_log, MessageQuery(conversations=[said.conversation]))
                places[said.conversation] = found[0].place
            if said.conversation != before:
                print_heading(STDOUT, places[said.conversation])
            print_messages(STDOUT, [said])
            last, before = said.number, said.conversation
        if not going_on:
            return
        time.sleep(LOOK_AGAIN_SECONDS)


def _show_partings(found: Sequence[ConversationDiff], sides: tuple[str, str], limit: int, as_json: bool) -> None:
    if as_json:
        print_json({"partings": [_parting_json(parting) for parting in found]})
        return
    if not found:
        print_note("every conversation is the same in both")
    for parting in found[:limit]:
        print_diff(STDOUT, parting, sides)
    if len(found) > limit:
        print_note(f"... and {len(found) - limit} more conversations that differ")


def _parting_json(parting: ConversationDiff) -> Json:
    place = next(talk.place for talk in parting.conversations if talk is not None)
    return {
        "stage": place.stage,
        "task": place.task,
        "unit": place.unit,
        "style": place.style,
        "kind": place.conversation_kind,
        "model": place.tested_model,
        "trial": place.trial,
        "same": parting.same,
        "first": parting.lines[0] and parting.lines[0].line.model_dump(mode="json"),
        "second": parting.lines[1] and parting.lines[1].line.model_dump(mode="json"),
        "words": [{"kind": piece.kind, "text": piece.text} for piece in parting.pieces],
    }
