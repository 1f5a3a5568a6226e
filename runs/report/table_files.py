"""Tables and figures of a report as files: CSV, LaTeX (article with booktabs), SVG, with the extra `tables` Parquet."""

# pyright: reportMissingTypeStubs=false

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any

from lawtrace.environments.errors import InputError, OperationalError
from lawtrace.runs.report.tables import Cell, Column, Figure, Table, Value
from lawtrace.runs.report.text import visible
from lawtrace.runs.store.stage_files import reject_device

FILE_NAME = re.compile(r"[a-z0-9_-]+\.(csv|tex|svg|parquet)")
"""Names of the files in the folder of tables."""


FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def table_files(
    tables: Sequence[Table], figures: Sequence[Figure], about: Mapping[str, str], *, parquet: bool = False
) -> Iterator[tuple[str, bytes]]:
    """Each file with its name. ``about``: what LaTeX files name as their source.

    Raises InputError if Parquet is asked for without the extra.
    """
    for table in (*tables, *(figure.table for figure in figures if figure.table not in tables)):
        yield f"{table.name}.csv", as_csv(table).encode()
        if parquet:
            yield f"{table.name}.parquet", as_parquet(table)
    for table in tables:
        yield f"{table.name}.tex", as_latex(table, about).encode()
    for figure in figures:
        yield f"{figure.name}.svg", as_svg_file(figure).encode()


def write_table_files(
    folder: Path,
    tables: Sequence[Table],
    figures: Sequence[Figure],
    about: Mapping[str, str],
    *,
    parquet: bool = False,
) -> None:
    """Write all files and remove those of an earlier report. Raises OperationalError if one cannot be written."""
    reject_device(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        earlier = {path for path in folder.iterdir() if FILE_NAME.fullmatch(path.name)}
        for name, content in table_files(tables, figures, about, parquet=parquet):
            (folder / name).write_bytes(content)
            earlier.discard(folder / name)
        for path in earlier:
            with suppress(OSError):
                path.unlink()
    except OSError as error:
        raise OperationalError(f"{folder}: the tables cannot be written: {error.strerror}") from error


def as_csv(table: Table) -> str:
    """The values with a head line. Shares are from 0 to 1; what is not known is empty."""
    names, lines = table.records()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(visible, names))
    writer.writerows([csv_text(value) if isinstance(value, str) else value for value in line] for line in lines)
    return text.getvalue()


def csv_text(text: str) -> str:
    """The text, in a form that no spreadsheet takes for a formula: names of rules and models come from other files."""
    return f"'{visible(text)}" if text[:1] in FORMULA_SIGNS and len(text) > 1 else visible(text)


def as_parquet(table: Table) -> bytes:
    """The values with a type for each column. Raises InputError without the extra `tables`."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise InputError("Parquet needs pyarrow: pip install 'lawtrace[tables]'") from error
    names, lines = table.records()
    arrow: Any = pyarrow  # has no types
    values = [_of_one_type([line[place] for line in lines]) for place in range(len(names))]
    buffer = io.BytesIO()
    writer: Any = parquet
    writer.write_table(arrow.table(dict(zip(names, values, strict=True))), buffer)
    return buffer.getvalue()


def _of_one_type(values: Sequence[Value]) -> Sequence[Value]:
    """The values; as texts if there are texts and numbers among them."""
    kinds = {isinstance(value, str) for value in values if value is not None}
    return [value if value is None else str(value) for value in values] if len(kinds) == 2 else values


def as_svg_file(figure: Figure) -> str:
    """The figure as a file of its own: black on a transparent ground."""
    drawing = str(figure.svg).replace("currentColor", "black")
    named = drawing.replace("<svg ", '<svg font-family="sans-serif" ', 1)
    for name, space in (("xmlns", "http://www.w3.org/2000/svg"), ("xmlns:xlink", "http://www.w3.org/1999/xlink")):
        if f"{name}=" not in named.partition(">")[0]:
            named = named.replace("<svg ", f'<svg {name}="{space}" ', 1)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{named}\n'


WIDE = 45
"""Characters from which the cells of a column are set in paragraphs."""


def as_latex(table: Table, about: Mapping[str, str]) -> str:
    r"""A floating table for ``\usepackage{booktabs}``, with the shown columns."""
    places = table.places
    shown = [table.columns[place] for place in places]
    body = [[row.cells[place] for place in places] for row in table.rows]
    widths = [max((len(line[place].text) for line in body), default=0) for place in range(len(shown))]
    wide = sum(width > WIDE for width in widths)
    kinds = "".join(
        "r" if column.numeric else f"p{{{0.7 / wide:.2f}\\linewidth}}" if width > WIDE else "l"
        for column, width in zip(shown, widths, strict=True)
    )
    source = "; ".join(f"{name} {value}" for name, value in about.items())
    lines = [
        f"% {_one_line(source)}",
        r"% Needs \usepackage{booktabs}.",
        r"\begin{table}[htbp]",
        r"\centering",
        rf"\caption{{{escape_latex(table.title)}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{@{{}}{kinds}@{{}}}}",
        r"\toprule",
        *_head(shown),
        r"\midrule",
        *(" & ".join(map(_cell, line)) + r" \\" for line in body),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _head(shown: Sequence[Column]) -> list[str]:
    names = " & ".join(
        rf"\multicolumn{{1}}{{r}}{{{escape_latex(column.title)}}}" if column.numeric else escape_latex(column.title)
        for column in shown
    )
    if not any(column.group for column in shown):
        return [names + r" \\"]
    above: list[str] = []
    rules: list[str] = []
    start = 1
    for group, members in groupby(shown, key=lambda column: column.group):
        size = len(list(members))
        if group:
            above.append(rf"\multicolumn{{{size}}}{{c}}{{{escape_latex(group)}}}")
            rules.append(rf"\cmidrule(lr){{{start}-{start + size - 1}}}")
        else:
            above += [""] * size
        start += size
    return [" & ".join(above) + r" \\", " ".join(rules), names + r" \\"]


def _cell(cell: Cell) -> str:
    text = escape_latex(cell.text)
    if cell.look == "strong":
        text = rf"\textbf{{{text}}}"
    if cell.look == "code":
        text = rf"\texttt{{{text}}}"
    return rf"{text} {{\footnotesize {escape_latex(cell.aside)}}}" if cell.aside else text


_LATEX: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # after \\ it would begin an option
    "]": "{]}",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "·": r"\textperiodcentered{}",
    "→": r"$\rightarrow$",
    "−": "$-$",
    "×": r"$\times$",
    "¹": r"\textsuperscript{1}",
    "²": r"\textsuperscript{2}",
    "κ": r"$\kappa$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "\u00a0": "~",
    "\n": " ",
    "\t": " ",
}
_ACCENTS: Mapping[str, str] = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0308": '"',
    "\u030a": "r ",
    "\u030c": "v ",
    "\u0327": "c ",
}


def escape_latex(text: str) -> str:
    """The text for LaTeX; a character that its default fonts lack becomes its code point."""
    return "".join(map(_escape_character, visible(text)))


def _escape_character(character: str) -> str:
    if character in _LATEX:
        return _LATEX[character]
    if character.isascii():
        return character
    letter, *accents = unicodedata.normalize("NFD", character)
    if letter.isascii() and len(accents) == 1 and accents[0] in _ACCENTS:
        return rf"\{_ACCENTS[accents[0]]}{{{letter}}}"
    return rf"{{[}}U+{ord(character):04X}{{]}}"


def _one_line(text: str) -> str:
    return visible(text).replace("\n", " ").encode("ascii", "replace").decode()
