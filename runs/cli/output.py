"""What the command line prints: results to standard output, everything else to standard error.

Much of it was written by models and found in documents: control characters in it are shown, and never obeyed.
"""

import json
import logging
import sys
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager

import structlog
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.style import StyleType
from rich.table import Table
from rich.text import Text

from lawtrace.environments.events import Json
from lawtrace.runs.report.text import visible

STDOUT = Console(emoji=False, markup=False)
_STDERR = Console(stderr=True, highlight=False, emoji=False, markup=False)


def print_result(what: RenderableType) -> None:
    """A result, for people."""
    STDOUT.print(_escaped(what))


def _escaped(what: RenderableType) -> RenderableType:
    match what:
        case str():
            return visible(what)
        case Text() if visible(what.plain) != what.plain:
            return Text(visible(what.plain), style=what.style)
        case _:
            return what


class _EscapedTable(Table):
    def add_row(
        self, *renderables: RenderableType | None, style: StyleType | None = None, end_section: bool = False
    ) -> None:
        cells = (None if cell is None else _escaped(cell) for cell in renderables)
        super().add_row(*cells, style=style, end_section=end_section)


def make_table(*columns: str, title: str | None = None) -> Table:
    """A table that folds what does not fit, so that nothing in it is cut off."""
    table = _EscapedTable(title=title)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def print_json(result: Mapping[str, Json]) -> None:
    """The result of a ``--json`` command: one object, on the last line of standard output."""
    sys.stdout.write(json.dumps(result) + "\n")
    sys.stdout.flush()


def print_note(text: str) -> None:
    """A remark, for people, on standard error."""
    _STDERR.print(visible(text), soft_wrap=True)


def print_problems(problems: Sequence[object]) -> None:
    """What could not be used, each with its place; it is invalid, and the rest is judged."""
    for problem in problems:
        print_note(f"invalid: {problem}")


MAX_GROUPS = 20


def print_grouped(remarks: Iterable[tuple[str, str]]) -> None:
    """Remarks as (what it is about, what it says): each text once, with how many it is about, the commonest first."""
    about = defaultdict[str, list[str]](list)
    for name, text in remarks:
        about[text].append(name)
    groups = sorted(about.items(), key=lambda group: -len(group[1]))
    for text, names in groups[:MAX_GROUPS]:
        print_note(f"  {names[0]}: {text}" if len(names) == 1 else f"  {len(names)}, {names[0]} first: {text}")
    if len(groups) > MAX_GROUPS:
        print_note(f"  ... and {len(groups) - MAX_GROUPS} more kinds of remark; the file written has them all")


def print_invalid(verdicts: Iterable[tuple[str, str]]) -> None:
    """Why no verdict was possible, as (task, reason): a number in a table does not tell what to mend."""
    print_grouped((task, f"invalid: {reason}") for task, reason in verdicts)


def print_error(text: str) -> None:
    """One sentence about what went wrong, on standard error."""
    _STDERR.print(f"lawtrace: {visible(text)}", style="red", soft_wrap=True)


def silence_libraries() -> None:
    """Diagnostics to standard error, warnings and worse only; loggers of libraries say nothing, nor does what AutoGen
    still does in a run that is being left: why it is left has been said."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        # Asked for each line, so that it goes wherever standard error goes by then.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
    for name in ("autogen_core", "autogen_agentchat", "httpx", "openai", "pypdf", "matplotlib"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    logging.getLogger("asyncio").addFilter(lambda record: "asyncio.run() shutdown" not in record.getMessage())


class ProgressBars:
    """Progress bars on standard error, one for each stage, shown only where somebody looks."""

    @contextmanager
    def stage(self, name: str, total: int | None) -> Generator[Callable[[], None]]:
        columns = (TextColumn("{task.description:<28}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=_STDERR, disable=not _STDERR.is_terminal) as progress:
            bar = progress.add_task(name, total=total)
            yield lambda: progress.advance(bar)
            progress.update(bar, total=total or 1, completed=total or 1)
