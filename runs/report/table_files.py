"""Tables and figures of a report as files: CSV, LaTeX (article with booktabs), SVG."""

# pyright: reportMissingTypeStubs=false

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from lawtrace.runs.report.tables import Cell, Figure, Table, import_pandas
from lawtrace.runs.report.text import visible
from lawtrace.runs.store.stage_files import reject_device, replacing
from lawtrace.schemas.errors import OperationalError

FILE_NAME = re.compile(r"[a-z0-9_-]+\.(csv|tex|svg)")
"""Names of the files in the folder of tables."""


FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def write_table_files(
    folder: Path, tables: Sequence[Table], figures: Sequence[Figure], about: Mapping[str, str]
) -> None:
    """Write all files and remove those of an earlier report. Raises OperationalError if one cannot be written.

    ``about``: what LaTeX files name as their source.
    """
    reject_device(folder)
    if folder.is_symlink():
        raise OperationalError(f"{folder}: the tables cannot be written: it is a link; remove it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        earlier = {path for path in folder.iterdir() if FILE_NAME.fullmatch(path.name)}
        files = {f"{table.name}.tex": as_latex(table, about).encode() for table in tables}
        files |= {f"{figure.name}.svg": as_svg_file(figure).encode() for figure in figures}
        for table in {table.name: table for table in (*tables, *(figure.table for figure in figures))}.values():
            files[f"{table.name}.csv"] = as_csv(table).encode()
        for name, content in files.items():
            with replacing(folder / name) as partial:
                partial.write_bytes(content)
            earlier.discard(folder / name)
        for path in earlier:
            with suppress(OSError):
                path.unlink()
    except OSError as error:
        raise OperationalError(f"{folder}: the tables cannot be written: {error.strerror}") from error


def as_csv(table: Table) -> str:
    """The values with a head line. Shares are from 0 to 1; what is not known is empty."""
    return table.frame(csv_text).rename(columns=visible).to_csv(index=False, lineterminator="\n")


def csv_text(text: str) -> str:
    """The text, in a form that no spreadsheet takes for a formula: names of rules and models come from other files."""
    return f"'{visible(text)}" if text[:1] in FORMULA_SIGNS and len(text) > 1 else visible(text)


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
    pandas = import_pandas()
    names = pandas.Index([escape_latex(column.title) for column in shown])
    if any(column.group for column in shown):
        names = pandas.MultiIndex.from_arrays([[escape_latex(column.group) for column in shown], names])
    text = pandas.DataFrame([[_cell(cell) for cell in line] for line in body], columns=names).style.hide(axis="index")
    written = text.to_latex(
        position="htbp",
        position_float="centering",
        hrules=True,
        column_format=f"@{{}}{kinds}@{{}}",
        multicol_align="c",
        label=f"tab:{table.name}",
        caption=escape_latex(table.title),
    )
    return f"% {_one_line(source)}\n% Needs \\usepackage{{booktabs}}.\n{written}"


def _cell(cell: Cell) -> str:
    text = escape_latex(cell.text)
    if cell.look == "strong":
        text = rf"\textbf{{{text}}}"
    if cell.look == "code":
        text = rf"\texttt{{{text}}}"
    return rf"{text} {{\footnotesize {escape_latex(cell.aside)}}}" if cell.aside else text


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "[": "{[}",  # after \\ it would begin an option
        "]": "{]}",
        "≥": r"$\geq$",
        "≤": r"$\leq$",
        "κ": r"$\kappa$",
        "\n": " ",
        "\t": " ",
        **{sign: f"\\{sign}" for sign in "{}$&#%_"},
    }
)


def escape_latex(text: str) -> str:
    """The text for LaTeX in UTF-8."""
    return visible(text).translate(_LATEX)


def _one_line(text: str) -> str:
    return visible(text).replace("\n", " ").encode("ascii", "replace").decode()
