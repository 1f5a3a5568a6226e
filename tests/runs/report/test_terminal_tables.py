from io import StringIO

from rich.console import Console

from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.terminal_tables import outcome_table


def printed(content: ReportContent, *, width: int = 80) -> list[list[str]]:
    file = StringIO()
    console = Console(file=file, width=width)
    console.print(outcome_table(content.verdicts))
    text = file.getvalue()
    return [line.split() for line in text.splitlines()]


def test_rows_by_model_and_style(content: ReportContent):
    lines = printed(content)
    at = lines.index(["baseline:reference"])
    assert lines[at + 1 : at + 6] == [
        ["goal", "100.0", "%", "2", "0", "0", "0", "0", "0"],
        ["workflow", "100.0", "%", "1", "0", "0", "0", "0", "1"],
        ["$m_1$", "[big]"],
        ["goal", "0.0", "%", "0", "1", "0", "1", "0", "0"],
        ["workflow", "0.0", "%", "0", "0", "1", "0", "1", "0"],
    ]
