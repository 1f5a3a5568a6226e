"""Tables and figures of reports as data. Pages, files and the terminal show the same values.

A table is made from lines, which have a cell for each column. A cell has its value for files (CSV) and its
text for people (pages, LaTeX, terminal). A figure has the table of its numbers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

from markupsafe import Markup

from lawtrace.runs.report.text import percent, short_percent, show_interval, show_probability
from lawtrace.runs.scoring.metrics import Interval
from lawtrace.schemas.errors import OperationalError

Value = str | int | float | None
Look = Literal["", "strong", "code"]


@dataclass(frozen=True, slots=True)
class Target:
    """What a cell links to: a method of `lawtrace.runs.web.links.Links` with its arguments."""

    page: Literal["anchor", "attempts", "variant_report"]
    arguments: Mapping[str, str | int | None]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        value: for files; ``more``: further values for files, by the name of their column (``low``, ``high``).
        text: for people; ``aside``: smaller beside it; ``below``: smaller lines below it, only on pages.
        shade: 0 to 1, the depth of colour of a cell in a heat map.
    """

    value: Value
    text: str
    more: Mapping[str, Value] = field(default_factory=dict[str, Value])
    aside: str = ""
    below: tuple[str, ...] = ()
    look: Look = ""
    shade: float | None = None
    link: Target | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column. ``group``: a heading above neighbouring columns; ``shown``: False for a column that is only in files.

    ``numeric``: its cells are numbers, aligned to the right.
    """

    title: str
    group: str = ""
    numeric: bool = False
    shown: bool = True

    @property
    def full_title(self) -> str:
        return f"{self.group}: {self.title}" if self.group else self.title


@dataclass(frozen=True, slots=True)
class Row:
    """A row; ``anchor`` is its id in the page."""

    cells: tuple[Cell, ...]
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table. Its first shown column names the rows.

    Attributes:
        name: unique in the report; the name of its files.
        caption: explains the numbers, after the title.
        grouped: rows with the same name follow each other; the name is repeated in a lighter colour.
        look: a style of the page.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: str = ""
    grouped: bool = False
    look: Literal["", "dense", "cells", "rules"] = "dense"

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise ValueError(f"table {self.name}: {len(row.cells)} cells for {len(self.columns)} columns")

    @property
    def places(self) -> list[int]:
        """The places of the columns that are shown."""
        return [place for place, column in enumerate(self.columns) if column.shown]

    def frame(self, text: Callable[[str], str] = str) -> Any:  # noqa: ANN401 - a data frame
        """The values for files as a data frame of objects, so that counts beside unknown ones stay whole numbers.

        Every value of every cell has a column of its own. ``text``: what texts become.
        """
        data_frame = import_pandas().DataFrame

        names, values = list[str](), list[list[Value]]()
        for place, column in enumerate(self.columns):
            cells = [row.cells[place] for row in self.rows]
            names.append(column.full_title)
            values.append([cell.value for cell in cells])
            for name in dict.fromkeys(name for cell in cells for name in cell.more):
                names.append(f"{column.full_title}, {name}")
                values.append([cell.more.get(name) for cell in cells])
        values = [[text(value) if isinstance(value, str) else value for value in column] for column in values]
        return data_frame(dict(enumerate(values)), dtype=object).set_axis(names, axis="columns")


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with the table of its numbers, which gives it its name."""

    table: Table
    svg: Markup

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def title(self) -> str:
        return self.table.title


def import_pandas() -> Any:  # noqa: ANN401 - a module without types
    """pandas, imported where a table is aggregated or written. Raises OperationalError without it."""
    try:
        return import_module("pandas")
    except ImportError as error:
        raise OperationalError("reports need pandas: pip install 'lawtrace[bench]'") from error


def words(value: str, *, look: Look = "", link: Target | None = None) -> Cell:
    return Cell(value, value, look=look, link=link)


def number(value: int | None, *, aside: str = "", link: Target | None = None) -> Cell:
    """A count; a dash for None."""
    return Cell(value, "–" if value is None else f"{value:,}", aside=aside, link=link)


def decimal(value: float | None, digits: int = 2) -> Cell:
    """A number with decimals; a dash for None."""
    return Cell(value, "–" if value is None else f"{value:.{digits}f}")


def share(
    value: float | None, *, interval: Interval | None = None, digits: int = 1, strong: bool = False, unit: str = " %"
) -> Cell:
    """A share in percent, with its interval in brackets if there is one. Files have the share itself, 0 to 1."""
    text, look = percent(value, digits=digits, unit=unit), "strong" if strong else ""
    if interval is None:
        return Cell(value, text, look=look)
    more: dict[str, Value] = {"low": interval.low, "high": interval.high}
    return Cell(value, text, more, f"[{show_interval(interval)}]", look=look)


def heat(value: float | None, *below: str, more: Mapping[str, Value] | None = None) -> Cell:
    """A share as a cell of a heat map, with lines below it."""
    if value is None:
        return Cell(None, "–", more or {})
    return Cell(value, short_percent(value), more or {}, below=below, shade=value)


def part(count: int, whole: int, *, strong: bool = False) -> Cell:
    """A share with the count and the whole that it is made of."""
    value = count / whole if whole else None
    more: dict[str, Value] = {"count": count, "of": whole}
    return Cell(value, percent(value), more, f"{count}/{whole}", look="strong" if strong else "")


def p_value(value: float | None, adjusted: float | None) -> Cell:
    """A p-value, with the adjusted one in brackets; a dash for None."""
    if value is None or adjusted is None:
        return Cell(None, "–")
    return Cell(value, show_probability(value), {"adjusted": adjusted}, f"({show_probability(adjusted)})")


Line = Mapping[Any, Cell | str | int | None]
"""A row of a table by column: a `Column`, or its title, after ``#`` if it is numeric and ``GROUP > ``. A text or a
count stands for its cell."""


def make_table(
    name: str,
    title: str,
    lines: Iterable[Line],
    caption: str = "",
    *,
    grouped: bool = False,
    look: Literal["", "dense", "cells", "rules"] = "dense",
    anchors: Sequence[str] = (),
) -> Table:
    """A table of lines; a dash for a column that a line has not. ``anchors``: of the rows, if they have any."""
    rows = list(lines)
    names = list(dict.fromkeys(column for row in rows for column in row))
    cells = [tuple(_cell(row.get(column)) for column in names) for row in rows]
    columns = tuple(one if isinstance(one, Column) else _column(one) for one in names)
    made = tuple(Row(of, anchor) for of, anchor in zip(cells, anchors or [""] * len(rows), strict=True))
    return Table(name, title, columns, made, caption, grouped, look)


def filled(*tables: Table) -> tuple[Table, ...]:
    """The tables with rows."""
    return tuple(table for table in tables if table.rows)


def _cell(value: Cell | str | int | None) -> Cell:
    if isinstance(value, Cell):
        return value
    return words(value) if isinstance(value, str) else number(value)


def _column(text: str) -> Column:
    group, _, title = text.removeprefix("#").rpartition(" > ")
    return Column(title, group, numeric=text.startswith("#"))
