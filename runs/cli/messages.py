"""``lawtrace messages``: reading the conversations of a run, following a live one, and seeing where two runs part."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Json
from lawtrace.runs.cli.output import OUT, say, show_json
from lawtrace.runs.cli.sandbox import warn_of_sandboxes
from lawtrace.runs.grading.verdict import OUTCOMES
from lawtrace.runs.layout import RunFolder
from lawtrace.runs.reading.causes import causes_of
from lawtrace.runs.reading.judged import Judged, Mark, place_of
from lawtrace.runs.reading.parting import Parting, partings
from lawtrace.runs.reading.terminal import print_heading, print_lines, print_parting, print_verdict
from lawtrace.runs.record.finding import (
    Conversation,
    Place,
    Said,
    Wanted,
    find_conversations,
    find_lines,
    lines_of,
    places_of,
)
from lawtrace.runs.record.storage import is_being_written
from lawtrace.runs.record.store import Record

LOOK_AGAIN_SECONDS = 0.3


def messages(
    directory: Annotated[Path, typer.Argument(help="The folder of a run.")],
    stage: Annotated[str | None, typer.Option(help="Only conversations of this stage, such as tasks.")] = None,
    task: Annotated[str | None, typer.Option(help="Only conversations about this task.")] = None,
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
    wanted = Wanted(
        stage=stage, task=task, style=style, name=model, trial=trial, variant=variant, role=role, turn=turn, text=text
    )
    with Record.open(directory) as record:
        if isinstance(record.recipe, dict):
            warn_of_sandboxes([record.recipe.get("sandbox")])
        if follow:
            if verdict is not None or rule is not None or diff is not None or as_json:
                raise InputError(
                    "--follow goes with --stage, --task, --style, --model, --trial, --variant, --role, --turn, --text"
                )
            _follow(record, directory, wanted)
            return
        judged = Judged(RunFolder(directory))
        if verdict is not None or rule is not None:
            marks = _marks(judged, directory, verdict, rule)
            numbers = places_of(record, "attempts")
            among = [numbers[place] for mark in marks if (place := place_of(mark)) in numbers]
            wanted = replace(wanted, among=among)
        if diff is not None:
            with Record.open(diff) as other:
                _show_partings(list(partings(record, other, wanted)), (str(directory), str(diff)), limit, as_json)
            return
        found = find_conversations(record, wanted, limit=limit + 1)
        if not found:
            raise InputError(f"{directory}: no conversation is like that; `lawtrace messages {directory}` shows all")
        more = len(found) > limit
        talks = [(talk, lines_of(record, talk.id, wanted)) for talk in found[:limit]]
        if as_json:
            lines: list[Json] = [said.line.model_dump(mode="json") for _, said_there in talks for said in said_there]
            show_json({"conversations": len(talks), "messages": lines})
            return
        for talk, lines_there in talks:
            _show(record, judged, talk, lines_there)
        if more:
            say(f"... and more; --limit {2 * limit} shows the next, or ask for less")


def _marks(judged: Judged, directory: Path, verdict: str | None, rule: str | None) -> Sequence[Mark]:
    if verdict is not None and verdict not in OUTCOMES:
        raise InputError(f"there is no outcome {verdict!r}; one of {', '.join(OUTCOMES)}")
    if not judged.marks:
        raise InputError(f"{directory}: the run has no verdicts; leave --verdict and --rule out")
    marks = judged.select(outcome=verdict, rule=rule)
    if not marks and rule is not None:
        broken = sorted({name for mark in judged.marks for name in mark.broken})
        raise InputError(f"{directory}: no such verdict; the rules that broke: {', '.join(broken) or 'none'}")
    return marks


def _show(record: Record, judged: Judged, talk: Conversation, lines: Sequence[Said]) -> None:
    mark = judged.at(talk.place)
    print_heading(OUT, talk.place, f"{len(lines)} of {talk.lines} messages" if len(lines) < talk.lines else "")
    if mark is None:
        print_lines(OUT, lines)
        return
    verdict = judged.verdict(mark)
    whole = lines if len(lines) == talk.lines else lines_of(record, talk.id)
    print_lines(OUT, lines, causes_of(verdict, whole))
    print_verdict(OUT, verdict)


def _follow(record: Record, directory: Path, wanted: Wanted) -> None:
    """Print what is said as it is said, until nobody writes the record any more."""
    places: dict[int, Place] = {}
    last = before = 0
    while True:
        going_on = is_being_written(directory)  # asked first: what is written after that is seen in the next round
        for said in find_lines(record, wanted, after=last):
            if said.conversation not in places:
                found = find_conversations(record, Wanted(among=[said.conversation]))
                places[said.conversation] = found[0].place
            if said.conversation != before:
                print_heading(OUT, places[said.conversation])
            print_lines(OUT, [said])
            last, before = said.number, said.conversation
        if not going_on:
            return
        time.sleep(LOOK_AGAIN_SECONDS)


def _show_partings(found: Sequence[Parting], sides: tuple[str, str], limit: int, as_json: bool) -> None:
    if as_json:
        show_json({"partings": [_parting_json(parting) for parting in found]})
        return
    if not found:
        say("every conversation is the same in both")
    for parting in found[:limit]:
        print_parting(OUT, parting, sides)
    if len(found) > limit:
        say(f"... and {len(found) - limit} more conversations that differ")


def _parting_json(parting: Parting) -> Json:
    place = next(talk.place for talk in parting.conversations if talk is not None)
    return {
        "stage": place.stage,
        "task": place.task,
        "style": place.style,
        "name": place.name,
        "trial": place.trial,
        "same": parting.same,
        "first": parting.lines[0] and parting.lines[0].line.model_dump(mode="json"),
        "second": parting.lines[1] and parting.lines[1].line.model_dump(mode="json"),
        "words": [{"kind": piece.kind, "text": piece.text} for piece in parting.pieces],
    }
