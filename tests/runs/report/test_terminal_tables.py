from dataclasses import replace
from io import StringIO

from rich.console import Console

from lawtrace.runs.call_plan import PlannedCalls, RunPlan
from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.terminal_tables import outcome_table, plan_table


def printed(content: ReportContent, environments: dict[str, str] | None = None, *, width: int = 80) -> list[list[str]]:
    file = StringIO()
    console = Console(file=file, width=width)
    console.print(outcome_table(content.verdicts, environments))
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


def test_a_long_model_name_fits_in_80_columns(content: ReportContent):
    model = "openai:gpt-5-mini-2026"
    named = replace(content, verdicts=tuple(row.model_copy(update={"model": model}) for row in content.verdicts))
    assert [model] in printed(named)


def test_rows_by_environment(content: ReportContent):
    lines = printed(content, {"banking-1": "banking", "banking/2 <b>": "other"})
    for environment in ("banking", "other"):
        at = lines.index([f"{environment}:"])
        assert lines[at + 1] == ["baseline:reference"]
        assert lines[at + 2] == ["goal", "100.0", "%", "1", "0", "0", "0", "0", "0"]


def test_no_verdicts(empty: ReportContent):
    assert any("Pass@1" in line for line in printed(empty))


MODELS = ("openai:gpt-5-mini-2026-01-01", "ollama:qwen2.5-coder:32b-instruct-q4_K_M")
PLAN = RunPlan(
    variants=1,
    calls=tuple(
        PlannedCalls(role="instruction_generator", model=model, expected=1234, most=123456, cost=None, ceiling=None)
        for model in MODELS
    ),
    budget={},
    concurrency=8,
    deadline_seconds=120,
)


def test_a_plan_says_how_long_the_limit_of_requests_takes() -> None:
    file = StringIO()
    Console(file=file, width=80).print(plan_table(PLAN.model_copy(update={"requests_per_minute": 60})))
    shown = " ".join(file.getvalue().split())
    assert "At 60 requests a minute: at least 21 min." in shown  # 1,234 requests to each of two endpoints
