"""A small run in tools mode, made by the real pipeline, and one whose every word is hostile."""

import subprocess
import sys
from pathlib import Path

import pytest

from agents.ledger import Context, FunctionCalled, MessageSent, RoleFailed
from runs.record.store import Record

RECIPE = """
name = "small"

[tasks]
count = 2
spare = 1

[rules]
extract = false

[attempts]
mode = "tools"
models = ["reference", "business"]
"""

HOSTILE = (
    '<script>document.title="owned"</script><img src=x onerror=alert(1)> \x1b[2J \u202e {{ 7 * 7 }} "quoted" &amp;'
)


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs."""
    folder = tmp_path_factory.mktemp("viewer")
    (folder / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    command = [sys.executable, "-c", "from runs.cli import main; main()", "run", "recipe.toml", "--out", "runs/small"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    with Record.create(
        folder / "runs" / "hostile", recipe={"name": HOSTILE, "attempts": {"models": [HOSTILE]}}
    ) as record:
        context = Context(stage="attempts", role="executor", task=HOSTILE, style=HOSTILE, conversation=HOSTILE)
        call = FunctionCalled(id="1", name=HOSTILE, arguments=HOSTILE)
        record.record(MessageSent(context=context, source=HOSTILE, content=HOSTILE, function_calls=(call,)))
        record.record(MessageSent(context=context.at(turn=1), source="tools", content="huge " * 400_000))
        record.record(RoleFailed(context=context.at(turn=2, role=HOSTILE), reason="answer", text=HOSTILE))
    return folder / "runs"
