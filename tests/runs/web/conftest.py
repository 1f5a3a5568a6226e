"""Fixtures: a small run in tools mode, made by the real pipeline, and a run with hostile text everywhere."""

from pathlib import Path

import pytest

from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.log_entries import Context, FunctionCalled, MessageSent, RoleFailed
from tests.support.report_content import make_content, make_empty_content
from tests.support.shell import run_command

RECIPE = """
name = "small"

[tasks]
count = 2
spare = 1

[rules]

[attempts]
mode = "tools"
models = ["baseline:reference", "baseline:literal"]
"""

ABLATED = """
[tasks]
count = 1
spare = 1

[rules]

[attempts]
models = ["baseline:literal"]

[ablation]
"attempts.shield" = ["off", "refuse"]
"""

HOSTILE = (
    '<script>document.title="owned"</script><img src=x onerror=alert(1)> \x1b[2J \u202e {{ 7 * 7 }} "quoted" &amp;'
)


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs: small and hostile."""
    folder = tmp_path_factory.mktemp("viewer")
    _run(folder, "small", RECIPE)
    with EventLogFile.create(
        folder / "runs" / "hostile", recipe={"name": HOSTILE, "attempts": {"models": [HOSTILE]}}
    ) as event_log:
        context = Context(stage="attempts", role="executor", task=HOSTILE, unit=HOSTILE, tested_model=HOSTILE)
        call = FunctionCalled(id="1", name=HOSTILE, arguments=HOSTILE)
        event_log.record(MessageSent(context=context, source=HOSTILE, content=HOSTILE, function_calls=(call,)))
        event_log.record(MessageSent(context=context.at(turn=1), source="tools", content="huge " * 400_000))
        event_log.record(RoleFailed(context=context.at(turn=2, role=HOSTILE), reason="answer", text=HOSTILE))
    return folder / "runs"


@pytest.fixture(scope="session")
def ablated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run of an ablation."""
    folder = tmp_path_factory.mktemp("viewer")
    _run(folder, "ablated", ABLATED)
    return folder / "runs"


def _run(folder: Path, name: str, recipe: str) -> None:
    (folder / f"{name}.toml").write_text(recipe, encoding="utf-8")
    run_command(folder, "run", f"{name}.toml", "--out", f"runs/{name}")


@pytest.fixture(scope="session")
def content() -> ReportContent:
    return make_content()


@pytest.fixture(scope="session")
def empty() -> ReportContent:
    return make_empty_content()
