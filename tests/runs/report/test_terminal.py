from io import StringIO

from rich.console import Console

from runs.report.content import ReportContent
from runs.report.terminal import outcome_table


def printed(content: ReportContent, environments: dict[str, str] | None = None, *, width: int = 80) -> list[list[str]]:
    file = StringIO()
    console = Console(file=file, width=width)
    console.print(outcome_table(content.verdicts, environments))
    text = file.getvalue()
    return [line.split() for line in text.splitlines()]


def test_a_row_for_each_model_and_style(content: ReportContent):
    lines = printed(content)
    assert ["reference", "goal", "100.0", "%", "2", "0", "0", "0", "0", "0"] in lines
    assert ["reference", "workflow", "100.0", "%", "1", "0", "0", "0", "0", "1"] in lines
    assert ["$m_1$", "[big]", "goal", "0.0", "%", "0", "1", "0", "1", "0", "0"] in lines
    assert ["$m_1$", "[big]", "workflow", "0.0", "%", "0", "0", "1", "0", "1", "0"] in lines


def test_several_environments_are_told_apart(content: ReportContent):
    lines = printed(content, {"banking-1": "banking", "banking/2 <b>": "other"}, width=100)
    assert ["banking:", "reference", "goal", "100.0", "%", "1", "0", "0", "0", "0", "0"] in lines
    assert ["other:", "reference", "goal", "100.0", "%", "1", "0", "0", "0", "0", "0"] in lines


def test_no_verdicts(empty: ReportContent):
    assert any("Pass@1" in line for line in printed(empty))
