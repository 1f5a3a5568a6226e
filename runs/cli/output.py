"""Output of the commands: results on standard output, everything else on standard error.

Printed text may come from models and documents, so its control characters are escaped.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.text import visible

if TYPE_CHECKING:  # for type checking only: keeps the start of the command line fast
    from lawtrace.schemas.events import Json
    from lawtrace.schemas.findings import HabitRow

STDOUT = Console(emoji=False, markup=False)
STDERR = Console(stderr=True, highlight=False, emoji=False, markup=False)


def print_result(what: RenderableType) -> None:
    """Print a result for people."""
    STDOUT.print(_escaped(what))


def _escaped(what: RenderableType) -> RenderableType:
    match what:
        case str():
            return visible(what)
        case Text() if visible(what.plain) != what.plain:
            return Text(visible(what.plain), style=what.style)
        case _:
            return what


def make_table(columns: Iterable[str], rows: Iterable[Sequence[object]], title: str | None = None) -> Table:
    """A table that wraps long cells instead of cutting them off. Its cells are a `Text` or any values as they print; an
    empty row is a line between two sections."""
    table = Table(title=title, box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        if row:
            table.add_row(*(_escaped(cell if isinstance(cell, Text) else Text(str(cell))) for cell in row))
        else:
            table.add_section()
    return table


def print_json(result: Mapping[str, object]) -> None:
    """Print the result of a ``--json`` command: one object, the last line of standard output."""
    sys.stdout.write(json.dumps(result) + "\n")
    sys.stdout.flush()


def print_command_result(result: CommandResult, *, as_json: bool) -> None:
    """Print the result of a command: its JSON form, or its tables and sentences."""
    if as_json:
        print_json(result.json if result.out is None else {**result.json, "out": str(result.out)})
    else:
        print_shown(result.shown)
        if result.out is not None:
            print_note(f"Written: {result.out}")
    for note in result.notes:
        print_note(note)


def best_habits(rows: "Sequence[HabitRow]") -> "dict[str, Json]":
    """The best habit of each style as JSON; its pairs only where there are contrast pairs."""
    return {
        row.style: {
            "name": row.name,
            "passed": len(row.passed),
            "tasks": row.tasks,
            **({"pairs_passed": len(row.pairs_passed), "pairs": row.pairs} if row.pairs else {}),
        }
        for row in rows
    }


def print_shown(shown: Iterable[RenderableType]) -> None:
    """Print tables and sentences on standard output, notes on standard error."""
    for what in shown:
        if isinstance(what, Note):
            print_note(what)
        else:
            print_result(what)


def print_note(text: str) -> None:
    """Print a note on standard error."""
    STDERR.print(visible(text), soft_wrap=True)


def problem_notes(problems: Iterable[object]) -> list[Note]:
    """The unusable rows, each with its place. They count as invalid."""
    return [Note(f"invalid: {problem}") for problem in problems]


MAX_GROUPS = 20


def grouped_notes(notes: Iterable[tuple[str, str]]) -> Iterator[Note]:
    """Notes given as (subject, text): each text once with the number of its subjects, the most frequent first."""
    subjects = defaultdict[str, list[str]](list)
    for subject, text in notes:
        subjects[text].append(subject)
    groups = sorted(subjects.items(), key=lambda group: -len(group[1]))
    for text, names in groups[:MAX_GROUPS]:
        yield Note(f"  {names[0]}: {text}" if len(names) == 1 else f"  {len(names)}, {names[0]} first: {text}")
    if len(groups) > MAX_GROUPS:
        yield Note(f"  ... and {len(groups) - MAX_GROUPS} more kinds of note; the output file has all of them")


def invalid_notes(verdicts: Iterable[tuple[str, str]]) -> Iterator[Note]:
    """Why verdicts are invalid, given as (task, reason)."""
    return grouped_notes((task, f"invalid: {reason}") for task, reason in verdicts)


def print_error(text: str) -> None:
    """Print an error message on standard error."""
    STDERR.print(f"lawtrace: {visible(text)}", style="red", soft_wrap=True)
