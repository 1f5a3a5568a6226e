"""Tables and figures as files: CSV, LaTeX, SVG."""

import csv
import io
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.sections import make_run_report
from lawtrace.runs.report.table_files import as_csv, as_latex, write_table_files
from lawtrace.runs.report.tables import Cell, Column, Row, Table, make_table, share, words
from lawtrace.runs.scoring.metrics import Interval
from lawtrace.schemas.errors import OperationalError
from tests.support.latex import check_latex

AWKWARD = "50 % & more_of $x^2$ #1 {a} \\b ~ <i> [0] — é “q” κ 漢\u202e"

LINES = ((AWKWARD, 0.5, "x"), ('line\nbreak, "quoted"', None, Cell(3, "3")))
TABLE = make_table(
    "small",
    "Small & odd",
    (
        {
            "Name": name,
            "#Rates_1 > rate": share(rate, interval=Interval(0.25, 0.75) if rate else None),
            Column("hidden", shown=False): hidden,
        }
        for name, rate, hidden in LINES
    ),
)


def test_csv_has_every_value_in_a_column_of_its_own() -> None:
    read = list(csv.reader(io.StringIO(as_csv(TABLE))))
    assert read[0] == ["Name", "Rates_1: rate", "Rates_1: rate, low", "Rates_1: rate, high", "hidden"]
    assert read[1] == [AWKWARD.replace("\u202e", "\\u202e"), "0.5", "0.25", "0.75", "x"]
    assert read[2] == ['line\nbreak, "quoted"', "", "", "", "3"]


def test_no_cell_of_a_csv_is_a_formula() -> None:
    texts = ["=1+1", "@SUM(A1)", "-2+3", "+4", "-", "a=b"]
    table = make_table("small", "Small", ({"Name": text} for text in texts))
    read = [line[0] for line in csv.reader(io.StringIO(as_csv(table)))]
    assert read[1:] == ["'=1+1", "'@SUM(A1)", "'-2+3", "'+4", "-", "a=b"]


def test_latex_escapes_every_special_character(tmp_path: Path) -> None:
    (tmp_path / "small.tex").write_text(as_latex(TABLE, {"run": "a_b 100 %\nc"}), encoding="utf-8")
    check_latex([tmp_path / "small.tex"], tmp_path)
    text = (tmp_path / "small.tex").read_text(encoding="utf-8")
    assert text.splitlines()[0] == "% run a_b 100 % c"
    assert r"50 \% \& more\_of \$x\textasciicircum{}2\$ \#1 \{a\} \textbackslash{}b" in text
    assert r"50.0 \% {\footnotesize {[}25.0–75.0{]}}" in text
    assert "hidden" not in text


def test_files_without_their_extra_are_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(OperationalError, match=r"lawtrace\[bench\]"):
        write_table_files(tmp_path, [TABLE], [], {})


def test_a_row_of_another_width_is_an_error() -> None:
    with pytest.raises(ValueError, match="table small: 1 cells for 3 columns"):
        Table("small", "", TABLE.columns, (Row((words("x"),)),))


def test_all_tables_and_figures_of_a_report(content: ReportContent, tmp_path: Path) -> None:
    report = make_run_report(content)
    (tmp_path / "old.csv").write_text("of an earlier report")
    (tmp_path / "notes.md").write_text("of the user")
    write_table_files(tmp_path, report.tables, report.figures, {"run": "r"})
    names = {path.name for path in tmp_path.iterdir()}
    assert "old.csv" not in names
    assert {"notes.md", "verdicts.csv", "verdicts.tex", "failures-goal.svg", "outcomes-financial.svg"} <= names
    check_latex(sorted(tmp_path.glob("*.tex")), tmp_path)
    for path in tmp_path.glob("*.csv"):
        widths = {len(line) for line in csv.reader(path.read_text(encoding="utf-8").splitlines())}
        assert len(widths) == 1, path
    for path in tmp_path.glob("*.svg"):
        root = ElementTree.parse(path).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "currentColor" not in path.read_text(encoding="utf-8")
        assert (tmp_path / f"{path.stem}.csv").exists()
    with (tmp_path / "verdicts.csv").open(encoding="utf-8") as file:
        read = {(row["Model"], row["Style"]): row for row in csv.DictReader(file)}
    goal = read["$m_1$ [big]", "goal"]
    assert (goal["Outcomes: unsafe success"], goal["Outcomes: unsafe success, share"]) == ("1", "0.5")
    assert goal["Environment"] == "Financial"


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "tables").write_text("")
    with pytest.raises(OperationalError, match="tables: the tables cannot be written"):
        write_table_files(tmp_path / "tables", [TABLE], [], {})
